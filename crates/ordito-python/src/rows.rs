//! Arrays of a CSR matrix as SciPy has them: of the library's, and of a CSC matrix.

use crate::arrays::line;
use crate::aside::aside;
use crate::errors::exception;
use numpy::{Element, PyArray1};
use ordito::{Csr, Scalar};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

/// Does the work with arrays of whichever index types Python has them in: int32 or int64, each. Unsafe as [`line`] is.
macro_rules! with_index_types {
    ($indptr:expr, $indices:expr, |$offsets:ident, $others:ident| $work:expr) => {
        match (
            ($crate::arrays::line::<i32>($indptr), $crate::arrays::line::<i64>($indptr)),
            ($crate::arrays::line::<i32>($indices), $crate::arrays::line::<i64>($indices)),
        ) {
            ((Some($offsets), _), (Some($others), _)) => $work,
            ((Some($offsets), _), (_, Some($others))) => $work,
            ((_, Some($offsets)), (Some($others), _)) => $work,
            ((_, Some($offsets)), (_, Some($others))) => $work,
            _ => Err($crate::rows::wrong_indices()),
        }
    };
}
pub(crate) use with_index_types;

/// The arrays of a CSR matrix, made of those of a CSC one.
#[pyfunction]
pub(crate) fn rows_of_columns<'py>(
    shape: (usize, usize),
    indptr: &Bound<'py, PyAny>,
    indices: &Bound<'py, PyAny>,
    data: &Bound<'py, PyAny>,
) -> PyResult<[Bound<'py, PyAny>; 3]> {
    fn of<'py, S: Scalar + Element>(
        shape: (usize, usize),
        [indptr, indices, data]: [&Bound<'py, PyAny>; 3],
    ) -> Option<PyResult<[Bound<'py, PyAny>; 3]>> {
        let (py, (rows, cols)) = (data.py(), shape);
        // SAFETY: read before this returns, while the caller holds them.
        let sorted = unsafe {
            let values: &[S] = line(data)?;
            with_index_types!(indptr, indices, |offsets, row_indices| {
                aside(py, || Csr::from_csc_parts(rows, cols, offsets, row_indices, values)).map_err(exception)
            })
        };
        Some(sorted.map(|a| parts(py, a)))
    }
    let arrays = [indptr, indices, data];
    of::<f64>(shape, arrays)
        .or_else(|| of::<f32>(shape, arrays))
        .unwrap_or_else(|| Err(PyTypeError::new_err("data must be float32 or float64, without gaps")))
}

/// Offsets, columns and values as arrays that own them: nothing is copied. Indices are signed, as SciPy wants them.
pub(crate) fn parts<'py, S: Scalar + Element>(py: Python<'py>, a: Csr<S>) -> [Bound<'py, PyAny>; 3] {
    let (offsets, columns, values) = a.into_parts();
    // Both keep their bits: an offset is below 2^63, and where a column is not below 2^31 the caller widens it.
    let offsets = PyArray1::from_vec(py, bytemuck::cast_vec::<usize, i64>(offsets));
    [
        offsets.into_any(),
        PyArray1::from_vec(py, columns).into_any(),
        PyArray1::from_vec(py, values).into_any(),
    ]
}

pub(crate) fn wrong_indices() -> PyErr {
    PyTypeError::new_err("indptr and indices must be int32 or int64, of one dimension, without gaps")
}
