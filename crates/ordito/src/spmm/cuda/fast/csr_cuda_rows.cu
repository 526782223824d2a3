// Rows: LANES lanes side by side for the columns of X, SPLIT such groups for the nonzeros of a row in turn; their sums are
// added by shuffles. Rows come in the order of their lengths, so that those of a warp end together.
// TEAMS = 1: there are long rows, which come first. A block or a warp has each, whose groups share it out and add up; of several
// blocks for one row the last adds up what all have, in a fixed order.
// SHUFFLED = 1: a row's group reads as many nonzeros as it has lanes, coalesced, and hands them round, while the next are on
// their way. SHUFFLED = 0: every lane reads the nonzero that it needs, neighbours the same one.
// Touches A once per tile of columns, X by 16-byte loads, Y once; what blocks have of a row of several twice.
// Loses on rows shorter than SPLIT (groups idle), and where neighbours in the matrix share columns of X but differ in length.
#include "pieces.cuh"

constexpr u32 GROUP = LANES * SPLIT, GROUPS = THREADS / GROUP, WARPS = THREADS / WARP;
static_assert(TILE <= THREADS, "a thread for each column of a tile");

// Adds what lanes `From`, 2 · `From` … apart have, up to `To`.
template <u32 From, u32 To>
__device__ __forceinline__ void add_across(RowSums& sums) {
#pragma unroll
    for (u32 apart = From; apart < To; apart *= 2)
#pragma unroll
        for (u32 c = 0; c < CHUNKS; ++c)
#pragma unroll
            for (u32 i = 0; i < VEC; ++i) sums.of[c][i] += __shfl_xor_sync(ALL, sums.of[c][i], int(apart));
}

// Of the column of the tile that a thread has, if any: what all warps have together, warp after warp.
__device__ __forceinline__ SCALAR sum_of_block(const RowSums& sums, SCALAR (&of_each_warp)[WARPS][TILE]) {
    const u32 lane = threadIdx.x % WARP;
    if (lane < LANES)
#pragma unroll
        for (u32 c = 0; c < CHUNKS; ++c)
#pragma unroll
            for (u32 i = 0; i < VEC; ++i) of_each_warp[threadIdx.x / WARP][c * CHUNK + lane * VEC + i] = sums.of[c][i];
    __syncthreads();
    SCALAR sum = 0;
    if (threadIdx.x < TILE)
#pragma unroll
        for (u32 warp = 0; warp < WARPS; ++warp) sum += of_each_warp[warp][threadIdx.x];
    return sum;
}

// Is this block the last of those that have a row, parts `y` to `z` of the cut, to leave its part? Then counter `w` is 0 again, for the next run.
__device__ __forceinline__ bool comes_last(const uint4& cut, u32* arrived, u32 tile, u64 k, u32& done_before) {
    const u32 last = cut.z - cut.y - 1;
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();  // the part is there before the counter says so
        const u64 tiles = (k + TILE - 1) / TILE;
        done_before = atomicInc(arrived + cut.w * tiles + tile, last);
        __threadfence();  // and the parts of others are seen behind it
    }
    __syncthreads();
    return done_before == last;
}

// The sums of all parts of the cut, in a fixed order: those of a lane one after the other, then lanes, then warps.
__device__ __forceinline__ SCALAR sum_of_parts(const uint4& cut, const SCALAR* parts, u32 first_col, const XRows& of_x, u64 k,
                                               SCALAR (&of_each_warp)[WARPS][TILE]) {
    RowSums sums;
    sums.clear();
    // So many are on their way at once.
#pragma unroll 4
    for (u32 part = cut.y + threadIdx.x / LANES; part < cut.z; part += THREADS / LANES)
        sums.add_stored(parts + u64(part) * k + first_col, of_x);
    add_across<LANES, WARP>(sums);
    return sum_of_block(sums, of_each_warp);
}

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS_PER_MULTIPROCESSOR)
    csr_rows(u64 pieces, u64 k, u64 block_pieces, u64 warp_pieces, const uint4* __restrict__ list, const u32* __restrict__ columns,
             const SCALAR* __restrict__ values, const uint4* __restrict__ cuts, u32* arrived, SCALAR* parts,
             const SCALAR* __restrict__ x, u64 x_distance, SCALAR* y, u64 y_distance, SCALAR alpha, SCALAR beta) {
    const Place place(k);
    const u32 in_group = threadIdx.x % GROUP, slot = in_group / LANES, lane = in_group % LANES;
#if TEAMS
    const bool has_block = place.block < block_pieces;
    const u32 warp = u32(place.block - block_pieces) * WARPS + threadIdx.x / WARP;
    const bool has_warp = !has_block && warp < warp_pieces;
    // Rows are fewer than 2³¹ (the topmost bit tells parts), so 32 bits number all pieces, and those of the last block that are not there.
    const u32 behind = u32(warp_pieces) + (warp - u32(warp_pieces)) * (WARP / GROUP) + threadIdx.x % WARP / GROUP;
    const u32 number = has_block ? u32(place.block) : u32(block_pieces) + (has_warp ? warp : behind);
    const u32 team = has_block ? GROUPS : has_warp ? WARP / GROUP : 1, member = threadIdx.x / GROUP % team;
#else
    const u64 number = place.block * GROUPS + threadIdx.x / GROUP;
#endif
    const u32 first_col = place.tile * TILE + lane * VEC;
    const XRows of_x(x, x_distance, first_col, k);
    Piece piece;
    if (number < pieces) piece = Piece(__ldg(list + number));
#if TEAMS
    if (team > 1) {
        // As many for each group, and for each slot of it.
        const u32 each = (piece.length + team * SPLIT - 1) / (team * SPLIT) * SPLIT;
        const u32 first = member * each, before = first < piece.length ? first : piece.length;
        piece.start += before;
        piece.length = piece.length - before < each ? piece.length - before : each;
    }
    // Asked here, so that the loop has the registers of what they depend on.
    const bool is_first = number < pieces && slot == 0 && member == 0, is_alone = team == 1;
#endif
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
    add_across<LANES, GROUP>(sums);
#if TEAMS
    if (!is_alone) add_across<GROUP, WARP>(sums);
    if (!has_block) {
        if (is_first)
            sums.update(y + u64(piece.to) * y_distance + first_col, of_x, alpha, beta);
        return;
    }
    __shared__ SCALAR of_each_warp[WARPS][TILE];
    const u64 col = u64(place.tile) * TILE + threadIdx.x;
    const bool has_column = threadIdx.x < TILE && col < k;
    const SCALAR sum = sum_of_block(sums, of_each_warp);
    if (!piece.is_part()) {
        if (has_column) update(y[u64(piece.to) * y_distance + col], alpha, sum, beta);
        return;
    }
    // Of the part: the row, its first part, the end of its parts, and the counter of those that are done.
    const u32 part = piece.to & ~PART;
    const uint4 cut = __ldg(cuts + part);
    if (has_column) parts[u64(part) * k + col] = sum;
    __shared__ u32 done_before;
    if (!comes_last(cut, arrived, place.tile, k, done_before)) return;
    const SCALAR of_all = sum_of_parts(cut, parts, first_col, of_x, k, of_each_warp);
    if (has_column) update(y[u64(cut.x) * y_distance + col], alpha, of_all, beta);
#else
    if (number < pieces && slot == 0) sums.update(y + u64(piece.to) * y_distance + first_col, of_x, alpha, beta);
#endif
}
