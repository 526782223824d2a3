//! Matrices from files and names, and into files.

use crate::arrays::line;
use crate::aside::aside;
use crate::errors::exception;
use crate::rows::parts;
use numpy::{Element, PyArray1, PyArrayMethods};
use ordito::io::matrix_market::WriteOptions;
use ordito::io::{
    NonFinite, ReadOptions, TextOptions, TextSeparator, read_csr as read_rows, read_matrix_market,
    read_text_matrix, write_matrix_market,
};
use ordito::{Coo, Duplicates, Scalar};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use std::path::PathBuf;

type Rows<'py> = ((usize, usize), [Bound<'py, PyAny>; 3]);

/// The matrix of a file or a synthetic name by rows: shape, and offsets, columns and values.
#[pyfunction]
pub(crate) fn read_csr<'py>(py: Python<'py>, name: &str, single: bool) -> PyResult<Rows<'py>> {
    fn of<'py, S: Scalar + Element>(py: Python<'py>, name: &str) -> PyResult<Rows<'py>> {
        let a = aside(py, || read_rows::<S>(name)).map_err(exception)?;
        Ok((a.shape(), parts(py, a)))
    }
    if single { of::<f32>(py, name) } else { of::<f64>(py, name) }
}

/// Shape, rows, columns and values in the order of the file, symmetry expanded, and what kind of numbers they are there.
type Triplets<'py> = ((usize, usize), [Bound<'py, PyAny>; 3], String, String);

/// The entries of a Matrix Market file.
#[pyfunction]
pub(crate) fn read_coo(py: Python<'_>, path: PathBuf) -> PyResult<Triplets<'_>> {
    let options = ReadOptions { duplicates: Duplicates::Keep, ..ReadOptions::default() };
    let read = aside(py, || read_matrix_market::<f64>(&path, &options)).map_err(exception)?;
    let shape = read.coo.shape();
    let (rows, cols, values) = read.coo.into_parts();
    let arrays = [
        PyArray1::from_vec(py, rows).into_any(),
        PyArray1::from_vec(py, cols).into_any(),
        PyArray1::from_vec(py, values).into_any(),
    ];
    Ok((shape, arrays, read.header.field.to_string(), read.header.format.to_string()))
}

/// Writes entries as they stand into a Matrix Market file, whole or not at all.
#[pyfunction]
pub(crate) fn write_coo(
    py: Python<'_>,
    path: PathBuf,
    shape: (usize, usize),
    arrays: [Bound<'_, PyAny>; 3],
    comment: String,
) -> PyResult<()> {
    fn of<S: Scalar + Element>(
        shape: (usize, usize),
        arrays: &[Bound<'_, PyAny>; 3],
    ) -> Option<PyResult<Coo<S>>> {
        let [rows, cols, values] = arrays;
        // SAFETY: copied before this returns.
        let (rows, cols, values) = unsafe { (line::<u32>(rows)?, line::<u32>(cols)?, line::<S>(values)?) };
        Some(Coo::new(shape.0, shape.1, rows.to_vec(), cols.to_vec(), values.to_vec()).map_err(exception))
    }
    let options = WriteOptions { comment, ..WriteOptions::default() };
    let written = if let Some(coo) = of::<f64>(shape, &arrays).transpose()? {
        aside(py, || write_matrix_market(&coo, &path, &options))
    } else if let Some(coo) = of::<f32>(shape, &arrays).transpose()? {
        aside(py, || write_matrix_market(&coo, &path, &options))
    } else {
        return Err(PyTypeError::new_err(
            "rows and columns must be uint32, values float32 or float64, without gaps",
        ));
    };
    written.map_err(exception)
}

/// The numbers of a text file by rows, and the names above its columns; refused where something else than `separator` stands between numbers.
#[pyfunction]
#[pyo3(signature = (path, single, separator=None))]
pub(crate) fn read_text(
    py: Python<'_>,
    path: PathBuf,
    single: bool,
    separator: Option<u8>,
) -> PyResult<(Bound<'_, PyAny>, Option<Vec<String>>)> {
    fn of<S: Scalar + Element>(
        py: Python<'_>,
        path: PathBuf,
        separator: Option<TextSeparator>,
    ) -> PyResult<(Bound<'_, PyAny>, Option<Vec<String>>)> {
        let options = TextOptions { non_finite: NonFinite::Allow, separator, ..TextOptions::default() };
        let read = aside(py, || read_text_matrix::<S>(&path, &options)).map_err(exception)?;
        let shape = read.matrix.shape();
        let numbers = PyArray1::from_vec(py, read.matrix.into_data());
        Ok((numbers.reshape(shape)?.into_any(), read.header))
    }
    let known = |byte| {
        let unknown = || PyValueError::new_err("a separator is a space, a tab, a comma or a semicolon");
        TextSeparator::from_byte(byte).ok_or_else(unknown)
    };
    let separator = separator.map(known).transpose()?;
    if single { of::<f32>(py, path, separator) } else { of::<f64>(py, path, separator) }
}
