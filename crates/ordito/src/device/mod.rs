//! Devices that run CUDA kernels: NVIDIA GPUs, and an emulator of them on the CPU. Buffers, kernels and launches look
//! the same on both.

mod dense;
pub mod emulator;
pub mod gpu;
mod handle;
mod host_copies;
mod kernel;
mod kernel_cache;
mod launch;
mod pinned_dense;
mod spent;
mod view;

pub use dense::DeviceDense;
pub use emulator::Emulator;
pub use gpu::Gpu;
pub use handle::{Argument, Buffer, Device, DeviceError, Kernel};
pub(crate) use host_copies::{HostCopies, with_host_copies};
pub use kernel::{Architecture, HEADER, HEADER_NAME, KernelSource, PLAIN_ARCHITECTURES, PTX, SM_90A, WGMMA};
pub(crate) use kernel_cache::Key as CacheKey;
pub use launch::{DeviceLimits, KernelAttributes, LaunchPlan, LaunchReport};
pub use pinned_dense::PinnedDense;
pub use spent::Spent;
pub(crate) use view::{CHUNK_BYTES, KeptMatrix};
pub use view::{DeviceView, DeviceViewMut};
