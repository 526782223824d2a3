// C = alpha · A · B + beta · C where C has few columns; COLS of them, or tiles of so many.
// LANES lanes walk along ROWS rows of A at once, each with sums of its own for all columns, and add them up at the end. B stands
// in shared memory by columns, DEPTH terms at a time.
// Touches A once, from end to end, and B once per block. Loses where there are many columns: sums no longer fit into registers.
#include "ordito.cuh"

constexpr u32 GROUPS = THREADS / LANES, BLOCK_ROWS = GROUPS * ROWS, ALL = ~0u;
constexpr u32 CHUNK = 16 / sizeof(SCALAR);  // what one instruction moves
constexpr u32 PITCH = DEPTH + CHUNK;        // so that neighbouring columns lie in different banks
static_assert(DEPTH % CHUNK == 0, "a column of shared memory begins with a whole chunk");

struct __align__(16) Chunk {
    SCALAR at[CHUNK];
};

// `Width` terms of every row from `term` on, which stand `from` the beginning of the rows.
template <u32 Width, typename Piece>
__device__ __forceinline__ void add(SCALAR (&sums)[ROWS][COLS], const SCALAR* const (&rows)[ROWS], u64 from, const SCALAR* columns) {
    Piece of_a[ROWS];
#pragma unroll
    for (u32 i = 0; i < ROWS; ++i) of_a[i] = *reinterpret_cast<const Piece*>(rows[i] + from);
#pragma unroll
    for (u32 j = 0; j < COLS; ++j) {
        const Piece of_b = *reinterpret_cast<const Piece*>(columns + j * PITCH);
#pragma unroll
        for (u32 i = 0; i < ROWS; ++i)
#pragma unroll
            for (u32 t = 0; t < Width; ++t) sums[i][j] += of_a[i].at[t] * of_b.at[t];
    }
}

struct One {
    SCALAR at[1];
};

// Are all rows that begin there, so far apart, cut into whole chunks?
__device__ __forceinline__ bool in_chunks(const SCALAR* matrix, u64 distance) {
    return reinterpret_cast<u64>(matrix) % 16 == 0 && distance % CHUNK == 0;
}

// The sums of one group: ROWS rows from `first` on, each GROUPS after the one before.
struct Sums {
    SCALAR of[ROWS][COLS];
    const SCALAR* rows[ROWS];

    __device__ __forceinline__ Sums(const SCALAR* a, u64 a_distance, u64 first, u64 n) {
#pragma unroll
        for (u32 i = 0; i < ROWS; ++i) {
            const u64 row = first + i * GROUPS;
            rows[i] = a + (row < n ? row : n - 1) * a_distance;  // beyond the last: that one again, and not stored
#pragma unroll
            for (u32 j = 0; j < COLS; ++j) of[i][j] = 0;
        }
    }

    // `depth` terms from `first_term` on, of which B's stand in shared memory: in chunks, as far as rows of A are.
    __device__ __forceinline__ void add_terms(const SCALAR* of_b, u64 first_term, u32 depth, u32 lane, bool chunks_of_a) {
        const u32 whole = chunks_of_a ? depth / CHUNK * CHUNK : 0;
#pragma unroll 2
        for (u32 term = lane * CHUNK; term < whole; term += LANES * CHUNK)
            add<CHUNK, Chunk>(of, rows, first_term + term, of_b + term);
#pragma unroll 2
        for (u32 term = whole + lane; term < depth; term += LANES) add<1, One>(of, rows, first_term + term, of_b + term);
    }

    // All lanes get the sums of all.
    __device__ __forceinline__ void add_lanes() {
#pragma unroll
        for (u32 apart = LANES / 2; apart > 0; apart /= 2)
#pragma unroll
            for (u32 i = 0; i < ROWS; ++i)
#pragma unroll
                for (u32 j = 0; j < COLS; ++j) of[i][j] += __shfl_xor_sync(ALL, of[i][j], int(apart));
    }

    // This lane's part of row i, in chunks or number by number.
    __device__ __forceinline__ void store(u32 i, SCALAR* to, u32 cols, u32 lane, bool chunks, SCALAR alpha, SCALAR beta) const {
        if (chunks) {
#pragma unroll
            for (u32 col = 0; col + CHUNK <= COLS; col += CHUNK) {
                if (col / CHUNK % LANES != lane) continue;
                Chunk* const place = reinterpret_cast<Chunk*>(to + col);
                Chunk chunk = beta == SCALAR(0) ? Chunk{} : *place;
#pragma unroll
                for (u32 e = 0; e < CHUNK; ++e) update(chunk.at[e], alpha, of[i][col + e], beta);
                *place = chunk;
            }
        } else {
#pragma unroll
            for (u32 j = 0; j < COLS; ++j)
                if (j % LANES == lane && j < cols) update(to[j], alpha, of[i][j], beta);
        }
    }
};

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS_PER_MULTIPROCESSOR)
    narrow(u64 n, u64 m, u64 p, const SCALAR* a, u64 a_distance, const SCALAR* b, u64 b_distance, SCALAR* c, u64 c_distance, SCALAR alpha, SCALAR beta) {
    DYNAMIC_SHARED(SCALAR, of_b);
    const u32 lane = threadIdx.x % LANES;
    const u64 tiles = (p + COLS - 1) / COLS, first_col = blockIdx.x % tiles * COLS, first_block = blockIdx.x / tiles;
    const u32 cols = p - first_col < COLS ? u32(p - first_col) : COLS;
    const bool chunks_of_a = in_chunks(a, a_distance);
    const bool chunks_of_c = COLS % CHUNK == 0 && cols == COLS && in_chunks(c, c_distance);
    // A block takes rows as long as there are any, so that B is brought once where it fits into shared memory.
    for (u64 block = first_block; block * BLOCK_ROWS < n; block += gridDim.x / tiles) {
        const u64 first = block * BLOCK_ROWS + threadIdx.x / LANES;
        Sums sums(a, a_distance, first, n);
        for (u64 first_term = 0; first_term < m; first_term += DEPTH) {
            const u32 depth = m - first_term < DEPTH ? u32(m - first_term) : DEPTH;
            if (m > DEPTH || block == first_block) {
                __syncthreads();
                for (u32 i = threadIdx.x; i < depth * COLS; i += THREADS)
                    of_b[i % COLS * PITCH + i / COLS] =
                        i % COLS < cols ? b[(first_term + i / COLS) * b_distance + first_col + i % COLS] : SCALAR(0);
                __syncthreads();
            }
            sums.add_terms(of_b, first_term, depth, lane, chunks_of_a);
        }
        sums.add_lanes();
#pragma unroll
        for (u32 i = 0; i < ROWS; ++i) {
            const u64 row = first + i * GROUPS;
            if (row < n) sums.store(i, c + row * c_distance + first_col, cols, lane, chunks_of_c, alpha, beta);
        }
    }
}
