// Adds up the partial sums of the slices, always in the same order, then C = alpha · sum + beta · C: a thread for every
// element, or eight where slices are many. Touches every partial sum once, in runs along the rows.
// Loses the time of a second launch, and of writing and reading the partial sums, against one slice.
#include "ordito.cuh"

// An element of C, in rows from first to last. Slices are only made where C has few tiles: 32 bits count its elements.
struct Element {
    u64 place;
    bool exists;

    __device__ __forceinline__ Element(u32 number, u32 n, u32 p, u64 distance) {
        exists = number < n * p;
        place = exists ? number / p * distance + number % p : 0;
    }
};

// Four running sums: their additions need not wait for each other.
extern "C" __global__ void add_few_slices(u32 n, u32 p, const SCALAR* partial, u32 slices, SCALAR* c, u64 distance,
                                          SCALAR alpha, SCALAR beta) {
    const Element element(u32(thread_of_grid()), n, p, distance);
    if (!element.exists) return;
    const SCALAR* const sums = partial + element.place;
    const u64 next = n * distance;
    SCALAR s[4] = {0, 0, 0, 0};
    u32 slice = 0;
    for (; slice + 4 <= slices; slice += 4)
#pragma unroll
        for (u32 i = 0; i < 4; ++i) s[i] += sums[(slice + i) * next];
    for (; slice < slices; ++slice) s[0] += sums[slice * next];
    update(c[element.place], alpha, (s[0] + s[1]) + (s[2] + s[3]), beta);
}

// A block adds 32 elements, each by 8 threads that take every 8th slice.
extern "C" __global__ void __launch_bounds__(256)
    add_many_slices(u32 n, u32 p, const SCALAR* partial, u32 slices, SCALAR* c, u64 distance, SCALAR alpha, SCALAR beta) {
    __shared__ SCALAR sums[8][WARP];
    const u32 lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    const Element element(blockIdx.x * WARP + lane, n, p, distance);
    const u64 next = n * distance;
    SCALAR sum = 0;
    if (element.exists) {
#pragma unroll 8
        for (u32 slice = warp; slice < slices; slice += 8) sum += partial[slice * next + element.place];
    }
    sums[warp][lane] = sum;
    __syncthreads();
    if (warp > 0 || !element.exists) return;
    const auto pair = [&](u32 i) { return sums[i][lane] + sums[i + 1][lane]; };
    update(c[element.place], alpha, (pair(0) + pair(2)) + (pair(4) + pair(6)), beta);
}
