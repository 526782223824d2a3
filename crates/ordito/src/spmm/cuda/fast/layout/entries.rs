//! Columns and values of A on a device: those of CSR as it is, or where a kernel has moved them to.

use crate::Scalar;
use crate::device::{Argument, Buffer, Device, DeviceError, KernelSource, LaunchPlan, columns_and_values};
use crate::matrix::Csr;
use crate::refusal::Refusal;

// Offsets of rows are uploaded as they are; kernels read 64 bits.
const _: () = assert!(size_of::<usize>() == size_of::<u64>(), "devices are there for 64-bit hosts");

/// One column for every value.
#[derive(Debug)]
pub(crate) struct Entries<S> {
    pub(crate) columns: Buffer<u32>,
    pub(crate) values: Buffer<S>,
}

impl<S: Scalar> Entries<S> {
    /// Of CSR: as it lies there, or uploaded.
    pub(crate) fn of(device: &Device, a: &Csr<S>) -> Result<Self, Refusal> {
        let (columns, values) = columns_and_values(device, a)?;
        Ok(Entries { columns, values })
    }

    /// Room for so many, of what A is rearranged into.
    pub(crate) fn allocate(device: &Device, of: &str, count: usize) -> Result<Self, Refusal> {
        let columns = device.allocate(format!("columns of {of}"), count)?;
        let values = device.allocate(format!("values of {of}"), count)?;
        Ok(Entries { columns, values })
    }

    /// `const u32* columns, const SCALAR* values`
    pub(crate) fn arguments(&self) -> [Argument; 2] {
        [Argument::from(&self.columns), Argument::from(&self.values)]
    }
}

/// Threads of a block of the kernels that move entries.
const THREADS: u32 = 256;
/// Entries of a row that a group of lanes moves before another one goes on: the grid has as many rows as the longest needs, up to a
/// bound, so that one long row costs little where all others are short. Neither number was tuned.
const STRETCH: usize = 4096;
const MOST_STRETCHES: usize = 1024;

/// A kernel that moves entries of S.
pub(crate) fn mover<S: Scalar>(entry: &'static str, file: &'static str, text: &'static str) -> KernelSource {
    KernelSource::new(entry, file, text)
        .define("SCALAR", S::CUDA_NAME)
        .define("THREADS", THREADS)
        .define("STRETCH", STRETCH as u32)
}

/// Starts one with so many threads for rows whose longest has so many entries. Only enqueues.
///
/// # Safety
/// The arguments are those that the kernel declares, and it stays inside of what they point to.
pub(crate) unsafe fn moved(
    device: &Device,
    mover: &KernelSource,
    (threads, longest): (u64, usize),
    arguments: &[Argument],
) -> Result<(), Refusal> {
    let stretches = longest.div_ceil(STRETCH).clamp(1, MOST_STRETCHES) as u64;
    // SAFETY: as the caller says.
    unsafe { run(device, mover, [threads.div_ceil(THREADS.into()), stretches], THREADS, arguments) }
}

/// Starts a kernel that makes a layout, compiled or from the cache. Only enqueues: what it reads may be dropped at once, since memory of
/// a device is given back in the order of its stream.
///
/// # Safety
/// The arguments are those that the kernel declares, and it stays inside of what they point to.
pub(crate) unsafe fn run(
    device: &Device,
    source: &KernelSource,
    [across, down]: [u64; 2],
    threads: u32,
    arguments: &[Argument],
) -> Result<(), Refusal> {
    let plan = LaunchPlan::new(device.limits(), [across, down, 1], [threads, 1, 1], 0)?;
    // SAFETY: as the caller says.
    unsafe { device.kernel(source)?.launch(&plan, arguments) }.map_err(refused)
}

/// What a device answers while A is rearranged.
pub(crate) fn refused(error: DeviceError) -> Refusal {
    Refusal::Device(error.to_string())
}
