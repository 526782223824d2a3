// CSR_Scalar v2: one thread per element of Y; the sum is kept in a register and stored once.
// Touches the row's end once per nonzero, beside A's row and one element of X per product.
// Loses to v3 by that one read per nonzero (the cache serves it), and on long rows like v3.
#include "ordito.cuh"

extern "C" __global__ void csr_thread_in_register(u64 rows, u64 k, const OFFSET* row_starts, const u32* columns,
                                                  const SCALAR* values, const SCALAR* x, u64 x_distance, SCALAR* y,
                                                  u64 y_distance, SCALAR alpha, SCALAR beta) {
    const u64 element = thread_of_grid();
    const u64 row = element / k, col = element % k;
    if (row >= rows) return;
    SCALAR sum = 0;
    for (OFFSET i = row_starts[row]; i < read_again(row_starts[row + 1]); ++i)
        sum += values[i] * x[columns[i] * x_distance + col];
    update(y[row * y_distance + col], alpha, sum, beta);
}
