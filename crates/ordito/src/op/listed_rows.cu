// Rows of a matrix that a list names, brought together (gather_rows) or added to where they belong (add_rows): some threads across, the others down the list.
// Touches every element of a listed row once on either side, and the list once for each thread across, from the caches.
// Loses where rows are short and the list jumps about: most of every sector is not used.
#include "ordito.cuh"

extern "C" __global__ void gather_rows(u64 count, u64 cols, const u32* rows, const SCALAR* from, u64 from_distance, SCALAR* to, u64 to_distance) {
    for (u64 at = u64(blockIdx.x) * blockDim.y + threadIdx.y; at < count; at += u64(gridDim.x) * blockDim.y) {
        const u64 row = rows[at];
        for (u64 col = threadIdx.x; col < cols; col += blockDim.x) to[at * to_distance + col] = from[row * from_distance + col];
    }
}

// No row is listed twice: every element has one thread.
extern "C" __global__ void add_rows(u64 count, u64 cols, const u32* rows, const SCALAR* from, u64 from_distance, SCALAR* to, u64 to_distance) {
    for (u64 at = u64(blockIdx.x) * blockDim.y + threadIdx.y; at < count; at += u64(gridDim.x) * blockDim.y) {
        const u64 row = rows[at];
        for (u64 col = threadIdx.x; col < cols; col += blockDim.x) to[row * to_distance + col] += from[at * from_distance + col];
    }
}
