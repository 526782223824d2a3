// A block adds up a tile of ROWS × COLS elements of C on tensor cores in f64, a warp WARP_ROWS × WARP_COLS of them.
// Touches A and B once per tile of C, by copies that run ahead, and shared memory by one 16-byte read for 2 rows × 8
// products. Loses where C has few tiles, and where the matrices are so thin that memory is the limit.
#include "gemm.cuh"

// The tensor core multiplies 16 × 8 by 8 × 8 and wants, of its left operand, two rows of two columns from every lane.
// That is what a chunk of B brings, two columns of one term, if B is the left one: so it computes Cᵀ = Bᵀ · Aᵀ, and no
// number has to change its register. With lane = 4g + t, its rows g and g + 8 are columns 2g and 2g + 1 of B, its columns
// 2t and 2t + 1 are rows of A, and its terms t and t + 4 are terms 2t and 2t + 1.
constexpr u32 GROUP_ROWS = 8, GROUP_COLS = 16, STEP = 8;
constexpr u32 GROUPS_DOWN = WARP_ROWS / GROUP_ROWS, GROUPS_ACROSS = WARP_COLS / GROUP_COLS, STEPS = DEPTH / STEP / TEAMS;
static_assert(sizeof(SCALAR) == 8, "f64");
static_assert(WARP_ROWS % GROUP_ROWS == 0 && WARP_COLS % GROUP_COLS == 0, "groups divide a warp's part of the tile");
static_assert(DEPTH % (STEP * TEAMS) == 0, "steps of all teams divide a slab");

// A 16-byte read is served to 8 lanes at a time, g and g + 1 with t from 0 to 3, without waiting if their chunks lie in 8
// different sixteenths of 128 bytes. Chunks of a row are therefore exchanged (by xor, its own inverse):
//     A, whose rows are multiples of 128 bytes: the lanes read chunks 4s + t of rows g and g + 1; odd rows exchange their halves.
//     B, whose rows are multiples of 128 bytes: they read chunks g and g + 1 of terms 2t and 2t + 1; pairs of terms differ.
static_assert(DEPTH / CHUNK % 8 == 0 && COLS / CHUNK % 8 == 0, "rows of whole 128 bytes");
struct PlaceInA {
    static __device__ __forceinline__ u32 of(u32 row, u32 chunk) {
        return row * DEPTH + (chunk ^ row % 2 * 4) * CHUNK;
    }
};
struct PlaceInB {
    static __device__ __forceinline__ u32 of(u32 term, u32 chunk) {
        return term * COLS + (chunk ^ term / 2 % 4 * 2) * CHUNK;
    }
};
typedef ChunkCopy<ROWS, DEPTH, PlaceInA> CopyOfA;
typedef ChunkCopy<DEPTH, COLS, PlaceInB> CopyOfB;
typedef SlabCopies<CopyOfA, CopyOfB> Copies;

struct Sums {
    SCALAR sums[GROUPS_DOWN][GROUPS_ACROSS][4];
    Chunk of_a[2][GROUPS_DOWN], of_b[2][GROUPS_ACROSS][2];
    const SCALAR *stages_of_a, *stages_of_b;
    u32 g, t, row, col;  // row and column of the warp in the tile

    __device__ __forceinline__ Sums(const Copies& copies)
        // Of its team's first step: in whole 128 bytes of A and of B, where exchanges are the same.
        : stages_of_a(copies.stages_of_a + threadIdx.x / TEAM_THREADS * (STEPS * STEP)),
          stages_of_b(copies.stages_of_b + threadIdx.x / TEAM_THREADS * (STEPS * STEP * COLS)) {
        const u32 warp = threadIdx.x % TEAM_THREADS / WARP, lane = threadIdx.x % WARP;
        g = lane / 4, t = lane % 4;
        row = warp / (COLS / WARP_COLS) * WARP_ROWS, col = warp % (COLS / WARP_COLS) * WARP_COLS;
#pragma unroll
        for (u32 i = 0; i < GROUPS_DOWN; ++i)
#pragma unroll
            for (u32 j = 0; j < GROUPS_ACROSS; ++j)
#pragma unroll
                for (u32 e = 0; e < 4; ++e) sums[i][j][e] = 0;
    }

    __device__ __forceinline__ void read(u32 buffer, u32 stage, u32 step) {
        // The exchange is the same for all groups of a thread: computed once, for the first.
        const SCALAR* const a = stages_of_a + stage * CopyOfA::SLAB + PlaceInA::of(row + g, step * 4 + t);
        const SCALAR* const b = stages_of_b + stage * CopyOfB::SLAB + PlaceInB::of(2 * t, col / CHUNK + g);
#pragma unroll
        for (u32 j = 0; j < GROUPS_ACROSS; ++j)
#pragma unroll
            for (u32 term = 0; term < 2; ++term)
                of_b[buffer][j][term] = read_chunk(b + (step * STEP + term) * COLS + j * GROUP_COLS);
#pragma unroll
        for (u32 i = 0; i < GROUPS_DOWN; ++i) of_a[buffer][i] = read_chunk(a + i * GROUP_ROWS * DEPTH);
    }

    // Down and up: the last group of one column of groups is the first of the next, and its operand at hand.
    __device__ __forceinline__ void multiply(u32 buffer) {
#pragma unroll
        for (u32 j = 0; j < GROUPS_ACROSS; ++j) {
            const Chunk &first = of_b[buffer][j][0], &second = of_b[buffer][j][1];
            const SCALAR left[4] = {first.at[0], first.at[1], second.at[0], second.at[1]};
#pragma unroll
            for (u32 turn = 0; turn < GROUPS_DOWN; ++turn) {
                const u32 i = j % 2 ? GROUPS_DOWN - 1 - turn : turn;
                multiply_16x8x8(sums[i][j], left, of_a[buffer][i].at);
            }
        }
    }

    __device__ __forceinline__ void end_slab() {}

    // Two rows of every group, 2t and 2t + 1, of two columns each.
    static constexpr u32 CHUNKS = GROUPS_DOWN * 2 * GROUPS_ACROSS;
    __device__ __forceinline__ u32 row_of(u32 i) const { return row + i / (2 * GROUPS_ACROSS) * GROUP_ROWS + 2 * t + i / GROUPS_ACROSS % 2; }
    __device__ __forceinline__ u32 col_of(u32 i) const { return col + i % GROUPS_ACROSS * GROUP_COLS + 2 * g; }
    __device__ __forceinline__ Chunk chunk(u32 i) const {
        const SCALAR(&group)[4] = sums[i / (2 * GROUPS_ACROSS)][i % GROUPS_ACROSS];
        const u32 of_row = i / GROUPS_ACROSS % 2;
        return {{group[of_row], group[2 + of_row]}};
    }
    template <u32 Count>
    __device__ __forceinline__ void take(u32 first, Chunk (&chunks)[Count]) const { take_chunks(*this, first, chunks); }
};

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS_PER_MULTIPROCESSOR)
    tensor_f64(u32 n, u32 m, u32 p, const SCALAR* a, u64 a_distance, const SCALAR* b, u64 b_distance, SCALAR* c,
               u64 c_distance, SCALAR alpha, SCALAR beta, u32 whole_tiles, u32 slices, u32 slice_terms, SCALAR* partial, u32* arrived) {
    DYNAMIC_SHARED(SCALAR, shared);
    const Product product = {n, m, p, a, a_distance, b, b_distance, c, c_distance, alpha, beta, whole_tiles, slices, slice_terms, partial, arrived};
    multiply_tile<Copies, Sums, STEPS>(product, shared);
}
