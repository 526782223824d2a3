// Slices: LANES neighbouring lanes for a row, the 32 / LANES rows of a warp stored column by column (SELL), so that a step
// reads one nonzero of each of its rows, side by side, and the elements of X that rows next to each other mostly share.
// Touches A coalesced and once per tile of columns, X by 16-byte loads, Y once. ONCE = 1: A makes room for X in the caches.
// ORDERED = 1: rows come in the order of their lengths, too long ones in parts. TEAMS = 1: before that, a long one has a team of
// lanes next to each other, whose sums are added by shuffles; a part then has a whole warp, and the one that comes last adds up
// all parts of its row, in a fixed order.
// Loses where rows of a slice differ much in length: the padding is skipped, but its lanes wait.
#include "pieces.cuh"

constexpr u32 ROWS = WARP / LANES;

#if TEAMS
// The sums of a team in each of its lanes, which lie side by side and have all columns.
__device__ __forceinline__ void add_up(RowSums& sums, u32 team) {
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
#endif

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS_PER_MULTIPROCESSOR)
    sell_slices(u64 rows, u64 k, const u64* __restrict__ slice_starts, const u32* __restrict__ lengths,
                const u32* __restrict__ columns, const SCALAR* __restrict__ values, const u32* __restrict__ targets,
                const uint4* __restrict__ cuts, u32* arrived, SCALAR* parts, const SCALAR* __restrict__ x, u64 x_distance,
                SCALAR* y, u64 y_distance, SCALAR alpha, SCALAR beta) {
    const Place place(k, true);
    u64 row = place.block * (THREADS / LANES) + threadIdx.x / LANES;
#if TEAMS
    // All lanes stay for the shuffles.
    const bool is_there = row < rows;
    if (!is_there) row = 0;
    const u32 word = is_there ? __ldg(lengths + row) : 0;
    const u32 length = word & ((1u << TEAM_BIT) - 1), team = 1u << (word >> TEAM_BIT);
#else
    if (row >= rows) return;
    const u32 length = __ldg(lengths + row);
#endif
    const u32 first_col = place.tile * TILE + threadIdx.x % LANES * VEC;
    const XRows of_x(x, x_distance, first_col, k);
    const u64 first = __ldg(slice_starts + row / ROWS) + row % ROWS;
    const u32* const my_columns = columns + first;
    const SCALAR* const my_values = values + first;
#if ONCE
    const CachePolicy once = evict_first();
#define READ_A(from) read_soon_again(from, once)
#else
#define READ_A(from) __ldg(from)
#endif
    RowSums sums;
    sums.clear();
    // All loads of IN_FLIGHT nonzeros are out before the first product waits for one; the last few ask whether they are there,
    // which would cost all others dearly.
    u32 j = 0;
#pragma unroll 1
    for (; j + IN_FLIGHT <= length; j += IN_FLIGHT) {
        u32 column[IN_FLIGHT];
        SCALAR value[IN_FLIGHT];
        Few few[IN_FLIGHT][CHUNKS];
#pragma unroll
        for (u32 u = 0; u < IN_FLIGHT; ++u) {
            column[u] = READ_A(my_columns + (j + u) * ROWS);
            value[u] = READ_A(my_values + (j + u) * ROWS);
        }
#pragma unroll
        for (u32 u = 0; u < IN_FLIGHT; ++u) of_x.read(few[u], column[u]);
#pragma unroll
        for (u32 u = 0; u < IN_FLIGHT; ++u) sums.add(value[u], few[u]);
    }
    if (j < length) {
        u32 column[IN_FLIGHT];
        SCALAR value[IN_FLIGHT];
        Few few[IN_FLIGHT][CHUNKS];
#pragma unroll
        for (u32 u = 0; u + 1 < IN_FLIGHT; ++u)
            if (j + u < length) {
                column[u] = READ_A(my_columns + (j + u) * ROWS);
                value[u] = READ_A(my_values + (j + u) * ROWS);
            }
#pragma unroll
        for (u32 u = 0; u + 1 < IN_FLIGHT; ++u)
            if (j + u < length) of_x.read(few[u], column[u]);
#pragma unroll
        for (u32 u = 0; u + 1 < IN_FLIGHT; ++u)
            if (j + u < length) sums.add(value[u], few[u]);
    }
#if TEAMS
    if (__any_sync(ALL, team > 1)) add_up(sums, team);
    const u32 to = is_there ? __ldg(targets + row) : NOTHING;
    if (to != NOTHING && to & PART) {  // the whole warp
        // Of the part: the row, its first part, the end of its parts, and the counter of those that are done.
        const uint4 cut = __ldg(cuts + (to & ~PART));
        const u32 lane = threadIdx.x % WARP, last = cut.z - cut.y - 1;
        u32 before = 0;
        if (lane == 0) {
            sums.store(parts + u64(to & ~PART) * k + first_col, of_x);
            __threadfence();  // the part is there before the counter says so
            before = atomicInc(arrived + cut.w, last);  // from the last one on 0, for the next run
            __threadfence();  // and the parts of others are seen behind it
        }
        if (__shfl_sync(ALL, before, 0) != last) return;
        __syncwarp();
        sums.clear();
        // So many are on their way at once.
#pragma unroll 8
        for (u32 part = cut.y + lane; part < cut.z; part += WARP) sums.add_stored(parts + u64(part) * k + first_col, of_x);
        add_up(sums, WARP);
        if (lane == 0) sums.update(y + u64(cut.x) * y_distance + first_col, of_x, alpha, beta);
        return;
    }
    if (to == NOTHING || row % team != 0) return;
    sums.update(y + u64(to) * y_distance + first_col, of_x, alpha, beta);
#elif ORDERED
    const u32 to = __ldg(targets + row);
    if (to & PART)
        sums.store(parts + u64(to & ~PART) * k + first_col, of_x);
    else
        sums.update(y + u64(to) * y_distance + first_col, of_x, alpha, beta);
#else
    sums.update(y + row * y_distance + first_col, of_x, alpha, beta);
#endif
}
