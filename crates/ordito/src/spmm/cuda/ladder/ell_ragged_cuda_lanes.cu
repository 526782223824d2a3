// ELLPACK_Sub_warp on ragged storage: LANES neighbouring threads per element of Y share out its row, of its true length,
// and add up in shared memory. Touches where the row lies and how long it is, the row, and an element of X per product.
// Loses on skewed matrices like CSR: a few lanes walk a long row while their warp waits.
#include "ordito.cuh"

extern "C" __global__ void ell_ragged_lanes(u64 rows, u64 k, const u64* row_starts, const u64* row_lengths,
                                            const u32* columns, const SCALAR* values, const SCALAR* x, u64 x_distance,
                                            SCALAR* y, u64 y_distance, SCALAR alpha, SCALAR beta) {
    __shared__ SCALAR sums[THREADS_PER_BLOCK];
    const u64 element = thread_of_grid() / LANES;
    const u64 row = element / k, col = element % k;
    const u32 lane = threadIdx.x % LANES;
    SCALAR sum = 0;
    if (row < rows) {
        const u32* const row_columns = columns + row_starts[row];
        const SCALAR* const row_values = values + row_starts[row];
        const u64 length = row_lengths[row];
        for (u64 i = lane; i < length; i += LANES) sum += row_values[i] * x[row_columns[i] * x_distance + col];
    }
    sum = sum_of_lanes<LANES>(sums + (threadIdx.x - lane), lane, sum);
    if (lane == 0 && row < rows) update(y[row * y_distance + col], alpha, sum, beta);
}
