//! Every function of NVIDIA's libraries that is called here. The bindings panic on a function that a library does
//! not have, so each library is asked for all of them before the first call; a test compares these lists with the
//! calls. Where there is a choice, the version that older drivers have too is called.

/// Of the driver.
pub(crate) const CUDA: &[&str] = &[
    "cuInit",
    "cuDriverGetVersion",
    "cuGetErrorName",
    "cuGetErrorString",
    "cuDeviceGet",
    "cuDeviceGetCount",
    "cuDeviceGetName",
    "cuDeviceGetAttribute",
    "cuDeviceGetPCIBusId",
    "cuDeviceTotalMem_v2",
    "cuDevicePrimaryCtxRetain",
    "cuCtxSetCurrent",
    "cuMemGetInfo_v2",
    "cuDeviceGetDefaultMemPool",
    "cuMemPoolGetAttribute",
    "cuMemPoolSetAttribute",
    "cuMemPoolTrimTo",
    "cuMemAllocAsync",
    "cuMemFreeAsync",
    "cuMemAlloc_v2",
    "cuMemFree_v2",
    "cuMemHostAlloc",
    "cuMemFreeHost",
    "cuMemcpyHtoDAsync_v2",
    "cuMemcpyDtoHAsync_v2",
    "cuMemcpyDtoDAsync_v2",
    "cuMemsetD8Async",
    "cuStreamCreate",
    "cuStreamDestroy_v2",
    "cuStreamSynchronize",
    "cuStreamWaitEvent",
    "cuStreamBeginCapture_v2",
    "cuStreamEndCapture",
    "cuEventCreate",
    "cuEventDestroy_v2",
    "cuEventRecord",
    "cuEventSynchronize",
    "cuEventElapsedTime",
    "cuGraphInstantiateWithFlags",
    "cuGraphLaunch",
    "cuGraphExecDestroy",
    "cuGraphDestroy",
    "cuModuleLoadData",
    "cuModuleUnload",
    "cuModuleGetFunction",
    "cuFuncGetAttribute",
    "cuFuncSetAttribute",
    "cuLaunchKernel",
    "cuOccupancyMaxActiveBlocksPerMultiprocessor",
];

/// Of the driver, called only where it is there: drivers before CUDA 12.4 do not have it.
pub(crate) const PARAMETER_INFO: &str = "cuFuncGetParamInfo";

/// Of the run-time compiler.
pub(crate) const NVRTC: &[&str] = &[
    "nvrtcVersion",
    "nvrtcGetErrorString",
    "nvrtcGetNumSupportedArchs",
    "nvrtcGetSupportedArchs",
    "nvrtcCreateProgram",
    "nvrtcDestroyProgram",
    "nvrtcCompileProgram",
    "nvrtcGetProgramLogSize",
    "nvrtcGetProgramLog",
    "nvrtcGetCUBINSize",
    "nvrtcGetCUBIN",
];

/// Of cuSPARSE.
pub(crate) const CUSPARSE: &[&str] = &[
    "cusparseGetProperty",
    "cusparseGetErrorString",
    "cusparseCreate",
    "cusparseDestroy",
    "cusparseSetStream",
    "cusparseCreateCsr",
    "cusparseDestroySpMat",
    "cusparseCreateDnMat",
    "cusparseDestroyDnMat",
    "cusparseDnMatSetValues",
    "cusparseSpMM_bufferSize",
    "cusparseSpMM_preprocess",
    "cusparseSpMM",
    "cusparseCreateDnVec",
    "cusparseDestroyDnVec",
    "cusparseDnVecSetValues",
    "cusparseSpMV_bufferSize",
    "cusparseSpMV",
];

/// Of cuSPARSE, called only where it is there: versions before CUDA 12.4 do not have it.
pub(crate) const SPMV_PREPROCESS: &str = "cusparseSpMV_preprocess";

/// Of cuBLAS. Those that count in 64 bits are there since CUDA 12.
pub(crate) const CUBLAS: &[&str] = &[
    "cublasGetProperty",
    "cublasGetStatusString",
    "cublasCreate_v2",
    "cublasDestroy_v2",
    "cublasSetStream_v2",
    "cublasSetWorkspace_v2",
    "cublasSetPointerMode_v2",
    "cublasSetMathMode",
    "cublasSgemm_v2_64",
    "cublasDgemm_v2_64",
    "cublasSgeam_64",
    "cublasDgeam_64",
];

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// Names right before a `(` that begin with the prefix and an upper-case letter after it.
    fn calls<'a>(text: &'a str, prefix: &str) -> BTreeSet<&'a str> {
        let name_before = |(at, _): (usize, &str)| {
            let before = &text[..at];
            before
                .rfind(|c: char| !c.is_alphanumeric() && c != '_')
                .map_or(before, |last| &before[last + 1..])
        };
        let is_function = |name: &&str| {
            name.strip_prefix(prefix).is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_uppercase()))
        };
        text.match_indices('(').map(name_before).filter(is_function).collect()
    }

    #[test]
    fn every_function_that_is_called_is_asked_for_first() {
        let files = [
            include_str!("context.rs"),
            include_str!("copies.rs"),
            include_str!("cublas.rs"),
            include_str!("cusparse/description.rs"),
            include_str!("cusparse/mod.rs"),
            include_str!("cusparse/spmm.rs"),
            include_str!("cusparse/spmv.rs"),
            include_str!("driver.rs"),
            include_str!("event.rs"),
            include_str!("graph.rs"),
            include_str!("pinned.rs"),
            include_str!("memory.rs"),
            include_str!("mod.rs"),
            include_str!("module.rs"),
            include_str!("nvrtc.rs"),
            include_str!("staging.rs"),
            include_str!("stream.rs"),
        ];
        let text = files.join("\n");
        let lists = [("cu", CUDA), ("nvrtc", NVRTC), ("cusparse", CUSPARSE), ("cublas", CUBLAS)];
        for (prefix, listed) in lists {
            let called = calls(&text, prefix);
            assert!(called.len() + 2 >= listed.len(), "{called:?}"); // versions are asked for without the bindings
            for name in called {
                let optional = [PARAMETER_INFO, SPMV_PREPROCESS].contains(&name);
                assert!(listed.contains(&name) || optional, "{name} is called, but not listed");
            }
        }
    }
}
