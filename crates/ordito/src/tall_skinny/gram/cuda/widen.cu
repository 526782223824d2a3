// A small matrix in f64: a thread for every element, along rows. Touches every element once. Loses where there is little to do: always.
#include "ordito.cuh"

extern "C" __global__ void widen(u64 rows, u64 cols, const SCALAR* from, u64 from_distance, double* to, u64 to_distance) {
    const u64 element = thread_of_grid(), row = element / cols, col = element % cols;
    if (row < rows) to[row * to_distance + col] = from[row * from_distance + col];
}
