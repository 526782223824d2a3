// CSR_Adaptive_sub_blocks: one block per row block computes all K columns; its sub-blocks of SUB_BLOCK threads take one
// column at a time: several rows as CSR-Stream, one row as CSR-Vector, as in CSR_Adaptive.
// Touches A's rows once per column, by one block alone, so that the cache serves all but the first; X is transposed.
// Loses with small K (only K sub-blocks have work) and where one row holds most of the nonzeros (one block has it all).
#include "ordito.cuh"

extern "C" __global__ void csr_sub_blocks(u64 rows, u64 k, const OFFSET* row_starts, const u32* columns,
                                          const SCALAR* values, const u32* row_blocks, u32 products_per_sub_block,
                                          const SCALAR* x_columns, u64 x_distance, SCALAR* y, u64 y_distance,
                                          SCALAR alpha, SCALAR beta) {
    DYNAMIC_SHARED(SCALAR, shared);
    const u32 lane = threadIdx.x % SUB_BLOCK, sub_block = threadIdx.x / SUB_BLOCK;
    const u32 sub_blocks = blockDim.x / SUB_BLOCK;
    SCALAR* const products = shared + sub_block * products_per_sub_block;
    const u64 first_row = row_blocks[blockIdx.x], end_row = row_blocks[u64(blockIdx.x) + 1];
    const u64 start = row_starts[first_row], end = row_starts[end_row];
    // All sub-blocks go through all steps, also those that have run out of columns: they meet at barriers.
    for (u64 first_col = 0; first_col < k; first_col += sub_blocks) {
        const u64 col = first_col + sub_block;
        const bool inside = col < k;
        const SCALAR* const x_column = x_columns + col * x_distance;
        if (end_row - first_row > 1) {
            if (inside)
                for (u64 i = start + lane; i < end; i += SUB_BLOCK)
                    products[i - start] = values[i] * x_column[columns[i]];
            sync_lanes<SUB_BLOCK>();
            if (inside)
                for (u64 row = first_row + lane; row < end_row; row += SUB_BLOCK) {
                    const u32 row_end = u32(row_starts[row + 1] - start);
                    SCALAR sum = 0;
                    for (u32 i = u32(row_starts[row] - start); i < row_end; ++i) sum += products[i];
                    update(y[row * y_distance + col], alpha, sum, beta);
                }
        } else {
            SCALAR sum = 0;
            if (inside)
                for (u64 i = start + lane; i < end; i += SUB_BLOCK) sum += values[i] * x_column[columns[i]];
            sum = sum_of_lanes<SUB_BLOCK>(products, lane, sum);
            if (lane == 0 && inside) update(y[first_row * y_distance + col], alpha, sum, beta);
        }
        sync_lanes<SUB_BLOCK>(); // the products have been read before the next column's are written
    }
}
