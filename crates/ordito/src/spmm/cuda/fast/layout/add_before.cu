// In the place of every count: the sum of those before it; and behind the last the sum of all. One block does it.
#include "ordito.cuh"

constexpr u32 ALL = 0xffffffffu;
// Counts of a thread at a time.
constexpr u32 EACH = 8;

// The sum of what the lanes before this one have.
__device__ __forceinline__ COUNT sum_before(COUNT mine, u32 lane) {
    COUNT sum = mine;
#pragma unroll
    for (u32 apart = 1; apart < WARP; apart *= 2) {
        const COUNT other = __shfl_up_sync(ALL, sum, apart);
        if (lane >= apart) sum += other;
    }
    return sum - mine;
}

extern "C" __global__ void __launch_bounds__(THREADS) add_before(u64 count, COUNT* counts) {
    constexpr u32 WARPS = THREADS / WARP;
    static_assert(WARPS == WARP, "one warp adds up what the warps have");
    __shared__ COUNT of_warps[WARPS];
    const u32 lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    COUNT before = 0;
    for (u64 first = 0; first < count; first += THREADS * EACH) {
        const u64 at = first + threadIdx.x * EACH;
        COUNT some[EACH], mine = 0;
#pragma unroll
        for (u32 i = 0; i < EACH; ++i) {
            some[i] = at + i < count ? counts[at + i] : 0;
            mine += some[i];
        }
        const COUNT in_warp = sum_before(mine, lane);
        if (lane == WARP - 1) of_warps[warp] = in_warp + mine;
        __syncthreads();
        if (warp == 0) of_warps[lane] += sum_before(of_warps[lane], lane);  // up to the end of each warp
        __syncthreads();
        COUNT sum = before + in_warp + (warp > 0 ? of_warps[warp - 1] : 0);
#pragma unroll
        for (u32 i = 0; i < EACH; ++i) {
            if (at + i < count) counts[at + i] = sum;
            sum += some[i];
        }
        before += of_warps[WARPS - 1];
        __syncthreads();
    }
    if (threadIdx.x == 0) counts[count] = before;
}
