// Adds up the parts of rows that were too long for one group of lanes, in a fixed order: the same bits in every run.
// One block for a row and a tile of its columns; its threads share out the parts.
#include "ordito.cuh"

constexpr u32 THREADS = 512;
// Parts of a thread that are on their way at once.
constexpr u32 IN_FLIGHT = 8;

extern "C" __global__ void add_parts(u64 k, u32 step, const uint4* __restrict__ rows, const SCALAR* __restrict__ parts,
                                     SCALAR* y, u64 y_distance, SCALAR alpha, SCALAR beta) {
    __shared__ SCALAR sums[THREADS];
    u32 columns = 1;
    while (columns < THREADS && columns < k) columns *= 2;
    const u32 tiles = u32((k + columns - 1) / columns), slots = THREADS / columns;
    // Row, its first part, and the end of its parts, which lie `step` apart.
    const uint4 row = rows[blockIdx.x / tiles];
    const u64 col = u64(blockIdx.x % tiles) * columns + threadIdx.x % columns;
    const u32 slot = threadIdx.x / columns;
    SCALAR sum = 0;
    if (col < k) {
        const u64 stride = u64(slots) * step;
        u64 part = row.y + u64(slot) * step;
        for (; part + (IN_FLIGHT - 1) * stride < row.z; part += IN_FLIGHT * stride) {
            SCALAR some[IN_FLIGHT];
#pragma unroll
            for (u32 i = 0; i < IN_FLIGHT; ++i) some[i] = parts[(part + i * stride) * k + col];
#pragma unroll
            for (u32 i = 0; i < IN_FLIGHT; ++i) sum += some[i];
        }
        for (; part < row.z; part += stride) sum += parts[part * k + col];
    }
    sums[threadIdx.x] = sum;
    __syncthreads();
    if (slot > 0 || col >= k) return;
    for (u32 other = 1; other < slots; ++other) sum += sums[other * columns + threadIdx.x];
    update(y[u64(row.x) * y_distance + col], alpha, sum, beta);
}
