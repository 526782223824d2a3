// A block adds up a tile of ROWS × COLS elements of C on tensor cores, every number split into two of TF32: a product is
// three. A warp has WARP_ROWS × WARP_COLS elements. Touches A and B once per tile of C, by copies that run ahead, and
// splits what it reads from shared memory in registers. Loses where memory is the limit, and where an operand is so small
// that its second part leaves the range of TF32 (dense_cuda_tensor_tf32x3.rs).
#include "gemm.cuh"

// The tensor core multiplies 16 × 8 by 8 × 8. A chunk of A brings four terms of one row, so 16 terms are a step, of two
// halves; a chunk of B brings four columns of one term, so a group has four times 8 columns. With lane = 4g + t, in half h:
//     term t of the tensor core is term 4t + 2h of the step, and t + 4 is 4t + 2h + 1;
//     column g of its multiplication v is column v of chunk `chunk_of(g)` of the group.
constexpr u32 GROUP_ROWS = 16, GROUP_COLS = 8 * CHUNK, STEP = 4 * CHUNK;
constexpr u32 GROUPS_DOWN = WARP_ROWS / GROUP_ROWS, GROUPS_ACROSS = WARP_COLS / GROUP_COLS, STEPS = DEPTH / STEP;
static_assert(sizeof(SCALAR) == 4, "f32");
static_assert(WARP_ROWS % GROUP_ROWS == 0 && WARP_COLS % GROUP_COLS == 0, "groups divide a warp's part of the tile");
static_assert(DEPTH % STEP == 0, "steps divide a slab");

// Neighbours g, an even one and the next, take chunks of the two halves of the group.
__device__ __forceinline__ u32 chunk_of(u32 g) { return g / 2 + g % 2 * 4; }

// A 16-byte read is served to 8 lanes at a time, g and g + 1 with t from 0 to 3, without waiting if their chunks lie in 8
// different sixteenths of 128 bytes. Chunks of a row are therefore exchanged (by xor, its own inverse):
//     A, a row of which has 8 chunks: the lanes read chunks 4s + t of rows g and g + 1; odd rows exchange their halves.
//     B, whose rows are multiples of 128 bytes: they read one chunk of each half, of terms 4t + i; fours of terms differ.
static_assert(DEPTH / CHUNK == 8 && COLS / CHUNK % 8 == 0, "rows of whole 128 bytes");
struct PlaceInA {
    static __device__ __forceinline__ u32 of(u32 row, u32 chunk) {
        return row * DEPTH + (chunk ^ row % 2 * 4) * CHUNK;
    }
};
struct PlaceInB {
    static __device__ __forceinline__ u32 of(u32 term, u32 chunk) {
        return term * COLS + (chunk ^ term / 4 % 4) * CHUNK;
    }
};
typedef ChunkCopy<ROWS, DEPTH, PlaceInA> CopyOfA;
typedef ChunkCopy<DEPTH, COLS, PlaceInB> CopyOfB;
typedef SlabCopies<CopyOfA, CopyOfB> Copies;

// x = high + low, but for what 22 bits do not hold; as tensor cores take them.
__device__ __forceinline__ void split(float x, u32& high, u32& low) {
    high = to_tf32(x);
    low = to_tf32(x - __uint_as_float(high));
}

struct Sums {
    // Tensor cores cut off where others round, always towards zero: their sums lose more the longer they are. They only
    // add within a slab (`slab_sums`); slabs are added by rounding additions (`sums`).
    float sums[GROUPS_DOWN][GROUPS_ACROSS][CHUNK][4], slab_sums[GROUPS_DOWN][GROUPS_ACROSS][CHUNK][4];
    Chunk of_a[2][GROUPS_DOWN][2], of_b[2][GROUPS_ACROSS][CHUNK];
    const float *stages_of_a, *stages_of_b;
    u32 g, t, row, col;  // row and column of the warp in the tile

    __device__ __forceinline__ Sums(const Copies& copies)
        : stages_of_a(copies.stages_of_a), stages_of_b(copies.stages_of_b) {
        const u32 warp = threadIdx.x / WARP, lane = threadIdx.x % WARP;
        g = lane / 4, t = lane % 4;
        row = warp / (COLS / WARP_COLS) * WARP_ROWS, col = warp % (COLS / WARP_COLS) * WARP_COLS;
        for_each_sum([&](u32 i, u32 j, u32 v, u32 e) { sums[i][j][v][e] = slab_sums[i][j][v][e] = 0; });
    }

    template <typename Do>
    __device__ __forceinline__ void for_each_sum(Do act) {
#pragma unroll
        for (u32 i = 0; i < GROUPS_DOWN; ++i)
#pragma unroll
            for (u32 j = 0; j < GROUPS_ACROSS; ++j)
#pragma unroll
                for (u32 v = 0; v < CHUNK; ++v)
#pragma unroll
                    for (u32 e = 0; e < 4; ++e) act(i, j, v, e);
    }

