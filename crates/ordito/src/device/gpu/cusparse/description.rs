//! Operands as cuSPARSE is told about them, and what its calls return.

use crate::Scalar;
use crate::device::backend::DeviceError;
use crate::device::gpu::api::cusparse as sys;
use crate::device::gpu::cusparse::spmm::DenseOperand;
use crate::device::gpu::status::in_words;
use crate::refusal::Refusal;
use std::ffi::c_void;

/// A call of cuSPARSE that failed.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) call: &'static str,
    pub(crate) status: sys::cusparseStatus_t,
}

impl Failure {
    /// Is it only that cuSPARSE does not do this?
    pub(crate) fn is_unsupported(&self) -> bool {
        self.status == sys::cusparseStatus_t::CUSPARSE_STATUS_NOT_SUPPORTED
    }
}

impl From<Failure> for DeviceError {
    fn from(failure: Failure) -> Self {
        // SAFETY: takes any status and points to a static string.
        let why = unsafe { in_words(failure.status.0, sys::cusparseGetErrorString(failure.status)) };
        DeviceError::Call { call: failure.call, why }
    }
}

impl From<Failure> for Refusal {
    fn from(failure: Failure) -> Self {
        let unsupported = failure.is_unsupported();
        let why = DeviceError::from(failure).to_string();
        if unsupported {
            return Refusal::Unsupported(format!("cuSPARSE does not do this: {why}"));
        }
        Refusal::Device(why)
    }
}

/// Calls a function of cuSPARSE and checks what it returns. Stands inside an `unsafe` block, like `cuda!`.
macro_rules! call {
    ($call:ident($($argument:expr),* $(,)?)) => {
        $crate::device::gpu::cusparse::description::check(stringify!($call), sys::$call($($argument),*))
    };
}
pub(crate) use call;

pub(crate) fn check(call: &'static str, status: sys::cusparseStatus_t) -> Result<(), Failure> {
    match status {
        sys::cusparseStatus_t::CUSPARSE_STATUS_SUCCESS => Ok(()),
        status => Err(Failure { call, status }),
    }
}

/// Sizes and addresses of a CSR matrix.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Csr {
    pub(crate) rows: i64,
    pub(crate) cols: i64,
    pub(crate) nonzeros: i64,
    pub(crate) row_starts: u64,
    pub(crate) columns: u64,
    pub(crate) values: u64,
}

/// A as cuSPARSE knows it.
#[derive(Debug)]
pub(crate) struct SparseDescription(sys::cusparseSpMatDescr_t);

// SAFETY: a description may move between threads; its owner has it alone, calls that use it hold the library's mutex.
unsafe impl Send for SparseDescription {}

impl SparseDescription {
    pub(crate) fn new<S: Scalar>(a: Csr) -> Result<Self, Failure> {
        let Csr { rows, cols, nonzeros, row_starts, columns, values } = a;
        let narrow = sys::cusparseIndexType_t::CUSPARSE_INDEX_32I;
        let from_zero = sys::cusparseIndexBase_t::CUSPARSE_INDEX_BASE_ZERO;
        let mut raw = std::ptr::null_mut();
        // SAFETY: only describes the memory; writes one handle.
        unsafe {
            call!(cusparseCreateCsr(
                &mut raw,
                rows,
                cols,
                nonzeros,
                pointer(row_starts),
                pointer(columns),
                pointer(values),
                narrow,
                narrow,
                from_zero,
                data_type::<S>()
            ))
        }?;
        Ok(SparseDescription(raw))
    }

    pub(crate) fn raw(&self) -> sys::cusparseConstSpMatDescr_t {
        self.0.cast_const()
    }
}

impl Drop for SparseDescription {
    fn drop(&mut self) {
        // SAFETY: the description is valid and nobody has it any more.
        let _ = unsafe { sys::cusparseDestroySpMat(self.0.cast_const()) };
    }
}

/// X or Y as cuSPARSE knows it.
#[derive(Debug)]
pub(crate) struct DenseDescription {
    pub(crate) raw: sys::cusparseDnMatDescr_t,
    pub(crate) operand: DenseOperand,
}

// SAFETY: as above.
unsafe impl Send for DenseDescription {}

impl DenseDescription {
    pub(crate) fn new<S: Scalar>(
        rows: i64,
        cols: usize,
        operand: DenseOperand,
        order: sys::cusparseOrder_t,
    ) -> Result<Self, Failure> {
        let mut raw = std::ptr::null_mut();
        let (values, distance) = (pointer(operand.address), operand.leading_dimension as i64);
        // SAFETY: only describes the memory; writes one handle.
        unsafe {
            call!(cusparseCreateDnMat(&mut raw, rows, cols as i64, distance, values, data_type::<S>(), order))
        }?;
        Ok(DenseDescription { raw, operand })
    }

    pub(crate) fn move_to(&mut self, address: u64) -> Result<(), Failure> {
        // SAFETY: the description is valid; only the address that it holds changes.
        unsafe { call!(cusparseDnMatSetValues(self.raw, pointer(address))) }?;
        self.operand.address = address;
        Ok(())
    }
}

impl Drop for DenseDescription {
    fn drop(&mut self) {
        // SAFETY: the description is valid and nobody has it any more.
        let _ = unsafe { sys::cusparseDestroyDnMat(self.raw.cast_const()) };
    }
}

/// X or Y of a single column.
#[derive(Debug)]
pub(crate) struct VectorDescription {
    pub(crate) raw: sys::cusparseDnVecDescr_t,
    address: u64,
}

// SAFETY: as above.
unsafe impl Send for VectorDescription {}

impl VectorDescription {
    pub(crate) fn new<S: Scalar>(len: i64, address: u64) -> Result<Self, Failure> {
        let mut raw = std::ptr::null_mut();
        // SAFETY: only describes the memory; writes one handle.
        unsafe { call!(cusparseCreateDnVec(&mut raw, len, pointer(address), data_type::<S>())) }?;
        Ok(VectorDescription { raw, address })
    }

    /// Nothing, where it lies there already.
    pub(crate) fn move_to(&mut self, address: u64) -> Result<(), Failure> {
        if self.address != address {
            // SAFETY: the description is valid; only the address that it holds changes.
            unsafe { call!(cusparseDnVecSetValues(self.raw, pointer(address))) }?;
            self.address = address;
        }
        Ok(())
    }
}

impl Drop for VectorDescription {
    fn drop(&mut self) {
        // SAFETY: the description is valid and nobody has it any more.
        let _ = unsafe { sys::cusparseDestroyDnVec(self.raw.cast_const()) };
    }
}

pub(crate) fn pointer(address: u64) -> *mut c_void {
    std::ptr::without_provenance_mut(address as usize)
}

pub(crate) fn data_type<S: Scalar>() -> sys::cudaDataType {
    if S::CUDA_NAME == "float" { sys::cudaDataType::CUDA_R_32F } else { sys::cudaDataType::CUDA_R_64F }
}
