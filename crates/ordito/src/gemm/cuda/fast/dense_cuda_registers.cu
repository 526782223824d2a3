// A thread adds up THREAD_ROWS × THREAD_COLS elements of C in registers, a block a tile of ROWS × COLS.
// Touches A and B once per tile of C, by copies that run ahead, and shared memory once for THREAD_ROWS or THREAD_COLS
// products. Loses to tensor cores where there are any for the precision, and where C has too few tiles for all blocks.
#include "gemm.cuh"

// A warp's threads lie 4 × 8 or 8 × 4 over its part of the tile.
constexpr u32 LANES_DOWN = WARP_ROWS / THREAD_ROWS, LANES_ACROSS = WARP_COLS / THREAD_COLS;
static_assert(LANES_DOWN * LANES_ACROSS == WARP && LANES_DOWN >= 4 && LANES_ACROSS >= 4, "a warp covers its part");
static_assert(THREAD_ROWS % CHUNK == 0 && THREAD_COLS % CHUNK == 0, "threads read whole chunks");

// A slab of A lies by columns, so that a thread reads its rows in chunks, as it reads its columns of B. A chunk between
// the columns spreads what a warp copies over the banks.
constexpr u32 COLUMN_OF_A = ROWS + CHUNK;

struct PlaceInB {
    static __device__ __forceinline__ u32 of(u32 term, u32 chunk) {
        return term * COLS + chunk * CHUNK;
    }
};

// A's part of a slab, transposed on the way: every number is a copy of its own.
struct TransposingCopy {
    static constexpr u32 SLAB = DEPTH * COLUMN_OF_A;
    static constexpr u32 ROWS_AT_ONCE = THREADS / DEPTH, TIMES = ROWS / ROWS_AT_ONCE;
    static_assert(THREADS % DEPTH == 0 && ROWS % ROWS_AT_ONCE == 0, "every thread copies the same number of elements");

    const SCALAR* matrix;
    u64 distance;
    u32 row, term;
    const SCALAR* from;

    __device__ __forceinline__ TransposingCopy(const SCALAR* matrix, u64 distance, u32 first_row, u32 first_term)
        : matrix(matrix), distance(distance), row(threadIdx.x / DEPTH), term(threadIdx.x % DEPTH) {
        from = matrix + (first_row + row) * distance + first_term + term;
    }

    __device__ __forceinline__ void whole(SCALAR* slab) const {
        const SCALAR* next = from;
#pragma unroll
        for (u32 time = 0; time < TIMES; ++time) {
            copy_async<sizeof(SCALAR)>(slab + term * COLUMN_OF_A + row + time * ROWS_AT_ONCE, next);
            next += ROWS_AT_ONCE * distance;
        }
    }

    __device__ __forceinline__ void part(SCALAR* slab, u32 rows, u32 terms) const {
#pragma unroll
        for (u32 time = 0; time < TIMES; ++time) {
            const u32 skipped = time * ROWS_AT_ONCE;
            const bool valid = term < terms && row + skipped < rows;
            const SCALAR* const place = valid ? from + skipped * distance : matrix;
            copy_async<sizeof(SCALAR)>(slab + term * COLUMN_OF_A + row + skipped, place, valid ? u32(sizeof(SCALAR)) : 0);
        }
    }
};

typedef SlabCopies<TransposingCopy, ChunkCopy<DEPTH, COLS, PlaceInB>> Copies;

// A thread's rows lie in chunks, LANES_DOWN chunks apart, its columns likewise: the lanes' chunks are then neighbours.
struct Sums {
    SCALAR sums[THREAD_ROWS][THREAD_COLS];
    Chunk of_a[2][THREAD_ROWS / CHUNK], of_b[2][THREAD_COLS / CHUNK];
    const SCALAR *stages_of_a, *stages_of_b;
    u32 row, col;  // of the thread in the tile

