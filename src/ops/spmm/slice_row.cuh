// One row of a slice: its nonzeros lie ROWS apart, those of its neighbours in between. ONCE = 1: A makes room for X in the caches.
#pragma once
#include "pieces.cuh"

constexpr u32 ROWS = WARP / LANES;

#if ONCE
#define READ_A(from) read_soon_again(from, once)
#else
#define READ_A(from) __ldg(from)
#endif

__device__ __forceinline__ void add_row(RowSums& sums, const XRows& of_x, const u32* my_columns, const SCALAR* my_values,
                                        u32 length) {
#if ONCE
    const CachePolicy once = evict_first();
#endif
    // All loads of IN_FLIGHT nonzeros are out before the first product waits for one; the last few ask whether they are there,
    // which would cost all others dearly.
    u32 j = 0;
#pragma unroll 1
    for (; j + IN_FLIGHT <= length; j += IN_FLIGHT) {
        u32 column[IN_FLIGHT];
        SCALAR value[IN_FLIGHT];
        Few few[IN_FLIGHT][CHUNKS];
#pragma unroll
        for (u32 u = 0; u < IN_FLIGHT; ++u) {
            column[u] = READ_A(my_columns + (j + u) * ROWS);
            value[u] = READ_A(my_values + (j + u) * ROWS);
        }
#pragma unroll
        for (u32 u = 0; u < IN_FLIGHT; ++u) of_x.read(few[u], column[u]);
#pragma unroll
        for (u32 u = 0; u < IN_FLIGHT; ++u) sums.add(value[u], few[u]);
    }
    if (j < length) {
        u32 column[IN_FLIGHT];
        SCALAR value[IN_FLIGHT];
        Few few[IN_FLIGHT][CHUNKS];
#pragma unroll
        for (u32 u = 0; u + 1 < IN_FLIGHT; ++u)
            if (j + u < length) {
                column[u] = READ_A(my_columns + (j + u) * ROWS);
                value[u] = READ_A(my_values + (j + u) * ROWS);
            }
#pragma unroll
        for (u32 u = 0; u + 1 < IN_FLIGHT; ++u)
            if (j + u < length) of_x.read(few[u], column[u]);
#pragma unroll
        for (u32 u = 0; u + 1 < IN_FLIGHT; ++u)
            if (j + u < length) sums.add(value[u], few[u]);
    }
}
