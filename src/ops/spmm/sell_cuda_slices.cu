// Slices: LANES neighbouring lanes for a row, the 32 / LANES rows of a warp stored column by column (SELL), so that a step
// reads one nonzero of each of its rows, side by side, and the elements of X that rows next to each other mostly share.
// ORDERED = 1: rows come in the order of their lengths, long ones in parts.
// Touches A coalesced and once per tile of columns, X by 16-byte loads, Y once; parts twice.
// Loses where rows of a slice differ much in length: the padding is skipped, but its lanes wait. ORDERED: where K is small,
// since elements of Y are then written one by one, all over it.
#include "slice_row.cuh"

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS_PER_MULTIPROCESSOR)
    sell_slices(u64 rows, u64 k, const u64* __restrict__ slice_starts, const u32* __restrict__ lengths,
                const u32* __restrict__ columns, const SCALAR* __restrict__ values, const u32* __restrict__ targets,
                SCALAR* parts, const SCALAR* __restrict__ x, u64 x_distance, SCALAR* y, u64 y_distance, SCALAR alpha,
                SCALAR beta) {
    const Place place(k, true);
    const u64 row = place.block * (THREADS / LANES) + threadIdx.x / LANES;
    if (row >= rows) return;
    const u32 first_col = place.tile * TILE + threadIdx.x % LANES * VEC;
    const XRows of_x(x, x_distance, first_col, k);
    const u64 first = __ldg(slice_starts + row / ROWS) + row % ROWS;
    RowSums sums;
    sums.clear();
    add_row(sums, of_x, columns + first, values + first, __ldg(lengths + row));
#if ORDERED
    const u32 to = __ldg(targets + row);
    if (to & PART)
        sums.store(parts + u64(to & ~PART) * k + first_col, of_x);
    else
        sums.update(y + u64(to) * y_distance + first_col, of_x, alpha, beta);
#else
    sums.update(y + row * y_distance + first_col, of_x, alpha, beta);
#endif
}
