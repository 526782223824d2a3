//! A device that runs CUDA kernels: a GPU, or the emulator. Buffers, kernels and launches look the same on both.

use crate::device::emulator::Emulator;
use crate::device::gpu::{Gpu, Stream};
use crate::device::host_copies::with_host_copies;
use crate::device::kernel::KernelSource;
use crate::device::launch::{DeviceLimits, KernelAttributes, LaunchPlan, LaunchReport};
use crate::device::spent::Spent;
use crate::refusal::Refusal;
use bytemuck::Pod;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

/// What went wrong on a device while something ran.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DeviceError {
    /// A call of the driver or of a library failed.
    #[error("{call} failed: {why}")]
    Call {
        /// The function.
        call: &'static str,
        /// What it said.
        why: String,
    },
    /// The emulator saw the kernel do something that is not allowed.
    #[error("emulator: {0}")]
    Emulated(String),
    /// A copy between a buffer and a slice of another length.
    #[error("{buffer} has {has} elements, {wanted} were to be copied")]
    Length {
        /// Which buffer.
        buffer: String,
        /// Its length.
        has: usize,
        /// The length of the slice.
        wanted: usize,
    },
    /// An operand in the memory of another device.
    #[error("{what} lies in the memory of another device than the one that was to read or write it")]
    Elsewhere {
        /// Which operand.
        what: &'static str,
    },
}

/// What a GPU and the emulator both offer. Everything is ordered: a launch sees what was written before it, a read
/// waits for the launches before it.
pub(crate) trait Backend: Send + Sync + fmt::Debug {
    /// What it can do.
    fn limits(&self) -> &DeviceLimits;
    /// `bytes` bytes, aligned to 256 at least, every byte 0xFF: as floating-point numbers NaN, as indices far out of
    /// bounds. Not enough memory is a refusal that names `what`, the bytes wanted and the bytes free.
    fn allocate(&self, what: &str, bytes: usize) -> Result<Arc<dyn Memory>, Refusal>;
    /// Compiles a kernel, or takes it from the cache.
    fn compile(&self, source: &KernelSource) -> Result<Box<dyn Function>, Refusal>;
    /// Waits until everything is done.
    fn synchronize(&self) -> Result<(), DeviceError>;
}

/// Memory of a device. Ranges are within its size, and only who may write does: [`Buffer`] sees to it.
pub(crate) trait Memory: Send + Sync + fmt::Debug {
    /// Where the device sees it.
    fn address(&self) -> u64;
    /// The stream that orders what is done to it, on a GPU.
    fn stream(&self) -> Option<&Stream> {
        None
    }
    /// Host to device.
    fn write(&self, first_byte: usize, from: &[u8]) -> Result<(), DeviceError>;
    /// Device to host.
    fn read(&self, first_byte: usize, into: &mut [u8]) -> Result<(), DeviceError>;
    /// Sets `bytes` bytes to `value`.
    fn fill(&self, first_byte: usize, bytes: usize, value: u8) -> Result<(), DeviceError>;
    /// Copies the first `bytes` bytes of other memory of the same device.
    fn copy_from(&self, other: &dyn Memory, bytes: usize) -> Result<(), DeviceError>;
}

/// A compiled kernel.
pub(crate) trait Function: Send + Sync + fmt::Debug {
    /// Starts it; returns at once where the device can.
    fn launch(&self, plan: &LaunchPlan, arguments: &[Argument]) -> Result<(), DeviceError>;
    /// What the compiler made of it.
    fn attributes(&self) -> KernelAttributes;
    /// Blocks of that size that a multiprocessor holds at a time, where that is known.
    fn blocks_per_multiprocessor(&self, plan: &LaunchPlan) -> Option<u32>;
}

/// A GPU or the emulator.
#[derive(Debug, Clone)]
pub enum Device {
    /// An NVIDIA GPU.
    Cuda(Arc<Gpu>),
    /// The same kernels on this CPU, slowly and with every access checked.
    Emulator(Arc<Emulator>),
}

