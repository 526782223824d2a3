// How long a load takes: one thread follows a chain, each link of which says where the next one lies. No load can begin before
// the one before it has ended, and nothing else runs that could hide it.
#include "ordito.cuh"

#ifdef ORDITO_EMULATOR
// It counts neither cycles nor time.
__device__ inline u64 cycles_now() { return 0; }
__device__ inline u64 nanoseconds_now() { return 0; }
#else
__device__ inline u64 cycles_now() { return u64(clock64()); }
__device__ inline u64 nanoseconds_now() {
    u64 now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    return now;
}
#endif

// A chain through all of `links`, a power of two, that lie `distance` apart: a generator of random numbers whose period is all
// of them. One thread for each.
extern "C" __global__ void lay_chain(u32* chain, u32 links, u32 distance) {
    const u64 link = thread_of_grid();
    if (link < links) chain[link * distance] = ((u32(link) * MULTIPLIER + INCREMENT) & (links - 1)) * distance;
}

// `steps` links on from *place; then what that took, in cycles and in nanoseconds.
__device__ inline void follow(const u32* chain, u32 steps, u32* place, u64* took) {
    u32 at = *place;
    const u64 cycles = cycles_now(), nanoseconds = nanoseconds_now();
#pragma unroll 8
    for (u32 step = 0; step < steps; ++step) at = chain[at];
    took[0] = cycles_now() - cycles;
    took[1] = nanoseconds_now() - nanoseconds;
    *place = at;
}

extern "C" __global__ void follow_global(const u32* chain, u32 steps, u32* place, u64* took) {
    follow(chain, steps, place, took);
}

// The same through a copy in shared memory, which is not timed. Links lie side by side: one thread has no bank conflicts.
extern "C" __global__ void follow_shared(const u32* chain, u32 steps, u32* place, u64* took) {
    __shared__ u32 copy[SHARED_LINKS];
    for (u32 link = 0; link < SHARED_LINKS; ++link) copy[link] = chain[link];
    follow(copy, steps, place, took);
}
