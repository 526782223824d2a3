// What tensor cores do at best: every warp multiplies fragments that stay in its registers, into sixteen sums that do not
// wait for each other.
#include "ptx.cuh"

constexpr u32 SUMS = 16;

// A number of about 1 that fills its digits, another one for every lane and place.
__device__ inline double full_of_digits(u32 place) { return 1.0 / (3.0 + 0.37 * place + 0.011 * (threadIdx.x % WARP)); }
__device__ inline void fill(double& to, u32 place) { to = full_of_digits(place); }
__device__ inline void fill(u32& to, u32 place) { to = to_tf32(float(full_of_digits(place))); }

template <typename Scalar> struct Operand { typedef Scalar type; };
template <> struct Operand<float> { typedef u32 type; };

extern "C" __global__ void __launch_bounds__(256) peak_mma(u32 rounds, SCALAR* result) {
    typename Operand<SCALAR>::type a[2][4], b[2][2];
    for (u32 i = 0; i < 2; ++i) {
        for (u32 j = 0; j < 4; ++j) fill(a[i][j], 4 * i + j);
        for (u32 j = 0; j < 2; ++j) fill(b[i][j], 8 + 2 * i + j);
    }
    SCALAR sums[SUMS][4] = {};
    for (u32 round = 0; round < rounds; ++round) {
#pragma unroll
        for (u32 i = 0; i < SUMS; ++i) multiply_16x8x8(sums[i], a[i % 2], b[i / 2 % 2]);
    }
    SCALAR sum = 0;
#pragma unroll
    for (u32 i = 0; i < SUMS; ++i) sum += sums[i][0] + sums[i][1] + sums[i][2] + sums[i][3];
    result[thread_of_grid()] = sum;
}
