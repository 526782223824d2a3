//! What the library's errors are in Python.

use ordito::io::{ReadError, WriteError};
use ordito::solve::SolveError;
use ordito::{Error, FormatError, Refusal, RunError};
use pyo3::exceptions::{
    PyFileNotFoundError, PyMemoryError, PyOSError, PyPermissionError, PyRuntimeError, PyValueError,
};
use pyo3::prelude::*;

/// The exception for an error; its text is the library's sentence.
pub(crate) fn exception(error: impl Into<Error>) -> PyErr {
    let error = error.into();
    let text = error.to_string();
    match error {
        error if is_memory(&error) => PyMemoryError::new_err(text),
        Error::Refused(refusal) | Error::Run(RunError::Refused(refusal)) => of_refusal(&refusal, text),
        Error::Device(_) | Error::Run(RunError::Device(_)) => PyRuntimeError::new_err(text),
        // By their kind Python makes them a FileNotFoundError, a PermissionError …
        Error::Read(ReadError::Io { reason, .. } | ReadError::Interrupted { reason, .. })
        | Error::Write(WriteError::Io { reason, .. }) => std::io::Error::new(reason.kind(), text).into(),
        Error::Read(ReadError::UnknownName { .. }) => PyFileNotFoundError::new_err(text),
        Error::Write(WriteError::NoFolder { .. }) => PyFileNotFoundError::new_err(text),
        Error::Write(WriteError::ReadOnly { .. } | WriteError::NotOurs { .. }) => {
            PyPermissionError::new_err(text)
        }
        Error::Write(_) => PyOSError::new_err(text),
        _ => PyValueError::new_err(text),
    }
}

/// Is there too little memory?
fn is_memory(error: &Error) -> bool {
    let of_format = |error: &FormatError| matches!(error, FormatError::NoMemory { .. });
    let of_refusal = |refusal: &Refusal| match refusal {
        Refusal::Memory { .. } | Refusal::DeviceMemory { .. } => true,
        Refusal::Format(error) => of_format(error),
        _ => false,
    };
    let of_run = |error: &RunError| match error {
        RunError::Refused(refusal) => of_refusal(refusal),
        RunError::InvalidResult(error) => of_format(error),
        _ => false,
    };
    match error {
        Error::Format(error) => of_format(error),
        Error::Refused(refusal) => of_refusal(refusal),
        Error::Run(error) | Error::Solve(SolveError::Run(error)) => of_run(error),
        Error::Read(ReadError::TooLarge { .. }) => true,
        _ => false,
    }
}

fn of_refusal(refusal: &Refusal, text: String) -> PyErr {
    match refusal {
        Refusal::Format(_) | Refusal::UnknownVariant { .. } => PyValueError::new_err(text),
        _ => PyRuntimeError::new_err(text),
    }
}
