// ELLPACK_Sub_warp on padded storage: LANES neighbouring threads per element of Y share out the `width` places of its
// row and add up in shared memory. Touches the padding too, and one element of X per place.
// Loses on skewed matrices, where nearly every place is padding.
#include "ordito.cuh"

extern "C" __global__ void ell_padded_lanes(u64 rows, u64 k, u64 width, const u32* columns, const SCALAR* values,
                                            const SCALAR* x, u64 x_distance, SCALAR* y, u64 y_distance, SCALAR alpha,
                                            SCALAR beta) {
    __shared__ SCALAR sums[THREADS_PER_BLOCK];
    const u64 element = thread_of_grid() / LANES;
    const u64 row = element / k, col = element % k;
    const u32 lane = threadIdx.x % LANES;
    SCALAR sum = 0;
    if (row < rows) {
        const u64 end = (row + 1) * width;
        for (u64 i = row * width + lane; i < end; i += LANES)
            sum += values[i] * x[columns[i] * x_distance + col];
    }
    sum = sum_of_lanes<LANES>(sums + (threadIdx.x - lane), lane, sum);
    if (lane == 0 && row < rows) update(y[row * y_distance + col], alpha, sum, beta);
}
