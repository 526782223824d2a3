// C = alpha · A · B + beta · C on tensor cores in f64, where C has few columns: tiles of 16. ALONG warps share the terms of GROUPS · 8 rows,
// which come from memory straight into registers, and add up their sums at the end.
// Touches A once, from end to end; B comes through L1, once per GROUPS · 8 rows. Loses where C is wider, or has too few rows for all warps.
#include "ptx.cuh"

// As in dense_cuda_tensor_f64.cu it computes Cᵀ = Bᵀ · Aᵀ: with lane = 4g + t, a lane brings columns 2g and 2g + 1 of B and row g of A, of
// both terms 2t and 2t + 1, and gets rows 2t and 2t + 1 of C, columns 2g and 2g + 1.
constexpr u32 GROUP_ROWS = 8, STEP = 8, PIECE = UNROLL * STEP;
constexpr u32 WARPS = THREADS / WARP, WARP_ROWS = GROUPS * GROUP_ROWS, BLOCK_ROWS = WARPS / ALONG * WARP_ROWS;
static_assert(WARPS % ALONG == 0, "all warps have rows");

struct Sums {
    double of[GROUPS][4];
    const double* rows[GROUPS];  // where this lane's terms begin
    const double* columns;
    u64 b_distance;
    u32 t;
    bool has_column;

    __device__ __forceinline__ void multiply(const double2 (&of_a)[GROUPS], double2 first, double2 second) {
        const double left[4] = {first.x, first.y, second.x, second.y};
#pragma unroll
        for (u32 i = 0; i < GROUPS; ++i) {
            const double right[2] = {of_a[i].x, of_a[i].y};
            multiply_16x8x8(of[i], left, right);
        }
    }

    __device__ __forceinline__ double2 read_column(u64 term, bool exists) const {
        return exists ? *reinterpret_cast<const double2*>(columns + term * b_distance) : double2{0, 0};
    }

    // PIECE terms from this one on; all of A and B is on its way before the first is multiplied.
    __device__ __forceinline__ void add_piece(u64 term) {
        double2 of_a[UNROLL][GROUPS], of_b[UNROLL][2];
#pragma unroll
        for (u32 step = 0; step < UNROLL; ++step)
#pragma unroll
            for (u32 i = 0; i < GROUPS; ++i) of_a[step][i] = read_along(reinterpret_cast<const double2*>(rows[i] + term + step * STEP));
#pragma unroll
        for (u32 step = 0; step < UNROLL; ++step)
#pragma unroll
            for (u32 i = 0; i < 2; ++i) of_b[step][i] = read_column(term + step * STEP + i, has_column);
#pragma unroll
        for (u32 step = 0; step < UNROLL; ++step) multiply(of_a[step], of_b[step][0], of_b[step][1]);
    }

    // At most STEP terms, of which so many are left.
    __device__ __forceinline__ void add_rest(u64 term, u32 left) {
        const bool one = 2 * t < left, two = 2 * t + 1 < left;
        double2 of_a[GROUPS];
#pragma unroll
        for (u32 i = 0; i < GROUPS; ++i) of_a[i] = {one ? rows[i][term] : 0, two ? rows[i][term + 1] : 0};
        multiply(of_a, read_column(term, has_column && one), read_column(term + 1, has_column && two));
    }

    // The first of the warps that share rows gets the sums of all, always in the same order.
    __device__ __forceinline__ void add_warps(u32 warp, u32 lane) {
        __shared__ double lists[WARPS][GROUPS * 4][WARP];
#pragma unroll
        for (u32 i = 0; i < GROUPS * 4; ++i) lists[warp][i][lane] = of[i / 4][i % 4];
        __syncthreads();
        if (warp % ALONG != 0) return;
#pragma unroll
        for (u32 other = 1; other < ALONG; ++other)
#pragma unroll
            for (u32 i = 0; i < GROUPS * 4; ++i) of[i / 4][i % 4] += lists[warp + other][i][lane];
    }
};

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS_PER_MULTIPROCESSOR)
    tensor_f64_rows(u32 n, u32 m, u32 p, const double* a, u64 a_distance, const double* b, u64 b_distance, double* c, u64 c_distance,
                    double alpha, double beta) {
    const u32 warp = threadIdx.x / WARP, lane = threadIdx.x % WARP, g = lane / 4, t = lane % 4, along = warp % ALONG;
    const u32 first_row = blockIdx.x * BLOCK_ROWS + warp / ALONG * WARP_ROWS, col = blockIdx.y * 16 + 2 * g;
    Sums sums;
    sums.columns = b + 2 * t * b_distance + col, sums.b_distance = b_distance, sums.t = t, sums.has_column = col < p;
#pragma unroll
    for (u32 i = 0; i < GROUPS; ++i) {
        sums.rows[i] = a + min(first_row + i * GROUP_ROWS + g, n - 1) * a_distance + 2 * t;  // beyond the last: that one again, and not stored
#pragma unroll
        for (u32 e = 0; e < 4; ++e) sums.of[i][e] = 0;
    }

    // Pieces in turns; who would have the next one takes the rest.
    const u32 pieces = m / PIECE;
#pragma unroll 1
    for (u32 piece = along; piece < pieces; piece += ALONG) sums.add_piece(u64(piece) * PIECE);
    if (pieces % ALONG == along)
#pragma unroll 1
        for (u32 term = pieces * PIECE; term < m; term += STEP) sums.add_rest(term, m - term);
    if (ALONG > 1) sums.add_warps(warp, lane);
    if (along > 0 || col >= p) return;

#pragma unroll
    for (u32 i = 0; i < GROUPS * 2; ++i) {
        const u32 group = i / 2, of_row = i % 2, row = first_row + group * GROUP_ROWS + 2 * t + of_row;
        if (row >= n) continue;
        double* const to = c + row * c_distance + col;
        if (col + 1 < p) {
            double2* const pair = reinterpret_cast<double2*>(to);
            double2 old = beta == 0 ? double2{0, 0} : *pair;
            update(old.x, alpha, sums.of[group][of_row], beta);
            update(old.y, alpha, sums.of[group][2 + of_row], beta);
            *pair = old;
        } else {
            update(*to, alpha, sums.of[group][of_row], beta);
        }
    }
}
