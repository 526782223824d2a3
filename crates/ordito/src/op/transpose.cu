// Column after column of a row-major matrix: 32 × 8 threads per block carry tiles of 32 × 32 through shared memory.
// Touches every element once on either side, both in runs of 32; a row of the tile is 33 long, so that its columns
// lie in different banks. Loses where the matrix is narrower than a tile: most of each warp idles.
#include "ordito.cuh"

constexpr u32 TILE = 32;

extern "C" __global__ void transpose(u64 rows, u64 cols, const SCALAR* from, u64 from_distance, SCALAR* to,
                                     u64 to_distance) {
    __shared__ SCALAR tile[TILE][TILE + 1];
    const u64 first_row = u64(blockIdx.x) * TILE;
    // The grid has few places in this direction: a block goes on to the next tiles until there are no more.
    for (u64 first_col = u64(blockIdx.y) * TILE; first_col < cols; first_col += u64(gridDim.y) * TILE) {
        for (u32 i = threadIdx.y; i < TILE; i += blockDim.y) {
            const u64 row = first_row + i, col = first_col + threadIdx.x;
            if (row < rows && col < cols) tile[i][threadIdx.x] = from[row * from_distance + col];
        }
        __syncthreads();
        for (u32 i = threadIdx.y; i < TILE; i += blockDim.y) {
            const u64 row = first_row + threadIdx.x, col = first_col + i;
            if (row < rows && col < cols) to[col * to_distance + row] = tile[threadIdx.x][i];
        }
        __syncthreads();
    }
}
