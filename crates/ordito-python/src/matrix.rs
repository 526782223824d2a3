//! The class of Python's for a matrix in arrays of NumPy's, made ready for products.

use crate::aside::aside;
use crate::device::{self, Block, Told};
use crate::errors::exception;
use crate::foreign;
use crate::held::{Held, OnGpu, Precision, Side, in_either};
use numpy::{PyArray1, PyUntypedArray};
use ordito::Choice;
use ordito::device::DeviceIndices;
use pyo3::exceptions::PyTypeError;
use pyo3::intern;
use pyo3::prelude::*;

/// Arrays of a CSR matrix and what is prepared of them. The arrays are borrowed: whoever made it does not change them.
#[pyclass(frozen, module = "ordito._ordito")]
pub(crate) struct Matrix {
    pub(crate) held: Precision,
    /// The GPU that multiplies, if one does.
    pub(crate) gpu: Option<usize>,
}

#[pymethods]
impl Matrix {
    /// Arrays as SciPy has them, `data` in float32 or float64.
    #[new]
    #[pyo3(signature = (shape, indptr, indices, data, threads=None, gpu=None, variant=None))]
    fn new(
        shape: (usize, usize),
        indptr: &Bound<'_, PyAny>,
        indices: &Bound<'_, PyAny>,
        data: &Bound<'_, PyAny>,
        threads: Option<usize>,
        gpu: Option<usize>,
        variant: Option<&str>,
    ) -> PyResult<Self> {
        let arrays = [indptr, indices, data];
        let held = if data.cast::<PyArray1<f32>>().is_ok() {
            Precision::F32(Held::new(shape, arrays, threads, gpu, variant)?)
        } else if data.cast::<PyArray1<f64>>().is_ok() {
            Precision::F64(Held::new(shape, arrays, threads, gpu, variant)?)
        } else {
            return Err(PyTypeError::new_err("data must be float32 or float64"));
        };
        Ok(Matrix { held, gpu })
    }

    /// Of arrays on that GPU, which are copied there: the address of each, and whether its elements have 64
    /// bits.
    ///
    /// The Python side has asked arrays that it holds, whose lengths fit, and has waited for what was being done with them.
    #[staticmethod]
    #[allow(clippy::too_many_arguments)] // of one call, all plain
    fn taken(
        py: Python<'_>,
        shape: (usize, usize),
        nonzeros: usize,
        indptr: (u64, bool),
        indices: (u64, bool),
        data: (u64, bool),
        gpu: usize,
        threads: Option<usize>,
        variant: Option<&str>,
    ) -> PyResult<Self> {
        let wide = |(address, is_wide): (u64, bool)| match is_wide {
            true => DeviceIndices::Bits64(address),
            false => DeviceIndices::Bits32(address),
        };
        let arrays = OnGpu { gpu, nonzeros, offsets: wide(indptr), columns: wide(indices), values: data.0 };
        // SAFETY: the Python side holds arrays that lie there, with so many elements of that width, and nothing writes them.
        let held = unsafe {
            match data.1 {
                true => Precision::F64(Held::taken(py, shape, arrays, threads, variant)?),
                false => Precision::F32(Held::taken(py, shape, arrays, threads, variant)?),
            }
        };
        Ok(Matrix { held, gpu: Some(gpu) })
    }

    /// Copies of its offsets, columns and values: brought from a GPU where they were taken there.
    fn arrays<'py>(&self, py: Python<'py>) -> PyResult<[Bound<'py, PyAny>; 3]> {
        in_either!(self.held, held => held.arrays(py))
    }

    /// Stored entries.
    #[getter]
    fn nnz(&self) -> usize {
        in_either!(self.held, held => held.nonzeros)
    }

    /// A·X, Aᵀ·X, X·A or X·Aᵀ: alpha times that, plus beta times out. `None` where an array must be converted first (another
    /// element type, gaps in both directions, out above X), and where shapes do not fit or out is read-only.
    #[pyo3(signature = (x, out=None, alpha=1.0, beta=0.0, transposed=false, from_left=false))]
    fn product<'py>(
        &self,
        x: &Bound<'py, PyAny>,
        out: Option<&Bound<'py, PyAny>>,
        alpha: f64,
        beta: f64,
        transposed: bool,
        from_left: bool,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let beta = if out.is_some() { beta } else { 0.0 };
        let side = Side { transposed, from_left };
        if let Some(y) = foreign::product((&self.held, self.gpu), x, out, (alpha, beta), side)? {
            return Ok(Some(y));
        }
        // A mask is the Python side's business.
        if !x.is_exact_instance_of::<PyUntypedArray>() && x.hasattr(intern!(x.py(), "mask"))? {
            return Ok(None);
        }
        match &self.held {
            Precision::F32(held) => held.product(x, out, (alpha as f32, beta as f32), side),
            Precision::F64(held) => held.product(x, out, (alpha, beta), side),
        }
    }

    /// Kernel, reason, seconds and bytes of making ready for so many columns.
    fn prepare(
        &self,
        py: Python<'_>,
        columns: usize,
        transposed: bool,
    ) -> PyResult<(String, String, f64, u64)> {
        let side = Side { transposed, from_left: false };
        let prepared =
            aside(py, || in_either!(self.held, held => held.with_plan(side, |plan| plan.prepare(columns))));
        let prepared = prepared.map_err(exception)?;
        let (choice, seconds) = (prepared.choice, prepared.time.as_secs_f64());
        Ok((choice.variant.to_string(), choice.reason, seconds, prepared.bytes))
    }

    /// Columns, kernel and reason, for every number of columns that there was a product A·X with.
    fn choices(&self, py: Python<'_>) -> Vec<(usize, String, String)> {
        let choices = aside(py, || in_either!(self.held, held => held.plan().choices()));
        let named = |(columns, choice): (usize, Choice)| (columns, choice.variant.to_string(), choice.reason);
        choices.into_iter().map(named).collect()
    }

    /// Other numbers for the same pattern, in the same order.
    fn update_values(&self, data: &Bound<'_, PyAny>) -> PyResult<()> {
        in_either!(self.held, held => held.update_values(data))
    }

    /// Bytes beside the arrays that it was made of: what was converted, and what is prepared.
    fn bytes(&self, py: Python<'_>) -> u64 {
        aside(py, || in_either!(self.held, held => held.converted_bytes as u64 + held.plan().bytes()))
    }

    /// Bytes of indices that had to be converted.
    #[getter]
    fn converted_bytes(&self) -> usize {
        in_either!(self.held, held => held.converted_bytes)
    }
}

/// Y = alpha A X + beta Y, or with the transposed of A, in the order of `stream`. Only enqueues.
///
/// The Python side has asked the arrays where they lie, and that they are of the matrix's GPU and element type.
#[pyfunction]
#[allow(clippy::too_many_arguments)] // of one call, all plain; Python builds no object for them
pub(crate) fn product_on_device(
    py: Python<'_>,
    matrix: &Bound<'_, Matrix>,
    x: Told,
    y: Told,
    alpha: f64,
    beta: f64,
    transposed: bool,
    stream: usize,
) -> PyResult<()> {
    let side = Side { transposed, from_left: false };
    // SAFETY: the Python side has asked arrays that it holds where they lie; they are used in the stream that it named.
    unsafe {
        device::enqueue(py, &matrix.get().held, Block::at(x), Block::at(y), (alpha, beta), side, stream)
    }
}
