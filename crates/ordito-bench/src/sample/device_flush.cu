// Reads a buffer that is larger than the device's last-level cache: what was there before is pushed out, and what comes
// in is clean. (Lines that were written would have to go back to memory, and would do so while the next kernel is
// timed.) Neighbouring threads read neighbouring 16 bytes, and all of the grid goes on to the next stretch.
#include "ordito.cuh"

extern "C" __global__ void read_all(const uint4* words, u64 count, u32* never_written) {
    const u64 threads = u64(gridDim.x) * blockDim.x;
    u32 all = 0xFFFFFFFFu;
    for (u64 i = thread_of_grid(); i < count; i += threads) {
        const uint4 word = words[i];
        all &= word.x & word.y & word.z & word.w;
    }
    // Every bit of the buffer is set, which the compiler does not know: it cannot leave the reading out.
    if (all != 0xFFFFFFFFu) *never_written = all;
}
