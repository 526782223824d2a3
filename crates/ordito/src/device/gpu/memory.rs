//! Memory of a GPU: taken from the driver's pool in the order of the stream, so that taking and giving back cost
//! microseconds and need no waiting.

use crate::device::backend::{DeviceError, Memory};
use crate::device::gpu::Gpu;
use crate::device::gpu::api::driver as sys;
use crate::device::gpu::context::Turn;
use crate::device::gpu::driver::{CudaError, cuda};
use crate::device::gpu::stream::Stream;
use crate::refusal::Refusal;
use std::any::Any;
use std::ffi::c_void;
use std::sync::Arc;

/// What every allocation is at least: CUDA refuses 0 bytes, and empty buffers have an address like all others.
const LEAST_BYTES: usize = 256;

/// The driver's pool of a device.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MemoryPool(sys::CUmemoryPool);

// SAFETY: the driver allows every thread to use a pool; the device's own is never destroyed.
unsafe impl Send for MemoryPool {}
// SAFETY: the same.
unsafe impl Sync for MemoryPool {}

impl MemoryPool {
    /// The device's own pool, told to keep what is given back: 256 MiB taken and given back took 745 µs without,
    /// 3 µs with that (H200).
    pub(crate) fn of(device: sys::CUdevice, _turn: &Turn<'_>) -> Result<Self, CudaError> {
        let mut pool = std::ptr::null_mut();
        let mut keep = u64::MAX;
        let threshold = sys::CUmemPool_attribute::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD;
        // SAFETY: the device exists; the first call writes one handle, the second reads a u64, as this attribute is.
        unsafe {
            cuda!(cuDeviceGetDefaultMemPool(&mut pool, device))?;
            cuda!(cuMemPoolSetAttribute(pool, threshold, (&raw mut keep).cast()))?;
        }
        Ok(MemoryPool(pool))
    }

    /// Gives back to the device what nobody uses.
    fn trim(self, _turn: &Turn<'_>) -> Result<(), CudaError> {
        // SAFETY: the pool is valid.
        unsafe { cuda!(cuMemPoolTrimTo(self.0, 0)) }
    }

    /// Bytes that it has taken from the device and that nobody uses.
    fn unused(self, _turn: &Turn<'_>) -> Result<u64, CudaError> {
        use sys::CUmemPool_attribute as Attribute;
        let (mut reserved, mut used) = (0_u64, 0_u64);
        let (of_reserved, of_used) =
            (Attribute::CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, Attribute::CU_MEMPOOL_ATTR_USED_MEM_CURRENT);
        // SAFETY: the pool is valid; both attributes are u64.
        unsafe {
            cuda!(cuMemPoolGetAttribute(self.0, of_reserved, (&raw mut reserved).cast()))?;
            cuda!(cuMemPoolGetAttribute(self.0, of_used, (&raw mut used).cast()))?;
        }
        Ok(reserved.saturating_sub(used))
    }
}

/// Bytes on the device that can still be had.
pub(crate) fn free_memory(pool: Option<MemoryPool>, turn: &Turn<'_>) -> Result<u64, CudaError> {
    let (mut free, mut total) = (0, 0);
    // SAFETY: a context is current; writes two numbers.
    unsafe { cuda!(cuMemGetInfo_v2(&mut free, &mut total)) }?;
    let unused = pool.map_or(Ok(0), |pool| pool.unused(turn))?;
    Ok(free as u64 + unused)
}

/// Bytes of a GPU's memory.
#[derive(Debug)]
pub(crate) struct DeviceMemory {
    stream: Arc<Stream>,
    address: sys::CUdeviceptr,
    pooled: bool,
}

impl DeviceMemory {
    /// `bytes` bytes, each 0xFF.
    pub(crate) fn allocate(gpu: &Gpu, what: &str, bytes: usize) -> Result<Self, Refusal> {
        let (stream, pool) = (gpu.stream(), gpu.pool());
        let turn = stream.context().enter()?;
        // The driver would record it, and the address would be valid only while the graph runs.
        turn.check_not_capturing().map_err(|error| Refusal::Device(error.to_string()))?;
        let size = bytes.max(LEAST_BYTES);
        let take = || {
            let mut address = 0;
            match pool {
                // SAFETY: a context is current and the stream is valid; writes one address.
                Some(_) => unsafe { cuda!(cuMemAllocAsync(&mut address, size, stream.raw())) },
                // SAFETY: the same.
                None => unsafe { cuda!(cuMemAlloc_v2(&mut address, size)) },
            }?;
            Ok(address)
        };
        let mut taken = take();
        if taken.is_err_and(CudaError::is_out_of_memory) {
            // Perhaps the pool keeps what others gave back, in pieces that are too small.
            stream.wait(&turn)?;
            pool.map_or(Ok(()), |pool| pool.trim(&turn))?;
            taken = take();
        }
        let address = match taken {
            Ok(address) => address,
            Err(error) if error.is_out_of_memory() => {
                let free = free_memory(pool, &turn)?;
                return Err(Refusal::DeviceMemory { what: what.into(), needed: Some(bytes as u64), free });
            }
            Err(error) => return Err(error.into()),
        };
        drop(turn); // dropping the memory, should filling it fail, takes a turn of its own
        let memory = DeviceMemory { stream: stream.clone(), address, pooled: pool.is_some() };
        memory.fill(0, size, 0xFF).map_err(|error| Refusal::Device(error.to_string()))?;
        Ok(memory)
    }
}

