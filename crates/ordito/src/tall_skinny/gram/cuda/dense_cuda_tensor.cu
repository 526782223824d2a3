// Warps walk over the rows, 8 in a step of the f64 tensor cores, and each keeps a part of G in registers: LEFT groups of 8 columns of X
// times RIGHT of Y, or, where Y is X (SYMMETRIC), what lies on and above the diagonal. All sums are f64.
// Touches X and Y once, each row of a group by eight neighbouring lanes, STEPS steps in flight; and a list of sums for every block.
// Loses where columns are so many that G does not fit into registers: each part of it then reads X and Y again.
//
// Warps, blocks, and teams of blocks are added up in an order that depends on the shape and the device only: the same bits in every run.
#include "groups.cuh"
#include "ptx.cuh"

constexpr u32 THREADS = 256, WARPS = THREADS / WARP, STEP_ROWS = 8, CHUNK_ROWS = STEPS * STEP_ROWS;
constexpr u32 ACROSS = SYMMETRIC ? LEFT : RIGHT, LOADED = SYMMETRIC ? LEFT : LEFT + RIGHT;
constexpr u32 TILES = SYMMETRIC ? LEFT * (LEFT + 1) / 2 : LEFT * RIGHT;
constexpr u32 PAIRS = (LEFT + 1) / 2;       // the tensor core takes two groups of the left at a time
constexpr u32 LIST = TILES * 2 * WARP;      // sums of a block: two of each tile from every lane
constexpr u32 TEAM = 16;                    // blocks whose sums are added up by the last of them

// Lane 4g + t holds rows t and t + 4 of column g of every group: what the tensor core wants of either operand.
struct Sums {
    double of[PAIRS][ACROSS][4];

    __device__ __forceinline__ Sums() {
#pragma unroll
        for (u32 i = 0; i < PAIRS; ++i)
#pragma unroll
            for (u32 j = 0; j < ACROSS; ++j)
#pragma unroll
                for (u32 e = 0; e < 4; ++e) of[i][j][e] = 0;
    }

    __device__ __forceinline__ void add(const double (&rows)[LOADED][2]) {
#pragma unroll
        for (u32 i = 0; i < PAIRS; ++i) {
            const bool both = 2 * i + 1 < LEFT;
            const u32 second = both ? 2 * i + 1 : 0;
            const double left[4] = {rows[2 * i][0], both ? rows[second][0] : 0.0, rows[2 * i][1], both ? rows[second][1] : 0.0};
#pragma unroll
            for (u32 j = SYMMETRIC ? 2 * i : 0; j < ACROSS; ++j) multiply_16x8x8(of[i][j], left, rows[SYMMETRIC ? j : LEFT + j]);
        }
    }

    // What this lane has of every tile, one after the other: does `what(place, sum)`.
    template <typename What>
    __device__ __forceinline__ void for_each(What what) {
        u32 place = 0;
#pragma unroll
        for (u32 i = 0; i < LEFT; ++i)
#pragma unroll
            for (u32 j = SYMMETRIC ? i : 0; j < ACROSS; ++j)
#pragma unroll
                for (u32 e = 0; e < 2; ++e) what(place++, of[i / 2][j][2 * (i % 2) + e]);
    }
};

// A chunk of rows; `row` is this lane's first. Those beyond the last, where WHOLE does not rule that out, count as 0. Where a group lies is
// found out anew for every chunk: kept for all of them, it would take registers that sums need.
template <bool WHOLE>
__device__ __forceinline__ void add_chunk(Sums& sums, const Groups<LOADED>& groups, u64 row, u64 rows, u32 across) {
    SCALAR loaded[STEPS][LOADED][2];
#pragma unroll
    for (u32 i = 0; i < LOADED; ++i) {
        const Group& group = groups.of[i];
        // Lanes beyond the last column take that one again: what they add up is not stored.
        const SCALAR* from = group.at + row * group.distance + (across < group.cols ? across : group.cols - 1);
#pragma unroll
        for (u32 step = 0; step < 2 * STEPS; ++step, from += 4 * group.distance)
            loaded[step / 2][i][step % 2] = WHOLE || row + 4 * step < rows ? *from : SCALAR(0);
    }
#pragma unroll
    for (u32 step = 0; step < STEPS; ++step) {
        double in_f64[LOADED][2];
#pragma unroll
        for (u32 i = 0; i < LOADED; ++i) in_f64[i][0] = loaded[step][i][0], in_f64[i][1] = loaded[step][i][1];
        sums.add(in_f64);
    }
}

