// Rows: LANES lanes side by side for the columns of X, SPLIT such groups for the nonzeros of a row in turn; their sums are
// added by shuffles. Rows come in the order of their lengths, so that those of a warp end together, and long ones in parts.
// SHUFFLED = 1: a row's group reads as many nonzeros as it has lanes, coalesced, and hands them round, while the next are on
// their way. SHUFFLED = 0: every lane reads the nonzero that it needs, neighbours the same one.
// Touches A once per tile of columns, X by 16-byte loads, Y once; parts twice.
// Loses on rows shorter than SPLIT (groups idle), and where neighbours in the matrix share columns of X but differ in length.
#include "pieces.cuh"

constexpr u32 GROUP = LANES * SPLIT;

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS_PER_MULTIPROCESSOR)
    csr_rows(u64 pieces, u64 k, const uint4* __restrict__ list, const u32* __restrict__ columns,
             const SCALAR* __restrict__ values, SCALAR* parts, const SCALAR* __restrict__ x, u64 x_distance, SCALAR* y,
             u64 y_distance, SCALAR alpha, SCALAR beta) {
    const Place place(k);
    const u32 in_group = threadIdx.x % GROUP, slot = in_group / LANES, lane = in_group % LANES;
    const u64 number = place.block * (THREADS / GROUP) + threadIdx.x / GROUP;
    const u32 first_col = place.tile * TILE + lane * VEC;
    const XRows of_x(x, x_distance, first_col, k);
    Piece piece;
    if (number < pieces) piece = Piece(__ldg(list + number));
    RowSums sums;
    sums.clear();
#if SHUFFLED
    // The same number of steps for the whole warp: all lanes are there for every shuffle.
    const u32 longest = __reduce_max_sync(ALL, piece.length);
    const CachePolicy once = evict_first();
    const u32* next_column = columns + piece.start + in_group;
    const SCALAR* next_value = values + piece.start + in_group;
    u32 column = 0;
    SCALAR value = 0;
    if (in_group < piece.length) {
        column = read_once(next_column, once);
        value = read_once(next_value, once);
    }
    constexpr u32 AT_ONCE = IN_FLIGHT < LANES ? IN_FLIGHT : LANES;
    int left = int(piece.length);
#pragma unroll 1
    for (u32 done = 0; done < longest; done += GROUP, left -= int(GROUP)) {
        u32 column_after = 0;
        SCALAR value_after = 0;
        next_column += GROUP;
        next_value += GROUP;
        if (int(in_group + GROUP) < left) {
            column_after = read_once(next_column, once);
            value_after = read_once(next_value, once);
        }
#pragma unroll
        for (u32 step = 0; step < LANES; step += AT_ONCE) {
            if (step > 0 && done + step * SPLIT >= longest) break;
            Few few[AT_ONCE][CHUNKS];
#pragma unroll
            for (u32 u = 0; u < AT_ONCE; ++u) {
                const u32 from = (step + u) * SPLIT + slot;
                const u32 its_column = __shfl_sync(ALL, column, int(from), GROUP);
                if (int(from) < left) of_x.read(few[u], its_column);
            }
#pragma unroll
            for (u32 u = 0; u < AT_ONCE; ++u) {
                const u32 from = (step + u) * SPLIT + slot;
                const SCALAR its_value = __shfl_sync(ALL, value, int(from), GROUP);
                if (int(from) < left) sums.add(its_value, few[u]);
            }
        }
        column = column_after;
        value = value_after;
    }
#else
    const u32* const my_columns = columns + piece.start;
    const SCALAR* const my_values = values + piece.start;
    u32 i = slot;
#pragma unroll 1
    for (; i + (IN_FLIGHT - 1) * SPLIT < piece.length; i += IN_FLIGHT * SPLIT) {
        u32 column[IN_FLIGHT];
        SCALAR value[IN_FLIGHT];
        Few few[IN_FLIGHT][CHUNKS];
#pragma unroll
        for (u32 u = 0; u < IN_FLIGHT; ++u) {
            column[u] = __ldg(my_columns + i + u * SPLIT);
            value[u] = __ldg(my_values + i + u * SPLIT);
        }
#pragma unroll
        for (u32 u = 0; u < IN_FLIGHT; ++u) of_x.read(few[u], column[u]);
#pragma unroll
        for (u32 u = 0; u < IN_FLIGHT; ++u) sums.add(value[u], few[u]);
    }
    // The last few ask whether they are there, which would cost all others dearly.
    if (i < piece.length) {
        u32 column[IN_FLIGHT];
        SCALAR value[IN_FLIGHT];
        Few few[IN_FLIGHT][CHUNKS];
#pragma unroll
        for (u32 u = 0; u + 1 < IN_FLIGHT; ++u)
            if (i + u * SPLIT < piece.length) {
                column[u] = __ldg(my_columns + i + u * SPLIT);
                value[u] = __ldg(my_values + i + u * SPLIT);
            }
#pragma unroll
        for (u32 u = 0; u + 1 < IN_FLIGHT; ++u)
            if (i + u * SPLIT < piece.length) of_x.read(few[u], column[u]);
#pragma unroll
        for (u32 u = 0; u + 1 < IN_FLIGHT; ++u)
            if (i + u * SPLIT < piece.length) sums.add(value[u], few[u]);
    }
#endif
#pragma unroll
    for (u32 apart = LANES; apart < GROUP; apart *= 2)
#pragma unroll
        for (u32 c = 0; c < CHUNKS; ++c)
#pragma unroll
            for (u32 i = 0; i < VEC; ++i) sums.of[c][i] += __shfl_xor_sync(ALL, sums.of[c][i], int(apart));
    if (number >= pieces || slot != 0) return;
    if (piece.is_part())
        sums.store(parts + u64(piece.to & ~PART) * k + first_col, of_x);
    else
        sums.update(y + u64(piece.to) * y_distance + first_col, of_x, alpha, beta);
}
