// Moves the nonzeros of CSR to where shares have room for them, and flags the last one of every row. An empty row gets an entry that is
// no nonzero, and so does the room behind a row. LANES threads per row; rows of the grid take stretches of long ones.
#include "ordito.cuh"

constexpr u32 LANES = 8;
// As flags.cuh has them.
constexpr u32 LAST = 1u << 31, NOTHING = 1u << 30;

extern "C" __global__ void __launch_bounds__(THREADS)
    flag_entries(u64 rows, const u64* __restrict__ row_starts, const u64* __restrict__ places,
                 const u32* __restrict__ columns, const SCALAR* __restrict__ values, u32* __restrict__ to_columns,
                 SCALAR* __restrict__ to_values) {
    const u64 row = thread_of_grid() / LANES;
    if (row >= rows) return;
    const u64 first = row_starts[row], count = row_starts[row + 1] - first;
    const u64 to = places[row], room = places[row + 1] - to;
    const u64 last = count > 0 ? count - 1 : 0;
    for (u64 stretch = u64(blockIdx.y) * STRETCH; stretch < room; stretch += u64(gridDim.y) * STRETCH) {
        const u64 end = stretch + STRETCH < room ? stretch + STRETCH : room;
        for (u64 j = stretch + threadIdx.x % LANES; j < end; j += LANES) {
            const u32 column = j < count ? columns[first + j] : NOTHING;
            to_columns[to + j] = j == last ? column | LAST : column;
            to_values[to + j] = j < count ? values[first + j] : SCALAR(0);
        }
    }
}
