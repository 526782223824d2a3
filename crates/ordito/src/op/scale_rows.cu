// beta times a matrix where it lies: 32 × 8 threads per block carry tiles of 32 × 32, a warp a row.
// Touches every element once, and reads none where beta is 0; what lies between the rows is left alone.
// Loses where the matrix is narrower than a tile: most of each warp idles.
#include "ordito.cuh"

constexpr u32 TILE = 32;

extern "C" __global__ void scale_rows(u64 rows, u64 cols, SCALAR* y, u64 y_distance, SCALAR beta) {
    const u64 first_row = u64(blockIdx.x) * TILE;
    // The grid has few places in this direction: a block goes on to the next tiles until there are no more.
    for (u64 col = u64(blockIdx.y) * TILE + threadIdx.x; col < cols; col += u64(gridDim.y) * TILE)
        for (u32 i = threadIdx.y; i < TILE; i += blockDim.y) {
            const u64 row = first_row + i;
            if (row >= rows) continue;
            SCALAR& element = y[row * y_distance + col];
            element = beta == SCALAR(0) ? SCALAR(0) : beta * element;
        }
}
