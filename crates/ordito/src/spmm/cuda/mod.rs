//! Products by CUDA kernels: `ladder/` as the studies had them, `fast/` ours, `cusparse/` the peer.

#[cfg(feature = "cuda")]
pub(crate) mod cusparse;
pub(crate) mod device;
pub(crate) mod device_csr;
pub(crate) mod device_ell;
pub(crate) mod fast;
pub(crate) mod ladder;
