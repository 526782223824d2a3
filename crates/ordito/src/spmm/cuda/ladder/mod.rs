//! The ladder of CUDA kernels, from one thread per element to adaptive row blocks.

pub(crate) mod csr_cuda_adaptive;
pub(crate) mod csr_cuda_lanes;
pub(crate) mod csr_cuda_thread;
pub(crate) mod csr_cuda_warp;
pub(crate) mod csr_cuda_warp_row;
pub(crate) mod ell_cuda;
pub(crate) mod row_blocks;
pub(crate) mod rung;
