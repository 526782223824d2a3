//! cuSPARSE's product of a CSR matrix and a block of vectors: what our kernels are compared with.

mod description;

use super::Gpu;
use super::context::Context;
use super::libraries::{Found, Library};
use super::memory::DeviceMemory;
use crate::Scalar;
use crate::machine::device::Memory;
use crate::machine::{Buffer, DeviceError, Refusal};
use cudarc::cusparse::sys;
use description::{Csr, DenseDescription, Failure, SparseDescription, call, data_type, pointer};
use std::ffi::c_void;
use std::marker::PhantomData;
use std::sync::{Arc, Mutex, PoisonError};

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

/// Which of cuSPARSE's ways is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Algorithm {
    /// `CUSPARSE_SPMM_ALG_DEFAULT`
    Default,
    /// `CUSPARSE_SPMM_CSR_ALG1`
    Csr1,
    /// `CUSPARSE_SPMM_CSR_ALG2`: the one made for row-major operands.
    Csr2,
    /// `CUSPARSE_SPMM_CSR_ALG3`
    Csr3,
}

impl Algorithm {
    fn raw(self) -> sys::cusparseSpMMAlg_t {
        match self {
            Algorithm::Default => sys::cusparseSpMMAlg_t::CUSPARSE_SPMM_ALG_DEFAULT,
            Algorithm::Csr1 => sys::cusparseSpMMAlg_t::CUSPARSE_SPMM_CSR_ALG1,
            Algorithm::Csr2 => sys::cusparseSpMMAlg_t::CUSPARSE_SPMM_CSR_ALG2,
            Algorithm::Csr3 => sys::cusparseSpMMAlg_t::CUSPARSE_SPMM_CSR_ALG3,
        }
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
        unsafe { call!(cusparseSetStream(handle.0, gpu.stream().raw().cast())) }?;
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

/// A row-major dense matrix on the GPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DenseOperand {
    /// Its first element.
    pub address: u64,
    /// Elements from one row to the next.
    pub leading_dimension: usize,
}

/// Y = αAX + βY by cuSPARSE. A's buffers, and those of X and Y that were bound last, must live as long as it runs.
#[derive(Debug)]
pub struct CusparseSpmm<S> {
    library: Arc<Cusparse>,
    a: Csr,
    k: usize,
    algorithm: Algorithm,
    bound: Option<Bound>,
    scalar: PhantomData<S>,
}

/// Descriptions of the operands, and the memory that cuSPARSE asked for.
#[derive(Debug)]
struct Bound {
    a: SparseDescription,
    x: DenseDescription,
    y: DenseDescription,
    workspace: DeviceMemory,
    preprocessed: bool,
}

const PLAIN: sys::cusparseOperation_t = sys::cusparseOperation_t::CUSPARSE_OPERATION_NON_TRANSPOSE;

/// Of rows that lay apart by other distances one run ended in a misaligned access, and the context with it (cuSPARSE
/// 12.6.3, conformance tests); which algorithm and K it was is not known. Since they are refused, none has.
const VECTOR_BYTES: usize = 16;

impl<S: Scalar> CusparseSpmm<S> {
    /// A product with `k` columns. Refuses empty operands and what 31 bits do not count.
    pub fn new(
        library: &Arc<Cusparse>,
        a: &CsrOperand<'_, S>,
        k: usize,
        algorithm: Algorithm,
    ) -> Result<Self, Refusal> {
        let refuse = |why: String| Err(Refusal::Unsupported(why));
        let (rows, cols, nonzeros) = (a.rows, a.cols, a.values.len());
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
        if (a.row_starts.len(), a.columns.len()) != (rows + 1, nonzeros) {
            return refuse(format!(
                "{} row starts and {} columns do not make a CSR matrix of {rows} rows and {nonzeros} nonzeros",
                a.row_starts.len(),
                a.columns.len()
            ));
        }
        let a = Csr {
            rows: rows as i64,
            cols: cols as i64,
            nonzeros: nonzeros as i64,
            row_starts: a.row_starts.address(),
            columns: a.columns.address(),
            values: a.values.address(),
        };
        Ok(CusparseSpmm { library: library.clone(), a, k, algorithm, bound: None, scalar: PhantomData })
    }

