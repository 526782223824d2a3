// kernel2: one thread per element of C, threadIdx.x is its row; A and B pass through tiles in shared memory; the sum
// starts from C. Blocks and grid have two dimensions; in a block that is not square tiles are as deep as its shorter side,
// so that every element of a tile has a thread that loads it.
// Touches each element of A and B once per block of C, but, as in kernel1, neighbouring lanes read rows apart, and in
// shared memory they read a column of the tile, which for 16 and 32 hits the same few banks.
// Loses to the same kernel with x as the column by both.
#include "starts_from_c.cuh"

constexpr u32 DEPTH = BLOCK_ROWS < BLOCK_COLS ? BLOCK_ROWS : BLOCK_COLS;

extern "C" __global__ void __launch_bounds__(BLOCK_ROWS * BLOCK_COLS)
    tile_by_row(u64 n, u64 m, u64 p, const SCALAR* a, u64 a_distance, const SCALAR* b, u64 b_distance, SCALAR* c, u64 c_distance, SCALAR alpha, SCALAR beta) {
    __shared__ SCALAR tile_of_a[BLOCK_ROWS][DEPTH], tile_of_b[DEPTH][BLOCK_COLS];
    const u32 x = threadIdx.x, y = threadIdx.y;
    const u64 row = u64(blockIdx.x) * BLOCK_ROWS + x, col = u64(blockIdx.y) * BLOCK_COLS + y;
    const bool inside = row < n && col < p;
    const bool from_c = starts_from_c(alpha, beta);
    SCALAR sum = inside && from_c ? beta * c[row * c_distance + col] : SCALAR(0);
    for (u64 first = 0; first < m; first += DEPTH) {
        if (y < DEPTH) tile_of_a[x][y] = row < n && first + y < m ? a[row * a_distance + first + y] : SCALAR(0);
        if (x < DEPTH) tile_of_b[x][y] = first + x < m && col < p ? b[(first + x) * b_distance + col] : SCALAR(0);
        __syncthreads();
        for (u32 k = 0; k < DEPTH; ++k) sum += tile_of_a[x][k] * tile_of_b[k][y];
        __syncthreads();
    }
    if (!inside) return;
    if (from_c)
        c[row * c_distance + col] = sum;
    else
        update(c[row * c_distance + col], alpha, sum, beta);
}
