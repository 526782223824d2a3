//! Column statistics by CUDA kernels.

pub(crate) mod dense_cuda_column;
pub(crate) mod dense_cuda_strips;
pub(crate) mod dense_cuda_tree;
pub(crate) mod device;
pub(crate) mod host_copied;
