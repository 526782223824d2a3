// MatrixMulNewKernel: one thread per element of C, threadIdx.x is its column; A and B pass through TILE × TILE tiles in
// shared memory.
// Touches each element of A and B once per tile of C, in runs of TILE; in shared memory two loads for every product.
// Loses where the caches already served these runs: what limits it then is the loads from shared memory.
#include "ordito.cuh"

extern "C" __global__ void __launch_bounds__(TILE * TILE)
    tile_by_column(u64 n, u64 m, u64 p, const SCALAR* a, u64 a_distance, const SCALAR* b, u64 b_distance, SCALAR* c, u64 c_distance, SCALAR alpha, SCALAR beta) {
    __shared__ SCALAR tile_of_a[TILE][TILE], tile_of_b[TILE][TILE];
    const u64 tiles_across = (p + TILE - 1) / TILE;
    const u32 x = threadIdx.x, y = threadIdx.y;
    const u64 col = blockIdx.x % tiles_across * TILE + x, row = blockIdx.x / tiles_across * TILE + y;
    SCALAR sum = 0;
    for (u64 first = 0; first < m; first += TILE) {
        tile_of_a[y][x] = row < n && first + x < m ? a[row * a_distance + first + x] : SCALAR(0);
        tile_of_b[y][x] = first + y < m && col < p ? b[(first + y) * b_distance + col] : SCALAR(0);
        __syncthreads();
        for (u32 k = 0; k < TILE; ++k) sum += tile_of_a[y][k] * tile_of_b[k][x];
        __syncthreads();
    }
    if (row < n && col < p) update(c[row * c_distance + col], alpha, sum, beta);
}
