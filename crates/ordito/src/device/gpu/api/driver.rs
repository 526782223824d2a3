//! The driver: `cuda.h`.

use super::{NotOpened, codes, functions, handles};
use std::ffi::{c_char, c_int, c_uint, c_ulonglong, c_void};

pub(crate) type CUdevice = c_int;
pub(crate) type CUdeviceptr = c_ulonglong;

handles! {
    CUcontext = *CUctx_st;
    CUevent = *CUevent_st;
    CUfunction = *CUfunc_st;
    CUgraph = *CUgraph_st;
    CUgraphExec = *CUgraphExec_st;
    CUmemoryPool = *CUmemPoolHandle_st;
    CUmodule = *CUmod_st;
    CUstream = *CUstream_st;
}

codes! {
    CUresult { CUDA_SUCCESS = 0, CUDA_ERROR_INVALID_VALUE = 1, CUDA_ERROR_OUT_OF_MEMORY = 2, CUDA_ERROR_NOT_INITIALIZED = 3 }
    CUdevice_attribute {
        CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 1,
        CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X = 2,
        CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y = 3,
        CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z = 4,
        CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X = 5,
        CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y = 6,
        CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z = 7,
        CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT = 16,
        CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE = 38,
        CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR = 39,
        CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75,
        CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76,
        CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN = 97,
        CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED = 115,
    }
    CUfunction_attribute {
        CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES = 1,
        CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES = 3,
        CU_FUNC_ATTRIBUTE_NUM_REGS = 4,
        CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8,
    }
    CUmemPool_attribute {
        CU_MEMPOOL_ATTR_RELEASE_THRESHOLD = 4,
        CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT = 5,
        CU_MEMPOOL_ATTR_USED_MEM_CURRENT = 7,
    }
    CUstreamCaptureMode { CU_STREAM_CAPTURE_MODE_THREAD_LOCAL = 1 }
    CUstream_flags { CU_STREAM_NON_BLOCKING = 1 }
    CUevent_flags { CU_EVENT_DEFAULT = 0, CU_EVENT_DISABLE_TIMING = 2 }
}

impl NotOpened for CUresult {
    const NOT_OPENED: Self = CUresult::CUDA_ERROR_NOT_INITIALIZED;
}

