// Runs: the nonzeros are dealt out in runs of about the same length, of whole rows where these are short, of parts where a
// row is long; LANES lanes walk over a run and write a row wherever one ends.
// Touches A coalesced, once per tile of columns, X by 16-byte loads, Y once; parts twice.
// Loses where all rows have about the same length: looking for their ends buys nothing.
#include "flags.cuh"
#include "pieces.cuh"

struct Run {
    XRows of_x;
    SCALAR* y;
    u64 y_distance;
    SCALAR alpha, beta;
    bool whole;
    RowSums sums;

    __device__ __forceinline__ void add(u32 column, SCALAR value, const Few (&few)[CHUNKS]) {
        if (!(column & NOTHING)) sums.add(value, few);
        if ((column & LAST) && whole) {
            sums.update(y, of_x, alpha, beta);
            sums.clear();
            y += y_distance;
        }
    }
};

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS_PER_MULTIPROCESSOR)
    csr_runs(u64 pieces, u64 k, const uint4* __restrict__ list, const u32* __restrict__ columns,
             const SCALAR* __restrict__ values, SCALAR* parts, const SCALAR* __restrict__ x, u64 x_distance, SCALAR* y,
             u64 y_distance, SCALAR alpha, SCALAR beta) {
    const Place place(k);
    const u32 lane = threadIdx.x % LANES;
    const u64 number = place.block * (THREADS / LANES) + threadIdx.x / LANES;
    const u32 first_col = place.tile * TILE + lane * VEC;
    Piece piece;
    if (number < pieces) piece = Piece(__ldg(list + number));
    Run run = {XRows(x, x_distance, first_col, k), y + u64(piece.to & ~PART) * y_distance + first_col, y_distance, alpha, beta,
               !piece.is_part(), {}};
    run.sums.clear();
    // The same number of steps for the whole warp: all lanes are there for every shuffle.
    const u32 longest = __reduce_max_sync(ALL, piece.length);
    const CachePolicy once = evict_first();
    const u32* next_column = columns + piece.start + lane;
    const SCALAR* next_value = values + piece.start + lane;
    u32 column = 0;
    SCALAR value = 0;
    if (lane < piece.length) {
        column = read_once(next_column, once);
        value = read_once(next_value, once);
    }
    constexpr u32 AT_ONCE = IN_FLIGHT < LANES ? IN_FLIGHT : LANES;
    int left = int(piece.length);
#pragma unroll 1
    for (u32 done = 0; done < longest; done += LANES, left -= int(LANES)) {
        u32 column_after = 0;
        SCALAR value_after = 0;
        next_column += LANES;
        next_value += LANES;
        if (int(lane + LANES) < left) {
            column_after = read_once(next_column, once);
            value_after = read_once(next_value, once);
        }
#pragma unroll
        for (u32 step = 0; step < LANES; step += AT_ONCE) {
            if (step > 0 && done + step >= longest) break;
            u32 its_column[AT_ONCE];
            Few few[AT_ONCE][CHUNKS];
#pragma unroll
            for (u32 u = 0; u < AT_ONCE; ++u) {
                its_column[u] = __shfl_sync(ALL, column, int(step + u), LANES);
                if (int(step + u) < left && !(its_column[u] & NOTHING)) run.of_x.read(few[u], its_column[u] & COLUMN);
            }
#pragma unroll
            for (u32 u = 0; u < AT_ONCE; ++u) {
                const SCALAR its_value = __shfl_sync(ALL, value, int(step + u), LANES);
                if (int(step + u) < left) run.add(its_column[u], its_value, few[u]);
            }
        }
        column = column_after;
        value = value_after;
    }
    if (number < pieces && !run.whole) run.sums.store(parts + u64(piece.to & ~PART) * k + first_col, run.of_x);
}
