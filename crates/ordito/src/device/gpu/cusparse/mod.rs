//! cuSPARSE's products of a CSR matrix with a block of vectors and with a single one: what our kernels are compared with.

mod description;
mod spmm;
mod spmv;

pub use crate::device::gpu::cusparse::spmm::{Algorithm, CusparseSpmm, DenseOperand, Layout};
pub use crate::device::gpu::cusparse::spmv::{CusparseSpmv, VectorAlgorithm};

use crate::device::backend::Backend;
use crate::device::buffer::Buffer;
use crate::device::gpu::Gpu;
use crate::device::gpu::api::cusparse as sys;
use crate::device::gpu::cusparse::description::{Csr, Failure, call};
use crate::device::gpu::libraries::{Found, Library};
use crate::refusal::Refusal;
use bytemuck::Pod;
use std::sync::{Arc, Mutex};

/// The library, working in the stream of one GPU.
#[derive(Debug)]
pub struct Cusparse {
    gpu: Arc<Gpu>,
    found: &'static Found,
    /// One call at a time. Taken after the context is entered, never before: a thread that captures a graph would
    /// otherwise wait for one that waits for it.
    handle: Mutex<Handle>,
}

#[derive(Debug)]
struct Handle(sys::cusparseHandle_t);

// SAFETY: a handle may move between threads; the mutex keeps them from using it at the same time.
unsafe impl Send for Handle {}

impl Drop for Handle {
    fn drop(&mut self) {
        // SAFETY: the handle is valid and nobody has it any more.
        let _ = unsafe { sys::cusparseDestroy(self.0) };
    }
}

impl Cusparse {
    /// Opens the library for this GPU.
    pub fn open(gpu: &Arc<Gpu>) -> Result<Arc<Self>, Refusal> {
        let found = Library::Cusparse.find()?;
        let _turn = gpu.context().enter()?;
        let mut raw = std::ptr::null_mut();
        // SAFETY: the GPU's context is current; writes one handle.
        unsafe { call!(cusparseCreate(&mut raw)) }?;
        let handle = Handle(raw);
        // SAFETY: the handle is valid, and so is the stream as long as the GPU is.
        unsafe { call!(cusparseSetStream(handle.0, gpu.stream().raw())) }?;
        Ok(Arc::new(Cusparse { gpu: gpu.clone(), found, handle: Mutex::new(handle) }))
    }

    /// File and version.
    pub fn found(&self) -> &'static Found {
        self.found
    }
}

/// A CSR matrix on the GPU. cuSPARSE reads row starts and columns as signed 32-bit numbers.
#[derive(Debug)]
pub struct CsrOperand<'a, S> {
    /// Rows.
    pub rows: usize,
    /// Columns.
    pub cols: usize,
    /// One more than rows.
    pub row_starts: &'a Buffer<u32>,
    /// Of each nonzero.
    pub columns: &'a Buffer<u32>,
    /// Of each nonzero.
    pub values: &'a Buffer<S>,
}

impl<S: Pod> CsrOperand<'_, S> {
    /// As it is described. Refuses empty operands, what 31 bits do not count, and buffers of another GPU.
    fn description(&self, gpu: &Gpu, k: usize) -> Result<Csr, Refusal> {
        let refuse = |why: String| Err(Refusal::Unsupported(why));
        let memory = [self.row_starts.memory(), self.columns.memory(), self.values.memory()];
        if !memory.into_iter().all(|memory| gpu.owns(&**memory)) {
            return refuse("A lies in the memory of another device than the one that was to multiply".into());
        }
        let (rows, cols, nonzeros) = (self.rows, self.cols, self.values.len());
        if [rows, cols, nonzeros, k].contains(&0) {
            return refuse(format!(
                "cuSPARSE takes no empty operands: {rows}×{cols}, {nonzeros} nonzeros, K = {k}"
            ));
        }
        if nonzeros as u128 > rows as u128 * cols as u128 {
            return refuse(format!(
                "cuSPARSE takes no more nonzeros than places: {nonzeros} in {rows}×{cols}"
            ));
        }
        if let Some(count) = [rows, cols, nonzeros, k].into_iter().find(|&count| count > i32::MAX as usize) {
            return refuse(format!("cuSPARSE with 32-bit indices counts to {}, not to {count}", i32::MAX));
        }
        if (self.row_starts.len(), self.columns.len()) != (rows + 1, nonzeros) {
            return refuse(format!(
                "{} row starts and {} columns do not make a CSR matrix of {rows} rows and {nonzeros} nonzeros",
                self.row_starts.len(),
                self.columns.len()
            ));
        }
        Ok(Csr {
            rows: rows as i64,
            cols: cols as i64,
            nonzeros: nonzeros as i64,
            row_starts: self.row_starts.address(),
            columns: self.columns.address(),
            values: self.values.address(),
        })
    }
}

const PLAIN: sys::cusparseOperation_t = sys::cusparseOperation_t::CUSPARSE_OPERATION_NON_TRANSPOSE;

/// Did cuSPARSE look at the matrix? Not every algorithm can.
fn preprocessed(looked: Result<(), Failure>) -> Result<bool, Refusal> {
    match looked {
        Ok(()) => Ok(true),
        Err(failure) if failure.is_unsupported() => Ok(false),
        Err(failure) => Err(failure.into()),
    }
}
