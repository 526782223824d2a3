//! Register tiles, tensor cores, rows for few columns, and sums that several blocks share.

pub(crate) mod add_slices;
pub(crate) mod cut_tiles;
pub(crate) mod dense_cuda_narrow;
pub(crate) mod dense_cuda_registers;
pub(crate) mod dense_cuda_tensor_f64;
pub(crate) mod dense_cuda_tensor_f64_rows;
pub(crate) mod dense_cuda_tensor_tf32x3;
pub(crate) mod dense_cuda_wgmma_tf32x3;
pub(crate) mod tiled;
pub(crate) mod tiling;
