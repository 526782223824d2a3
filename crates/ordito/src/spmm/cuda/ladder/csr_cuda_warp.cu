// CSR_Vector: one warp per element of Y; its lanes share out the row's nonzeros and add up in shared memory.
// Touches A's row coalesced, once for each of its K elements, and per lane an element of X in a row of its own.
// Loses on rows shorter than a warp: the other lanes idle, and the reduction costs the same.
#include "ordito.cuh"

extern "C" __global__ void csr_warp(u64 rows, u64 k, const OFFSET* row_starts, const u32* columns,
                                    const SCALAR* values, const SCALAR* x, u64 x_distance, SCALAR* y,
                                    u64 y_distance, SCALAR alpha, SCALAR beta) {
    __shared__ SCALAR sums[THREADS_PER_BLOCK];
    const u64 element = thread_of_grid() / WARP;
    const u64 row = element / k, col = element % k;
    const u32 me = threadIdx.x, lane = me % WARP;
    SCALAR sum = 0;
    if (row < rows) {
        const u64 end = row_starts[row + 1];
        for (u64 i = row_starts[row] + u64(lane); i < end; i += WARP)
            sum += values[i] * x[columns[i] * x_distance + col];
    }
    sums[me] = sum;
    __syncwarp();
    if (lane < 16) sums[me] += sums[me + 16];
    __syncwarp();
    if (lane < 8) sums[me] += sums[me + 8];
    __syncwarp();
    if (lane < 4) sums[me] += sums[me + 4];
    __syncwarp();
    if (lane < 2) sums[me] += sums[me + 2];
    __syncwarp();
    if (lane == 0 && row < rows) update(y[row * y_distance + col], alpha, sums[me] + sums[me + 1], beta);
}
