//! Dense products and statistics of columns.

use crate::arrays::{Block, is_writeable};
use crate::aside::aside;
use crate::errors::exception;
use crate::machines::machine;
use numpy::{Element, PyArray1};
use ordito::column_stats::{Statistics, column_stats as statistics};
use ordito::gemm::gemm as product;
use ordito::{BlockViewMut, Error, Scalar};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// C = alpha A B + beta C, all by rows. False where an array must be converted first.
#[pyfunction]
pub(crate) fn gemm(
    py: Python<'_>,
    a: &Bound<'_, PyAny>,
    b: &Bound<'_, PyAny>,
    c: &Bound<'_, PyAny>,
    alpha: f64,
    beta: f64,
) -> PyResult<bool> {
    if !is_writeable(c) {
        return Err(PyValueError::new_err("out is read-only"));
    }
    if let Some([a, b, c]) = blocks::<f64, 3>([a, b, c]) {
        return of(py, [a, b, c], (alpha, beta));
    }
    match blocks::<f32, 3>([a, b, c]) {
        Some(blocks) => of(py, blocks, (alpha as f32, beta as f32)),
        None => Ok(false),
    }
}

fn of<S: Scalar + Element>(
    py: Python<'_>,
    [a, b, c]: [Block<S>; 3],
    (alpha, beta): (S, S),
) -> PyResult<bool> {
    if c.overlaps(&a) || c.overlaps(&b) {
        return Ok(false);
    }
    let done = aside(py, || {
        // SAFETY: the arrays are referenced until the call ends, and C overlaps neither of the others.
        let views = unsafe { (a.by_rows(), b.by_rows(), c.view_mut()?) };
        let (Some(a), Some(b), BlockViewMut::Rows(c)) = views else { return Ok(false) };
        product(alpha, a, b, beta, c)?;
        Ok::<_, Error>(true)
    });
    done.map_err(exception)
}

fn blocks<S: Scalar + Element, const N: usize>(arrays: [&Bound<'_, PyAny>; N]) -> Option<[Block<S>; N]> {
    let found: Vec<_> =
        arrays.into_iter().map_while(Block::of).filter(|block| block.dimensions == 2).collect();
    found.try_into().ok()
}

type Found<'py> = (u64, [Bound<'py, PyArray1<f64>>; 4]);

/// Rows, and mean, variance, least and greatest element of every column; `None` where the array must be converted first.
#[pyfunction]
#[pyo3(signature = (data, threads=None, gpu=None))]
pub(crate) fn column_stats<'py>(
    data: &Bound<'py, PyAny>,
    threads: Option<usize>,
    gpu: Option<usize>,
) -> PyResult<Option<Found<'py>>> {
    let py = data.py();
    let machine = machine(py, threads, gpu)?;
    let of_either = aside(py, {
        let (wide, narrow) = (blocks::<f64, 1>([data]), blocks::<f32, 1>([data]));
        move || -> Option<Result<Statistics, Error>> {
            // SAFETY: the array is referenced until the call ends.
            if let Some(data) = wide.and_then(|[block]| unsafe { block.by_rows() }) {
                return Some(statistics(data, &machine).map_err(Into::into));
            }
            // SAFETY: the same.
            let data = narrow.and_then(|[block]| unsafe { block.by_rows() })?;
            Some(statistics(data, &machine).map_err(Into::into))
        }
    });
    let Some(found) = of_either.transpose().map_err(exception)? else { return Ok(None) };
    let Statistics { count, mean, variance, min, max } = found;
    Ok(Some((count, [mean, variance, min, max].map(|row| PyArray1::from_vec(py, row)))))
}
