// CSR_Vector_by_row: one warp per row of Y, cut into 8 sub-warps of 4 lanes, which share out the K columns of the row.
// Touches A's row once per column, by one warp alone, so that the cache serves all but the first; X is transposed.
// Loses on short rows and small K: with K < 8 sub-warps idle, and transposing X costs as much as reading it twice.
#include "ordito.cuh"

constexpr u32 LANES_OF_SUB_WARP = 4;
constexpr u32 SUB_WARPS = WARP / LANES_OF_SUB_WARP;

extern "C" __global__ void csr_warp_row(u64 rows, u64 k, const OFFSET* row_starts, const u32* columns,
                                        const SCALAR* values, const SCALAR* x_columns, u64 x_distance, SCALAR* y,
                                        u64 y_distance, SCALAR alpha, SCALAR beta) {
    __shared__ SCALAR sums[THREADS_PER_BLOCK];
    const u64 row = thread_of_grid() / WARP;
    const u32 lane = threadIdx.x % LANES_OF_SUB_WARP;
    const u32 sub_warp = threadIdx.x % WARP / LANES_OF_SUB_WARP;
    u64 start = 0, end = 0;
    if (row < rows) {
        start = row_starts[row];
        end = row_starts[row + 1];
    }
    for (u64 first_col = 0; first_col < k; first_col += SUB_WARPS) {
        const u64 col = first_col + sub_warp;
        const bool inside = row < rows && col < k;
        SCALAR sum = 0;
        if (inside)
            for (u64 i = start + lane; i < end; i += LANES_OF_SUB_WARP)
                sum += values[i] * x_columns[col * x_distance + columns[i]];
        sum = sum_of_lanes<LANES_OF_SUB_WARP>(sums + (threadIdx.x - lane), lane, sum);
        if (lane == 0 && inside) update(y[row * y_distance + col], alpha, sum, beta);
        __syncwarp();
    }
}
