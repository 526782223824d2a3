//! Dense products by CUDA kernels: `ladder/` as the studies had them, `fast/` ours, cuBLAS the peer.

#[cfg(feature = "cuda")]
pub(crate) mod dense_cuda_cublas;
pub(crate) mod device;
pub(crate) mod fast;
pub(crate) mod ladder;
mod plain_launch;
