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

// Reads from memory, however often it was read before: what the first rungs of the ladder do in every step of a loop
// (a compiler would keep the value, and two rungs would be one).
template <typename Value>
__device__ inline Value read_again(const Value& from) {
    return *const_cast<const volatile Value*>(&from);
}

// Waits for `Lanes` neighbouring threads, a power of two: for their warp, or, where they are more than a warp, for the
// whole block. All threads of the warp (of the block) must come by.
template <u32 Lanes>
__device__ inline void sync_lanes() {
    if (Lanes <= WARP)
        __syncwarp();
    else
        __syncthreads();
}

// The sum of `mine` over `Lanes` neighbouring threads, a power of two, through `sums`, their own Lanes elements of
// shared memory. Lane 0 gets it, the others get parts. Before `sums` is written again: sync_lanes.
template <u32 Lanes, typename Scalar>
__device__ inline Scalar sum_of_lanes(Scalar* sums, u32 lane, Scalar mine) {
    sums[lane] = mine;
    for (u32 half = Lanes / 2; half > 0; half /= 2) {
        sync_lanes<Lanes>();
        if (lane < half) sums[lane] += sums[lane + half];
    }
    return sums[lane];
}
