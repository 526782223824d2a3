//! Vectors that solvers take and give: NumPy's, or of a GPU.

use crate::arrays::Block;
use crate::device::{self, Told};
use numpy::{Element, PyArray1, PyArrayMethods};
use ordito::device::DeviceDense;
use ordito::solve::Source;
use ordito::{Dense, Error, Scalar};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

/// Vectors as Python gives them: an array of NumPy's by rows, or where one of a GPU lies.
#[derive(FromPyObject)]
pub(crate) enum Given<'py> {
    OnDevice(Told),
    Array(Bound<'py, PyAny>),
}

/// The same without the interpreter.
#[derive(Clone, Copy)]
pub(crate) enum Vectors<S> {
    Host(Block<S>),
    Device(device::Block),
}

impl<S: Scalar + Element> Vectors<S> {
    pub(crate) fn of(given: &Option<Given<'_>>) -> PyResult<Option<Self>> {
        Ok(match given {
            None => None,
            Some(Given::OnDevice(told)) => Some(Vectors::Device(device::Block::at(*told))),
            Some(Given::Array(array)) => {
                let wrong = || PyTypeError::new_err("a block by rows of the matrix's element type expected");
                Some(Vectors::Host(Block::of(array).ok_or_else(wrong)?))
            }
        })
    }

    /// # Safety
    /// Whoever gave it holds the array for `'a`, and nobody writes it.
    pub(crate) unsafe fn source<'a>(self) -> Result<Source<'a, S>, Error> {
        // SAFETY: the caller's promise.
        unsafe {
            match self {
                Vectors::Host(block) => match block.by_rows() {
                    Some(view) => Ok(Source::Host(view)),
                    None => Err(ordito::FormatError::TooManyElements { what: "a block by columns" }.into()),
                },
                Vectors::Device(block) => Ok(Source::Device(block.view()?)),
            }
        }
    }
}

/// Vectors on the device go to where the caller wants them, in the order of its stream: while the solver's plan is in that order.
pub(crate) fn put_out<S: Scalar>(kept: Option<&DeviceDense<S>>, out: Option<Told>) -> Result<(), Error> {
    let (Some(kept), Some(out)) = (kept, out) else { return Ok(()) };
    // SAFETY: an array that the Python side has just made, and holds.
    Ok(kept.copy_into(unsafe { device::Block::at(out).view_mut() }?)?)
}

/// What became of the vectors: an array, or nothing where they were put to where the caller wanted them.
pub(crate) fn brought<'py, S: Scalar + Element>(
    py: Python<'py>,
    vectors: Dense<S>,
    kept: Option<DeviceDense<S>>,
    out: Option<Told>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    match (kept, out) {
        (Some(_), Some(_)) => Ok(None),
        (Some(_), None) => Err(PyValueError::new_err("vectors on a GPU need an array there")),
        (None, _) => {
            let (rows, cols) = vectors.shape();
            let array = PyArray1::from_vec(py, vectors.into_data()).reshape([rows, cols])?;
            Ok(Some(array.into_any()))
        }
    }
}
