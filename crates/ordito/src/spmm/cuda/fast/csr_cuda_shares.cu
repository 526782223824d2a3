// Shares: every group of LANES lanes gets the same number of nonzeros, ITEMS neighbours, however long the rows are. It adds
// them up until a row ends; a segmented scan over the block brings it what the groups before it have of its first row. A row
// that goes over several blocks is added up from their parts, in a fixed order, by the block that comes last.
// Touches A coalesced, once per tile of columns, X by loads as wide as K allows, all of them on their way at once, Y once.
// Loses where K is large: the sums of all lanes go through the scan.
#include "flags.cuh"

constexpr u32 WARPS = THREADS / WARP, GROUPS = THREADS / LANES;
constexpr u32 PER_READ = 16 / sizeof(SCALAR);

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS_PER_MULTIPROCESSOR)
    csr_shares(u64 blocks, u64 k, const u32* __restrict__ columns, const SCALAR* __restrict__ values,
               const uint2* __restrict__ firsts, const uint4* __restrict__ cuts, u32* arrived, SCALAR* parts,
               const SCALAR* __restrict__ x, u64 x_distance, SCALAR* y, u64 y_distance, SCALAR alpha, SCALAR beta) {
    __shared__ SCALAR tails[WARPS][CHUNKS][LANES][VEC];
    __shared__ u32 ended_in[WARPS];
    const Place place(k);
    const u32 lane = threadIdx.x % WARP, warp = threadIdx.x / WARP, across = threadIdx.x % LANES;
    const u32 first_col = place.tile * TILE + across * VEC;
    const u64 start = (place.block * GROUPS + threadIdx.x / LANES) * ITEMS;
    const XRows of_x(x, x_distance, first_col, k);
    // The row of the first nonzero, with LAST where it began in an earlier block; the cut row that goes on behind the block.
    const uint2 first = __ldg(firsts + place.block);
    const bool goes_on = first.x & LAST;
    const u32 tail_cut = first.y;

    u32 column[ITEMS];
    SCALAR value[ITEMS];
    Few few[ITEMS][CHUNKS];
    const CachePolicy once = evict_first();
#pragma unroll
    for (u32 i = 0; i < ITEMS; i += 4) {
        const uint4 four = read_soon_again(reinterpret_cast<const uint4*>(columns + start + i), once);
        column[i] = four.x, column[i + 1] = four.y, column[i + 2] = four.z, column[i + 3] = four.w;
    }
#pragma unroll
    for (u32 i = 0; i < ITEMS; i += PER_READ) {
        union {
            uint4 wide;
            SCALAR of[PER_READ];
        } both;
        both.wide = read_soon_again(reinterpret_cast<const uint4*>(values + start + i), once);
#pragma unroll
        for (u32 j = 0; j < PER_READ; ++j) value[i + j] = both.of[j];
    }
#pragma unroll
    for (u32 i = 0; i < ITEMS; ++i)
        if (!(column[i] & NOTHING)) of_x.read(few[i], column[i] & COLUMN);

    // Each end of a row takes the sum since the one before, in the place of its element of X; `sum` keeps what is left.
    u32 ended = 0;
    RowSums sum;
    sum.clear();
#pragma unroll
    for (u32 i = 0; i < ITEMS; ++i) {
        ended += column[i] / LAST;
#pragma unroll
        for (u32 c = 0; c < CHUNKS; ++c)
#pragma unroll
            for (u32 q = 0; q < VEC; ++q) {
                if (!(column[i] & NOTHING)) sum.of[c][q] += value[i] * few[i][c].of[q];
                if (column[i] & LAST) few[i][c].of[q] = sum.of[c][q], sum.of[c][q] = 0;
            }
    }
    // After step s a group knows the sum of the last 2^s groups since a row ended in them, and how many ended.
#pragma unroll
    for (u32 apart = LANES; apart < WARP; apart *= 2) {
        const u32 ended_there = __shfl_up_sync(ALL, ended, apart);
#pragma unroll
        for (u32 c = 0; c < CHUNKS; ++c)
#pragma unroll
            for (u32 q = 0; q < VEC; ++q) {
                const SCALAR there = __shfl_up_sync(ALL, sum.of[c][q], apart);
                if (lane >= apart && ended == 0) sum.of[c][q] += there;
            }
        if (lane >= apart) ended += ended_there;
    }
    if (lane >= WARP - LANES) {
#pragma unroll
        for (u32 c = 0; c < CHUNKS; ++c)
#pragma unroll
            for (u32 q = 0; q < VEC; ++q) tails[warp][c][across][q] = sum.of[c][q];
        if (lane == WARP - 1) ended_in[warp] = ended;
    }
    // What the groups before this one leave to it: those of the warp, then those of the warps before.
    u32 before = __shfl_up_sync(ALL, ended, LANES);
#pragma unroll
    for (u32 c = 0; c < CHUNKS; ++c)
#pragma unroll
        for (u32 q = 0; q < VEC; ++q) {
            const SCALAR there = __shfl_up_sync(ALL, sum.of[c][q], LANES);
            sum.of[c][q] = lane < LANES ? SCALAR(0) : there;
        }
    if (lane < LANES) before = 0;
    __syncthreads();
    RowSums earlier;
    earlier.clear();
    u32 ended_earlier = 0, ended_in_all = 0;
    for (u32 w = 0; w < WARPS; ++w) {
        const u32 there = ended_in[w];
        ended_in_all += there;
        if (w >= warp) continue;
        ended_earlier += there;
#pragma unroll
        for (u32 c = 0; c < CHUNKS; ++c)
#pragma unroll
            for (u32 q = 0; q < VEC; ++q) {
                const SCALAR tail = tails[w][c][across][q];
                earlier.of[c][q] = there ? tail : earlier.of[c][q] + tail;
            }
    }
    if (before == 0)
#pragma unroll
        for (u32 c = 0; c < CHUNKS; ++c)
#pragma unroll
            for (u32 q = 0; q < VEC; ++q) sum.of[c][q] += earlier.of[c][q];

    u32 row = ended_earlier + before;  // of those that end in this block
    bool is_first = true;
#pragma unroll
    for (u32 i = 0; i < ITEMS; ++i)
        if (column[i] & LAST) {
            RowSums whole;
#pragma unroll
            for (u32 c = 0; c < CHUNKS; ++c)
#pragma unroll
                for (u32 q = 0; q < VEC; ++q) whole.of[c][q] = few[i][c].of[q] + (is_first ? sum.of[c][q] : SCALAR(0));
            if (row == 0 && goes_on)
                whole.store(parts + (blocks + place.block) * k + first_col, of_x);
            else
                whole.update(y + u64((first.x & ~LAST) + row) * y_distance + first_col, of_x, alpha, beta);
            is_first = false;
            ++row;
        }
    const u32 head_cut = goes_on && ended_in_all > 0 ? __ldg(&firsts[place.block - 1].y) : ALL;
    if (tail_cut == ALL && head_cut == ALL) return;  // the same for the whole block

    if (tail_cut != ALL && threadIdx.x >= THREADS - LANES) {
        const u32 there = ended_in[WARPS - 1];
        RowSums tail;
#pragma unroll
        for (u32 c = 0; c < CHUNKS; ++c)
#pragma unroll
            for (u32 q = 0; q < VEC; ++q) {
                const SCALAR last = tails[WARPS - 1][c][across][q];
                tail.of[c][q] = there ? last : earlier.of[c][q] + last;
            }
        tail.store(parts + place.block * k + first_col, of_x);
    }
    // Whoever comes last finds all parts of the row. It leaves the counter as it was: ready for the next run.
    __shared__ u32 finished[2];
    const u32 tiles = u32((k + TILE - 1) / TILE);
    __syncthreads();
    if (threadIdx.x < 2) {
        __threadfence();  // what the block has written is there before the counter says so
        const u32 cut = threadIdx.x == 0 ? head_cut : tail_cut;
        finished[threadIdx.x] = ALL;
        if (cut != ALL) {
            u32* const counter = arrived + u64(cut) * tiles + place.tile;
            const uint4 its_parts = __ldg(cuts + cut);
            if (atomicAdd(counter, 1u) == its_parts.z - its_parts.y) {
                finished[threadIdx.x] = cut;
                *counter = 0;
            }
        }
        __threadfence();  // and what others have written before theirs is seen behind it
    }
    __syncthreads();
    constexpr u32 SLOTS = THREADS / TILE;
    __shared__ SCALAR sums[THREADS];
    const u32 col = threadIdx.x % TILE, slot = threadIdx.x / TILE;
    const u64 at = u64(place.tile) * TILE + col;
    for (u32 which = 0; which < 2; ++which) {
        if (finished[which] == ALL) continue;
        // Row, its first part, the end of the parts that blocks left behind them, and the part of the block where it ends.
        const uint4 cut = __ldg(cuts + finished[which]);
        SCALAR total = 0;
        if (at < k)
            for (u32 part = cut.y + slot; part < cut.z; part += SLOTS) total += __ldcg(parts + u64(part) * k + at);
        __syncthreads();
        sums[threadIdx.x] = total;
        __syncthreads();
        if (slot > 0 || at >= k) continue;
        for (u32 other = 1; other < SLOTS; ++other) total += sums[other * TILE + col];
        total += __ldcg(parts + u64(cut.w) * k + at);
        update(y[u64(cut.x) * y_distance + at], alpha, total, beta);
    }
}
