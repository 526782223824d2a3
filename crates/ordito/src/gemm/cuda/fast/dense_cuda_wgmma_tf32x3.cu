// f32 by three products in TF32 (see dense_cuda_tensor_tf32x3.cu), by warp groups: A and B are first packed into whole
// tiles, B split into its two TF32 halves; then one producer streams the tiles of B into a ring of stages in shared memory,
// and two groups of four warps multiply 64 rows of a 128 × 128 tile of C each. Every number of A belongs to one thread,
// which loads it a stage ahead and splits it in registers.
// Touches A and B once more than others, to write them packed (B as two halves), then each packed tile once per tile of
// C, B in copies of 32 KiB. Where C has few tiles, blocks share their sums in slices (add_slices.cu).
// Loses on products that are too small or too flat to pay for the packing.
#include "ptx.cuh"
#include "tile_order.cuh"
#include "wgmma.cuh"

// SIDE rows and columns of a tile of C, DEPTH terms of a stage, of which there are STAGES: from the host.
static_assert(SIDE == 128 && DEPTH == 32, "what the warps and the loads of a thread are laid out for");
constexpr u32 HALF_BYTES = SIDE * DEPTH * 4, STAGE_BYTES = 2 * HALF_BYTES;
constexpr u32 CONSUMER_WARPS = 8;
constexpr u32 CHUNK = 4;    // floats of a 16-byte load

// The accumulators of a stage are added to sums in registers: tensor cores add by cutting off, which over thousands of
// terms would cost several bits.
extern "C" __global__ void __launch_bounds__(384, 1)
    wgmma_tf32x3(u64 n, u64 p, u64 all_steps, const float* packed_a, const float* packed_b, float* c, u64 c_distance,
                 float alpha, float beta, float* partial, u64 slice_steps) {
    DYNAMIC_SHARED(unsigned char, memory);
    __shared__ __align__(8) u64 barriers[2 * STAGES];
    // A stage: B's upper halves, B's lower halves; it must start at a multiple of 1024.
    const u32 skipped = (1024 - shared_address(memory) % 1024) % 1024;
    const u32 first_stage = shared_address(memory) + skipped;
    const u32 full = shared_address(barriers), empty = full + STAGES * 8;
    const u32 warp = threadIdx.x / WARP, lane = threadIdx.x % WARP;
    const Tile tile = grouped_tile(blockIdx.x, u32((n + SIDE - 1) / SIDE), u32((p + SIDE - 1) / SIDE));
    const u64 first_step = blockIdx.z * slice_steps;
    const u64 steps = first_step < all_steps ? min(all_steps - first_step, slice_steps) : 0;

    if (threadIdx.x == 0) {
        for (u32 stage = 0; stage < STAGES; ++stage) {
            barrier_make(full + 8 * stage, 1);
            barrier_make(empty + 8 * stage, CONSUMER_WARPS);
        }
        barriers_made();
    }
    __syncthreads();

    if (warp >= CONSUMER_WARPS) {
        shrink_registers<40>();
        if (threadIdx.x == CONSUMER_WARPS * WARP) {
            const char* b = reinterpret_cast<const char*>(packed_b) + (tile.col * all_steps + first_step) * STAGE_BYTES;
            u32 stage = 0, parity = 1;  // of the phase before the first: every stage is empty
            for (u64 step = 0; step < steps; ++step) {
                barrier_wait(empty + 8 * stage, parity);
                barrier_expect(full + 8 * stage, STAGE_BYTES);
                copy_bulk(first_stage + stage * STAGE_BYTES, b, STAGE_BYTES, full + 8 * stage);
                b += STAGE_BYTES;
                if (++stage == STAGES) stage = 0, parity ^= 1;
            }
        }
        return;
    }

    grow_registers<232>();
    const u32 group = lane / 4, place = lane % 4, row = warp * 16 + group;  // of the tile; and row + 8
    float sums[64], stage_sums[64];
#pragma unroll
    for (u32 i = 0; i < 64; ++i) sums[i] = stage_sums[i] = 0.0f;
    // Two chunks of each of the two rows: k = 16 q + 4 place .. + 3. The packing of B puts the terms in that order.
    float of_a[2][2][CHUNK];
    const float4* a = reinterpret_cast<const float4*>(packed_a + (tile.row * all_steps + first_step) * (SIDE * DEPTH));
    a += warp * (4 * WARP) + lane;
    auto load_a = [&] {
#pragma unroll
        for (u32 q = 0; q < 2; ++q)
#pragma unroll
            for (u32 half = 0; half < 2; ++half)
                *reinterpret_cast<float4*>(of_a[q][half]) = __ldg(a + (2 * q + half) * WARP);
        a += SIDE * DEPTH / CHUNK;
    };

    u32 stage = 0, parity = 0;
    if (steps > 0) load_a();
    for (u64 step = 0; step < steps; ++step) {
        u32 upper[4][4], lower[4][4];
#pragma unroll
        for (u32 k8 = 0; k8 < 4; ++k8)
#pragma unroll
            for (u32 i = 0; i < 4; ++i) {
                const float x = of_a[k8 / 2][i % 2][2 * (k8 % 2) + i / 2];
                upper[k8][i] = to_tf32(x);
                lower[k8][i] = to_tf32(x - __uint_as_float(upper[k8][i]));
            }
        barrier_wait(full + 8 * stage, parity);
        const u64 b_upper = describe_shared(first_stage + stage * STAGE_BYTES), b_lower = b_upper + (HALF_BYTES >> 4);
        products_begin();
#pragma unroll
        for (u32 k8 = 0; k8 < 4; ++k8) {
            // The small products first, while the sum is small.
            multiply_64x128x8(stage_sums, lower[k8], b_upper + 2 * k8, k8 > 0);
            multiply_64x128x8(stage_sums, upper[k8], b_lower + 2 * k8, true);
            multiply_64x128x8(stage_sums, upper[k8], b_upper + 2 * k8, true);
        }
        products_commit();
        // Meanwhile A's part of the next stage comes into registers.
        if (step + 1 < steps) load_a();
        products_wait(stage_sums);
        if (lane == 0) barrier_arrive(empty + 8 * stage);
#pragma unroll
        for (u32 i = 0; i < 64; ++i) sums[i] += stage_sums[i];
        if (++stage == STAGES) stage = 0, parity ^= 1;
    }

#pragma unroll
    for (u32 j = 0; j < SIDE / 8; ++j)
#pragma unroll
        for (u32 half = 0; half < 2; ++half) {
            const u64 r = u64(tile.row) * SIDE + row + 8 * half, col = u64(tile.col) * SIDE + 8 * j + 2 * place;
            if (r >= n || col >= p) continue;
            const float left = sums[4 * j + 2 * half], right = sums[4 * j + 2 * half + 1];
            // Rows start at a multiple of 16 bytes, and col is even: a pair is aligned.
            const u64 at = r * c_distance + col;
            float* const to = c + at;
            if (gridDim.z > 1) {
                // What fills up the last pair of a row may be written here, but not in C.
                float* const slice = partial + blockIdx.z * (n * c_distance);
                *reinterpret_cast<float2*>(slice + at) = make_float2(left, right);
            } else if (col + 1 < p) {
                float2 pair = beta == 0.0f ? make_float2(0.0f, 0.0f) : *reinterpret_cast<const float2*>(to);
                update(pair.x, alpha, left, beta);
                update(pair.y, alpha, right, beta);
                *reinterpret_cast<float2*>(to) = pair;
            } else {
                update(to[0], alpha, left, beta);
            }
        }
}
