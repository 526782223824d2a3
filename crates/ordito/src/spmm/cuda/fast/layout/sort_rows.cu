// Lists the rows of a matrix, those of about the same length together and the longest first; rows of one class stay in their order. By
// counting: each block counts the classes of its rows, one block adds up what lies before, and every row knows its place.
// Rows of more than `longest` nonzeros are left out.
#include "ordito.cuh"

// As Rust's `length_class`: every length by itself up to 32, then eight classes for every doubling.
constexpr u32 CLASSES = 256, NONE = CLASSES, ALL = 0xffffffffu;
__device__ __forceinline__ u32 length_class(u32 length) {
    if (length < 32) return length;
    const u32 power = 31 - u32(__clz(int(length)));
    return 32 + (power - 5) * 8 + (length >> (power - 3)) % 8;
}

struct Row {
    u64 start, length;
    u32 kind;  // its class

    __device__ __forceinline__ Row(u64 row, u64 rows, const u64* __restrict__ row_starts, u64 longest)
        : start(0), length(0), kind(NONE) {
        if (row >= rows) return;
        start = row_starts[row];
        length = row_starts[row + 1] - start;
        if (length <= longest) kind = length_class(u32(length));
    }
};

// Of each block, the greatest class first: counts[class][block].
extern "C" __global__ void __launch_bounds__(THREADS)
    count_classes(u64 rows, const u64* __restrict__ row_starts, u64 longest, u32* __restrict__ counts) {
    __shared__ u32 of_block[CLASSES];
    for (u32 kind = threadIdx.x; kind < CLASSES; kind += THREADS) of_block[kind] = 0;
    __syncthreads();
    const Row row(thread_of_grid(), rows, row_starts, longest);
    if (row.kind != NONE) atomicAdd(&of_block[row.kind], 1u);
    __syncthreads();
    for (u32 kind = threadIdx.x; kind < CLASSES; kind += THREADS)
        counts[u64(CLASSES - 1 - kind) * gridDim.x + blockIdx.x] = of_block[kind];
}

// The place of every row, behind `first` others, and there what it is: a piece as pieces.cuh has it.
extern "C" __global__ void __launch_bounds__(THREADS)
    list_sorted(u64 rows, const u64* __restrict__ row_starts, u64 longest, const u32* __restrict__ places, u64 first,
                uint4* __restrict__ list) {
    constexpr u32 WARPS = THREADS / WARP;
    __shared__ u32 of_warps[WARPS][CLASSES];
    for (u32 at = threadIdx.x; at < WARPS * CLASSES; at += THREADS) of_warps[at / CLASSES][at % CLASSES] = 0;
    __syncthreads();
    const u64 number = thread_of_grid();
    const Row row(number, rows, row_starts, longest);
    const u32 lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    // Lanes whose rows are of this class, bit by bit.
    u32 alike = __ballot_sync(ALL, row.kind != NONE);
#pragma unroll
    for (u32 bit = 1; bit < CLASSES; bit *= 2) {
        const u32 have = __ballot_sync(ALL, (row.kind & bit) != 0);
        alike &= row.kind & bit ? have : ~have;
    }
    const u32 before = u32(__popc(alike & ((1u << lane) - 1)));
    if (row.kind != NONE && before == 0) of_warps[warp][row.kind] = u32(__popc(alike));
    __syncthreads();
    for (u32 kind = threadIdx.x; kind < CLASSES; kind += THREADS) {
        u32 place = places[u64(CLASSES - 1 - kind) * gridDim.x + blockIdx.x];
        for (u32 of = 0; of < WARPS; ++of) {
            const u32 count = of_warps[of][kind];
            of_warps[of][kind] = place;
            place += count;
        }
    }
    __syncthreads();
    if (row.kind != NONE)
        list[first + of_warps[warp][row.kind] + before] =
            make_uint4(u32(row.start), u32(row.start >> 32), u32(row.length), u32(number));
}

// Every row where it is.
extern "C" __global__ void __launch_bounds__(THREADS)
    list_in_order(u64 rows, const u64* __restrict__ row_starts, uint4* __restrict__ list) {
    const u64 number = thread_of_grid();
    const Row row(number, rows, row_starts, 0);
    if (number < rows) list[number] = make_uint4(u32(row.start), u32(row.start >> 32), u32(row.length), u32(number));
}
