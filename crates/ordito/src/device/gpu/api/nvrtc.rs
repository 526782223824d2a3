//! The run-time compiler: `nvrtc.h`.

use super::{NotOpened, codes, functions, handles};
use std::ffi::{c_char, c_int};

handles! {
    nvrtcProgram = *_nvrtcProgram;
}

codes! {
    nvrtcResult { NVRTC_SUCCESS = 0, NVRTC_ERROR_INTERNAL_ERROR = 11 }
}

impl NotOpened for nvrtcResult {
    const NOT_OPENED: Self = nvrtcResult::NVRTC_ERROR_INTERNAL_ERROR;
}

functions! {
    fn nvrtcGetErrorString(result: nvrtcResult) -> *const c_char;
    fn nvrtcGetNumSupportedArchs(count: *mut c_int) -> nvrtcResult;
    fn nvrtcGetSupportedArchs(architectures: *mut c_int) -> nvrtcResult;
    fn nvrtcCreateProgram(
        program: *mut nvrtcProgram,
        text: *const c_char,
        name: *const c_char,
        header_count: c_int,
        headers: *const *const c_char,
        header_names: *const *const c_char,
    ) -> nvrtcResult;
    fn nvrtcDestroyProgram(program: *mut nvrtcProgram) -> nvrtcResult;
    fn nvrtcCompileProgram(program: nvrtcProgram, count: c_int, options: *const *const c_char) -> nvrtcResult;
    fn nvrtcGetProgramLogSize(program: nvrtcProgram, bytes: *mut usize) -> nvrtcResult;
    fn nvrtcGetProgramLog(program: nvrtcProgram, log: *mut c_char) -> nvrtcResult;
    fn nvrtcGetCUBINSize(program: nvrtcProgram, bytes: *mut usize) -> nvrtcResult;
    fn nvrtcGetCUBIN(program: nvrtcProgram, cubin: *mut c_char) -> nvrtcResult;
}
