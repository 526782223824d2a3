// kernel1: one thread per element of C, threadIdx.x is its row; the sum starts from C, all from global memory. Blocks and
// grid have two dimensions.
// Touches, in every step, a part of a column of A and one element of B per column of the warp: neighbouring lanes read,
// and at the end write, rows apart. Loses by that alone: a warp's load is as many transactions as it has rows.
#include "starts_from_c.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK_ROWS * BLOCK_COLS)
    element_by_row(u64 n, u64 m, u64 p, const SCALAR* a, u64 a_distance, const SCALAR* b, u64 b_distance, SCALAR* c, u64 c_distance, SCALAR alpha, SCALAR beta) {
    const u64 row = u64(blockIdx.x) * BLOCK_ROWS + threadIdx.x, col = u64(blockIdx.y) * BLOCK_COLS + threadIdx.y;
    if (row >= n || col >= p) return;
    SCALAR& element = c[row * c_distance + col];
    const bool from_c = starts_from_c(alpha, beta);
    SCALAR sum = from_c ? beta * element : SCALAR(0);
    for (u64 k = 0; k < m; ++k) sum += a[row * a_distance + k] * b[k * b_distance + col];
    if (from_c)
        element = sum;
    else
        update(element, alpha, sum, beta);
}
