// CSR_Adaptive: one block per row block and column of Y. Several short rows: each thread writes one product to shared
// memory, then one thread per row adds (CSR-Stream); one long row: all threads share it out (CSR-Vector).
// Touches A's rows coalesced, once per column, and a column of the transposed X.
// Loses where the mean row is short: a block then has few threads, and there is one such block per column.
#include "ordito.cuh"

extern "C" __global__ void csr_adaptive(u64 rows, u64 k, const OFFSET* row_starts, const u32* columns,
                                        const SCALAR* values, const u32* row_blocks, const SCALAR* x_columns,
                                        u64 x_distance, SCALAR* y, u64 y_distance, SCALAR alpha, SCALAR beta) {
    // One element per thread; several rows of a row block have no more nonzeros than that.
    DYNAMIC_SHARED(SCALAR, shared);
    const u32 me = threadIdx.x, threads = blockDim.x;
    const u64 row_block = blockIdx.x / k, col = blockIdx.x % k;
    const u64 first_row = row_blocks[row_block], end_row = row_blocks[row_block + 1];
    const u64 start = row_starts[first_row], end = row_starts[end_row];
    const SCALAR* const x_column = x_columns + col * x_distance;
    if (end_row - first_row > 1) {
        if (start + me < end) shared[me] = values[start + me] * x_column[columns[start + me]];
        __syncthreads();
        const u64 row = first_row + me;
        if (row < end_row) {
            const u32 row_end = u32(row_starts[row + 1] - start);
            SCALAR sum = 0;
            for (u32 i = u32(row_starts[row] - start); i < row_end; ++i) sum += shared[i];
            update(y[row * y_distance + col], alpha, sum, beta);
        }
    } else {
        SCALAR sum = 0;
        for (u64 i = start + me; i < end; i += threads) sum += values[i] * x_column[columns[i]];
        shared[me] = sum;
        // The upper half is added to the lower one; of an odd number of sums the one in the middle stays as it is.
        for (u32 left = threads; left > 1; left = (left + 1) / 2) {
            const u32 half = (left + 1) / 2;
            __syncthreads();
            if (me + half < left) shared[me] += shared[me + half];
        }
        if (me == 0) update(y[first_row * y_distance + col], alpha, shared[0], beta);
    }
}
