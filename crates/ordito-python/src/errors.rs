//! What the library's errors are in Python.

use ordito::io::{ReadError, WriteError};
use ordito::{Error, Refusal, RunError};
use pyo3::exceptions::{
    PyFileNotFoundError, PyMemoryError, PyOSError, PyPermissionError, PyRuntimeError, PyValueError,
};
use pyo3::prelude::*;

/// The exception for an error; its text is the library's sentence.
pub(crate) fn exception(error: impl Into<Error>) -> PyErr {
    let error = error.into();
    let text = error.to_string();
    match error {
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

fn of_refusal(refusal: &Refusal, text: String) -> PyErr {
    match refusal {
        Refusal::Memory { .. } | Refusal::DeviceMemory { .. } => PyMemoryError::new_err(text),
        Refusal::Format(_) | Refusal::UnknownVariant { .. } => PyValueError::new_err(text),
        _ => PyRuntimeError::new_err(text),
    }
}
