//! Tensor cores in f64: a block adds up a tile of C, a warp a part of it by 16×8×8 multiplications.
//! Touches A and B once per tile, by asynchronous copies into shared memory that run two or three slabs ahead.
//! Loses where C has few tiles, and where the matrices are so thin that memory is the limit.

use crate::gemm::cuda::fast::tiled::Tiled;
use crate::gemm::cuda::fast::tiling::Tiling;
use crate::op::{Description, Place};
use crate::source_file;

const fn tensor(
    name: &'static str,
    about: &'static str,
    params: &'static [(&'static str, u32)],
    tiling: Tiling,
) -> Tiled {
    let file = source_file!("gemm/cuda/fast/dense_cuda_tensor_f64.cu");
    // Tensor cores round sums in f64 as all others do: no factor on the error bound.
    let description = Description::new(name, about, Place::Cuda, file).params(params);
    Tiled { description, entry: "tensor_f64", file: "dense_cuda_tensor_f64.cu", f32: None, f64: Some(tiling) }
}

/// Slabs of 16 terms: a row of A is 128 bytes.
const COMMON: Tiling = Tiling {
    rows: 0,
    cols: 0,
    depth: 16,
    warp_rows: 64,
    warp_cols: 32,
    teams: 1,
    stages: 4,
    blocks_per_multiprocessor: 1,
    padding_bytes: 0,
    more: &[],
};

/// Large tiles read least; of small ones there are enough for every multiprocessor sooner. Warps with large parts read shared memory
/// less: 32×16 elements keep it busy for three quarters of the time that their products take, 32×32 for half, 64×32 for three eighths.
/// Where so few tiles run that a multiprocessor has but one, two teams of warps hide each other's reads; where it has three of them, as at 896,
/// they do that for each other, if there is room for all.
pub(crate) const TENSOR_F64: [Tiled; 9] = [
    tensor(
        "dense-cuda-tensor-f64-128x128",
        "f64 tensor cores: a block 128×128 elements, a warp 64×32",
        &[("rows", 128), ("cols", 128)],
        Tiling { rows: 128, cols: 128, ..COMMON },
    ),
    tensor(
        "dense-cuda-tensor-f64-128x64",
        "f64 tensor cores: a block 128×64 elements, a warp 64×32",
        &[("rows", 128), ("cols", 64)],
        Tiling { rows: 128, cols: 64, blocks_per_multiprocessor: 2, ..COMMON },
    ),
    tensor(
        "dense-cuda-tensor-f64-96x64",
        "f64 tensor cores: a block 96×64 elements, a warp 48×32",
        &[("rows", 96), ("cols", 64)],
        Tiling { rows: 96, cols: 64, warp_rows: 48, blocks_per_multiprocessor: 2, ..COMMON },
    ),
    tensor(
        "dense-cuda-tensor-f64-48x128",
        "f64 tensor cores: a block 48×128 elements, a warp 48×32",
        &[("rows", 48), ("cols", 128)],
        Tiling { rows: 48, cols: 128, warp_rows: 48, blocks_per_multiprocessor: 2, ..COMMON },
    ),
    tensor(
        "dense-cuda-tensor-f64-64x64",
        "f64 tensor cores: a block 64×64 elements, a warp 32×32",
        &[("rows", 64), ("cols", 64)],
        Tiling { rows: 64, cols: 64, warp_rows: 32, blocks_per_multiprocessor: 3, ..COMMON },
    ),
    tensor(
        "dense-cuda-tensor-f64-64x32",
        "f64 tensor cores: a block 64×32 elements, a warp 32×32, two teams",
        &[("rows", 64), ("cols", 32)],
        Tiling {
            rows: 64,
            cols: 32,
            depth: 32,
            warp_rows: 32,
            teams: 2,
            blocks_per_multiprocessor: 2,
            ..COMMON
        },
    ),
    tensor(
        "dense-cuda-tensor-f64-64x32-small-warps",
        "f64 tensor cores: a block 64×32 elements, a warp 32×16, four blocks at once",
        &[("rows", 64), ("cols", 32)],
        Tiling { rows: 64, cols: 32, warp_rows: 32, warp_cols: 16, blocks_per_multiprocessor: 4, ..COMMON },
    ),
    tensor(
        "dense-cuda-tensor-f64-32x32",
        "f64 tensor cores: a block 32×32 elements, a warp 16×16, two teams",
        &[("rows", 32), ("cols", 32)],
        Tiling {
            rows: 32,
            cols: 32,
            depth: 32,
            warp_rows: 16,
            warp_cols: 16,
            teams: 2,
            blocks_per_multiprocessor: 2,
            ..COMMON
        },
    ),
    tensor(
        "dense-cuda-tensor-f64-32x16",
        "f64 tensor cores: a block 32×16 elements, a warp 16×16, two teams; for few elements",
        &[("rows", 32), ("cols", 16)],
        Tiling {
            rows: 32,
            cols: 16,
            depth: 32,
            warp_rows: 16,
            warp_cols: 16,
            teams: 2,
            blocks_per_multiprocessor: 2,
            ..COMMON
        },
    ),
];
