// Tree reduction: one block per column of a transposed copy, a thread per row, the column in shared memory, sums in the precision of
// the data; in every step each second of the threads that are left adds what its neighbour has. Longer columns are added up by the
// threads first.
// Touches the matrix three times: it is read and written by the transposition, and read again here.
// Loses by idle threads: after the first step half of every warp has nothing to do, after the fifth all warps but one lane each.
#include "ordito.cuh"

extern "C" __global__ void tree_interleaved(const SCALAR* columns, u64 distance, u64 rows, double* mean) {
    DYNAMIC_SHARED(SCALAR, sums);  // one for every thread
    const SCALAR* column = columns + blockIdx.x * distance;
    const u32 me = threadIdx.x, threads = blockDim.x;
    SCALAR sum = 0;
    for (u64 row = me; row < rows; row += threads) sum += column[row];
    sums[me] = sum;
    __syncthreads();
    for (u32 step = 1; step < threads; step *= 2) {
        // Of an odd number the last has no neighbour, and is added a step later: 358 → 179 → 90.
        if (me % (2 * step) == 0 && me + step < threads) sums[me] += sums[me + step];
        __syncthreads();
    }
    if (me == 0) mean[blockIdx.x] = sums[0] / SCALAR(rows);
}
