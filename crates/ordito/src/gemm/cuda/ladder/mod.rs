//! What coalescing buys and what tiling buys.

pub(crate) mod dense_cuda_ladder;
