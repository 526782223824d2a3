// Column loop (matrixMeanFLOAT): one thread per column, which walks down the rows and adds every number to the sum where it lies in
// memory, in the precision of the data.
// Touches the sum twice for every element, beside the element itself; neighbouring threads read neighbouring columns.
// Loses always: memory is asked to remember what a register could, and there are only as many threads as columns.
#include "ordito.cuh"

extern "C" __global__ void column_in_memory(u64 rows, u64 cols, const SCALAR* x, u64 distance, SCALAR* sums, double* mean) {
    const u64 col = thread_of_grid();
    if (col >= cols) return;
    SCALAR& sum = sums[col];
    sum = 0;
    for (u64 row = 0; row < rows; ++row) sum = read_again(sum) + x[row * distance + col];
    mean[col] = read_again(sum) / SCALAR(rows);
}
