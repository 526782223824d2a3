// Tree reduction with strides (reduce): as the interleaved one, but the threads that add in a step stand side by side: thread i adds
// the sums number 2·step·i and 2·step·i + step. Whole warps fall idle instead of lanes.
// Touches the matrix three times: it is read and written by the transposition, and read again here.
// Loses by bank conflicts: neighbouring lanes touch shared memory 2·step sums apart, from the fifth step on all in one bank.
#include "ordito.cuh"

extern "C" __global__ void tree_strided(const SCALAR* columns, u64 distance, u64 rows, double* mean) {
    DYNAMIC_SHARED(SCALAR, sums);  // one for every thread
    const SCALAR* column = columns + blockIdx.x * distance;
    const u32 me = threadIdx.x, threads = blockDim.x;
    SCALAR sum = 0;
    for (u64 row = me; row < rows; row += threads) sum += column[row];
    sums[me] = sum;
    __syncthreads();
    for (u32 step = 1; step < threads; step *= 2) {
        // What stands beyond the last sum counts as 0: 358 → 179 → 90. All meet at the barrier, those that add and those that do not.
        const u32 index = 2 * step * me;
        if (index + step < threads) sums[index] += sums[index + step];
        __syncthreads();
    }
    if (me == 0) mean[blockIdx.x] = sums[0] / SCALAR(rows);
}
