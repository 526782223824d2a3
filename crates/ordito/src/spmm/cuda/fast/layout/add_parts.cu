// Adds up the parts of rows that were too long for one group of lanes, in a fixed order: the same bits in every run.
// A block for a row of many parts and a tile of its columns, a warp for one of few; the threads share out the parts.
#include "ordito.cuh"

constexpr u32 THREADS = 512, ALL = 0xffffffffu;
// Parts of a thread that are on their way at once.
constexpr u32 IN_FLIGHT = 8;

// `slots` threads have every column of a tile, as many as there are up to `threads`.
struct Tile {
    u32 columns, tiles, slots;
    __device__ __forceinline__ Tile(u32 threads, u64 k) : columns(1) {
        while (columns < threads && columns < k) columns *= 2;
        tiles = u32((k + columns - 1) / columns);
        slots = threads / columns;
    }
};

// Every `slots`-th part of a row, from the slot's on; parts of a row lie `step` apart.
__device__ __forceinline__ SCALAR sum_of(const uint4& row, const SCALAR* __restrict__ parts, u32 step, u64 k, u64 col,
                                         u32 slot, u32 slots) {
    SCALAR sum = 0;
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
    return sum;
}

// Of `rows` (row, its first part, and the end of its parts) the first `long_rows` have many parts.
extern "C" __global__ void add_parts(u64 k, u32 step, u64 row_count, u64 long_rows, const uint4* __restrict__ rows,
                                     const SCALAR* __restrict__ parts, SCALAR* y, u64 y_distance, SCALAR alpha, SCALAR beta) {
    __shared__ SCALAR sums[THREADS];
    const Tile of_block(THREADS, k);
    const u64 long_blocks = long_rows * of_block.tiles;
    if (blockIdx.x < long_blocks) {
        const uint4 row = rows[blockIdx.x / of_block.tiles];
        const u64 col = u64(blockIdx.x % of_block.tiles) * of_block.columns + threadIdx.x % of_block.columns;
        const u32 slot = threadIdx.x / of_block.columns;
        SCALAR sum = 0;
        if (col < k) sum = sum_of(row, parts, step, k, col, slot, of_block.slots);
        sums[threadIdx.x] = sum;
        __syncthreads();
        if (slot > 0 || col >= k) return;
        for (u32 other = 1; other < of_block.slots; ++other) sum += sums[other * of_block.columns + threadIdx.x];
        update(y[u64(row.x) * y_distance + col], alpha, sum, beta);
        return;
    }
    const Tile of_warp(WARP, k);
    const u64 number = (blockIdx.x - long_blocks) * (THREADS / WARP) + threadIdx.x / WARP;
    if (number >= (row_count - long_rows) * of_warp.tiles) return;  // the whole warp
    const uint4 row = rows[long_rows + number / of_warp.tiles];
    const u32 lane = threadIdx.x % WARP, slot = lane / of_warp.columns;
    const u64 col = number % of_warp.tiles * of_warp.columns + lane % of_warp.columns;
    SCALAR sum = 0;
    if (col < k) sum = sum_of(row, parts, step, k, col, slot, of_warp.slots);
    for (u32 apart = of_warp.columns; apart < WARP; apart *= 2) sum += __shfl_xor_sync(ALL, sum, int(apart));
    if (slot == 0 && col < k) update(y[u64(row.x) * y_distance + col], alpha, sum, beta);
}
