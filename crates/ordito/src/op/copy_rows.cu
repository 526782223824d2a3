// The rows of a matrix to where they lie at other distances: 32 × 8 threads per block carry tiles of 32 × 32, a warp a row.
// Touches every element once on either side, in runs of 32; what lies between the rows is neither read nor written.
// Loses where the matrix is narrower than a tile: most of each warp idles.
#include "ordito.cuh"

constexpr u32 TILE = 32;

extern "C" __global__ void copy_rows(u64 rows, u64 cols, const SCALAR* from, u64 from_distance, SCALAR* to,
                                     u64 to_distance) {
    const u64 first_row = u64(blockIdx.x) * TILE;
    // The grid has few places in this direction: a block goes on to the next tiles until there are no more.
    for (u64 col = u64(blockIdx.y) * TILE + threadIdx.x; col < cols; col += u64(gridDim.y) * TILE)
        for (u32 i = threadIdx.y; i < TILE; i += blockDim.y) {
            const u64 row = first_row + i;
            if (row < rows) to[row * to_distance + col] = from[row * from_distance + col];
        }
}
