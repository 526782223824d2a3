// A driver without a GPU: devices whose memory is the host's and whose kernels do nothing. What a test does not
// want is taken out or replaced by definitions: INIT, VERSION, CAPABILITY, FREE_BYTES, GPUS.
#include <stdlib.h>
#include <string.h>

#ifndef INIT
#define INIT 0
#endif
#ifndef VERSION
#define VERSION 13000
#endif
#ifndef CAPABILITY
#define CAPABILITY 90
#endif
#ifndef FREE_BYTES
#define FREE_BYTES 8000000000ULL
#endif

#ifndef GPUS
#define GPUS 1
#endif

typedef unsigned long long address;
static size_t taken;
static int capturing;
static int handle;

int cuInit(unsigned flags) { return INIT; }
int cuDriverGetVersion(int* version) { *version = VERSION; return 0; }
int cuGetErrorName(unsigned code, const char** name) { *name = "CUDA_ERROR_FAKE"; return 0; }
int cuGetErrorString(unsigned code, const char** text) { *text = "a sentence of the driver"; return 0; }

// NVRTC asks for it, and does without.
int cuGetExportTable(const void** table, const void* id) { return 500; }

int cuDeviceGetCount(int* count) { *count = GPUS; return 0; }
int cuDeviceGet(int* device, int ordinal) { *device = ordinal; return ordinal < GPUS ? 0 : 101; }
int cuDeviceGetName(char* name, int length, int device) { strncpy(name, "Fake GPU", length); return 0; }
int cuDeviceGetPCIBusId(char* name, int length, int device) { strncpy(name, "0000:01:00.0", length); return 0; }
int cuDeviceTotalMem_v2(size_t* bytes, int device) { *bytes = FREE_BYTES; return 0; }
int cuDeviceGetAttribute(int* value, int which, int device) {
    switch (which) {
        case 75: *value = CAPABILITY / 10; break;
        case 76: *value = CAPABILITY % 10; break;
        case 115: *value = 1; break;          // memory pools
        case 97: *value = 232448; break;      // shared memory of a block
        case 5: *value = 2147483647; break;   // grid
        default: *value = 1024;
    }
    return 0;
}
int cuDevicePrimaryCtxRetain(void** context, int device) { *context = &handle; return 0; }

int cuMemGetInfo_v2(size_t* available, size_t* total) {
    *available = FREE_BYTES - taken;
    *total = FREE_BYTES;
    return 0;
}
int cuDeviceGetDefaultMemPool(void** pool, int device) { *pool = &handle; return 0; }
int cuMemPoolGetAttribute(void* pool, int which, unsigned long long* value) { *value = 0; return 0; }
int cuMemAllocAsync(address* to, size_t bytes, void* stream) {
    if (bytes > FREE_BYTES - taken) return 2;
    size_t* block = aligned_alloc(256, (bytes + 256 + 255) / 256 * 256);
    *block = bytes;
    taken += bytes;
    *to = (address)block + 256;
    return 0;
}
int cuMemFreeAsync(address at, void* stream) {
    size_t* block = (size_t*)(at - 256);
    taken -= *block;
    free(block);
    return 0;
}
int cuMemHostAlloc(void** to, size_t bytes, unsigned flags) {
    *to = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
    return flags != 0; // write-combined memory is slow to read
}
int cuMemFreeHost(void* at) { free(at); return 0; }
int cuMemcpyHtoDAsync_v2(address to, const void* from, size_t n, void* s) { memcpy((void*)to, from, n); return 0; }
int cuMemcpyDtoHAsync_v2(void* to, address from, size_t n, void* s) { memcpy(to, (void*)from, n); return 0; }
int cuMemcpyDtoDAsync_v2(address to, address from, size_t n, void* s) { memcpy((void*)to, (void*)from, n); return 0; }
int cuMemsetD8Async(address to, unsigned char value, size_t n, void* stream) { memset((void*)to, value, n); return 0; }

int cuStreamCreate(void** stream, unsigned flags) {
    static int streams[64], made; // each has an address of its own
    *stream = &streams[made++ % 64];
    return flags != 1;
}
int cuStreamSynchronize(void* stream) { return capturing ? 900 : 0; }
int cuStreamBeginCapture_v2(void* stream, int mode) {
    if (capturing) return 401;
    capturing = 1;
    return 0;
}
int cuStreamEndCapture(void* stream, void** graph) {
    if (!capturing) return 401;
    capturing = 0;
    *graph = &handle;
    return 0;
}
int cuGraphInstantiateWithFlags(void** graph, void* recorded, unsigned long long flags) { *graph = &handle; return 0; }
int cuEventCreate(void** event, unsigned flags) { *event = &handle; return 0; }
int cuEventElapsedTime(float* milliseconds, void* start, void* end) { *milliseconds = 1.5f; return 0; }

int cuModuleLoadData(void** module, const void* image) {
    static int loads;
    *module = &handle;
    return getenv("FAKE_REJECT_FIRST_MODULE") && loads++ == 0 ? 200 : 0;
}
// Of one kernel the parameters are known, those of csr_thread in f64; of others the driver does not tell.
static int csr_thread;
#define PARAMETERS 11
#define NOT_SUPPORTED 801
int cuModuleGetFunction(void** function, void* module, const char* name) {
    *function = strcmp(name, "csr_thread") ? &handle : &csr_thread;
    return 0;
}
int cuFuncGetAttribute(int* value, int which, void* function) { *value = which == 4 ? 32 : 0; return 0; }
int cuFuncGetParamInfo(void* function, size_t index, size_t* offset, size_t* size) {
    if (function != &csr_thread) return NOT_SUPPORTED;
    *offset = 8 * index;
    *size = 8;
    return index < PARAMETERS ? 0 : 1;
}
int cuFuncGetParamCount(void* function, size_t* count) {
    *count = PARAMETERS;
    return function == &csr_thread ? 0 : NOT_SUPPORTED;
}
int cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, void* function, int threads, size_t shared) {
    *blocks = 4;
    return 0;
}
