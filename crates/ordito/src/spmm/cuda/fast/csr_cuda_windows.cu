// Windows: 8 rows, neighbours in the matrix or on a mesh, share a list of their columns, each with a mask of the rows that
// have it; a warp multiplies 8 entries of the list at a time, on tensor cores in f64: an element of X is read once for all.
// Touches X by 16-byte loads, once per window; A's values once, each by the one lane that needs it; Y once; parts twice.
// Loses where no rows share many columns: the list is then as long as the rows together.
#define LANES 8
#include "pieces.cuh"

// A step multiplies 16 columns of X by 8 entries (the left operand of the tensor core) with 8 entries by 8 rows. Lane 4g + t
// has entries 2t and 2t + 1: of X the VEC columns from g · VEC on, of A the value of row g. So it gets rows 2t and 2t + 1.
// With HANDED_OVER lane 8t + g reads them: eight lanes that follow each other, which the cache serves at a time, then ask it for one row of
// X instead of four. Turns of the cache (stencil27:100 in f64, K = 32): 62 million with the handing over, not 93; 360 µs, not 376.
// In f32, and where rows of X end within a tile, it costs more than it saves; on graphs a few percent.
constexpr u32 ENTRIES = 8, ROWS = 8;
// Pairs of columns of a chunk; a chunk of one column fills half of the operand.
constexpr u32 PAIRS = (VEC + 1) / 2;

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS_PER_MULTIPROCESSOR)
    csr_windows(u64 pieces, u64 k, const uint4* __restrict__ list, const u64* __restrict__ first_values,
                const uint4* __restrict__ entries, const SCALAR* __restrict__ values, const u32* __restrict__ rows,
                u64 row_count, SCALAR* parts, const SCALAR* __restrict__ x, u64 x_distance, SCALAR* y, u64 y_distance,
                SCALAR alpha, SCALAR beta) {
    const Place tile(k);
    const u64 number = tile.block * (THREADS / WARP) + threadIdx.x / WARP;
    if (number >= pieces) return;  // the whole warp
    const u32 lane = threadIdx.x % WARP, g = lane / 4, t = lane % 4;
    const u32 first_col = tile.tile * TILE + g * VEC;
    const XRows of_x(x, x_distance, first_col, k);
    const XRows read_x(x, x_distance, tile.tile * TILE + (HANDED_OVER ? lane % LANES : g) * VEC, k);
    const Piece piece(__ldg(list + number));  // starts and lengths count steps
    // Column, and mask with the place of the entry's first value behind it: of two entries.
    const uint4* pair = entries + piece.start * 4 + t;
    const SCALAR* const my_values = values + __ldg(first_values + number);
    const CachePolicy once = evict_first();
    double sums[CHUNKS][PAIRS][4];
#pragma unroll
    for (u32 c = 0; c < CHUNKS; ++c)
#pragma unroll
        for (u32 p = 0; p < PAIRS; ++p)
#pragma unroll
            for (u32 i = 0; i < 4; ++i) sums[c][p][i] = 0;
    uint4 next = make_uint4(0, 0, 0, 0);
    if (piece.length > 0) next = read_once(pair, once);
#pragma unroll 1
    for (u32 step = 0; step < piece.length; ++step) {
        const u32 column[2] = {next.x, next.z}, mask[2] = {next.y, next.w};
        pair += 4;
        if (step + 1 < piece.length) next = read_once(pair, once);
        Few few[2][CHUNKS];
        double value[2];
#pragma unroll
        for (u32 e = 0; e < 2; ++e) {
#pragma unroll
            for (u32 c = 0; c < CHUNKS; ++c)
#pragma unroll
                for (u32 i = 0; i < VEC; ++i) few[e][c].of[i] = 0;
            u32 its_column = column[e], its_mask = mask[e];
            if (HANDED_OVER) {
                its_column = __shfl_sync(ALL, its_column, int(lane / LANES));  // of lane t it is pair t
                its_mask = __shfl_sync(ALL, its_mask, int(lane / LANES));
            }
            if (its_mask & 0xffu) read_x.read(few[e], its_column);
            const u32 rows_before = mask[e] & ((1u << g) - 1);
            value[e] = 0;
            if (mask[e] >> g & 1) value[e] = double(__ldg(my_values + (mask[e] >> 8) + __popc(rows_before)));
        }
        if (HANDED_OVER) {
#pragma unroll
            for (u32 e = 0; e < 2; ++e)
#pragma unroll
                for (u32 c = 0; c < CHUNKS; ++c)
#pragma unroll
                    for (u32 i = 0; i < VEC; ++i) few[e][c].of[i] = __shfl_sync(ALL, few[e][c].of[i], int(LANES * t + g));
        }
        // What a row does not have is multiplied as 0, which is wrong where X is infinite or no number: seldom, and then
        // done one by one.
        SCALAR odd = 0;
#pragma unroll
        for (u32 e = 0; e < 2; ++e)
#pragma unroll
            for (u32 c = 0; c < CHUNKS; ++c)
#pragma unroll
                for (u32 i = 0; i < VEC; ++i) odd += few[e][c].of[i] * SCALAR(0);
        if (!__any_sync(ALL, odd != odd)) {
#pragma unroll
            for (u32 c = 0; c < CHUNKS; ++c)
#pragma unroll
                for (u32 p = 0; p < PAIRS; ++p) {
                    const u32 second = VEC > 1 ? 2 * p + 1 : 0;
                    const double left[4] = {double(few[0][c].of[2 * p]), VEC > 1 ? double(few[0][c].of[second]) : 0.0,
                                            double(few[1][c].of[2 * p]), VEC > 1 ? double(few[1][c].of[second]) : 0.0};
                    multiply_16x8x8(sums[c][p], left, value);
                }
            continue;
        }
#pragma unroll 1
        for (u32 entry = 0; entry < ENTRIES; ++entry) {
            const int from = int(entry / 2);
            const u32 its_mask = __shfl_sync(ALL, entry % 2 ? mask[1] : mask[0], from);
            double its_value[2];
#pragma unroll
            for (u32 r = 0; r < 2; ++r)
                its_value[r] = __shfl_sync(ALL, entry % 2 ? value[1] : value[0], int(4 * (2 * t + r)) + from);
#pragma unroll
            for (u32 c = 0; c < CHUNKS; ++c)
#pragma unroll
                for (u32 i = 0; i < VEC; ++i) {
                    const SCALAR its_x = __shfl_sync(ALL, entry % 2 ? few[1][c].of[i] : few[0][c].of[i], int(4 * g) + from);
#pragma unroll
                    for (u32 r = 0; r < 2; ++r)
                        if (its_mask >> (2 * t + r) & 1) sums[c][i / 2][i % 2 * 2 + r] += its_value[r] * double(its_x);
                }
        }
    }
#pragma unroll
    for (u32 r = 0; r < 2; ++r) {
        const u64 place = u64(piece.to & ~PART) * ROWS + 2 * t + r;
        RowSums of_row;
#pragma unroll
        for (u32 c = 0; c < CHUNKS; ++c)
#pragma unroll
            for (u32 i = 0; i < VEC; ++i) of_row.of[c][i] = SCALAR(sums[c][i / 2][i % 2 * 2 + r]);
        if (piece.is_part())
            of_row.store(parts + place * k + first_col, of_x);
        else if (place < row_count)
            of_row.update(y + u64(__ldg(rows + place)) * y_distance + first_col, of_x, alpha, beta);
    }
}
