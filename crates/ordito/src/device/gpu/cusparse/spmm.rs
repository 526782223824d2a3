//! A CSR matrix times a block of vectors, X and Y row after row or column after column.

use crate::Scalar;
use crate::device::backend::{DeviceError, Memory};
use crate::device::gpu::api::cusparse as sys;
use crate::device::gpu::context::Context;
use crate::device::gpu::cusparse::description::{
    Csr, DenseDescription, SparseDescription, call, data_type, pointer,
};
use crate::device::gpu::cusparse::{CsrOperand, Cusparse, PLAIN, preprocessed};
use crate::device::gpu::memory::DeviceMemory;
use crate::refusal::Refusal;
use std::ffi::c_void;
use std::marker::PhantomData;
use std::sync::{Arc, PoisonError};

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

/// How X and Y lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Layout {
    /// Row after row.
    Rows,
    /// Column after column.
    Columns,
}

/// A dense matrix on the GPU, as far as somebody [promises](CusparseSpmm::bind) it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DenseOperand {
    /// Its first element.
    pub address: u64,
    /// Elements from one row to the next, or from one column to the next.
    pub leading_dimension: usize,
}

/// Y = αAX + βY by cuSPARSE. A's buffers, and those of X and Y that were bound last, must live as long as it runs.
#[derive(Debug)]
pub struct CusparseSpmm<S> {
    library: Arc<Cusparse>,
    a: Csr,
    k: usize,
    algorithm: Algorithm,
    layout: Layout,
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

/// Of rows that lay apart by other distances one run ended in a misaligned access, and the context with it (cuSPARSE
/// 12.6.3, conformance tests); which algorithm and K it was is not known. Since they are refused, none has.
const VECTOR_BYTES: usize = 16;

impl Layout {
    /// The least distance between columns of so many rows that is taken.
    pub fn column_distance<S>(rows: usize) -> usize {
        rows.checked_next_multiple_of(VECTOR_BYTES / size_of::<S>()).unwrap_or(usize::MAX)
    }

    fn raw(self) -> sys::cusparseOrder_t {
        match self {
            Layout::Rows => sys::cusparseOrder_t::CUSPARSE_ORDER_ROW,
            Layout::Columns => sys::cusparseOrder_t::CUSPARSE_ORDER_COL,
        }
    }
}

impl<S: Scalar> CusparseSpmm<S> {
    /// A product with `k` columns. Refuses empty operands, what 31 bits do not count, and buffers of another GPU.
    pub fn new(
        library: &Arc<Cusparse>,
        a: &CsrOperand<'_, S>,
        k: usize,
        algorithm: Algorithm,
        layout: Layout,
    ) -> Result<Self, Refusal> {
        let (library, a) = (library.clone(), a.description(&library.gpu, k)?);
        Ok(CusparseSpmm { library, a, k, algorithm, layout, bound: None, scalar: PhantomData })
    }

    /// Does an operand of so many rows lie as cuSPARSE takes it?
    fn check_distance(&self, rows: i64, operand: DenseOperand) -> Result<(), Refusal> {
        let distance = operand.leading_dimension;
        let (line, shortest) = match self.layout {
            Layout::Rows => ("rows", self.k),
            Layout::Columns => ("columns", rows as usize),
        };
        if distance < shortest {
            return Err(Refusal::Device(format!(
                "{line} of {shortest} elements cannot lie {distance} elements apart"
            )));
        }
        if distance != shortest && !(distance * size_of::<S>()).is_multiple_of(VECTOR_BYTES) {
            return Err(Refusal::Unsupported(format!(
                "cuSPARSE takes {line} that lie {shortest} elements or a multiple of {VECTOR_BYTES} bytes apart, not {distance} elements"
            )));
        }
        Ok(())
    }

    /// Tells where X and Y lie. Asks cuSPARSE for its workspace and lets it look at A where the leading dimensions
    /// are new; costs next to nothing where only the addresses are, and nothing where nothing is.
    ///
    /// ```compile_fail,E0133
    /// # use ordito::{Refusal, device::gpu::cusparse::{CusparseSpmm, DenseOperand}};
    /// fn unchecked(product: &mut CusparseSpmm<f64>, x: DenseOperand, y: DenseOperand) -> Result<(), Refusal> {
    ///     product.bind(x, y)
    /// }
    /// ```
    ///
    /// # Safety
    /// A's buffers hold a CSR matrix: row starts rise from 0 to the number of nonzeros, and columns are below that of A.
    /// Until the last [`run`](Self::run) that follows is done: they are there and nobody writes them, X and Y lie in memory of this GPU with the
    /// rows and columns that the product has, nobody else writes X, and nobody else uses Y other than in the same stream.
    pub unsafe fn bind(&mut self, x: DenseOperand, y: DenseOperand) -> Result<(), Refusal> {
        self.check_distance(self.a.cols, x)?;
        self.check_distance(self.a.rows, y)?;
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
        let order = self.layout.raw();
        let x = DenseDescription::new::<S>(self.a.cols, self.k, x, order)?;
        let y = DenseDescription::new::<S>(self.a.rows, self.k, y, order)?;
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
        Ok(Bound { a, x, y, workspace, preprocessed: preprocessed(looked)? })
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
        // SAFETY: handle, descriptions and workspace are valid and belong together; the operands are there, who bound them
        // says; the factors are read before the call returns.
        Ok(unsafe { call!(cusparseSpMM(handle.0, PLAIN, PLAIN, alpha, a, x, beta, y, of, algorithm, room)) }?)
    }

    /// Did cuSPARSE look at A beforehand? `false` where this algorithm cannot, and before anything is bound.
    pub fn is_preprocessed(&self) -> bool {
        self.bound.as_ref().is_some_and(|bound| bound.preprocessed)
    }
}
