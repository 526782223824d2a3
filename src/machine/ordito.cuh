// What every kernel includes, on a GPU (NVRTC, which brings no headers of its own) and in the emulator, which
// defines ORDITO_EMULATOR and its own versions of CUDA's words before this file.
#pragma once

typedef unsigned int u32;
typedef unsigned long long u64;

#ifndef ORDITO_EMULATOR
// A kernel's dynamic shared memory as an array of `type`.
#define DYNAMIC_SHARED(type, name)                               \
    extern __shared__ __align__(16) unsigned char name##_bytes[]; \
    type* const name = reinterpret_cast<type*>(name##_bytes)
#endif

constexpr u32 WARP = 32;

// Number of this thread in the whole grid, of blocks and threads in one row each.
__device__ inline u64 thread_of_grid() { return u64(blockIdx.x) * blockDim.x + threadIdx.x; }

// y = alpha * sum + beta * y by the rules of BLAS: with beta = 0 the old y is not read.
template <typename Scalar>
__device__ inline void update(Scalar& y, Scalar alpha, Scalar sum, Scalar beta) {
    y = beta == Scalar(0) ? alpha * sum : alpha * sum + beta * y;
}
