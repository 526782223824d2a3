//! What a solver multiplies with beside the matrix itself: another matrix of ours, a function of Python's, or a diagonal.

use crate::arrays::Block;
use crate::aside::back;
use crate::held::{Held, Precision};
use crate::matrix::Matrix;
use numpy::{Element, PyArray1, PyArrayMethods};
use ordito::solve::Operator;
use ordito::{BlockView, DenseView, DenseViewMut, RunError, Scalar};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use std::sync::{Mutex, PoisonError};

/// The exception that a function of Python's has raised: it is passed on when the solver has returned.
#[derive(Default)]
pub(crate) struct Raised(Mutex<Option<PyErr>>);

impl Raised {
    pub(crate) fn put(&self, error: PyErr) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
    }
    pub(crate) fn take(&self) -> Option<PyErr> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// As Python gives it.
pub(crate) enum Multiplier<S> {
    Matrix(Py<Matrix>),
    /// A block in, a block out.
    Function(Py<PyAny>),
    /// What rows are multiplied by.
    Diagonal(Vec<S>),
}

impl<S: Scalar + Element> Multiplier<S> {
    pub(crate) fn of(given: &Bound<'_, PyAny>) -> PyResult<Self> {
        if let Ok(matrix) = given.cast::<Matrix>() {
            return Ok(Multiplier::Matrix(matrix.clone().unbind()));
        }
        if let Ok(diagonal) = given.cast::<PyArray1<S>>() {
            return Ok(Multiplier::Diagonal(diagonal.to_vec()?));
        }
        if given.is_callable() {
            return Ok(Multiplier::Function(given.clone().unbind()));
        }
        Err(PyTypeError::new_err("an ordito.Matrix, a function or a vector of the matrix's type expected"))
    }
}

/// What a matrix holds in this precision.
pub(crate) trait InPrecision: Scalar + Element {
    fn held(matrix: &Matrix) -> Option<&Held<Self>>;
}

impl InPrecision for f32 {
    fn held(matrix: &Matrix) -> Option<&Held<f32>> {
        match &matrix.held {
            Precision::F32(held) => Some(held),
            Precision::F64(_) => None,
        }
    }
}

impl InPrecision for f64 {
    fn held(matrix: &Matrix) -> Option<&Held<f64>> {
        match &matrix.held {
            Precision::F64(held) => Some(held),
            Precision::F32(_) => None,
        }
    }
}

/// A function of Python's as an operator on the CPU.
pub(crate) struct Function<'a> {
    pub(crate) rows: usize,
    pub(crate) call: &'a Py<PyAny>,
    pub(crate) raised: &'a Raised,
}

impl<S: Scalar + Element> Operator<S> for Function<'_> {
    fn rows(&self) -> usize {
        self.rows
    }
    fn cols(&self) -> usize {
        self.rows
    }
    fn apply(&self, x: DenseView<'_, S>, mut y: DenseViewMut<'_, S>) -> Result<(), RunError> {
        let called = back(|py| -> PyResult<()> {
            let numbers: Vec<S> = (0..x.rows()).flat_map(|row| x.row(row).iter().copied()).collect();
            let block = PyArray1::from_vec(py, numbers).reshape([x.rows(), x.cols()])?;
            let result = self.call.bind(py).call1((block,))?;
            let found = Block::<S>::of(&result).ok_or_else(|| {
                PyTypeError::new_err("the operator's result is no block of the matrix's element type")
            })?;
            if (found.place().rows, found.place().cols) != x.shape() {
                let (rows, cols) = x.shape();
                return Err(PyValueError::new_err(format!("the operator's result is not {rows}×{cols}")));
            }
            // SAFETY: the array is held by `result`, and nobody else knows it yet.
            match unsafe { found.view() }.map_err(crate::errors::exception)? {
                BlockView::Rows(found) => {
                    (0..x.rows()).for_each(|row| y.row_mut(row).copy_from_slice(found.row(row)));
                }
                BlockView::Columns(found) => {
                    for row in 0..x.rows() {
                        for (col, to) in y.row_mut(row).iter_mut().enumerate() {
                            *to = found.column(col)[row];
                        }
                    }
                }
                _ => {
                    return Err(PyTypeError::new_err(
                        "the operator's result lies otherwise than by rows or columns",
                    ));
                }
            }
            Ok(())
        });
        called.map_err(|error| {
            self.raised.put(error);
            RunError::Interrupted(ordito::machine::Interrupted)
        })
    }
}
