// ELLPACK_kernel on padded storage: one thread per element of Y walks all `width` places of its row.
// Touches the padding too (0 times X's first row), and one element of X per place; no row starts, no row lengths.
// Loses on skewed matrices, where nearly every place is padding.
#include "ordito.cuh"

extern "C" __global__ void ell_padded_thread(u64 rows, u64 k, u64 width, const u32* columns, const SCALAR* values,
                                             const SCALAR* x, u64 x_distance, SCALAR* y, u64 y_distance,
                                             SCALAR alpha, SCALAR beta) {
    const u64 element = thread_of_grid();
    const u64 row = element / k, col = element % k;
    if (row >= rows) return;
    const u64 end = (row + 1) * width;
    SCALAR sum = 0;
    for (u64 i = row * width; i < end; ++i) sum += values[i] * x[columns[i] * x_distance + col];
    update(y[row * y_distance + col], alpha, sum, beta);
}
