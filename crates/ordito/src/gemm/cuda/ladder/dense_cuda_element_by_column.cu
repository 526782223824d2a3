// MatrixMulKernel: one thread per element of C, threadIdx.x is its column, all from global memory.
// Touches, in every step, a run of a row of B and one element of A per row of the warp: neighbouring lanes read and
// write neighbours. Loses because every element of A and B is loaded again for each of its products.
#include "ordito.cuh"

extern "C" __global__ void __launch_bounds__(TILE * TILE)
    element_by_column(u64 n, u64 m, u64 p, const SCALAR* a, u64 a_distance, const SCALAR* b, u64 b_distance, SCALAR* c, u64 c_distance, SCALAR alpha, SCALAR beta) {
    const u64 tiles_across = (p + TILE - 1) / TILE;
    const u64 col = blockIdx.x % tiles_across * TILE + threadIdx.x, row = blockIdx.x / tiles_across * TILE + threadIdx.y;
    if (row >= n || col >= p) return;
    SCALAR sum = 0;
    for (u64 k = 0; k < m; ++k) sum += a[row * a_distance + k] * b[k * b_distance + col];
    update(c[row * c_distance + col], alpha, sum, beta);
}
