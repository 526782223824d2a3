//! What the library's errors are in Python.

use ordito::io::ReadError;
use ordito::{Error, Refusal, RunError};
use pyo3::exceptions::{PyFileNotFoundError, PyMemoryError, PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;

/// The exception for an error; its text is the library's sentence.
pub(crate) fn exception(error: impl Into<Error>) -> PyErr {
    let error = error.into();
    let text = error.to_string();
    match error {
        Error::Refused(refusal) | Error::Run(RunError::Refused(refusal)) => of_refusal(&refusal, text),
        Error::Device(_) | Error::Run(RunError::Device(_)) => PyRuntimeError::new_err(text),
        Error::Read(ReadError::Io { reason, .. }) | Error::Read(ReadError::Interrupted { reason, .. }) => {
            // With a number of the system's, Python makes it a FileNotFoundError, a PermissionError …
            reason.raw_os_error().map_or_else(
                || PyOSError::new_err(text.clone()),
                |number| PyOSError::new_err((number, text.clone())),
            )
        }
        Error::Read(ReadError::UnknownName { .. }) => PyFileNotFoundError::new_err(text),
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
