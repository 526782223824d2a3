// Column loop: one thread per column, which walks down the rows and adds in a register, in the precision of the data.
// Touches every element once, in whole lines where there are many columns, and the mean once.
// Loses where columns are few: each is one long chain of additions, and most of the device has nothing to do.
#include "ordito.cuh"

extern "C" __global__ void column_in_register(u64 rows, u64 cols, const SCALAR* x, u64 distance, SCALAR*, double* mean) {
    const u64 col = thread_of_grid();
    if (col >= cols) return;
    SCALAR sum = 0;
    for (u64 row = 0; row < rows; ++row) sum += x[row * distance + col];
    mean[col] = sum / SCALAR(rows);
}