    __device__ __forceinline__ Sums(const Copies& copies)
        : stages_of_a(copies.stages_of_a), stages_of_b(copies.stages_of_b) {
        const u32 warp = threadIdx.x / WARP, lane = threadIdx.x % WARP;
        // A 16-byte read is served to 8 lanes at a time. Pairs of lanes walk along the longer side: the eight then read
        // four different chunks of one operand and two of the other, the same ones from different lanes at once.
        constexpr bool TALL = LANES_DOWN >= LANES_ACROSS;
        constexpr u32 LONG = TALL ? LANES_DOWN : LANES_ACROSS;
        const u32 along = lane / 2 % LONG, aside = lane % 2 + lane / (2 * LONG) * 2;
        row = warp / (COLS / WARP_COLS) * WARP_ROWS + (TALL ? along : aside) * CHUNK;
        col = warp % (COLS / WARP_COLS) * WARP_COLS + (TALL ? aside : along) * CHUNK;
#pragma unroll
        for (u32 i = 0; i < THREAD_ROWS; ++i)
#pragma unroll
            for (u32 j = 0; j < THREAD_COLS; ++j) sums[i][j] = 0;
    }

    // A step is one term.
    __device__ __forceinline__ void read(u32 buffer, u32 stage, u32 term) {
        const SCALAR* const a = stages_of_a + stage * TransposingCopy::SLAB + term * COLUMN_OF_A + row;
        const SCALAR* const b = stages_of_b + stage * (DEPTH * COLS) + term * COLS + col;
#pragma unroll
        for (u32 i = 0; i < THREAD_ROWS / CHUNK; ++i) of_a[buffer][i] = read_chunk(a + i * LANES_DOWN * CHUNK);
#pragma unroll
        for (u32 j = 0; j < THREAD_COLS / CHUNK; ++j) of_b[buffer][j] = read_chunk(b + j * LANES_ACROSS * CHUNK);
    }

    // To and fro: the operand that the last product of a row used is at hand for the first of the next.
    __device__ __forceinline__ void multiply(u32 buffer) {
#pragma unroll
        for (u32 i = 0; i < THREAD_ROWS; ++i)
#pragma unroll
            for (u32 turn = 0; turn < THREAD_COLS; ++turn) {
                const u32 j = i % 2 ? THREAD_COLS - 1 - turn : turn;
                sums[i][j] += of_a[buffer][i / CHUNK].at[i % CHUNK] * of_b[buffer][j / CHUNK].at[j % CHUNK];
            }
    }

    __device__ __forceinline__ void end_slab() {}

    static constexpr u32 CHUNKS_ACROSS = THREAD_COLS / CHUNK, CHUNKS = THREAD_ROWS * CHUNKS_ACROSS;
    __device__ __forceinline__ u32 row_of(u32 i) const {
        const u32 of_thread = i / CHUNKS_ACROSS;
        return row + of_thread / CHUNK * LANES_DOWN * CHUNK + of_thread % CHUNK;
    }
    __device__ __forceinline__ u32 col_of(u32 i) const { return col + i % CHUNKS_ACROSS * LANES_ACROSS * CHUNK; }
    __device__ __forceinline__ Chunk chunk(u32 i) const {
        Chunk chunk;
#pragma unroll
        for (u32 e = 0; e < CHUNK; ++e) chunk.at[e] = sums[i / CHUNKS_ACROSS][i % CHUNKS_ACROSS * CHUNK + e];
        return chunk;
    }
    template <u32 Count>
    __device__ __forceinline__ void take(u32 first, Chunk (&chunks)[Count]) const { take_chunks(*this, first, chunks); }
};

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS_PER_MULTIPROCESSOR)
    registers(u32 n, u32 m, u32 p, const SCALAR* a, u64 a_distance, const SCALAR* b, u64 b_distance, SCALAR* c,
              u64 c_distance, SCALAR alpha, SCALAR beta, u32 whole_tiles, u32 slices, u32 slice_terms, SCALAR* partial, u32* arrived) {
    DYNAMIC_SHARED(SCALAR, shared);
    const Product product = {n, m, p, a, a_distance, b, b_distance, c, c_distance, alpha, beta, whole_tiles, slices, slice_terms, partial, arrived};
    multiply_tile<Copies, Sums, DEPTH>(product, shared);
}