/// Puts a copy to the device into the stream.
///
/// # Safety
/// The bytes stay where they are and as they are until the stream has passed the copy; `to` is memory of the
/// stream's device with room for them.
pub(crate) unsafe fn enqueue_write(
    stream: &Stream,
    to: u64,
    from: &[u8],
    _turn: &Turn<'_>,
) -> Result<(), CudaError> {
    if from.is_empty() {
        return Ok(());
    }
    // SAFETY: the caller's promise.
    unsafe { cuda!(cuMemcpyHtoDAsync_v2(to, from.as_ptr().cast::<c_void>(), from.len(), stream.raw())) }
}

/// Puts a copy from the device into the stream.
///
/// # Safety
/// Nobody looks at the bytes, nor frees them, until the stream has passed the copy; `from` is memory of the stream's
/// device with so many bytes.
pub(crate) unsafe fn enqueue_read(
    stream: &Stream,
    from: u64,
    into: &mut [u8],
    _turn: &Turn<'_>,
) -> Result<(), CudaError> {
    if into.is_empty() {
        return Ok(());
    }
    // SAFETY: the caller's promise.
    unsafe { cuda!(cuMemcpyDtoHAsync_v2(into.as_mut_ptr().cast::<c_void>(), from, into.len(), stream.raw())) }
}

/// The stream that orders what is done to the memory, where it is a GPU's.
pub(crate) fn stream_of(memory: &dyn Memory) -> Option<&Arc<Stream>> {
    (memory as &dyn Any).downcast_ref::<DeviceMemory>().map(|memory| &memory.stream)
}

impl Memory for DeviceMemory {
    fn address(&self) -> u64 {
        self.address
    }

    fn write(&self, first_byte: usize, from: &[u8]) -> Result<(), DeviceError> {
        let turn = self.stream.context().enter()?;
        turn.check_not_capturing()?;
        // SAFETY: `from` is borrowed until the stream has been waited for, and the range is within this memory.
        let copied = unsafe { enqueue_write(&self.stream, self.address + first_byte as u64, from, &turn) };
        // Also after an error: nothing may be under way when the borrow ends.
        let waited = self.stream.wait(&turn);
        Ok(copied.and(waited)?)
    }

    fn read(&self, first_byte: usize, into: &mut [u8]) -> Result<(), DeviceError> {
        let turn = self.stream.context().enter()?;
        turn.check_not_capturing()?;
        // SAFETY: `into` is borrowed until the stream has been waited for, and the range is within this memory.
        let copied = unsafe { enqueue_read(&self.stream, self.address + first_byte as u64, into, &turn) };
        let waited = self.stream.wait(&turn);
        Ok(copied.and(waited)?)
    }

    fn fill(&self, first_byte: usize, bytes: usize, value: u8) -> Result<(), DeviceError> {
        if bytes == 0 {
            return Ok(());
        }
        let _turn = self.stream.context().enter()?;
        let first = self.address + first_byte as u64;
        // SAFETY: the range is within this memory, and the stream is valid.
        Ok(unsafe { cuda!(cuMemsetD8Async(first, value, bytes, self.stream.raw())) }?)
    }

    fn copy_from(&self, other: &dyn Memory, bytes: usize) -> Result<(), DeviceError> {
        if bytes == 0 {
            return Ok(());
        }
        let Some(theirs) = stream_of(other).filter(|theirs| theirs.is_of_gpu_of(&self.stream)) else {
            return Err(DeviceError::Elsewhere { what: "what is copied" });
        };
        self.stream.wait_for(theirs)?;
        {
            let _turn = self.stream.context().enter()?;
            // SAFETY: both have that many bytes on the same device. The copy comes after what the other's stream has been
            // given, and below that stream waits for the copy before it frees the memory.
            unsafe { cuda!(cuMemcpyDtoDAsync_v2(self.address, other.address(), bytes, self.stream.raw())) }?;
        }
        theirs.wait_for(&self.stream)
    }
}

impl Drop for DeviceMemory {
    fn drop(&mut self) {
        let Ok(turn) = self.stream.context().enter() else { return };
        // There is nobody to tell about errors here; after a lost context there is nothing to give back either.
        if self.pooled {
            // SAFETY: the memory came from the pool and nobody has it any more; the stream's work with it comes first.
            let _ = unsafe { cuda!(cuMemFreeAsync(self.address, self.stream.raw())) };
        } else if self.stream.wait(&turn).is_ok() {
            // SAFETY: the memory is valid, and nothing in the stream uses it any more.
            let _ = unsafe { cuda!(cuMemFree_v2(self.address)) };
        }
    }
}
