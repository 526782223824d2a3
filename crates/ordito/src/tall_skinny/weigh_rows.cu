// Every row of a tall and skinny matrix times its own factor, where it lies: some threads across, the others down the rows.
// Touches every element once, and the factors once for each thread across, from the caches. Loses only where rows are longer than a warp.
#include "ordito.cuh"

extern "C" __global__ void weigh_rows(u64 rows, u64 cols, const SCALAR* factors, u64 factors_distance, SCALAR* x, u64 x_distance) {
    for (u64 row = u64(blockIdx.x) * blockDim.y + threadIdx.y; row < rows; row += u64(gridDim.x) * blockDim.y) {
        const SCALAR factor = factors[row * factors_distance];
        for (u64 col = threadIdx.x; col < cols; col += blockDim.x) x[row * x_distance + col] *= factor;
    }
}
