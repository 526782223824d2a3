// Diagonals: a slice of 32 rows has every diagonal that one of them touches, with a value for each of them, 0 where a row has none. LANES
// lanes side by side for the columns of X take ROWS neighbouring rows, and as many as RUN neighbouring diagonals at a time: a row of X
// that was read serves all of these rows.
// Touches A's values once per tile of columns, and no column of any of them; X by 16-byte loads, ROWS + RUN - 1 rows of it for ROWS * RUN
// nonzeros; Y once.
// Loses where diagonals have holes, which are read and multiplied like all else; where rows are few, since a slice goes through its runs one
// after the other; and where X is no number beside the diagonals: then rows are multiplied a second time, without the holes.
#include "few.cuh"

constexpr u32 SLICE = 32;
static_assert(RUN == 3, "runs of one, two and three diagonals have code below");

// Values of a thread's rows on one diagonal, as one load or several.
constexpr u32 LOAD = ROWS * sizeof(SCALAR) > 16 ? 16 / sizeof(SCALAR) : ROWS;
struct alignas(LOAD * sizeof(SCALAR)) Values {
    SCALAR of[LOAD];
};
__device__ __forceinline__ Values read_values(const SCALAR* from) {
    typedef Wide<sizeof(Values)>::type WideValues;
    union {
        WideValues wide;
        Values values;
    } both;
    both.wide = read_past_l1(reinterpret_cast<const WideValues*>(from));
    return both.values;
}

// A thread's part of a row of X. Chunks that begin behind its end read the first one once more, of which nothing comes: asking for every load
// would keep more in registers than there are.
__device__ __forceinline__ void read_row(Few (&few)[CHUNKS], const XRows& of_x, u32 row) {
    const char* const from = of_x.lane + u64(row) * of_x.row_bytes;
#pragma unroll
    for (u32 c = 0; c < CHUNKS; ++c) few[c] = read_few(from + (of_x.has(c) ? c * (CHUNK * sizeof(SCALAR)) : 0));
}

// Neighbouring diagonals; on the first of them the first row has this column. What lies outside of the matrix is a hole: any row of X does.
template <u32 Width>
__device__ __forceinline__ void add_run(RowSums (&sums)[ROWS], const SCALAR* values, int column, const XRows& of_x, int last) {
    Values value[Width][ROWS / LOAD];
    Few few[ROWS + Width - 1][CHUNKS];
#pragma unroll
    for (u32 d = 0; d < Width; ++d)
#pragma unroll
        for (u32 i = 0; i < ROWS / LOAD; ++i) value[d][i] = read_values(values + d * SLICE + i * LOAD);
#pragma unroll
    for (u32 i = 0; i < ROWS + Width - 1; ++i) {
        const int at = column + int(i);
        read_row(few[i], of_x, u32(at < 0 ? 0 : at > last ? last : at));
    }
#pragma unroll
    for (u32 d = 0; d < Width; ++d)
#pragma unroll
        for (u32 r = 0; r < ROWS; ++r) sums[r].add(value[d][r / LOAD].of[r % LOAD], few[r + d]);
}

// Is one of them no number? A hole makes it so where X is infinite or none there: 0 times that.
__device__ __forceinline__ bool is_odd(const RowSums& sums, const XRows& of_x) {
    bool odd = false;
#pragma unroll
    for (u32 c = 0; c < CHUNKS; ++c)
#pragma unroll
        for (u32 i = 0; i < VEC; ++i) odd |= of_x.has(c) && sums.of[c][i] != sums.of[c][i];
    return odd;
}

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS_PER_MULTIPROCESSOR)
    diagonal_slices(u64 rows, u64 k, u64 cols, const u64* __restrict__ starts, const int2* __restrict__ runs,
                    const u32* __restrict__ masks, const SCALAR* __restrict__ all_values, const SCALAR* __restrict__ x,
                    u64 x_distance, SCALAR* y, u64 y_distance, SCALAR alpha, SCALAR beta) {
    const Place place(k);
    const u64 row = (place.block * (THREADS / LANES) + threadIdx.x / LANES) * ROWS;
    if (row >= rows) return;
    const u32 first_col = place.tile * TILE + threadIdx.x % LANES * VEC;
    const XRows of_x(x, x_distance, first_col, k);
    if (!of_x.has(0)) return;
    const int last = int(cols) - 1;
    RowSums sums[ROWS];
#pragma unroll
    for (u32 r = 0; r < ROWS; ++r) sums[r].clear();
    {
        const u64 first = __ldg(starts + row / SLICE);
        u32 left = u32(__ldg(starts + row / SLICE + 1) - first);  // diagonals
        // Runs of a slice lie where its diagonals would: there are no more of them.
        const int2* next_run = runs + first;
        const SCALAR* values = all_values + first * SLICE + row % SLICE;
        int2 next = make_int2(0, 0);
        if (left > 0) next = __ldg(next_run);
#pragma unroll 1
        while (left > 0) {
            const int column = int(row) + next.x;
            const u32 width = u32(next.y);
            left -= width;
            if (left > 0) next = __ldg(++next_run);  // before it is waited for
            if (width == 1)
                add_run<1>(sums, values, column, of_x, last);
            else if (width == 2)
                add_run<2>(sums, values, column, of_x, last);
            else
                add_run<RUN>(sums, values, column, of_x, last);
            values += width * SLICE;
        }
    }
    bool odd = false;
#pragma unroll
    for (u32 r = 0; r < ROWS; ++r) odd |= is_odd(sums[r], of_x);
    if (odd) {
        // Once more, without the holes: seldom.
#pragma unroll
        for (u32 r = 0; r < ROWS; ++r) sums[r].clear();
        const u64 end = __ldg(starts + row / SLICE + 1);
        u64 diagonal = __ldg(starts + row / SLICE);
#pragma unroll 1
        for (const int2* next_run = runs + diagonal; diagonal < end; ++next_run) {
            const int2 run = __ldg(next_run);
#pragma unroll 1
            for (int d = 0; d < run.y; ++d, ++diagonal) {
                const u32 mask = __ldg(masks + diagonal) >> row % SLICE;
                const SCALAR* const values = all_values + diagonal * SLICE + row % SLICE;
#pragma unroll
                for (u32 r = 0; r < ROWS; ++r)
                    if (mask >> r & 1) {
                        Few few[CHUNKS];
                        read_row(few, of_x, u32(int(row + r) + run.x + d));
                        sums[r].add(__ldg(values + r), few);
                    }
            }
        }
    }
#pragma unroll
    for (u32 r = 0; r < ROWS; ++r)
        if (row + r < rows) sums[r].update(y + (row + r) * y_distance + first_col, of_x, alpha, beta);
}