    __device__ __forceinline__ void read(u32 buffer, u32 stage, u32 step) {
        // The exchange is the same for all groups of a thread: computed once, for the first.
        const float* const a = stages_of_a + stage * CopyOfA::SLAB + PlaceInA::of(row + g, step * 4 + t);
        const float* const b = stages_of_b + stage * CopyOfB::SLAB + PlaceInB::of(4 * t, col / CHUNK + chunk_of(g));
#pragma unroll
        for (u32 i = 0; i < GROUPS_DOWN; ++i)
#pragma unroll
            for (u32 half = 0; half < 2; ++half)
                of_a[buffer][i][half] = read_chunk(a + (i * GROUP_ROWS + half * 8) * DEPTH);
#pragma unroll
        for (u32 j = 0; j < GROUPS_ACROSS; ++j)
#pragma unroll
            for (u32 term = 0; term < CHUNK; ++term)
                of_b[buffer][j][term] = read_chunk(b + (step * STEP + term) * COLS + j * GROUP_COLS);
    }

    __device__ __forceinline__ void multiply(u32 buffer) {
#pragma unroll
        for (u32 half = 0; half < 2; ++half) {
            u32 b_high[GROUPS_ACROSS][CHUNK][2], b_low[GROUPS_ACROSS][CHUNK][2];
#pragma unroll
            for (u32 j = 0; j < GROUPS_ACROSS; ++j)
#pragma unroll
                for (u32 v = 0; v < CHUNK; ++v)
#pragma unroll
                    for (u32 e = 0; e < 2; ++e) split(of_b[buffer][j][2 * half + e].at[v], b_high[j][v][e], b_low[j][v][e]);
#pragma unroll
            for (u32 i = 0; i < GROUPS_DOWN; ++i) {
                u32 a_high[4], a_low[4];
#pragma unroll
                for (u32 e = 0; e < 4; ++e) split(of_a[buffer][i][e % 2].at[2 * half + e / 2], a_high[e], a_low[e]);
                // The small ones first: they are added to what is small still. low · low is less than what is lost anyway.
                multiply_row(i, a_low, b_high);
                multiply_row(i, a_high, b_low);
                multiply_row(i, a_high, b_high);
            }
        }
    }

    __device__ __forceinline__ void multiply_row(u32 i, const u32 (&a)[4], const u32 (&b)[GROUPS_ACROSS][CHUNK][2]) {
#pragma unroll
        for (u32 j = 0; j < GROUPS_ACROSS; ++j)
#pragma unroll
            for (u32 v = 0; v < CHUNK; ++v) multiply_16x8x8(slab_sums[i][j][v], a, b[j][v]);
    }

    __device__ __forceinline__ void end_slab() {
        for_each_sum([&](u32 i, u32 j, u32 v, u32 e) {
            sums[i][j][v][e] += slab_sums[i][j][v][e];
            slab_sums[i][j][v][e] = 0;
        });
    }

    // Of every group two rows, g and g + 8, and two chunks: column 2t + e of the tensor core is chunk_of(2t + e) = t + 4e, and
    // its four multiplications are that chunk.
    static constexpr u32 CHUNKS_ACROSS = GROUPS_ACROSS * 2, CHUNKS = GROUPS_DOWN * 2 * CHUNKS_ACROSS;
    __device__ __forceinline__ u32 row_of(u32 i) const { return row + i / (2 * CHUNKS_ACROSS) * GROUP_ROWS + i / CHUNKS_ACROSS % 2 * 8 + g; }
    __device__ __forceinline__ u32 col_of(u32 i) const { return col + i % CHUNKS_ACROSS / 2 * GROUP_COLS + (t + i % 2 * 4) * CHUNK; }
    __device__ __forceinline__ Chunk chunk(u32 i) const {
        const u32 half = i / CHUNKS_ACROSS % 2, e = i % 2;
        Chunk chunk;
#pragma unroll
        for (u32 v = 0; v < CHUNK; ++v) chunk.at[v] = sums[i / (2 * CHUNKS_ACROSS)][i % CHUNKS_ACROSS / 2][v][2 * half + e];
        return chunk;
    }
    template <u32 Count>
    __device__ __forceinline__ void take(u32 first, Chunk (&chunks)[Count]) const { take_chunks(*this, first, chunks); }
};

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS_PER_MULTIPROCESSOR)
    tensor_tf32x3(u32 n, u32 m, u32 p, const SCALAR* a, u64 a_distance, const SCALAR* b, u64 b_distance, SCALAR* c,
                  u64 c_distance, SCALAR alpha, SCALAR beta, u32 whole_tiles, u32 slices, u32 slice_terms, SCALAR* partial, u32* arrived) {
    DYNAMIC_SHARED(SCALAR, shared);
    const Product product = {n, m, p, a, a_distance, b, b_distance, c, c_distance, alpha, beta, whole_tiles, slices, slice_terms, partial, arrived};
    multiply_tile<Copies, Sums, STEPS>(product, shared);
}
