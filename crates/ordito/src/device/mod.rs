//! Devices that run CUDA kernels: NVIDIA GPUs (feature `cuda`), and an emulator of them on the CPU
//! (feature `emulator`). Buffers, kernels and launches look
//! the same on both.
//!
//! **Without a toolkit.** `gpu` opens driver and libraries at run time and asks each for every function that is declared
//! (`api`) before the first call. It answers with a `Refusal` that says what to install.
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
//!
//! Imports run one way, from the left: `spent launch geometry source argument` · `backend` · `buffer kernel kernel_cache` ·
//! `view` · `gpu emulator` · `handle` · `in_order host_copies` · `dense pinned_dense csr`.

// In a build without devices nothing that takes one can ever run.
#![cfg_attr(
    not(any(feature = "cuda", feature = "emulator")),
    allow(unreachable_code, unused_variables, dead_code)
)]

mod spent;
mod launch;
mod geometry;
mod source;
mod argument;
mod backend;
mod buffer;
mod kernel;
mod view;
#[cfg(any(feature = "cuda", feature = "emulator"))]
mod kernel_cache;
#[cfg(feature = "cuda")]
#[doc(hidden)]
pub mod gpu;
#[cfg(feature = "emulator")]
#[doc(hidden)]
pub mod emulator;
mod handle;
mod in_order;
mod host_copies;
mod dense;
mod pinned_dense;
mod csr;

pub use backend::DeviceError;
pub use buffer::Buffer;
#[cfg(any(feature = "cuda", feature = "emulator"))]
pub(crate) use csr::columns_and_values;
pub use csr::{DeviceCsrView, DeviceIndices};
pub use dense::DeviceDense;
#[cfg(feature = "emulator")]
pub use emulator::Emulator;
#[cfg(feature = "cuda")]
pub use gpu::Gpu;
pub use handle::Device;
#[cfg(any(feature = "cuda", feature = "emulator"))]
pub(crate) use host_copies::HostCopies;
pub(crate) use host_copies::with_host_copies;
pub use pinned_dense::PinnedDense;
#[cfg(any(feature = "cuda", feature = "emulator"))]
pub(crate) use view::CHUNK_BYTES;
pub(crate) use view::KeptMatrix;
pub use view::{DeviceView, DeviceViewMut};

// Kernels and their launches: for the crates of this workspace.
#[doc(hidden)]
pub use argument::Argument;
#[doc(hidden)]
pub use csr::kernels_that_take;
#[doc(hidden)]
pub use geometry::{Adjustable, Geometry};
#[doc(hidden)]
pub use kernel::Kernel;
#[doc(hidden)]
pub use launch::{DeviceLimits, KernelAttributes, LaunchPlan, LaunchReport};
#[doc(hidden)]
pub use source::{Architecture, HEADER, HEADER_NAME, KernelSource, PLAIN_ARCHITECTURES, PTX, SM_90A, WGMMA};
#[doc(hidden)]
pub use spent::Spent;
