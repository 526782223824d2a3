//! Devices that run CUDA kernels: NVIDIA GPUs (feature `cuda`), and an emulator of them on the CPU (feature `emulator`).
//! Buffers, kernels and launches look the same on both.
//!
//! Imports run one way, from the left: `spent launch source argument` · `backend` · `buffer kernel kernel_cache` ·
//! `gpu emulator` · `handle` · `host_copies` · `view dense pinned_dense`.

// In a build without devices nothing that takes one can ever run.
#![cfg_attr(
    not(any(feature = "cuda", feature = "emulator")),
    allow(unreachable_code, unused_variables, dead_code)
)]

mod spent;
mod launch;
mod source;
mod argument;
mod backend;
mod buffer;
mod kernel;
#[cfg(any(feature = "cuda", feature = "emulator"))]
mod kernel_cache;
#[cfg(feature = "cuda")]
pub mod gpu;
#[cfg(feature = "emulator")]
pub mod emulator;
mod handle;
mod host_copies;
mod view;
mod dense;
mod pinned_dense;

pub use argument::Argument;
pub use backend::DeviceError;
pub use buffer::Buffer;
pub use dense::DeviceDense;
#[cfg(feature = "emulator")]
pub use emulator::Emulator;
#[cfg(feature = "cuda")]
pub use gpu::Gpu;
pub use handle::Device;
#[cfg(any(feature = "cuda", feature = "emulator"))]
pub(crate) use host_copies::HostCopies;
pub(crate) use host_copies::with_host_copies;
pub use kernel::Kernel;
pub use launch::{DeviceLimits, KernelAttributes, LaunchPlan, LaunchReport};
pub use pinned_dense::PinnedDense;
pub use source::{Architecture, HEADER, HEADER_NAME, KernelSource, PLAIN_ARCHITECTURES, PTX, SM_90A, WGMMA};
pub use spent::Spent;
pub(crate) use view::KeptMatrix;
pub use view::{DeviceView, DeviceViewMut};
