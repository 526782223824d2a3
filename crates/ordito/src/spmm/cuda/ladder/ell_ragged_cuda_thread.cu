// ELLPACK_kernel on ragged storage: one thread per element of Y walks its row, of its true length.
// Touches where the row lies and how long it is, the row, and one element of X per product; no padding.
// Loses on skewed matrices like CSR: one thread walks a long row while its warp waits.
#include "ordito.cuh"

extern "C" __global__ void ell_ragged_thread(u64 rows, u64 k, const u64* row_starts, const u64* row_lengths,
                                             const u32* columns, const SCALAR* values, const SCALAR* x,
                                             u64 x_distance, SCALAR* y, u64 y_distance, SCALAR alpha, SCALAR beta) {
    const u64 element = thread_of_grid();
    const u64 row = element / k, col = element % k;
    if (row >= rows) return;
    const u32* const row_columns = columns + row_starts[row];
    const SCALAR* const row_values = values + row_starts[row];
    const u64 length = row_lengths[row];
    SCALAR sum = 0;
    for (u64 i = 0; i < length; ++i) sum += row_values[i] * x[row_columns[i] * x_distance + col];
    update(y[row * y_distance + col], alpha, sum, beta);
}
