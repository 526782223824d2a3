// Ours: a block owns a strip of columns, ACROSS chunks of WIDTH neighbours; its 256 threads are as many chunks × LANES, and
// the rows (of the whole strip, or of a slice where there would be too few blocks) are dealt out to the lanes. A thread has
// IN_FLIGHT rows on their way at a time and keeps Σ(x − pivot), Σ(x − pivot)², least and greatest in registers, in f64.
// Touches every element once, by the widest loads that fit, and four numbers per column and slice twice.
// Loses where columns and rows are few: most of the device has nothing to do, and launching takes longer than the work.
//
// The pivot is the column's first element, for all threads the same: sums of lanes and slices are then simply added, in an
// order that depends on the shape only, so that every run gives the same bits; and an offset that is large beside the
// spread (30 mV below an EEG of 10 µV) costs no digits.
#include "ordito.cuh"

constexpr u32 THREADS = 256, LANES = THREADS / ACROSS;

struct __align__(WIDTH * sizeof(SCALAR)) Chunk {
    SCALAR at[WIDTH];
};

__device__ __forceinline__ Chunk read_chunk(const SCALAR* from) { return *reinterpret_cast<const Chunk*>(from); }

// A NaN need not be told from a number here: it is found in `squares`.
__device__ __forceinline__ float least_of(float a, float b) { return fminf(a, b); }
__device__ __forceinline__ float most_of(float a, float b) { return fmaxf(a, b); }
__device__ __forceinline__ double least_of(double a, double b) { return b < a ? b : a; }
__device__ __forceinline__ double most_of(double a, double b) { return b > a ? b : a; }

// Of some rows of a column, beside its pivot.
template <typename Extreme>
struct Moments {
    double sum, squares;
    Extreme least, most;

    __device__ __forceinline__ void take(SCALAR x, double pivot) {
        const double d = double(x) - pivot;
        sum += d;
        squares += d * d;
        least = least_of(least, Extreme(x));
        most = most_of(most, Extreme(x));
    }
};
typedef Moments<double> Total;

// Adds up what the lanes have of each column; lane 0 gets it, the others get parts. The slots that a step reads are
// written by none after it: one barrier is enough for each.
__device__ __forceinline__ void add_up_lanes(Total (&mine)[WIDTH], u32 lane) {
    __shared__ double slots[4][WIDTH][THREADS];
    const u32 me = threadIdx.x;
#pragma unroll
    for (u32 half = LANES / 2; half > 0; half /= 2) {
        if (lane >= half && lane < 2 * half)
#pragma unroll
            for (u32 c = 0; c < WIDTH; ++c) {
                slots[0][c][me] = mine[c].sum;
                slots[1][c][me] = mine[c].squares;
                slots[2][c][me] = mine[c].least;
                slots[3][c][me] = mine[c].most;
            }
        __syncthreads();
        if (lane < half)
#pragma unroll
            for (u32 c = 0; c < WIDTH; ++c) {
                const u32 other = me + half * ACROSS;
                mine[c].sum += slots[0][c][other];
                mine[c].squares += slots[1][c][other];
                mine[c].least = least_of(mine[c].least, slots[2][c][other]);
                mine[c].most = most_of(mine[c].most, slots[3][c][other]);
            }
    }
}

// Are all other slices of this strip there? The counter returns to 0 by itself, for the next run.
__device__ __forceinline__ bool is_last_slice(u32* arrived) {
    __shared__ bool is_last;
    __syncthreads();
    if (threadIdx.x == 0) {
        // For the whole block, which has met at the barriers: published before it is counted, seen after.
        __threadfence();
        is_last = atomicInc(arrived + blockIdx.x, gridDim.y - 1) == gridDim.y - 1;
        __threadfence();
    }
    __syncthreads();
    return is_last;
}

// IN_FLIGHT rows, LANES apart; beyond the slice's end, where WHOLE does not rule that out, the pivot's row again, which
// changes nothing.
template <bool WHOLE>
__device__ __forceinline__ void take_rows(Moments<SCALAR> (&mine)[WIDTH], const double (&pivot)[WIDTH], const Chunk& first,
                                          const SCALAR* x, u64 distance, u64 row, u64 end) {
    Chunk rows[IN_FLIGHT];
#pragma unroll
    for (u32 i = 0; i < IN_FLIGHT; ++i)
        rows[i] = WHOLE || row + i * LANES < end ? read_chunk(x + (row + i * LANES) * distance) : first;
#pragma unroll
    for (u32 i = 0; i < IN_FLIGHT; ++i)
#pragma unroll
        for (u32 c = 0; c < WIDTH; ++c) mine[c].take(rows[i].at[c], pivot[c]);
}