impl Device {
    fn backend(&self) -> &dyn Backend {
        match self {
            Device::Cuda(gpu) => &**gpu,
            Device::Emulator(emulator) => &**emulator,
        }
    }

    /// The GPU, where it is one.
    pub fn gpu(&self) -> Option<&Arc<Gpu>> {
        match self {
            Device::Cuda(gpu) => Some(gpu),
            Device::Emulator(_) => None,
        }
    }

    /// What it can do.
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
        Ok(Buffer { name, memory, len, element: PhantomData })
    }

    /// A copy of `data` on the device.
    pub fn upload<T: Pod>(&self, what: impl Into<String>, data: &[T]) -> Result<Buffer<T>, Refusal> {
        Spent::uploading(|| {
            let mut buffer = self.allocate(what, data.len())?;
            with_host_copies(|copies| copies.upload(self, data, &mut buffer, 0))
                .map_err(|error: DeviceError| Refusal::Device(error.to_string()))?;
            Ok(buffer)
        })
    }

    /// Is the kernel written for this device? Nothing is compiled.
    pub fn takes(&self, source: &KernelSource) -> Result<(), Refusal> {
        match self {
            Device::Cuda(_) => source.target(self.limits().architecture()).map(drop),
            Device::Emulator(_) => source.emulated(),
        }
    }

    /// A kernel, compiled or from the cache.
    pub fn kernel(&self, source: &KernelSource) -> Result<Kernel, Refusal> {
        let function = Spent::compiling(|| self.backend().compile(source))?;
        let threads_per_multiprocessor = self.limits().threads_per_multiprocessor;
        Ok(Kernel { name: source.entry, function, threads_per_multiprocessor })
    }

    /// Waits until everything that was put into its stream is done.
    pub fn synchronize(&self) -> Result<(), DeviceError> {
        self.backend().synchronize()
    }

    /// The same device with a stream of its own: what is done through it may overlap with what is done through others.
    /// The emulator does everything at once, and is the same with or without.
    pub fn with_new_stream(&self) -> Result<Device, Refusal> {
        match self {
            Device::Cuda(gpu) => gpu.with_new_stream().map(Device::Cuda),
            Device::Emulator(_) => Ok(self.clone()),
        }
    }

    /// What is done through this device from now on happens after all that was done through the other one until now.
    /// The host does not wait.
    pub fn wait_for(&self, earlier: &Device) -> Result<(), DeviceError> {
        match (self, earlier) {
            (Device::Cuda(gpu), Device::Cuda(earlier)) => gpu.stream().wait_for(earlier.stream()),
            _ => earlier.synchronize(),
        }
    }
}

/// Elements of one type in the memory of a device.
#[derive(Debug)]
pub struct Buffer<T> {
    name: String,
    /// Shared with recorded work that reads or writes it.
    memory: Arc<dyn Memory>,
    len: usize,
    element: PhantomData<T>,
}

impl<T: Pod> Buffer<T> {
    /// How many elements.
    pub fn len(&self) -> usize {
        self.len
    }
    /// None at all?
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
    /// What it holds, for messages.
    pub fn name(&self) -> &str {
        &self.name
    }
    pub(crate) fn memory(&self) -> &Arc<dyn Memory> {
        &self.memory
    }
    /// Its address on the device, for libraries that take one.
    pub fn address(&self) -> u64 {
        self.memory.address()
    }

