// CSR_Scalar v3: one thread per element of Y; the row's bounds are read once, the sum is kept in a register.
// Touches A's row in every one of the K threads of the row (the cache serves all but the first) and one element
// of X per product; neighbouring threads read neighbouring columns of X.
// Loses on long rows: one thread walks them alone while its warp waits.
#include "ordito.cuh"

extern "C" __global__ void csr_thread(u64 rows, u64 k, const OFFSET* row_starts, const u32* columns,
                                      const SCALAR* values, const SCALAR* x, u64 x_distance, SCALAR* y,
                                      u64 y_distance, SCALAR alpha, SCALAR beta) {
    const u64 element = thread_of_grid();
    const u64 row = element / k, col = element % k;
    if (row >= rows) return;
    const OFFSET end = row_starts[row + 1];
    SCALAR sum = 0;
    for (OFFSET i = row_starts[row]; i < end; ++i) sum += values[i] * x[columns[i] * x_distance + col];
    update(y[row * y_distance + col], alpha, sum, beta);
}
