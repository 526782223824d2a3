//! A device that runs CUDA kernels: a GPU, or the emulator. Buffers, kernels and launches look the same on both.

use crate::device::backend::{Backend, DeviceError};
use crate::device::buffer::Buffer;
#[cfg(feature = "emulator")]
use crate::device::emulator::Emulator;
#[cfg(feature = "cuda")]
use crate::device::gpu::Gpu;
use crate::device::kernel::Kernel;
use crate::device::launch::DeviceLimits;
use crate::device::source::KernelSource;
use crate::device::spent::Spent;
use crate::refusal::Refusal;
use bytemuck::Pod;
#[cfg(any(feature = "cuda", feature = "emulator"))]
use std::sync::Arc;

/// A GPU or the emulator. In a build without either there is none.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Device {
    /// An NVIDIA GPU.
    #[cfg(feature = "cuda")]
    Cuda(Arc<Gpu>),
    /// The same kernels on this CPU, slowly and with every access checked.
    #[cfg(feature = "emulator")]
    Emulator(Arc<Emulator>),
}

impl Device {
    pub(crate) fn backend(&self) -> &dyn Backend {
        match *self {
            #[cfg(feature = "cuda")]
            Device::Cuda(ref gpu) => &**gpu,
            #[cfg(feature = "emulator")]
            Device::Emulator(ref emulator) => &**emulator,
        }
    }

    /// The GPU, where it is one.
    #[cfg(feature = "cuda")]
    pub fn gpu(&self) -> Option<&Arc<Gpu>> {
        match self {
            Device::Cuda(gpu) => Some(gpu),
            #[cfg(feature = "emulator")]
            Device::Emulator(_) => None,
        }
    }

    /// Does it run on this CPU, with its memory?
    pub(crate) fn is_emulated(&self) -> bool {
        match *self {
            #[cfg(feature = "cuda")]
            Device::Cuda(_) => false,
            #[cfg(feature = "emulator")]
            Device::Emulator(_) => true,
        }
    }

    /// What it can do.
    #[doc(hidden)]
    pub fn limits(&self) -> &DeviceLimits {
        self.backend().limits()
    }

    /// `len` elements, every byte 0xFF, so that what is never written shows. `what` names it in messages.
    pub fn allocate<T: Pod>(&self, what: impl Into<String>, len: usize) -> Result<Buffer<T>, Refusal> {
        let name = what.into();
        let Some(bytes) = len.checked_mul(size_of::<T>()).filter(|&bytes| bytes <= isize::MAX as usize)
        else {
            return Err(Refusal::DeviceMemory { what: name, needed: None, free: self.limits().memory_bytes });
        };
        let memory = self.backend().allocate(&name, bytes)?;
        Ok(Buffer::new(name, memory, len))
    }

    /// Is the kernel written for this device? Nothing is compiled.
    #[doc(hidden)]
    pub fn takes(&self, source: &KernelSource) -> Result<(), Refusal> {
        self.backend().takes(source)
    }

    /// Is there a compiler for its kernels? Nothing is compiled.
    pub(crate) fn find_compiler(&self) -> Result<(), Refusal> {
        self.backend().find_compiler()
    }

    /// A kernel, compiled or from the cache.
    #[doc(hidden)]
    pub fn kernel(&self, source: &KernelSource) -> Result<Kernel, Refusal> {
        let function = Spent::compiling(|| self.backend().compile(source))?;
        Ok(Kernel::new(source.entry, function, self.limits().clone()))
    }

    /// Waits until everything that was put into its stream is done.
    pub fn synchronize(&self) -> Result<(), DeviceError> {
        self.backend().synchronize()
    }

    /// The same device with a stream of its own: what is done through it may overlap with what is done through others.
    /// The emulator does everything at once, and is the same with or without.
    pub fn with_new_stream(&self) -> Result<Device, Refusal> {
        match *self {
            #[cfg(feature = "cuda")]
            Device::Cuda(ref gpu) => gpu.with_new_stream().map(Device::Cuda),
            #[cfg(feature = "emulator")]
            Device::Emulator(_) => Ok(self.clone()),
        }
    }

    /// What is done through this device from now on happens after all that was done through the other one until now.
    /// The host does not wait.
    pub fn wait_for(&self, earlier: &Device) -> Result<(), DeviceError> {
        #[cfg(feature = "cuda")]
        if let (Some(gpu), Some(earlier)) = (self.gpu(), earlier.gpu()) {
            return gpu.stream().wait_for(earlier.stream());
        }
        earlier.synchronize()
    }
}
