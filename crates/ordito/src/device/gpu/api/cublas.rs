//! cuBLAS: `cublas_v2.h`. The functions that count in 64 bits are there since CUDA 12.

use super::driver::CUstream;
use super::{NotOpened, codes, functions, handles};
use std::ffi::{c_char, c_void};

handles! {
    cublasHandle_t = *cublasContext;
}

codes! {
    cublasStatus_t { CUBLAS_STATUS_SUCCESS = 0, CUBLAS_STATUS_NOT_INITIALIZED = 1 }
    cublasOperation_t { CUBLAS_OP_N = 0, CUBLAS_OP_T = 1 }
    cublasPointerMode_t { CUBLAS_POINTER_MODE_HOST = 0 }
    cublasMath_t { CUBLAS_DEFAULT_MATH = 0 }
}

impl NotOpened for cublasStatus_t {
    const NOT_OPENED: Self = cublasStatus_t::CUBLAS_STATUS_NOT_INITIALIZED;
}

functions! {
    fn cublasGetStatusString(status: cublasStatus_t) -> *const c_char;
    fn cublasCreate_v2(handle: *mut cublasHandle_t) -> cublasStatus_t;
    fn cublasDestroy_v2(handle: cublasHandle_t) -> cublasStatus_t;
    fn cublasSetStream_v2(handle: cublasHandle_t, stream: CUstream) -> cublasStatus_t;
    fn cublasSetWorkspace_v2(handle: cublasHandle_t, workspace: *mut c_void, bytes: usize) -> cublasStatus_t;
    fn cublasSetPointerMode_v2(handle: cublasHandle_t, mode: cublasPointerMode_t) -> cublasStatus_t;
    fn cublasSetMathMode(handle: cublasHandle_t, mode: cublasMath_t) -> cublasStatus_t;
    fn cublasSgemm_v2_64(
        handle: cublasHandle_t,
        operation_a: cublasOperation_t,
        operation_b: cublasOperation_t,
        m: i64,
        n: i64,
        k: i64,
        alpha: *const f32,
        a: *const f32,
        lda: i64,
        b: *const f32,
        ldb: i64,
        beta: *const f32,
        c: *mut f32,
        ldc: i64,
    ) -> cublasStatus_t;
    fn cublasDgemm_v2_64(
        handle: cublasHandle_t,
        operation_a: cublasOperation_t,
        operation_b: cublasOperation_t,
        m: i64,
        n: i64,
        k: i64,
        alpha: *const f64,
        a: *const f64,
        lda: i64,
        b: *const f64,
        ldb: i64,
        beta: *const f64,
        c: *mut f64,
        ldc: i64,
    ) -> cublasStatus_t;
    fn cublasSgeam_64(
        handle: cublasHandle_t,
        operation_a: cublasOperation_t,
        operation_b: cublasOperation_t,
        m: i64,
        n: i64,
        alpha: *const f32,
        a: *const f32,
        lda: i64,
        beta: *const f32,
        b: *const f32,
        ldb: i64,
        c: *mut f32,
        ldc: i64,
    ) -> cublasStatus_t;
    fn cublasDgeam_64(
        handle: cublasHandle_t,
        operation_a: cublasOperation_t,
        operation_b: cublasOperation_t,
        m: i64,
        n: i64,
        alpha: *const f64,
        a: *const f64,
        lda: i64,
        beta: *const f64,
        b: *const f64,
        ldb: i64,
        c: *mut f64,
        ldc: i64,
    ) -> cublasStatus_t;
}
