//! What a matrix holds: a plan that borrows arrays of NumPy's or has taken those of a GPU, and products with other arrays.

use crate::arrays::{Block, is_writeable, line, unwritten};
use crate::aside::aside;
use crate::errors::exception;
use crate::machines::machine;
use crate::rows::{parts, with_index_types};
use numpy::Element;
use ordito::device::{DeviceCsrView, DeviceIndices};
use ordito::io::nearest;
use ordito::op::Op;
use ordito::spmm::{Plan, Spmm, ViewPlan};
use ordito::{CsrView, Error, Refusal, Scalar};
use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};

/// Does the same in either precision.
macro_rules! in_either {
    ($precision:expr, $held:ident => $work:expr) => {
        match &$precision {
            $crate::held::Precision::F32($held) => $work,
            $crate::held::Precision::F64($held) => $work,
        }
    };
}
pub(crate) use in_either;

/// What a matrix holds, in either precision.
pub(crate) enum Precision {
    F32(Held<f32>),
    F64(Held<f64>),
}

impl Precision {
    /// As [`Held::lengths`].
    pub(crate) fn lengths(&self, side: Side) -> (usize, usize) {
        in_either!(*self, held => held.lengths(side))
    }
    pub(crate) fn element_bytes(&self) -> u64 {
        match self {
            Precision::F32(_) => size_of::<f32>() as u64,
            Precision::F64(_) => size_of::<f64>() as u64,
        }
    }
}

pub(crate) struct Held<S: Scalar> {
    /// Reads what `_arrays` hold, and is dropped before them.
    plan: RwLock<Arc<ViewPlan<'static, S>>>,
    shape: (usize, usize),
    pub(crate) nonzeros: usize,
    /// Bytes of indices that had to be converted, or brought from a GPU.
    pub(crate) converted_bytes: usize,
    _arrays: Vec<Py<PyAny>>,
}

/// Arrays of a CSR matrix on a GPU, as Python tells them: addresses, and whether indices have 64 bits.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OnGpu {
    pub(crate) gpu: usize,
    pub(crate) nonzeros: usize,
    pub(crate) offsets: DeviceIndices,
    pub(crate) columns: DeviceIndices,
    pub(crate) values: u64,
}

/// Which product: of A or of its transposed, with vectors as columns on its right or as rows on its left.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Side {
    pub(crate) transposed: bool,
    pub(crate) from_left: bool,
}

impl Side {
    /// Does it take a plan of Aᵀ? Rows on the left are columns on the right of the transposed.
    pub(crate) fn of_transposed(self) -> bool {
        self.transposed != self.from_left
    }
}

/// As [`exception`]; where no kernel has the name, with one that is near.
fn refused<S: Scalar>(refusal: Refusal) -> PyErr {
    let near = match &refusal {
        Refusal::UnknownVariant { name } => {
            nearest(name, Spmm::<S>::variants().iter().map(|variant| variant.describe().name))
        }
        _ => None,
    };
    match near {
        Some(near) => PyValueError::new_err(format!("{refusal}; did you mean {near}?")),
        None => exception(refusal),
    }
}

impl<S: Scalar + Element> Held<S> {
    pub(crate) fn new(
        shape: (usize, usize),
        [indptr, indices, data]: [&Bound<'_, PyAny>; 3],
        threads: Option<usize>,
        gpu: Option<usize>,
        variant: Option<&str>,
    ) -> PyResult<Self> {
        let py = data.py();
        let machine = machine(py, threads, gpu)?;
        // SAFETY: this holds a reference to each array for longer than the plan lives; that nobody writes them is what the Python
        // side documents.
        let values: &'static [S] = unsafe { line(data) }
            .ok_or_else(|| PyTypeError::new_err("data must have one dimension, without gaps"))?;
        // SAFETY: the same.
        let view = unsafe {
            with_index_types!(indptr, indices, |offsets, columns| {
                CsrView::from_parts(shape.0, shape.1, offsets, columns, values).map_err(exception)
            })
        }?;
        let converted_bytes = view.converted_bytes();
        let plan = aside(py, || match variant {
            Some(name) => ViewPlan::with_variant(name, view, &machine),
            None => ViewPlan::new(view, &machine),
        });
        let plan = RwLock::new(Arc::new(plan.map_err(refused::<S>)?));
        let arrays = [indptr, indices, data].map(|array| array.clone().unbind()).into();
        Ok(Held { plan, shape, nonzeros: values.len(), converted_bytes, _arrays: arrays })
    }

    /// Takes a copy of arrays that lie on the GPU that multiplies.
    ///
    /// # Safety
    /// They are there, `nonzeros` of them and one offset more than rows, and nothing that writes them is under way.
    pub(crate) unsafe fn taken(
        py: Python<'_>,
        shape: (usize, usize),
        arrays: OnGpu,
        threads: Option<usize>,
        variant: Option<&str>,
    ) -> PyResult<Self> {
        let machine = machine(py, threads, Some(arrays.gpu))?;
        let OnGpu { nonzeros, offsets, columns, values, .. } = arrays;
        let plan = aside(py, || {
            // SAFETY: the caller's promise.
            let a = unsafe { DeviceCsrView::<S>::from_raw(shape, nonzeros, offsets, columns, values) };
            let a = a.to_csr(&machine.device()?)?;
            match variant {
                Some(name) => Plan::with_variant(name, a, &machine),
                None => Plan::new(a, &machine),
            }
        })
        .map_err(refused::<S>)?;
        let converted_bytes =
            size_of_val(plan.matrix().row_offsets()) + size_of_val(plan.matrix().col_indices());
        let plan = RwLock::new(Arc::new(plan.into()));
        Ok(Held { plan, shape, nonzeros, converted_bytes, _arrays: Vec::new() })
    }

    /// Copies of offsets, columns and values; an exception where they lie on a device that has failed.
    pub(crate) fn arrays<'py>(&self, py: Python<'py>) -> PyResult<[Bound<'py, PyAny>; 3]> {
        let copy = aside(py, || self.plan().matrix().try_clone()).map_err(exception)?;
        Ok(parts(py, copy))
    }