    /// Host to device; the lengths must be equal.
    pub fn write(&mut self, from: &[T]) -> Result<(), DeviceError> {
        self.check_length(from.len())?;
        self.memory.write(0, bytemuck::cast_slice(from))
    }
    /// Device to host; the lengths must be equal.
    pub fn read(&self, into: &mut [T]) -> Result<(), DeviceError> {
        self.check_length(into.len())?;
        self.memory.read(0, bytemuck::cast_slice_mut(into))
    }
    /// Host to device, from element `first` on.
    pub fn write_from(&mut self, first: usize, from: &[T]) -> Result<(), DeviceError> {
        self.check_end(first, from.len())?;
        self.memory.write(first * size_of::<T>(), bytemuck::cast_slice(from))
    }
    /// Device to host, from element `first` on.
    pub fn read_from(&self, first: usize, into: &mut [T]) -> Result<(), DeviceError> {
        self.check_end(first, into.len())?;
        self.memory.read(first * size_of::<T>(), bytemuck::cast_slice_mut(into))
    }
    /// Every byte.
    pub fn fill_bytes(&mut self, value: u8) -> Result<(), DeviceError> {
        self.memory.fill(0, self.len * size_of::<T>(), value)
    }
    /// Device to device; the lengths must be equal.
    pub fn copy_from(&mut self, other: &Buffer<T>) -> Result<(), DeviceError> {
        self.check_length(other.len)?;
        self.memory.copy_from(&*other.memory, self.len * size_of::<T>())
    }

    pub(crate) fn check_end(&self, first: usize, len: usize) -> Result<(), DeviceError> {
        match first.checked_add(len).filter(|&end| end <= self.len) {
            Some(_) => Ok(()),
            None => Err(DeviceError::Length {
                buffer: self.name.clone(),
                has: self.len,
                wanted: first.saturating_add(len),
            }),
        }
    }

    fn check_length(&self, wanted: usize) -> Result<(), DeviceError> {
        if wanted == self.len {
            return Ok(());
        }
        Err(DeviceError::Length { buffer: self.name.clone(), has: self.len, wanted })
    }
}

/// A kernel's argument: at most eight bytes, as the kernel's parameter lies in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Argument {
    bytes: [u8; 8],
    size: usize,
}

impl Argument {
    /// A number: `u32`, `u64`, `f32`, `f64`, of exactly the type that the kernel declares.
    pub fn of<T: Pod>(value: T) -> Self {
        const { assert!(size_of::<T>() <= 8, "arguments have at most eight bytes") };
        let (mut bytes, size) = ([0; 8], size_of::<T>());
        bytes[..size].copy_from_slice(bytemuck::bytes_of(&value));
        Argument { bytes, size }
    }

    /// As it lies in memory.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes[..self.size]
    }
}

impl<T: Pod> From<&Buffer<T>> for Argument {
    fn from(buffer: &Buffer<T>) -> Self {
        Argument::of(buffer.address())
    }
}

impl<T: Pod> From<&mut Buffer<T>> for Argument {
    fn from(buffer: &mut Buffer<T>) -> Self {
        Argument::of(buffer.address())
    }
}

/// A kernel on a device.
#[derive(Debug)]
pub struct Kernel {
    name: &'static str,
    function: Box<dyn Function>,
    threads_per_multiprocessor: u32,
}

impl Kernel {
    /// Starts it; on a GPU it is only put into the stream. An empty plan does nothing. The arguments must have the
    /// number, order and types of the kernel's parameters: nothing can check that here.
    pub fn launch(&self, plan: &LaunchPlan, arguments: &[Argument]) -> Result<(), DeviceError> {
        if plan.is_empty() {
            return Ok(());
        }
        self.function.launch(plan, arguments)
    }

    /// What such a launch takes.
    pub fn report(&self, plan: &LaunchPlan) -> LaunchReport {
        let blocks_per_multiprocessor = self.function.blocks_per_multiprocessor(plan);
        let occupancy = |blocks: u32| {
            100.0 * f64::from(blocks * plan.threads_per_block()) / f64::from(self.threads_per_multiprocessor)
        };
        LaunchReport {
            kernel: self.name.into(),
            plan: *plan,
            attributes: self.function.attributes(),
            blocks_per_multiprocessor,
            occupancy_percent: blocks_per_multiprocessor.map(occupancy),
        }
    }
}