// Adds up what the warps have; the list of the whole block comes to stand in `lists`.
__device__ __forceinline__ void add_up_warps(Sums& sums, double* lists) {
    const u32 warp = threadIdx.x / WARP, lane = threadIdx.x % WARP;
#pragma unroll
    for (u32 half = WARPS / 2; half > 0; half /= 2) {
        double* const list = lists + warp % half * LIST + lane;
        if (warp >= half && warp < 2 * half) sums.for_each([&](u32 place, double& sum) { list[place * WARP] = sum; });
        __syncthreads();
        if (warp < half) sums.for_each([&](u32 place, double& sum) { sum += list[place * WARP]; });
        __syncthreads();
    }
    if (warp == 0) sums.for_each([&](u32 place, double& sum) { lists[place * WARP + lane] = sum; });
    __syncthreads();
}

// Are all others there? The counter returns to 0 by itself, for the next run.
__device__ __forceinline__ bool is_last(u32* arrived, u32 count) {
    __shared__ bool last;
    __syncthreads();
    if (threadIdx.x == 0) {
        // For the whole block, which has met at the barriers: published before it is counted, seen after.
        __threadfence();
        last = atomicInc(arrived, count - 1) == count - 1;
        __threadfence();
    }
    __syncthreads();
    return last;
}

// Other blocks have written it: past this multiprocessor's own cache.
__device__ __forceinline__ double sum_of_lists(const double* lists, u32 count, u32 place) {
    double sum = 0;
#pragma unroll 8
    for (u32 list = 0; list < count; ++list) sum += __ldcg(lists + u64(list) * LIST + place);
    return sum;
}

// An element of G, and its mirror image where that is asked for.
__device__ __forceinline__ void store(const Groups<LOADED>& groups, u32 place, double sum, double* g, u64 g_distance, bool mirrored) {
    const u32 lane = place % WARP, e = place / WARP % 2;
    u32 i = 0, j = place / (2 * WARP);
    if (SYMMETRIC) {
        for (; j >= LEFT - i; ++i) j -= LEFT - i;
        j += i;
    } else {
        i = j / ACROSS, j = j % ACROSS + LEFT;
    }
    const Group &left = groups.of[i], &right = groups.of[j];
    const u32 down = lane / 4, across = lane % 4 * 2 + e;
    if (down >= left.cols || across >= right.cols) return;
    const u64 row = left.first + down, col = right.first + across;
    if (SYMMETRIC && col < row) return;
    g[row * g_distance + col] = sum;
    if (mirrored) g[col * g_distance + row] = sum;
}

// `partial`: a list for every block, then one for every team. `arrived`: a 0 for all teams, then one for each.
extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS_PER_MULTIPROCESSOR)
    gram(u64 rows, const __grid_constant__ Groups<LOADED> groups, double* g, u64 g_distance, u32 mirrored, double* partial, u32* arrived) {
    DYNAMIC_SHARED(double, lists);  // of half the warps
    const u32 down = threadIdx.x % 4, across = threadIdx.x % WARP / 4;
    const u64 stride = u64(gridDim.x) * WARPS * CHUNK_ROWS;
    Sums sums;
    for (u64 row = thread_of_grid() / WARP * CHUNK_ROWS; row < rows; row += stride) {
        if (row + CHUNK_ROWS <= rows)
            add_chunk<true>(sums, groups, row + down, rows, across);
        else
            add_chunk<false>(sums, groups, row + down, rows, across);
    }
    add_up_warps(sums, lists);

    const u32 blocks = gridDim.x, team = blockIdx.x / TEAM, teams = (blocks + TEAM - 1) / TEAM;
    if (blocks == 1) {
        for (u32 place = threadIdx.x; place < LIST; place += THREADS) store(groups, place, lists[place], g, g_distance, mirrored);
        return;
    }
    for (u32 place = threadIdx.x; place < LIST; place += THREADS) partial[u64(blockIdx.x) * LIST + place] = lists[place];
    const u32 members = min(TEAM, blocks - team * TEAM);
    if (!is_last(arrived + 1 + team, members)) return;
    double* const of_teams = partial + u64(blocks) * LIST;
    for (u32 place = threadIdx.x; place < LIST; place += THREADS) {
        const double sum = sum_of_lists(partial + u64(team) * TEAM * LIST, members, place);
        if (teams == 1)
            store(groups, place, sum, g, g_distance, mirrored);
        else
            of_teams[u64(team) * LIST + place] = sum;
    }
    if (teams == 1 || !is_last(arrived, teams)) return;
    for (u32 place = threadIdx.x; place < LIST; place += THREADS)
        store(groups, place, sum_of_lists(of_teams, teams, place), g, g_distance, mirrored);
}
