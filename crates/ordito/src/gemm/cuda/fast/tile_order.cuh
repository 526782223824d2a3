// Which tile of C a block works on.
#pragma once
#include "ordito.cuh"

struct Tile {
    u32 row, col;  // counted in tiles
};

// Rows of tiles walk together in groups: the blocks that run at the same time then share their parts of A and of B in the
// L2 cache, instead of all of B passing by for every row of tiles.
__device__ __forceinline__ Tile grouped_tile(u32 block, u32 tiles_down, u32 tiles_across) {
    constexpr u32 GROUP = 8;
    const u32 group = block / (GROUP * tiles_across), in_group = block % (GROUP * tiles_across);
    const u32 first = group * GROUP, rows = min(tiles_down - first, GROUP);
    return {first + in_group % rows, in_group / rows};
}
