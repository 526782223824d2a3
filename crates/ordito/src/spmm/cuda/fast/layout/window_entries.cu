// Windows of ROWS rows from CSR: a list of the columns that any of the rows has, each with a mask of the rows that have it. Rows are walked
// side by side, a lane each; the least column that any of them is at is the next of the list. A column that a row has twice is there
// twice; rows whose columns do not rise share less, and are right all the same. A long window is walked in sections of its columns,
// which rise then, by as many groups of lanes.
#include "ordito.cuh"

constexpr u32 ROWS = 8, ENTRIES = 8, ALL = 0xffffffffu;

// The first of `count` rising columns that is not below `column`.
__device__ __forceinline__ u64 first_from(const u32* __restrict__ columns, u64 count, u64 column) {
    u64 first = 0;
    while (count > 0) {
        const u64 half = count / 2;
        const bool is_below = columns[first + half] < column;
        first += is_below ? half + 1 : 0;
        count = is_below ? count - half - 1 : half;
    }
    return first;
}

// What a lane knows of its row, and what the lanes of a section find together.
struct Walk {
    u64 at, end;
    u32 here;  // the column of its next nonzero
    u32 column, mask;
    bool is_mine;

    // `section`: window, section, and how many of them it has.
    __device__ __forceinline__ Walk(const uint4& section, u64 row_count, u64 col_count, const u32* __restrict__ rows,
                                    const u64* __restrict__ row_starts, const u32* __restrict__ columns)
        : at(0), end(0), here(ALL), column(0), mask(0), is_mine(false) {
        const u64 place = u64(section.x) * ROWS + threadIdx.x % ROWS;
        if (place >= row_count) return;
        const u32 row = rows[place];
        at = row_starts[row];
        end = row_starts[row + 1];
        if (section.z > 1) {
            const u32* const of_row = columns + at;
            const u64 count = end - at;
            end = at + first_from(of_row, count, col_count * (section.y + 1) / section.z);
            at += first_from(of_row, count, col_count * section.y / section.z);
        }
        if (at < end) here = columns[at];
    }

    // The next entry of the section; none where `mask` is 0. As long as one of a warp's sections has any: the whole warp comes by.
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

// How many entries and values every section has.
extern "C" __global__ void __launch_bounds__(THREADS)
    count_window_entries(u64 section_count, const uint4* __restrict__ sections, u64 row_count, u64 col_count,
                         const u32* __restrict__ rows, const u64* __restrict__ row_starts,
                         const u32* __restrict__ columns, uint2* __restrict__ counts) {
    const u64 number = thread_of_grid() / ROWS;
    const uint4 section = number < section_count ? sections[number] : make_uint4(ALL, 0, 1, 0);
    Walk walk(section, row_count, col_count, rows, row_starts, columns);
    uint2 count = make_uint2(0, 0);
    while (walk.next()) {
        count.x += walk.mask != 0;
        count.y += u32(__popc(walk.mask));
        walk.advance(columns);
    }
    if (number < section_count && threadIdx.x % ROWS == 0) counts[number] = count;
}

// The entries of a window from its first step on, in steps of ENTRIES; what is left of the last one has no row. Values come in the order of
// the entries. Of a window in pieces each has about as many steps, and counts its values from `values_of_pieces` on.
extern "C" __global__ void __launch_bounds__(THREADS)
    fill_windows(u64 section_count, const uint4* __restrict__ sections, u64 row_count, u64 col_count,
                 const u32* __restrict__ rows, const u64* __restrict__ row_starts, const u32* __restrict__ columns,
                 const SCALAR* __restrict__ values, const u64* __restrict__ first_entries,
                 const u64* __restrict__ first_values, const u64* __restrict__ first_steps,
                 const u32* __restrict__ first_pieces, const u64* __restrict__ values_of_pieces,
                 uint2* __restrict__ entries, SCALAR* __restrict__ to_values) {
    const u64 number = thread_of_grid() / ROWS;
    const bool is_there = number < section_count;
    const uint4 section = is_there ? sections[number] : make_uint4(ALL, 0, 1, 0);
    Walk walk(section, row_count, col_count, rows, row_starts, columns);
    const u32 lane = threadIdx.x % ROWS, window = is_there ? section.x : 0;
    const u64 first = first_steps[window], steps = first_steps[window + 1] - first;
    const u32 first_piece = first_pieces[window], pieces = first_pieces[window + 1] - first_piece;
    uint2* const of_window = entries + first * ENTRIES;
    u64 entry = is_there ? first_entries[number] : 0, value = is_there ? first_values[number] : 0;
    // A piece that begins no later than the first entry; the loop finds the last one that does.
    u64 piece = steps > 0 ? entry / ENTRIES * pieces / steps : 0, next_piece = 0, of_piece = 0;
    while (walk.next()) {
        if (walk.mask != 0) {
            while (entry >= next_piece) {
                of_piece = values_of_pieces[first_piece + piece];
                ++piece;
                next_piece = steps * piece / pieces * ENTRIES;
            }
            if (lane == 0) of_window[entry] = make_uint2(walk.column, walk.mask | u32(value - of_piece) << 8);
            if (walk.is_mine) to_values[value + __popc(walk.mask & ((1u << lane) - 1))] = values[walk.at];
            value += u32(__popc(walk.mask));
            ++entry;
        }
        walk.advance(columns);
    }
    if (!is_there || section.y + 1 < section.z) return;
    for (u64 rest = entry + lane; rest < steps * ENTRIES; rest += ROWS) of_window[rest] = make_uint2(0, 0);
}

// Says whether the columns of every row rise, or stay.
extern "C" __global__ void __launch_bounds__(THREADS)
    find_falling(u64 row_count, const u64* __restrict__ row_starts, const u32* __restrict__ columns, u32* falls) {
    const u64 row = thread_of_grid() / ROWS;
    if (row >= row_count) return;
    const u64 first = row_starts[row], count = row_starts[row + 1] - first;
    bool found = false;
    for (u64 stretch = u64(blockIdx.y) * STRETCH; stretch < count; stretch += u64(gridDim.y) * STRETCH) {
        const u64 end = stretch + STRETCH < count ? stretch + STRETCH : count;
        for (u64 j = stretch + threadIdx.x % ROWS; j < end; j += ROWS)
            found |= j > 0 && columns[first + j] < columns[first + j - 1];
    }
    if (found) atomicOr(falls, 1u);
}
