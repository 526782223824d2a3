//! Combinations by CUDA kernels.

#[cfg(feature = "cuda")]
pub(crate) mod dense_cuda_cublas;
pub(crate) mod dense_cuda_tensor;
mod device;
