//! What a GPU and the emulator both offer, and what can go wrong on them.

use crate::device::argument::Argument;
use crate::device::launch::{DeviceLimits, KernelAttributes, LaunchPlan};
use crate::device::source::KernelSource;
use crate::refusal::Refusal;
use std::any::Any;
use std::fmt;
use std::sync::Arc;

/// What went wrong on a device while something ran.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
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
    /// A copy between matrices of different shapes.
    #[error("{what} is {}×{}, {}×{} expected", found.0, found.1, expected.0, expected.1)]
    Shape {
        /// Which matrix.
        what: &'static str,
        /// Its rows and columns.
        found: (usize, usize),
        /// Those that fit.
        expected: (usize, usize),
    },
    /// An operand in the memory of another device.
    #[error("{what} lies in the memory of another device than the one that was to read or write it")]
    Elsewhere {
        /// Which operand.
        what: &'static str,
    },
}

/// A device, and the queue of work of one handle to it. Everything in a queue is ordered: a launch sees what was written before
/// it, a read waits for the launches before it.
pub(crate) trait Backend: Send + Sync + fmt::Debug {
    /// What it can do.
    fn limits(&self) -> &DeviceLimits;
    /// Is the kernel written for this device? Nothing is compiled.
    fn takes(&self, source: &KernelSource) -> Result<(), Refusal>;
    /// `bytes` bytes, aligned to 256 at least, every byte 0xFF: as floating-point numbers NaN, as indices far out of
    /// bounds. Not enough memory is a refusal that names `what`, the bytes wanted and the bytes free.
    fn allocate(&self, what: &str, bytes: usize) -> Result<Arc<dyn Memory>, Refusal>;
    /// Is there a compiler for it? Nothing is compiled.
    fn find_compiler(&self) -> Result<(), Refusal>;
    /// Compiles a kernel, or takes it from the cache.
    fn compile(&self, source: &KernelSource) -> Result<Box<dyn Function>, Refusal>;
    /// Waits until everything is done.
    fn synchronize(&self) -> Result<(), DeviceError>;

    /// Is it memory of this device, of whichever handle?
    fn owns(&self, memory: &dyn Memory) -> bool;
    /// What is done through this handle from now on happens after all that was done to the memory until now.
    fn wait_for(&self, memory: &dyn Memory) -> Result<(), DeviceError>;
    /// What is done to the memory from now on happens after all that was done through this handle until now.
    fn let_wait(&self, memory: &dyn Memory) -> Result<(), DeviceError>;

    /// Is this memory of the host copied while the host goes on?
    fn copies_by_itself(&self, host: &[u8]) -> bool;
    /// Host to device, only enqueued where the device can.
    ///
    /// # Safety
    /// The range is within the memory, which is of this device; the bytes stay where they are and as they are until
    /// everything has been waited for.
    unsafe fn enqueue_upload(
        &self,
        from: &[u8],
        to: &dyn Memory,
        first_byte: usize,
    ) -> Result<(), DeviceError>;
    /// Device to host, the same way.
    ///
    /// # Safety
    /// The range is within the memory, which is of this device; nobody looks at the bytes, nor frees them, until everything
    /// has been waited for.
    unsafe fn enqueue_download(
        &self,
        from: &dyn Memory,
        first_byte: usize,
        into: &mut [u8],
    ) -> Result<(), DeviceError>;
}

/// Memory of a device. Ranges are within its size, and only who may write does:
/// [`Buffer`](crate::device::buffer::Buffer) sees to it.
pub(crate) trait Memory: Any + Send + Sync + fmt::Debug {
    /// Where the device sees it.
    fn address(&self) -> u64;
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
    ///
    /// # Safety
    /// As for [`Kernel::launch`](crate::device::kernel::Kernel::launch).
    unsafe fn launch(&self, plan: &LaunchPlan, arguments: &[Argument]) -> Result<(), DeviceError>;
    /// What the compiler made of it.
    fn attributes(&self) -> KernelAttributes;
    /// Blocks of that size that a multiprocessor holds at a time, where that is known.
    fn blocks_per_multiprocessor(&self, plan: &LaunchPlan) -> Option<u32>;
}
