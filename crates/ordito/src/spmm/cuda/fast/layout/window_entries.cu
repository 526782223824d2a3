// Windows of ROWS rows from CSR: a list of the columns that any of the rows has, each with a mask of the rows that have it. Rows are walked
// side by side, a lane each; the least column that any of them is at is the next of the list. A column that a row has twice is there
// twice; rows whose columns do not rise share less, and are right all the same.
#include "ordito.cuh"

constexpr u32 ROWS = 8, ENTRIES = 8, ALL = 0xffffffffu;

// What a lane knows of its row, and what the lanes of a window find together.
struct Walk {
    u64 at, end;
    u32 here;  // the column of its next nonzero
    u32 column, mask;
    bool is_mine;

    __device__ __forceinline__ Walk(u64 row_count, const u32* __restrict__ rows, const u64* __restrict__ row_starts,
                                    const u32* __restrict__ columns)
        : at(0), end(0), here(ALL), column(0), mask(0), is_mine(false) {
        const u64 place = thread_of_grid();
        if (place >= row_count) return;
        const u32 row = rows[place];
        at = row_starts[row];
        end = row_starts[row + 1];
        if (at < end) here = columns[at];
    }

    // The next entry of the window; none where `mask` is 0. As long as one of a warp's windows has any: the whole warp comes by.
    __device__ __forceinline__ bool next() {
        column = here;
#pragma unroll
        for (u32 apart = 1; apart < ROWS; apart *= 2) {
            const u32 other = __shfl_xor_sync(ALL, column, int(apart));
            column = other < column ? other : column;
        }
        is_mine = at < end && here == column;
        const u32 all = __ballot_sync(ALL, is_mine);
        mask = all >> (threadIdx.x % WARP / ROWS * ROWS) & ((1u << ROWS) - 1);
        return all != 0;
    }
    __device__ __forceinline__ void advance(const u32* __restrict__ columns) {
        if (!is_mine) return;
        ++at;
        here = at < end ? columns[at] : ALL;
    }
};

// How many entries every window has.
extern "C" __global__ void __launch_bounds__(THREADS)
    count_window_entries(u64 row_count, const u32* __restrict__ rows, const u64* __restrict__ row_starts,
                         const u32* __restrict__ columns, u32* __restrict__ counts) {
    Walk walk(row_count, rows, row_starts, columns);
    u32 count = 0;
    while (walk.next()) {
        count += walk.mask != 0;
        walk.advance(columns);
    }
    const u64 place = thread_of_grid();
    if (place < row_count && place % ROWS == 0) counts[place / ROWS] = count;
}

// The entries, from each window's first step on, in steps of ENTRIES; what is left of the last one has no row. Values come in the order of
// the entries, those of a window behind those of the one before. Of a window in parts, each has about as many steps and counts its
// values from its first one on.
extern "C" __global__ void __launch_bounds__(THREADS)
    fill_windows(u64 row_count, const u32* __restrict__ rows, const u64* __restrict__ row_starts,
                 const u32* __restrict__ columns, const SCALAR* __restrict__ values,
                 const u64* __restrict__ first_steps, const u32* __restrict__ first_pieces,
                 const u64* __restrict__ first_values, u64* __restrict__ values_of_pieces, uint2* __restrict__ entries,
                 SCALAR* __restrict__ to_values) {
    Walk walk(row_count, rows, row_starts, columns);
    const u64 place = thread_of_grid();
    const bool is_there = place / ROWS * ROWS < row_count;  // its window
    const u64 window = is_there ? place / ROWS : 0;
    const u32 lane = threadIdx.x % ROWS;
    const u64 first = first_steps[window];
    const u32 steps = is_there ? u32(first_steps[window + 1] - first) : 0;
    const u32 first_piece = first_pieces[window], pieces = first_pieces[window + 1] - first_piece;
    uint2* const of_window = entries + first * ENTRIES;
    u64 value = first_values[window], of_piece = value;
    u32 entry = 0, piece = 0, next_piece = 0;
    if (is_there && steps == 0 && lane == 0) values_of_pieces[first_piece] = value;
    while (walk.next()) {
        if (walk.mask != 0) {
            if (entry == next_piece) {
                of_piece = value;
                if (lane == 0) values_of_pieces[first_piece + piece] = value;
                ++piece;
                next_piece = u32(u64(steps) * piece / pieces) * ENTRIES;
            }
            if (lane == 0) of_window[entry] = make_uint2(walk.column, walk.mask | u32(value - of_piece) << 8);
            if (walk.is_mine) to_values[value + __popc(walk.mask & ((1u << lane) - 1))] = values[walk.at];
            value += __popc(walk.mask);
            ++entry;
        }
        walk.advance(columns);
    }
    for (u32 rest = entry + lane; rest < steps * ENTRIES; rest += ROWS) of_window[rest] = make_uint2(0, 0);
}
