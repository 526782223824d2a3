//! Devices that run CUDA kernels: NVIDIA GPUs, and an emulator of them on the CPU. Buffers, kernels and launches look
//! the same on both.
//!
//! **Without a toolkit.** `gpu` opens driver and libraries at run time, asks each for every function that is used before the first call,
//! and answers with a `Refusal` that says what to install. Types of `cudarc` stay inside.
//!
//! **Kernels.** A kernel is a `.cu` file beside its variant, `extern "C"`, with definitions (`SCALAR`, `OFFSET`, `LANES`) instead of
//! templates. It includes `ordito.cuh`, and beside it only headers that its `KernelSource` names: `ptx.cuh` (asynchronous copies, tensor
//! cores) or its own. NVRTC compiles it straight to machine code for the device, kept in the cache folder under a hash of all that it
//! depends on. A kernel is written for `PLAIN_ARCHITECTURES` unless `only_for` says otherwise: with an architecture such as `SM_90A` it may
//! use what one generation of GPUs has, and is compiled for that generation where it runs on it.
//!
//! **Without a GPU.** The same file runs in the `emulator`. The C++ compiler is asked for the instrumentation of a thread sanitizer, but the
//! functions that it calls before every access are ours (`cuda_emulator.h`). That is where bounds, barriers, poison and races are
//! checked. Threads of a block are coroutines; one runs until it has to wait for others. What is inline PTX on a GPU stands in `ptx.cuh`
//! beside its twin for the emulator.
//!
//! **Streams.** A `Device` is a GPU *and a stream*: buffers, kernels and libraries made through it work in that stream. So a plan gets a
//! stream of its own by being made on `Machine::with_new_stream`. Kernels see views (address, shape, leading dimension), never buffers, and
//! rely on operands that begin at multiples of 16 bytes. `Device::in_order` orders a product with what other streams do to its buffers.
//! A run only enqueues; events time it.

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
pub(crate) use view::KeptMatrix;
pub use view::{DeviceView, DeviceViewMut};
