// Moves the nonzeros of CSR into slices of ROWS rows: the first of every row, then the second of every row … What a short row does not
// have is 0. A warp per slice; rows of the grid take stretches of long ones. A piece is as pieces.cuh has it, its length in the bits
// LENGTH.
#include "ordito.cuh"

// Entries of every slice: as many for each row as the longest has.
extern "C" __global__ void __launch_bounds__(THREADS)
    measure_slices(u64 pieces, const uint4* __restrict__ list, u64* __restrict__ widths) {
    const u64 slice = thread_of_grid() / WARP;
    if (slice * ROWS >= pieces) return;
    const u32 lane = threadIdx.x % WARP;
    const u64 number = slice * ROWS + lane % ROWS;
    u32 longest = number < pieces ? list[number].z & LENGTH : 0;
#pragma unroll
    for (u32 apart = 1; apart < ROWS; apart *= 2) {
        const u32 other = __shfl_xor_sync(0xffffffffu, longest, int(apart));
        longest = other > longest ? other : longest;
    }
    if (lane == 0) widths[slice] = u64(longest) * ROWS;
}

extern "C" __global__ void __launch_bounds__(THREADS)
    slice_entries(u64 pieces, const uint4* __restrict__ list, const u64* __restrict__ slice_starts,
                  const u32* __restrict__ columns, const SCALAR* __restrict__ values, u32* __restrict__ lengths,
                  u32* __restrict__ targets, u32* __restrict__ to_columns, SCALAR* __restrict__ to_values) {
    const u64 slice = thread_of_grid() / WARP;
    if (slice * ROWS >= pieces) return;
    const u32 lane = threadIdx.x % WARP, row = lane % ROWS;
    const u64 number = slice * ROWS + row;
    uint4 piece = make_uint4(0, 0, 0, 0);
    if (number < pieces) piece = list[number];
    if (blockIdx.y == 0 && lane < ROWS && number < pieces) {
        lengths[number] = piece.z;
        targets[number] = piece.w;
    }
    const u64 first = piece.x | u64(piece.y) << 32, length = piece.z & LENGTH;
    const u64 to = slice_starts[slice] + row, width = (slice_starts[slice + 1] - slice_starts[slice]) / ROWS;
    for (u64 stretch = u64(blockIdx.y) * STRETCH; stretch < width; stretch += u64(gridDim.y) * STRETCH) {
        const u64 end = stretch + STRETCH < width ? stretch + STRETCH : width;
        for (u64 j = stretch + lane / ROWS; j < end; j += WARP / ROWS) {
            to_columns[to + j * ROWS] = j < length ? columns[first + j] : 0;
            to_values[to + j * ROWS] = j < length ? values[first + j] : SCALAR(0);
        }
    }
}