    /// Tells where X and Y lie. Asks cuSPARSE for its workspace and lets it look at A where the leading dimensions
    /// are new; costs next to nothing where only the addresses are, and nothing where nothing is.
    pub fn bind(&mut self, x: DenseOperand, y: DenseOperand) -> Result<(), Refusal> {
        if x.leading_dimension < self.k || y.leading_dimension < self.k {
            let (x, y, k) = (x.leading_dimension, y.leading_dimension, self.k);
            return Err(Refusal::Device(format!("leading dimensions {x} and {y} are less than K = {k}")));
        }
        for distance in [x.leading_dimension, y.leading_dimension] {
            if distance != self.k && !(distance * size_of::<S>()).is_multiple_of(VECTOR_BYTES) {
                let k = self.k;
                return Err(Refusal::Unsupported(format!(
                    "cuSPARSE takes rows that lie K = {k} elements or a multiple of {VECTOR_BYTES} bytes apart, not {distance} elements"
                )));
            }
        }
        if let Some(bound) = &mut self.bound {
            let like = |bound: &DenseDescription, operand: DenseOperand| {
                bound.operand.leading_dimension == operand.leading_dimension
            };
            if like(&bound.x, x) && like(&bound.y, y) {
                for (description, operand) in [(&mut bound.x, x), (&mut bound.y, y)] {
                    if description.operand != operand {
                        description.move_to(operand.address)?;
                    }
                }
                return Ok(());
            }
        }
        self.bound = None; // its workspace is free again
        self.bound = Some(self.describe(x, y)?);
        Ok(())
    }

    fn describe(&self, x: DenseOperand, y: DenseOperand) -> Result<Bound, Refusal> {
        let (library, algorithm, of) = (&self.library, self.algorithm.raw(), data_type::<S>());
        let context: &Context = library.gpu.context();
        let (alpha, beta) = (S::ONE, S::ZERO);
        let (alpha, beta) = ((&raw const alpha).cast::<c_void>(), (&raw const beta).cast::<c_void>());
        let a = SparseDescription::new::<S>(self.a)?;
        let x = DenseDescription::new::<S>(self.a.cols, self.k, x)?;
        let y = DenseDescription::new::<S>(self.a.rows, self.k, y)?;
        let (raw_a, raw_x, raw_y) = (a.raw(), x.raw.cast_const(), y.raw);
        let mut bytes = 0;
        {
            let _turn = context.enter()?;
            let handle = library.handle.lock().unwrap_or_else(PoisonError::into_inner);
            // SAFETY: handle and descriptions are valid, both factors are of the type that the call is told; writes
            // one number.
            unsafe {
                call!(cusparseSpMM_bufferSize(
                    handle.0, PLAIN, PLAIN, alpha, raw_a, raw_x, beta, raw_y, of, algorithm, &mut bytes
                ))
            }?;
        }
        let workspace = DeviceMemory::allocate(&library.gpu, "cuSPARSE's workspace", bytes)?;
        let _turn = context.enter()?;
        let handle = library.handle.lock().unwrap_or_else(PoisonError::into_inner);
        let room = pointer(workspace.address());
        // SAFETY: as above, and the workspace has the size that was asked for.
        let looked = unsafe {
            call!(cusparseSpMM_preprocess(
                handle.0, PLAIN, PLAIN, alpha, raw_a, raw_x, beta, raw_y, of, algorithm, room
            ))
        };
        let preprocessed = match looked {
            Ok(()) => true,
            Err(Failure { status: sys::cusparseStatus_t::CUSPARSE_STATUS_NOT_SUPPORTED, .. }) => false,
            Err(failure) => return Err(failure.into()),
        };
        Ok(Bound { a, x, y, workspace, preprocessed })
    }

    /// Puts the product into the GPU's stream.
    pub fn run(&mut self, alpha: S, beta: S) -> Result<(), DeviceError> {
        let Some(bound) = &self.bound else {
            return Err(DeviceError::Call { call: "cusparseSpMM", why: "no X and Y have been bound".into() });
        };
        let (alpha, beta) = ((&raw const alpha).cast::<c_void>(), (&raw const beta).cast::<c_void>());
        let (a, x, y) = (bound.a.raw(), bound.x.raw.cast_const(), bound.y.raw);
        let (of, algorithm) = (data_type::<S>(), self.algorithm.raw());
        let room = pointer(bound.workspace.address());
        let _turn = self.library.gpu.context().enter()?;
        let handle = self.library.handle.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: handle, descriptions and workspace are valid and belong together; the factors are read before the
        // call returns.
        Ok(unsafe { call!(cusparseSpMM(handle.0, PLAIN, PLAIN, alpha, a, x, beta, y, of, algorithm, room)) }?)
    }

    /// Did cuSPARSE look at A beforehand? `false` where this algorithm cannot, and before anything is bound.
    pub fn is_preprocessed(&self) -> bool {
        self.bound.as_ref().is_some_and(|bound| bound.preprocessed)
    }
}