functions! {
    fn cuInit(flags: c_uint) -> CUresult;
    fn cuGetErrorName(error: CUresult, name: *mut *const c_char) -> CUresult;
    fn cuGetErrorString(error: CUresult, text: *mut *const c_char) -> CUresult;

    fn cuDeviceGet(device: *mut CUdevice, ordinal: c_int) -> CUresult;
    fn cuDeviceGetCount(count: *mut c_int) -> CUresult;
    fn cuDeviceGetName(name: *mut c_char, len: c_int, device: CUdevice) -> CUresult;
    fn cuDeviceGetAttribute(value: *mut c_int, which: CUdevice_attribute, device: CUdevice) -> CUresult;
    fn cuDeviceGetPCIBusId(name: *mut c_char, len: c_int, device: CUdevice) -> CUresult;
    fn cuDeviceTotalMem_v2(bytes: *mut usize, device: CUdevice) -> CUresult;
    fn cuDevicePrimaryCtxRetain(context: *mut CUcontext, device: CUdevice) -> CUresult;
    fn cuCtxSetCurrent(context: CUcontext) -> CUresult;

    fn cuMemGetInfo_v2(free: *mut usize, total: *mut usize) -> CUresult;
    fn cuDeviceGetDefaultMemPool(pool: *mut CUmemoryPool, device: CUdevice) -> CUresult;
    fn cuMemPoolGetAttribute(pool: CUmemoryPool, which: CUmemPool_attribute, value: *mut c_void) -> CUresult;
    fn cuMemPoolSetAttribute(pool: CUmemoryPool, which: CUmemPool_attribute, value: *mut c_void) -> CUresult;
    fn cuMemPoolTrimTo(pool: CUmemoryPool, keep_bytes: usize) -> CUresult;
    fn cuMemAllocAsync(address: *mut CUdeviceptr, bytes: usize, stream: CUstream) -> CUresult;
    fn cuMemFreeAsync(address: CUdeviceptr, stream: CUstream) -> CUresult;
    fn cuMemAlloc_v2(address: *mut CUdeviceptr, bytes: usize) -> CUresult;
    fn cuMemFree_v2(address: CUdeviceptr) -> CUresult;
    fn cuMemHostAlloc(pointer: *mut *mut c_void, bytes: usize, flags: c_uint) -> CUresult;
    fn cuMemFreeHost(pointer: *mut c_void) -> CUresult;
    fn cuMemcpyHtoDAsync_v2(to: CUdeviceptr, from: *const c_void, bytes: usize, stream: CUstream) -> CUresult;
    fn cuMemcpyDtoHAsync_v2(to: *mut c_void, from: CUdeviceptr, bytes: usize, stream: CUstream) -> CUresult;
    fn cuMemcpyDtoDAsync_v2(to: CUdeviceptr, from: CUdeviceptr, bytes: usize, stream: CUstream) -> CUresult;
    fn cuMemsetD8Async(to: CUdeviceptr, value: u8, bytes: usize, stream: CUstream) -> CUresult;

    fn cuStreamCreate(stream: *mut CUstream, flags: c_uint) -> CUresult;
    fn cuStreamDestroy_v2(stream: CUstream) -> CUresult;
    fn cuStreamSynchronize(stream: CUstream) -> CUresult;
    fn cuStreamWaitEvent(stream: CUstream, event: CUevent, flags: c_uint) -> CUresult;
    fn cuStreamBeginCapture_v2(stream: CUstream, mode: CUstreamCaptureMode) -> CUresult;
    fn cuStreamEndCapture(stream: CUstream, graph: *mut CUgraph) -> CUresult;
    fn cuEventCreate(event: *mut CUevent, flags: c_uint) -> CUresult;
    fn cuEventDestroy_v2(event: CUevent) -> CUresult;
    fn cuEventRecord(event: CUevent, stream: CUstream) -> CUresult;
    fn cuEventSynchronize(event: CUevent) -> CUresult;
    // Not its second version, which drivers before CUDA 12.8 do not have.
    fn cuEventElapsedTime(milliseconds: *mut f32, start: CUevent, end: CUevent) -> CUresult;
    fn cuGraphInstantiateWithFlags(made: *mut CUgraphExec, graph: CUgraph, flags: c_ulonglong) -> CUresult;
    fn cuGraphLaunch(graph: CUgraphExec, stream: CUstream) -> CUresult;
    fn cuGraphExecDestroy(graph: CUgraphExec) -> CUresult;
    fn cuGraphDestroy(graph: CUgraph) -> CUresult;

    fn cuModuleLoadData(module: *mut CUmodule, image: *const c_void) -> CUresult;
    fn cuModuleUnload(module: CUmodule) -> CUresult;
    fn cuModuleGetFunction(function: *mut CUfunction, module: CUmodule, name: *const c_char) -> CUresult;
    fn cuFuncGetAttribute(value: *mut c_int, which: CUfunction_attribute, function: CUfunction) -> CUresult;
    fn cuFuncSetAttribute(function: CUfunction, which: CUfunction_attribute, value: c_int) -> CUresult;
    fn cuLaunchKernel(
        function: CUfunction,
        grid_x: c_uint,
        grid_y: c_uint,
        grid_z: c_uint,
        block_x: c_uint,
        block_y: c_uint,
        block_z: c_uint,
        shared_bytes: c_uint,
        stream: CUstream,
        parameters: *mut *mut c_void,
        extra: *mut *mut c_void,
    ) -> CUresult;
    fn cuOccupancyMaxActiveBlocksPerMultiprocessor(
        blocks: *mut c_int,
        function: CUfunction,
        threads_per_block: c_int,
        shared_bytes: usize,
    ) -> CUresult;

    // Since CUDA 12.4.
    optional fn cuFuncGetParamInfo(
        function: CUfunction,
        index: usize,
        offset: *mut usize,
        size: *mut usize,
    ) -> CUresult;
    // Newer still.
    optional fn cuFuncGetParamCount(function: CUfunction, count: *mut usize) -> CUresult;
}
