// Where the sums of kernel1 and kernel2 start.
#pragma once
#include "ordito.cuh"

// From C, as in C = C + A·B; another α belongs to the products alone, and with β = 0 C is not read.
template <typename Scalar>
__device__ inline bool starts_from_c(Scalar alpha, Scalar beta) {
    return alpha == Scalar(1) && beta != Scalar(0);
}
