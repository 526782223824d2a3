// CSR_Scalar v1: one thread per element of Y, which adds every product to the element where it lies in memory.
// Touches Y twice and the row's end once per nonzero, beside A's row and one element of X per product.
// Loses always: memory is asked to remember what a register could. It shows what the next rung saves.
#include "ordito.cuh"

extern "C" __global__ void csr_thread_in_memory(u64 rows, u64 k, const OFFSET* row_starts, const u32* columns,
                                                const SCALAR* values, const SCALAR* x, u64 x_distance, SCALAR* y,
                                                u64 y_distance, SCALAR alpha, SCALAR beta) {
    const u64 element = thread_of_grid();
    const u64 row = element / k, col = element % k;
    if (row >= rows) return;
    SCALAR& sum = y[row * y_distance + col];
    sum = beta == SCALAR(0) ? SCALAR(0) : beta * sum;
    for (OFFSET i = row_starts[row]; i < read_again(row_starts[row + 1]); ++i)
        sum = read_again(sum) + alpha * (values[i] * x[columns[i] * x_distance + col]);
}
