// Sequential addressing (reduce<256>): one block of THREADS per column of a transposed copy, which is padded with zeros to a
// multiple of 2 · THREADS rows; every thread adds two rows while it loads them, in the precision of the data; in every step the lower
// half adds what the upper half has, and the last warp goes on without barriers of the block.
// Touches the matrix three times: it is read and written by the transposition, and read again here, with the padding.
// Loses by the transposition, and where the padding is much of a column.
#include "ordito.cuh"

// The last six steps belong to one warp. What a step reads another lane of it writes: without the first barrier, of the
// warp only, the sum is a race on every GPU whose lanes run on their own.
__device__ inline void add_in_warp(SCALAR* sums, u32 me) {
#pragma unroll
    for (u32 half = WARP; half > 0; half /= 2) {
        const SCALAR sum = sums[me] + sums[me + half];
        __syncwarp();
        sums[me] = sum;
        __syncwarp();
    }
}

extern "C" __global__ void __launch_bounds__(THREADS) tree_sequential(const SCALAR* columns, u64 distance, u64 rows,
                                                                         double* mean) {
    static_assert(THREADS >= 2 * WARP && (THREADS & (THREADS - 1)) == 0, "a power of two, two warps at least");
    __shared__ SCALAR sums[THREADS];
    const SCALAR* column = columns + blockIdx.x * distance;
    const u32 me = threadIdx.x;
    SCALAR sum = 0;
    for (u64 row = me; row < distance; row += 2 * THREADS) sum += column[row] + column[row + THREADS];
    sums[me] = sum;
    __syncthreads();
#pragma unroll
    for (u32 half = THREADS / 2; half > WARP; half /= 2) {
        if (me < half) sums[me] += sums[me + half];
        __syncthreads();
    }
    if (me < WARP) add_in_warp(sums, me);
    if (me == 0) mean[blockIdx.x] = sums[0] / SCALAR(rows);
}
