// A warp reads 16 · ROW_TILES rows of all X_GROUPS groups of up to 8 columns into registers, then computes one group of columns of Y after
// the other on the f64 tensor cores. C stands in shared memory, in f64. Results are rounded once. Y may be X, since all is read first.
// Touches X and Y once, by two neighbouring columns per lane where they lie so, and C once per block.
// Loses where columns are so many that a row does not fit into registers: Y is then read and written again.
#include "groups.cuh"
#include "ptx.cuh"

constexpr u32 THREADS = 256, WARPS = THREADS / WARP, TILE_ROWS = 16, ROWS = TILE_ROWS * ROW_TILES;
constexpr u32 MOST_Y_GROUPS = 8;
typedef Groups<X_GROUPS> OfX;
typedef Groups<MOST_Y_GROUPS> OfY;

struct __align__(2 * sizeof(SCALAR)) Two {
    SCALAR at[2];
};
struct __align__(16) Terms {
    double at[2];
};

// Do neighbouring columns of this group, two and two, lie as one instruction moves them?
__device__ __forceinline__ bool is_in_twos(const Group& group) {
    return reinterpret_cast<u64>(group.at) % sizeof(Two) == 0 && group.distance % 2 == 0 && group.cols % 2 == 0;
}

// Columns 2t and 2t + 1 of a row; those that are not there count as 0, and are not read.
template <bool IN_TWOS>
__device__ __forceinline__ Two read(const Group& group, u64 row, u32 t) {
    const SCALAR* const from = group.at + row * group.distance + 2 * t;
    Two two = {{SCALAR(0), SCALAR(0)}};
    if (IN_TWOS) {
        if (2 * t < group.cols) two = *reinterpret_cast<const Two*>(from);
    } else {
        if (2 * t < group.cols) two.at[0] = from[0];
        if (2 * t + 1 < group.cols) two.at[1] = from[1];
    }
    return two;
}

// Lane 4g + t has columns 2t and 2t + 1 of rows g and g + 8 of every tile. The order of the terms is the same for C.
struct Rows {
    double of[ROW_TILES][X_GROUPS][2][2];

    template <bool IN_TWOS>
    __device__ __forceinline__ void fill(const OfX& x, u64 first, u64 rows, u32 g, u32 t) {
        Two read_so_far[ROW_TILES][X_GROUPS][2];
#pragma unroll
        for (u32 tile = 0; tile < ROW_TILES; ++tile)
#pragma unroll
            for (u32 half = 0; half < 2; ++half) {
                // Beyond the last row: that one again, and not stored.
                const u64 row = first + tile * TILE_ROWS + half * 8 + g, there = row < rows ? row : rows - 1;
#pragma unroll
                for (u32 i = 0; i < X_GROUPS; ++i) read_so_far[tile][i][half] = read<IN_TWOS>(x.of[i], there, t);
            }
#pragma unroll
        for (u32 tile = 0; tile < ROW_TILES; ++tile)
#pragma unroll
            for (u32 i = 0; i < X_GROUPS; ++i)
#pragma unroll
                for (u32 half = 0; half < 2; ++half)
#pragma unroll
                    for (u32 term = 0; term < 2; ++term) of[tile][i][half][term] = read_so_far[tile][i][half].at[term];
    }
};

// C as the tensor core wants it: of every pair of groups, lane 4g + t has terms 2t and 2t + 1 of column g.
__device__ __forceinline__ void bring(Terms* terms, const OfX& x, const OfY& y, u32 y_groups, const COEFFICIENT* c, u64 c_distance) {
    for (u32 n = threadIdx.x; n < y_groups * X_GROUPS * WARP; n += THREADS) {
        const Group &from = x.of[n / WARP % X_GROUPS], &to = y.of[n / (WARP * X_GROUPS)];
        const u32 col = n % WARP / 4, term = n % 4 * 2;
#pragma unroll
        for (u32 i = 0; i < 2; ++i) {
            const bool exists = col < to.cols && term + i < from.cols;
            terms[n].at[i] = exists ? double(c[(from.first + term + i) * c_distance + to.first + col]) : 0.0;
        }
    }
    __syncthreads();
}

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS_PER_MULTIPROCESSOR)
    combine(u64 rows, const __grid_constant__ OfX x, const __grid_constant__ OfY y, u32 y_groups, const COEFFICIENT* c, u64 c_distance) {
    DYNAMIC_SHARED(Terms, terms);
    bring(terms, x, y, y_groups, c, c_distance);
    const u32 lane = threadIdx.x % WARP, g = lane / 4, t = lane % 4;
    bool x_in_twos = true;
#pragma unroll
    for (u32 i = 0; i < X_GROUPS; ++i) x_in_twos = x_in_twos && is_in_twos(x.of[i]);

    for (u64 first = thread_of_grid() / WARP * ROWS; first < rows; first += u64(gridDim.x) * WARPS * ROWS) {
        Rows of_x;
        if (x_in_twos)
            of_x.fill<true>(x, first, rows, g, t);
        else
            of_x.fill<false>(x, first, rows, g, t);
        __syncwarp();  // all has been read: Y may be X

#pragma unroll 1
        for (u32 j = 0; j < y_groups; ++j) {
            const Group& to = y.of[j];
            const bool in_twos = is_in_twos(to);
            double sums[ROW_TILES][4];
#pragma unroll
            for (u32 tile = 0; tile < ROW_TILES; ++tile)
#pragma unroll
                for (u32 half = 0; half < 2; ++half) {
                    Two before = {{SCALAR(0), SCALAR(0)}};
                    const u64 row = first + tile * TILE_ROWS + half * 8 + g;
                    if (ADDS && row < rows) before = read<false>(to, row, t);
                    sums[tile][2 * half] = before.at[0], sums[tile][2 * half + 1] = before.at[1];
                }
#pragma unroll
            for (u32 i = 0; i < X_GROUPS; ++i) {
                const Terms of_c = terms[(j * X_GROUPS + i) * WARP + lane];
#pragma unroll
                for (u32 tile = 0; tile < ROW_TILES; ++tile) {
                    const double(&two)[2][2] = of_x.of[tile][i];
                    const double left[4] = {two[0][0], two[1][0], two[0][1], two[1][1]};
                    multiply_16x8x8(sums[tile], left, of_c.at);
                }
            }
#pragma unroll
            for (u32 tile = 0; tile < ROW_TILES; ++tile)
#pragma unroll
                for (u32 half = 0; half < 2; ++half) {
                    const u64 row = first + tile * TILE_ROWS + half * 8 + g;
                    if (row >= rows || 2 * t >= to.cols) continue;
                    SCALAR* const place = to.at + row * to.distance + 2 * t;
                    const Two two = {{SCALAR(sums[tile][2 * half]), SCALAR(sums[tile][2 * half + 1])}};
                    if (in_twos) {
                        *reinterpret_cast<Two*>(place) = two;
                    } else {
                        place[0] = two.at[0];
                        if (2 * t + 1 < to.cols) place[1] = two.at[1];
                    }
                }
        }
    }
}
