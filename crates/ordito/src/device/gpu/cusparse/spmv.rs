//! A CSR matrix times a single vector: what cuSPARSE has for K = 1.

use crate::Scalar;
use crate::device::backend::{DeviceError, Memory};
use crate::device::gpu::api::cusparse as sys;
use crate::device::gpu::cusparse::description::{
    Csr, SparseDescription, VectorDescription, call, check, data_type, pointer,
};
use crate::device::gpu::cusparse::{CsrOperand, Cusparse, PLAIN, preprocessed};
use crate::device::gpu::memory::DeviceMemory;
use crate::refusal::Refusal;
use std::ffi::c_void;
use std::marker::PhantomData;
use std::sync::{Arc, PoisonError};

/// Which of cuSPARSE's ways is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum VectorAlgorithm {
    /// `CUSPARSE_SPMV_ALG_DEFAULT`
    Default,
    /// `CUSPARSE_SPMV_CSR_ALG1`
    Csr1,
    /// `CUSPARSE_SPMV_CSR_ALG2`: the one whose sums are the same in every run.
    Csr2,
}

impl VectorAlgorithm {
    fn raw(self) -> sys::cusparseSpMVAlg_t {
        match self {
            VectorAlgorithm::Default => sys::cusparseSpMVAlg_t::CUSPARSE_SPMV_ALG_DEFAULT,
            VectorAlgorithm::Csr1 => sys::cusparseSpMVAlg_t::CUSPARSE_SPMV_CSR_ALG1,
            VectorAlgorithm::Csr2 => sys::cusparseSpMVAlg_t::CUSPARSE_SPMV_CSR_ALG2,
        }
    }
}

/// y = αAx + βy by cuSPARSE. A's buffers, and those of x and y that were bound last, must live as long as it runs.
#[derive(Debug)]
pub struct CusparseSpmv<S> {
    library: Arc<Cusparse>,
    a: Csr,
    algorithm: VectorAlgorithm,
    bound: Option<Bound>,
    scalar: PhantomData<S>,
}

#[derive(Debug)]
struct Bound {
    a: SparseDescription,
    x: VectorDescription,
    y: VectorDescription,
    workspace: DeviceMemory,
    preprocessed: bool,
}

impl<S: Scalar> CusparseSpmv<S> {
    /// Refuses empty operands, what 31 bits do not count, and buffers of another GPU.
    pub fn new(
        library: &Arc<Cusparse>,
        a: &CsrOperand<'_, S>,
        algorithm: VectorAlgorithm,
    ) -> Result<Self, Refusal> {
        let (library, a) = (library.clone(), a.description(&library.gpu, 1)?);
        Ok(CusparseSpmv { library, a, algorithm, bound: None, scalar: PhantomData })
    }

    /// Tells where x and y lie: addresses of as many elements as A has columns and rows. The first time cuSPARSE is asked
    /// for its workspace and looks at A; later ones cost next to nothing.
    ///
    /// ```compile_fail,E0133
    /// # use ordito::{Refusal, device::gpu::cusparse::CusparseSpmv};
    /// fn unchecked(product: &mut CusparseSpmv<f64>, x: u64, y: u64) -> Result<(), Refusal> {
    ///     product.bind(x, y)
    /// }
    /// ```
    ///
    /// # Safety
    /// A's buffers hold a CSR matrix: row starts rise from 0 to the number of nonzeros, and columns are below that of A.
    /// Until the last [`run`](Self::run) that follows is done: they are there and nobody writes them, x and y lie in memory of this GPU, nobody
    /// else writes x, and nobody else uses y other than in the same stream.
    pub unsafe fn bind(&mut self, x: u64, y: u64) -> Result<(), Refusal> {
        match &mut self.bound {
            Some(bound) => {
                bound.x.move_to(x)?;
                bound.y.move_to(y)?;
            }
            None => self.bound = Some(self.describe(x, y)?),
        }
        Ok(())
    }

    fn describe(&self, x: u64, y: u64) -> Result<Bound, Refusal> {
        let (library, algorithm, of) = (&self.library, self.algorithm.raw(), data_type::<S>());
        let context = library.gpu.context();
        let (alpha, beta) = (S::ONE, S::ZERO);
        let (alpha, beta) = ((&raw const alpha).cast::<c_void>(), (&raw const beta).cast::<c_void>());
        let a = SparseDescription::new::<S>(self.a)?;
        let x = VectorDescription::new::<S>(self.a.cols, x)?;
        let y = VectorDescription::new::<S>(self.a.rows, y)?;
        let (raw_a, raw_x, raw_y) = (a.raw(), x.raw.cast_const(), y.raw);
        let mut bytes = 0;
        {
            let _turn = context.enter()?;
            let handle = library.handle.lock().unwrap_or_else(PoisonError::into_inner);
            // SAFETY: handle and descriptions are valid, both factors are of the type that the call is told; writes
            // one number.
            unsafe {
                call!(cusparseSpMV_bufferSize(
                    handle.0, PLAIN, alpha, raw_a, raw_x, beta, raw_y, of, algorithm, &mut bytes
                ))
            }?;
        }
        let workspace = DeviceMemory::allocate(&library.gpu, "cuSPARSE's workspace", bytes)?;
        let _turn = context.enter()?;
        let handle = library.handle.lock().unwrap_or_else(PoisonError::into_inner);
        let room = pointer(workspace.address());
        // SAFETY: as above, and the workspace has the size that was asked for.
        let looked = unsafe {
            sys::cusparseSpMV_preprocess(
                handle.0, PLAIN, alpha, raw_a, raw_x, beta, raw_y, of, algorithm, room,
            )
        };
        let preprocessed = match looked {
            Some(status) => preprocessed(check("cusparseSpMV_preprocess", status))?,
            None => false,
        };
        Ok(Bound { a, x, y, workspace, preprocessed })
    }

    /// Puts the product into the GPU's stream.
    pub fn run(&mut self, alpha: S, beta: S) -> Result<(), DeviceError> {
        let Some(bound) = &self.bound else {
            return Err(DeviceError::Call { call: "cusparseSpMV", why: "no x and y have been bound".into() });
        };
        let (alpha, beta) = ((&raw const alpha).cast::<c_void>(), (&raw const beta).cast::<c_void>());
        let (a, x, y) = (bound.a.raw(), bound.x.raw.cast_const(), bound.y.raw);
        let (of, algorithm) = (data_type::<S>(), self.algorithm.raw());
        let room = pointer(bound.workspace.address());
        let _turn = self.library.gpu.context().enter()?;
        let handle = self.library.handle.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: handle, descriptions and workspace are valid and belong together; the operands are there, who bound them
        // says; the factors are read before the call returns.
        Ok(unsafe { call!(cusparseSpMV(handle.0, PLAIN, alpha, a, x, beta, y, of, algorithm, room)) }?)
    }

    /// Did cuSPARSE look at A beforehand? `false` where it cannot, and before anything is bound.
    pub fn is_preprocessed(&self) -> bool {
        self.bound.as_ref().is_some_and(|bound| bound.preprocessed)
    }
}
