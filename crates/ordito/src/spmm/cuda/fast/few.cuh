// What the fast kernels of Y = αAX + βY share. A thread has CHUNKS times VEC neighbouring elements of a row of X or Y, LANES
// threads side by side have a tile of the columns: CHUNKS chunks of LANES × VEC. VEC is 16 bytes wide where K and the
// distances of rows allow it, otherwise as wide as they do; columns beyond K are never touched.
#pragma once
#include "ptx.cuh"

constexpr u32 ALL = 0xffffffffu;
constexpr u32 CHUNK = LANES * VEC, TILE = CHUNK * CHUNKS;

struct alignas(VEC * sizeof(SCALAR)) Few {
    SCALAR of[VEC];
};

template <u32 Bytes> struct Wide;
template <> struct Wide<4> { typedef u32 type; };
template <> struct Wide<8> { typedef uint2 type; };
template <> struct Wide<16> { typedef uint4 type; };

// One load, past the caches' coherence: X does not change while the kernel runs.
__device__ __forceinline__ Few read_few(const char* from) {
    typedef Wide<sizeof(Few)>::type WideFew;
    union {
        WideFew wide;
        Few few;
    } both;
    both.wide = __ldg(reinterpret_cast<const WideFew*>(from));
    return both.few;
}

// Where a thread's columns begin in a row of X, and how far it is to the same place of the next row.
struct XRows {
    const char* lane;
    u32 row_bytes;
    // Columns from the thread's first one on: none of its chunks that begin behind them is there.
    u32 columns_left;

    __device__ __forceinline__ XRows(const SCALAR* x, u64 x_distance, u32 first_col, u64 k)
        : lane(reinterpret_cast<const char*>(x + first_col)),
          row_bytes(u32(x_distance * sizeof(SCALAR))),
          columns_left(first_col < k ? u32(k) - first_col : 0) {}

    // With WHOLE = 1 tiles divide K, and all are there.
    __device__ __forceinline__ bool has(u32 chunk) const { return WHOLE || chunk * CHUNK < columns_left; }

    __device__ __forceinline__ void read(Few (&x)[CHUNKS], u32 row) const {
        const char* const from = lane + u64(row) * row_bytes;
#pragma unroll
        for (u32 c = 0; c < CHUNKS; ++c)
            if (has(c)) x[c] = read_few(from + c * (CHUNK * sizeof(SCALAR)));
    }
};

// A thread's part of a row of Y while it is added up.
struct RowSums {
    SCALAR of[CHUNKS][VEC];

    __device__ __forceinline__ void clear() {
#pragma unroll
        for (u32 c = 0; c < CHUNKS; ++c)
#pragma unroll
            for (u32 i = 0; i < VEC; ++i) of[c][i] = 0;
    }
    __device__ __forceinline__ void add(SCALAR value, const Few (&x)[CHUNKS]) {
#pragma unroll
        for (u32 c = 0; c < CHUNKS; ++c)
#pragma unroll
            for (u32 i = 0; i < VEC; ++i) of[c][i] += value * x[c].of[i];
    }
    // To a row of Y, by the rules of BLAS; `y` is the thread's first element.
    __device__ __forceinline__ void update(SCALAR* y, const XRows& x, SCALAR alpha, SCALAR beta) const {
#pragma unroll
        for (u32 c = 0; c < CHUNKS; ++c) {
            if (!x.has(c)) continue;
            Few* const to = reinterpret_cast<Few*>(y + c * CHUNK);
            Few few;
            if (beta == SCALAR(0)) {
#pragma unroll
                for (u32 i = 0; i < VEC; ++i) few.of[i] = alpha * of[c][i];
            } else {
                few = *to;
#pragma unroll
                for (u32 i = 0; i < VEC; ++i) few.of[i] = alpha * of[c][i] + beta * few.of[i];
            }
            *to = few;
        }
    }
    // As a part of a row, for whoever adds the parts up.
    __device__ __forceinline__ void store(SCALAR* part, const XRows& x) const {
#pragma unroll
        for (u32 c = 0; c < CHUNKS; ++c) {
            if (!x.has(c)) continue;
            Few few;
#pragma unroll
            for (u32 i = 0; i < VEC; ++i) few.of[i] = of[c][i];
            *reinterpret_cast<Few*>(part + c * CHUNK) = few;
        }
    }
    // A part that another warp of this launch has stored: the first-level cache here may hold what was there before.
    __device__ __forceinline__ void add_stored(const SCALAR* part, const XRows& x) {
#pragma unroll
        for (u32 c = 0; c < CHUNKS; ++c) {
            if (!x.has(c)) continue;
#pragma unroll
            for (u32 i = 0; i < VEC; ++i) of[c][i] += __ldcg(part + c * CHUNK + i);
        }
    }
};

// Numbers of blocks: tiles of columns change fastest, so that those of the same rows find A in the cache; or slowest, so that
// all rows find those of X, where A is the smaller part of what is read.
struct Place {
    u64 block;
    u32 tile;
    __device__ __forceinline__ Place(u64 k, bool tiles_last = false) {
        const u32 tiles = u32((k + TILE - 1) / TILE);
        const u32 blocks = gridDim.x / tiles;
        block = tiles_last ? blockIdx.x % blocks : blockIdx.x / tiles;
        tile = tiles_last ? blockIdx.x / blocks : blockIdx.x % tiles;
    }
};
