// Packs A and B for dense_cuda_wgmma_tf32x3.cu: tiles of 128 rows of A, or columns of B, by 32 terms, each whole in memory,
// A in the order in which threads load it, B as the products want it in shared memory; what is beyond the matrix is 0. One block of 256 threads per
// tile; tiles of the same rows or columns follow each other.
#include "ptx.cuh"

constexpr u32 CHUNK = 4, CHUNKS = DEPTH / CHUNK, THREADS = 256;
static_assert(SIDE == 128 && DEPTH == 32, "the order below is that of dense_cuda_wgmma_tf32x3.cu");

// A in the order in which threads load it: for each warp of the products, which has 16 rows, its first 16 terms and then
// the others, of each the first eight rows and then the others; in it, for each lane, the four terms of one row.
extern "C" __global__ void __launch_bounds__(256) pack_rows(u64 n, u64 m, const float* __restrict__ a, u64 a_distance,
                                                             float* __restrict__ packed) {
    const u32 steps = u32((m + DEPTH - 1) / DEPTH);
    const u64 first_row = u64(blockIdx.x / steps) * SIDE, first_term = blockIdx.x % steps * DEPTH;
    float* const tile = packed + u64(blockIdx.x) * SIDE * DEPTH;
#pragma unroll 4
    for (u32 i = threadIdx.x; i < SIDE * CHUNKS; i += THREADS) {
        const u32 row = i / CHUNKS, chunk = i % CHUNKS;
        float values[CHUNK];
#pragma unroll
        for (u32 j = 0; j < CHUNK; ++j) {
            const u64 r = first_row + row, k = first_term + chunk * CHUNK + j;
            values[j] = r < n && k < m ? a[r * a_distance + k] : 0.0f;
        }
        const u32 part = row / 16 * 4 + chunk / 4 * 2 + row / 8 % 2, lane = row % 8 * 4 + chunk % 4;
        float* const to = tile + (part * WARP + lane) * CHUNK;
        *reinterpret_cast<float4*>(to) = make_float4(values[0], values[1], values[2], values[3]);
    }
}

// Which term of 32 stands at `position`: the products take eight positions at a time, and a lane of theirs holds four
// neighbouring terms of A (a 16-byte load), two for each of two products.
__device__ inline u32 term_at(u32 position) {
    const u32 product = position / 8, lane = position % 4, half = position / 4 % 2;
    return product / 2 * 16 + 4 * lane + 2 * (product % 2) + half;
}

// B transposed and split: first all upper halves, then all lower ones; a row of 32 terms for each column of B, its chunks
// exchanged as wgmma.cuh says.
extern "C" __global__ void __launch_bounds__(256) pack_columns(u64 m, u64 p, const float* __restrict__ b, u64 b_distance,
                                                                float* __restrict__ packed) {
    __shared__ float terms[DEPTH][SIDE + 1];  // + 1: columns are read from different banks
    const u32 steps = u32((m + DEPTH - 1) / DEPTH);
    const u64 first_col = u64(blockIdx.x / steps) * SIDE, first_term = blockIdx.x % steps * DEPTH;
#pragma unroll 4
    for (u32 i = threadIdx.x; i < DEPTH * SIDE; i += THREADS) {
        const u32 term = i / SIDE, col = i % SIDE;
        const bool inside = first_term + term < m && first_col + col < p;
        terms[term][col] = inside ? b[(first_term + term) * b_distance + first_col + col] : 0.0f;
    }
    __syncthreads();
    float* const upper = packed + u64(blockIdx.x) * 2 * SIDE * DEPTH;
    float* const lower = upper + SIDE * DEPTH;
#pragma unroll 4
    for (u32 i = threadIdx.x; i < SIDE * CHUNKS; i += THREADS) {
        const u32 col = i / CHUNKS, chunk = i % CHUNKS;
        float high[CHUNK], low[CHUNK];
#pragma unroll
        for (u32 j = 0; j < CHUNK; ++j) {
            const float x = terms[term_at(chunk * CHUNK + j)][col];
            high[j] = __uint_as_float(to_tf32(x));
            low[j] = __uint_as_float(to_tf32(x - high[j]));
        }
        const u32 to = col * DEPTH + (chunk ^ (col % 8)) * CHUNK;
        *reinterpret_cast<float4*>(upper + to) = make_float4(high[0], high[1], high[2], high[3]);
        *reinterpret_cast<float4*>(lower + to) = make_float4(low[0], low[1], low[2], low[3]);
    }
}