// `results`: a row of means, then one of variances, of least and of greatest elements. `partial`: four rows for each slice, as
// long as all strips are wide; `arrived`: one 0 for each strip. Both are only used where there are several slices.
extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
    strips(u64 rows, u64 cols, const SCALAR* x, u64 distance, u64 rows_per_slice, double* results,
           u64 results_distance, double* partial, u32* arrived) {
    const u32 across = threadIdx.x % ACROSS, lane = threadIdx.x / ACROSS;
    const u64 col = (u64(blockIdx.x) * ACROSS + across) * WIDTH;
    const bool inside = col < cols;
    if (inside) x += col;

    const Chunk first = read_chunk(x);
    double pivot[WIDTH];
    Moments<SCALAR> mine[WIDTH];
#pragma unroll
    for (u32 c = 0; c < WIDTH; ++c) {
        const SCALAR p = first.at[c];
        pivot[c] = p - p == SCALAR(0) ? double(p) : 0.0;  // an infinite pivot would make every difference a NaN
        mine[c] = {0, 0, p, p};
    }

    const u64 start = blockIdx.y * rows_per_slice;
    const u64 end = inside ? min(rows, start + rows_per_slice) : start;
    u64 row = start + lane;
    for (; row + (IN_FLIGHT - 1) * LANES < end; row += IN_FLIGHT * LANES)
        take_rows<true>(mine, pivot, first, x, distance, row, end);
    if (row < end) take_rows<false>(mine, pivot, first, x, distance, row, end);

    Total total[WIDTH];
#pragma unroll
    for (u32 c = 0; c < WIDTH; ++c)
        total[c] = {mine[c].sum, mine[c].squares, double(mine[c].least), double(mine[c].most)};
    add_up_lanes(total, lane);

    if (gridDim.y > 1) {
        const u64 length = u64(gridDim.x) * ACROSS * WIDTH, of_first = (u64(blockIdx.x) * ACROSS + across) * WIDTH;
        if (lane == 0)
#pragma unroll
            for (u32 c = 0; c < WIDTH; ++c) {
                double* const to = partial + 4 * blockIdx.y * length + of_first + c;
                to[0] = total[c].sum;
                to[length] = total[c].squares;
                to[2 * length] = total[c].least;
                to[3 * length] = total[c].most;
            }
        if (!is_last_slice(arrived)) return;
#pragma unroll
        for (u32 c = 0; c < WIDTH; ++c) total[c] = {0, 0, double(first.at[c]), double(first.at[c])};
        for (u32 slice = lane; slice < gridDim.y; slice += LANES)
#pragma unroll
            for (u32 c = 0; c < WIDTH; ++c) {
                // Other blocks have written it: past this multiprocessor's own cache.
                const double* const from = partial + 4 * slice * length + of_first + c;
                total[c].sum += __ldcg(from);
                total[c].squares += __ldcg(from + length);
                total[c].least = least_of(total[c].least, __ldcg(from + 2 * length));
                total[c].most = most_of(total[c].most, __ldcg(from + 3 * length));
            }
        add_up_lanes(total, lane);
    }

    if (lane != 0) return;
    const double count = double(rows);
#pragma unroll
    for (u32 c = 0; c < WIDTH; ++c) {
        if (col + c >= cols) continue;
        const double sum = total[c].sum, squares = total[c].squares, offset = sum / count;
        const double rest = squares - sum * offset;
        const bool has_nan = squares != squares;  // no infinity makes one of a sum of squares
        double* const to = results + col + c;
        to[0] = pivot[c] + offset;
        to[results_distance] = (rest < 0 ? 0.0 : rest) / (count - 1);
        to[2 * results_distance] = has_nan ? squares : total[c].least;
        to[3 * results_distance] = has_nan ? squares : total[c].most;
    }
}
