// A on its diagonals: of every slice of 32 rows those that one of them touches. A warp per slice, a lane per row; rows are walked side by
// side, and the least diagonal that any of them is at is the next of the list. A column that a row has twice is there twice; rows whose
// columns do not rise share less, and are right all the same.
#include "ordito.cuh"

constexpr u32 ALL = 0xffffffffu;
constexpr int NONE = 0x7fffffff;

struct Walk {
    const u32* columns;
    u64 at, end;
    int row, here;  // the diagonal of its next nonzero

    __device__ __forceinline__ Walk(u64 number, u64 rows, const u64* __restrict__ offsets, const u32* __restrict__ of_a)
        : columns(of_a), at(0), end(0), row(int(number)), here(NONE) {
        if (number < rows) {
            at = offsets[number];
            end = offsets[number + 1];
        }
        look();
    }
    __device__ __forceinline__ void look() { here = at < end ? int(columns[at]) - row : NONE; }
    __device__ __forceinline__ void go_on() {
        ++at;
        look();
    }
    // Of all lanes.
    __device__ __forceinline__ int least() const {
        int least = here;
#pragma unroll
        for (u32 apart = 1; apart < WARP; apart *= 2) {
            const int other = __shfl_xor_sync(ALL, least, int(apart));
            least = other < least ? other : least;
        }
        return least;
    }
};

// How many diagonals every slice has.
extern "C" __global__ void __launch_bounds__(THREADS)
    measure_diagonals(u64 rows, const u64* __restrict__ offsets, const u32* __restrict__ columns, u64* __restrict__ counts) {
    const u64 slice = thread_of_grid() / WARP;
    if (slice * WARP >= rows) return;  // the whole warp
    const u32 lane = threadIdx.x % WARP;
    Walk walk(slice * WARP + lane, rows, offsets, columns);
    u64 count = 0;
    for (int now = walk.least(); now != NONE; now = walk.least()) {
        if (walk.here == now) walk.go_on();
        ++count;
    }
    if (lane == 0) counts[slice] = count;
}

// Of each diagonal which rows have it, and their values, 0 for the others; runs of neighbouring ones, RUN of them at most, as their first
// diagonal and how many they are.
extern "C" __global__ void __launch_bounds__(THREADS)
    fill_diagonals(u64 rows, const u64* __restrict__ offsets, const u32* __restrict__ columns,
                   const SCALAR* __restrict__ values, const u64* __restrict__ starts, int2* __restrict__ runs,
                   u32* __restrict__ masks, SCALAR* __restrict__ to) {
    const u64 slice = thread_of_grid() / WARP;
    if (slice * WARP >= rows) return;
    const u32 lane = threadIdx.x % WARP;
    Walk walk(slice * WARP + lane, rows, offsets, columns);
    u64 place = starts[slice], run_place = place;
    int2 run = make_int2(0, 0);
    for (int now = walk.least(); now != NONE; now = walk.least()) {
        const bool has = walk.here == now;
        const u32 mask = __ballot_sync(ALL, has);
        to[place * WARP + lane] = has ? values[walk.at] : SCALAR(0);
        if (lane == 0) masks[place] = mask;
        ++place;
        if (has) walk.go_on();
        if (run.y > 0 && (run.y == RUN || now != run.x + run.y)) {
            if (lane == 0) runs[run_place] = run;
            ++run_place;
            run.y = 0;
        }
        if (run.y == 0) run.x = now;
        ++run.y;
    }
    if (run.y > 0 && lane == 0) runs[run_place] = run;
}
