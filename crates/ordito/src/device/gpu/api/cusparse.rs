//! cuSPARSE: `cusparse.h`.

use super::driver::CUstream;
use super::{NotOpened, codes, functions, handles};
use std::ffi::{c_char, c_void};

handles! {
    cusparseHandle_t = *cusparseContext;
    cusparseSpMatDescr_t = *cusparseSpMatDescr;
    cusparseDnMatDescr_t = *cusparseDnMatDescr;
    cusparseDnVecDescr_t = *cusparseDnVecDescr;
}
pub(crate) type cusparseConstSpMatDescr_t = *const cusparseSpMatDescr;
pub(crate) type cusparseConstDnMatDescr_t = *const cusparseDnMatDescr;
pub(crate) type cusparseConstDnVecDescr_t = *const cusparseDnVecDescr;

codes! {
    cusparseStatus_t {
        CUSPARSE_STATUS_SUCCESS = 0,
        CUSPARSE_STATUS_NOT_INITIALIZED = 1,
        CUSPARSE_STATUS_NOT_SUPPORTED = 10,
    }
    cusparseOperation_t { CUSPARSE_OPERATION_NON_TRANSPOSE = 0 }
    cusparseIndexBase_t { CUSPARSE_INDEX_BASE_ZERO = 0 }
    cusparseIndexType_t { CUSPARSE_INDEX_32I = 2 }
    cusparseOrder_t { CUSPARSE_ORDER_COL = 1, CUSPARSE_ORDER_ROW = 2 }
    cusparseSpMMAlg_t {
        CUSPARSE_SPMM_ALG_DEFAULT = 0,
        CUSPARSE_SPMM_CSR_ALG1 = 4,
        CUSPARSE_SPMM_CSR_ALG2 = 6,
        CUSPARSE_SPMM_CSR_ALG3 = 12,
    }
    cusparseSpMVAlg_t {
        CUSPARSE_SPMV_ALG_DEFAULT = 0,
        CUSPARSE_SPMV_CSR_ALG1 = 2,
        CUSPARSE_SPMV_CSR_ALG2 = 3,
    }
    cudaDataType { CUDA_R_32F = 0, CUDA_R_64F = 1 }
}

impl NotOpened for cusparseStatus_t {
    const NOT_OPENED: Self = cusparseStatus_t::CUSPARSE_STATUS_NOT_INITIALIZED;
}

functions! {
    fn cusparseGetErrorString(status: cusparseStatus_t) -> *const c_char;
    fn cusparseCreate(handle: *mut cusparseHandle_t) -> cusparseStatus_t;
    fn cusparseDestroy(handle: cusparseHandle_t) -> cusparseStatus_t;
    fn cusparseSetStream(handle: cusparseHandle_t, stream: CUstream) -> cusparseStatus_t;
    fn cusparseCreateCsr(
        made: *mut cusparseSpMatDescr_t,
        rows: i64,
        cols: i64,
        nonzeros: i64,
        row_starts: *mut c_void,
        columns: *mut c_void,
        values: *mut c_void,
        row_start_type: cusparseIndexType_t,
        column_type: cusparseIndexType_t,
        base: cusparseIndexBase_t,
        value_type: cudaDataType,
    ) -> cusparseStatus_t;
    fn cusparseDestroySpMat(matrix: cusparseConstSpMatDescr_t) -> cusparseStatus_t;
    fn cusparseCreateDnMat(
        made: *mut cusparseDnMatDescr_t,
        rows: i64,
        cols: i64,
        leading_dimension: i64,
        values: *mut c_void,
        value_type: cudaDataType,
        order: cusparseOrder_t,
    ) -> cusparseStatus_t;
    fn cusparseDestroyDnMat(matrix: cusparseConstDnMatDescr_t) -> cusparseStatus_t;
    fn cusparseDnMatSetValues(matrix: cusparseDnMatDescr_t, values: *mut c_void) -> cusparseStatus_t;
    fn cusparseSpMM_bufferSize(
        handle: cusparseHandle_t,
        operation_a: cusparseOperation_t,
        operation_x: cusparseOperation_t,
        alpha: *const c_void,
        a: cusparseConstSpMatDescr_t,
        x: cusparseConstDnMatDescr_t,
        beta: *const c_void,
        y: cusparseDnMatDescr_t,
        computed_in: cudaDataType,
        algorithm: cusparseSpMMAlg_t,
        bytes: *mut usize,
    ) -> cusparseStatus_t;
    fn cusparseSpMM_preprocess(
        handle: cusparseHandle_t,
        operation_a: cusparseOperation_t,
        operation_x: cusparseOperation_t,
        alpha: *const c_void,
        a: cusparseConstSpMatDescr_t,
        x: cusparseConstDnMatDescr_t,
        beta: *const c_void,
        y: cusparseDnMatDescr_t,
        computed_in: cudaDataType,
        algorithm: cusparseSpMMAlg_t,
        workspace: *mut c_void,
    ) -> cusparseStatus_t;
    fn cusparseSpMM(
        handle: cusparseHandle_t,
        operation_a: cusparseOperation_t,
        operation_x: cusparseOperation_t,
        alpha: *const c_void,
        a: cusparseConstSpMatDescr_t,
        x: cusparseConstDnMatDescr_t,
        beta: *const c_void,
        y: cusparseDnMatDescr_t,
        computed_in: cudaDataType,
        algorithm: cusparseSpMMAlg_t,
        workspace: *mut c_void,
    ) -> cusparseStatus_t;
    fn cusparseCreateDnVec(
        made: *mut cusparseDnVecDescr_t,
        len: i64,
        values: *mut c_void,
        value_type: cudaDataType,
    ) -> cusparseStatus_t;
    fn cusparseDestroyDnVec(vector: cusparseConstDnVecDescr_t) -> cusparseStatus_t;
    fn cusparseDnVecSetValues(vector: cusparseDnVecDescr_t, values: *mut c_void) -> cusparseStatus_t;
    fn cusparseSpMV_bufferSize(
        handle: cusparseHandle_t,
        operation_a: cusparseOperation_t,
        alpha: *const c_void,
        a: cusparseConstSpMatDescr_t,
        x: cusparseConstDnVecDescr_t,
        beta: *const c_void,
        y: cusparseDnVecDescr_t,
        computed_in: cudaDataType,
        algorithm: cusparseSpMVAlg_t,
        bytes: *mut usize,
    ) -> cusparseStatus_t;
    fn cusparseSpMV(
        handle: cusparseHandle_t,
        operation_a: cusparseOperation_t,
        alpha: *const c_void,
        a: cusparseConstSpMatDescr_t,
        x: cusparseConstDnVecDescr_t,
        beta: *const c_void,
        y: cusparseDnVecDescr_t,
        computed_in: cudaDataType,
        algorithm: cusparseSpMVAlg_t,
        workspace: *mut c_void,
    ) -> cusparseStatus_t;

    // Since CUDA 12.4.
    optional fn cusparseSpMV_preprocess(
        handle: cusparseHandle_t,
        operation_a: cusparseOperation_t,
        alpha: *const c_void,
        a: cusparseConstSpMatDescr_t,
        x: cusparseConstDnVecDescr_t,
        beta: *const c_void,
        y: cusparseDnVecDescr_t,
        computed_in: cudaDataType,
        algorithm: cusparseSpMVAlg_t,
        workspace: *mut c_void,
    ) -> cusparseStatus_t;
}
