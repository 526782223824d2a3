// CSR_Vector_Sub_warp: LANES neighbouring threads per element of Y share out the row's nonzeros and add up in shared
// memory. Touches A's row in runs of LANES, once for each of its K elements, and an element of X per product.
// Loses on rows shorter than LANES (lanes idle) and on rows much longer (they walk on while their warp waits).
#include "ordito.cuh"

extern "C" __global__ void csr_lanes(u64 rows, u64 k, const OFFSET* row_starts, const u32* columns,
                                     const SCALAR* values, const SCALAR* x, u64 x_distance, SCALAR* y,
                                     u64 y_distance, SCALAR alpha, SCALAR beta) {
    __shared__ SCALAR sums[THREADS_PER_BLOCK];
    const u64 element = thread_of_grid() / LANES;
    const u64 row = element / k, col = element % k;
    const u32 lane = threadIdx.x % LANES;
    SCALAR sum = 0;
    if (row < rows) {
        const u64 end = row_starts[row + 1];
        for (u64 i = row_starts[row] + u64(lane); i < end; i += LANES)
            sum += values[i] * x[columns[i] * x_distance + col];
    }
    sum = sum_of_lanes<LANES>(sums + (threadIdx.x - lane), lane, sum);
    if (lane == 0 && row < rows) update(y[row * y_distance + col], alpha, sum, beta);
}
