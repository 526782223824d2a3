//! Register tiles: a thread adds up 8×4 to 8×16 elements of C, a block a tile, by fused multiply-adds.
//! Touches A and B once per tile, by asynchronous copies into shared memory that run up to three slabs ahead.
//! Loses to tensor cores where there are any for the precision, and where C has too few tiles for all multiprocessors.

use crate::gemm::cuda::fast::tiled::Tiled;
use crate::gemm::cuda::fast::tiling::Tiling;
use crate::op::{Description, Place};
use crate::source_file;

const fn registers(
    name: &'static str,
    about: &'static str,
    params: &'static [(&'static str, u32)],
    f32: Tiling,
    f64: Tiling,
) -> Tiled {
    let file = source_file!("gemm/cuda/fast/dense_cuda_registers.cu");
    let description = Description::new(name, about, Place::Cuda, file).params(params);
    Tiled { description, entry: "registers", file: "dense_cuda_registers.cu", f32: Some(f32), f64: Some(f64) }
}

/// Slabs of 8 terms in 4 stages; A transposed, a chunk of 16 bytes after every column.
const COMMON: Tiling = Tiling {
    rows: 0,
    cols: 0,
    depth: 8,
    warp_rows: 0,
    warp_cols: 0,
    teams: 1,
    stages: 4,
    blocks_per_multiprocessor: 1,
    padding_bytes: 16,
    more: &[],
};
const SMALL: Tiling = Tiling {
    rows: 64,
    cols: 64,
    warp_rows: 32,
    warp_cols: 32,
    blocks_per_multiprocessor: 3,
    more: &[("THREAD_ROWS", 8), ("THREAD_COLS", 4)],
    ..COMMON
};

pub(crate) const REGISTERS: [Tiled; 2] = [
    registers(
        "dense-cuda-registers-128x128",
        "register tiles: a thread 8×8 (f32: 8×16) elements, a block 128×128",
        &[("rows", 128), ("cols", 128)],
        Tiling {
            rows: 128,
            cols: 128,
            warp_rows: 64,
            warp_cols: 64,
            blocks_per_multiprocessor: 2,
            more: &[("THREAD_ROWS", 8), ("THREAD_COLS", 16)],
            ..COMMON
        },
        Tiling {
            rows: 128,
            cols: 128,
            warp_rows: 32,
            warp_cols: 64,
            more: &[("THREAD_ROWS", 8), ("THREAD_COLS", 8)],
            ..COMMON
        },
    ),
    registers(
        "dense-cuda-registers-64x64",
        "register tiles: a thread 8×4 elements, a block 64×64",
        &[("rows", 64), ("cols", 64)],
        SMALL,
        SMALL,
    ),
];
