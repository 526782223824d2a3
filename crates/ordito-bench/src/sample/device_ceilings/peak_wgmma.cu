// What the tensor cores of sm_90a do at best in TF32: two groups of four warps multiply 64 rows in registers by the same
// 128 columns in shared memory again and again.
#include "ptx.cuh"
#include "wgmma.cuh"

constexpr u32 COLUMNS = 128, DEPTH = 32;
constexpr u32 PRODUCTS = 16;  // before they are waited for

extern "C" __global__ void __launch_bounds__(256) peak_wgmma(u32 rounds, SCALAR* result) {
    __shared__ __align__(1024) float b[COLUMNS * DEPTH];
    for (u32 i = threadIdx.x; i < COLUMNS * DEPTH; i += blockDim.x)
        b[i] = __uint_as_float(to_tf32(1.0f / (3.0f + 0.037f * i)));
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");  // before the tensor cores read what threads wrote
    __syncthreads();
    u32 a[4];
#pragma unroll
    for (u32 i = 0; i < 4; ++i) a[i] = to_tf32(1.0f / (3.0f + 0.37f * i + 0.011f * (threadIdx.x % WARP)));
    float sums[64];
#pragma unroll
    for (u32 i = 0; i < 64; ++i) sums[i] = 0.0f;
    const u64 where = describe_shared(shared_address(b));
    for (u32 round = 0; round < rounds; ++round) {
        products_begin();
#pragma unroll
        for (u32 i = 0; i < PRODUCTS; ++i) multiply_64x128x8(sums, a, where + 2 * (i % (DEPTH / 8)), true);
        products_commit();
        products_wait(sums);
    }
    float sum = 0.0f;
#pragma unroll
    for (u32 i = 0; i < 64; ++i) sum += sums[i];
    result[thread_of_grid()] = sum;
}