    /// Never called with the interpreter's lock held: one that updates waits for those that multiply.
    pub(crate) fn plan(&self) -> RwLockReadGuard<'_, Arc<ViewPlan<'static, S>>> {
        self.plan.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// For a solver, which may call functions of Python's that use the matrix too: nobody waits for it.
    pub(crate) fn shared_plan(&self) -> Arc<ViewPlan<'static, S>> {
        self.plan().clone()
    }

    /// Runs the plan of A, or that of Aᵀ.
    pub(crate) fn with_plan<R, E: Into<Error>>(
        &self,
        side: Side,
        work: impl FnOnce(&Plan<S>) -> Result<R, E>,
    ) -> Result<R, Error> {
        let plan = self.plan();
        let plan: &Plan<S> = if side.of_transposed() { plan.transposed()? } else { &plan };
        work(plan).map_err(Into::into)
    }

    /// Elements of the vectors that go in, and of those that come out.
    pub(crate) fn lengths(&self, side: Side) -> (usize, usize) {
        let (rows, cols) = self.shape;
        if side.of_transposed() { (rows, cols) } else { (cols, rows) }
    }

    /// `None` where an array must be copied or converted first, or cannot be used at all: Python sees to the one, and says the other.
    pub(crate) fn product<'py>(
        &self,
        x: &Bound<'py, PyAny>,
        out: Option<&Bound<'py, PyAny>>,
        (alpha, beta): (S, S),
        side: Side,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let Some(x) = Block::<S>::of(x).map(|block| (x, block)) else { return Ok(None) };
        let (py, dimensions) = (x.0.py(), x.1.dimensions);
        // As columns on the right of what is multiplied. A vector is a column on either side.
        let turned =
            |block: Block<S>| if side.from_left && dimensions > 1 { block.transposed() } else { block };
        let x = turned(x.1);
        let (length, result_length) = self.lengths(side);
        let columns = x.place().cols;
        if x.place().rows != length {
            return Ok(None);
        }
        let y_array = match out {
            Some(out) => out.clone(),
            None => {
                let shape = [result_length, columns];
                let shape = match (dimensions, side.from_left) {
                    (1, _) => &shape[..1],
                    (_, false) => &shape[..],
                    (_, true) => &[columns, result_length],
                };
                // SAFETY: β is 0, as the caller has seen to; then the product writes every element and reads none.
                unsafe { unwritten::<S>(py, shape) }?
            }
        };
        let Some(y) = Block::<S>::of(&y_array) else { return Ok(None) };
        let (y_dimensions, y) = (y.dimensions, turned(y));
        let fits = y_dimensions == dimensions && (y.place().rows, y.place().cols) == (result_length, columns);
        if !fits || (out.is_some() && (!is_writeable(&y_array) || x.overlaps(&y))) {
            return Ok(None);
        }
        aside(py, || {
            // SAFETY: both arrays are referenced until the call ends, and do not overlap. That no other thread of Python writes
            // them meanwhile is as with every function of NumPy's that releases the lock. Where threads write side by side into rows
            // of one array, their views overlap in gaps, which no kernel touches.
            let (x, y) = unsafe { (x.view()?, y.view_mut()?) };
            self.with_plan(side, |plan| plan.apply(alpha, x, beta, y))
        })
        .map_err(exception)?;
        Ok(Some(y_array))
    }

    pub(crate) fn update_values(&self, data: &Bound<'_, PyAny>) -> PyResult<()> {
        // SAFETY: copied before this returns.
        let values: &[S] =
            unsafe { line(data) }.ok_or_else(|| PyTypeError::new_err("data: another dtype or gaps"))?;
        let values = values.to_vec();
        let updated = aside(data.py(), || {
            let mut plan = self.plan.write().unwrap_or_else(PoisonError::into_inner);
            Arc::get_mut(&mut plan).map(|plan| plan.update_values(values))
        });
        match updated {
            Some(updated) => updated.map_err(exception),
            None => Err(PyRuntimeError::new_err(
                "a solver is at work with this matrix: its values cannot change meanwhile",
            )),
        }
    }
}
