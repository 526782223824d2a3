// Teams: a block has WINDOW rows next to each other, in slices (SELL) and in the order of their lengths: a lane has a short row,
// a team of lanes a long one, whose sums are added by shuffles; rows too long for a warp come in parts. The sums wait in shared
// memory, so that Y is written side by side although its rows are not done in order.
// Touches A coalesced and once per tile of columns, X by loads of up to 16 bytes, Y once; parts twice.
// Loses where K is large: a lane has few columns, and A is read for every tile of them.
#include "slice_row.cuh"

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS_PER_MULTIPROCESSOR)
    sell_teams(u64 rows, u64 k, const u32* __restrict__ first_slices, const u64* __restrict__ slice_starts,
               const u32* __restrict__ lengths, const u32* __restrict__ columns, const SCALAR* __restrict__ values,
               const u32* __restrict__ targets, SCALAR* parts, const SCALAR* __restrict__ x, u64 x_distance, SCALAR* y,
               u64 y_distance, SCALAR alpha, SCALAR beta) {
    __shared__ SCALAR waiting[WINDOW * TILE];
    // Rows in parts are left to whoever adds those up.
    __shared__ bool is_done[WINDOW];
    const Place place(k, true);
    const u32 first_col = place.tile * TILE, lane = threadIdx.x % WARP;
    const XRows of_x(x, x_distance, first_col, k);
    for (u32 row = threadIdx.x; row < WINDOW; row += THREADS) is_done[row] = false;
    __syncthreads();
    const u32 end = __ldg(first_slices + place.block + 1);
    for (u32 slice = __ldg(first_slices + place.block) + threadIdx.x / WARP; slice < end; slice += THREADS / WARP) {
        const u64 piece = u64(slice) * WARP + lane;
        // Length, and from TEAM_BIT on the lanes of its team, as a power of two.
        const u32 word = __ldg(lengths + piece), team = 1u << (word >> TEAM_BIT);
        const u64 first = __ldg(slice_starts + slice) + lane;
        RowSums sums;
        sums.clear();
        add_row(sums, of_x, columns + first, values + first, word & ((1u << TEAM_BIT) - 1));
        if (__any_sync(ALL, team > 1)) {
#pragma unroll
            for (u32 apart = 1; apart < WARP; apart *= 2)
#pragma unroll
                for (u32 c = 0; c < CHUNKS; ++c)
#pragma unroll
                    for (u32 i = 0; i < VEC; ++i) {
                        const SCALAR other = __shfl_xor_sync(ALL, sums.of[c][i], int(apart));
                        if (apart < team) sums.of[c][i] += other;
                    }
        }
        const u32 to = __ldg(targets + piece);
        if (to != NOTHING && lane % team == 0) {
            if (to & PART) {
                sums.store(parts + u64(to & ~PART) * k + first_col, of_x);
            } else {
                is_done[to] = true;
#pragma unroll
                for (u32 c = 0; c < CHUNKS; ++c)
#pragma unroll
                    for (u32 i = 0; i < VEC; ++i) waiting[to * TILE + c * VEC + i] = sums.of[c][i];
            }
        }
    }
    __syncthreads();
    for (u32 row = threadIdx.x; row < WINDOW; row += THREADS) {
        const u64 of_y = place.block * WINDOW + row;
        if (of_y >= rows || !is_done[row]) continue;
        RowSums sums;
#pragma unroll
        for (u32 c = 0; c < CHUNKS; ++c)
#pragma unroll
            for (u32 i = 0; i < VEC; ++i) sums.of[c][i] = waiting[row * TILE + c * VEC + i];
        sums.update(y + of_y * y_distance + first_col, of_x, alpha, beta);
    }
}
