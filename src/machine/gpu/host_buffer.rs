//! Memory of the host for copies that run on by themselves: pinned, which the GPU reads and writes directly, or
//! pageable, which the driver copies once more on the way.

use super::Gpu;
use super::context::Stream;
use super::driver::cuda;
use super::memory::{enqueue_read, enqueue_write};
use crate::machine::{Buffer, DeviceError, Refusal};
use bytemuck::Pod;
use std::ffi::c_void;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Elements in the host's memory, zero at first. Copies are only put into the stream; whoever looks at the elements
/// waits for them, so a copy never meets an access.
#[derive(Debug)]
pub struct HostBuffer<T> {
    stream: Arc<Stream>,
    elements: NonNull<T>,
    len: usize,
    kind: Kind,
    /// May there be copies under way?
    busy: AtomicBool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Pinned,
    Pageable,
}

// SAFETY: owns its memory like a `Vec`; the driver allows every thread to copy and free it.
unsafe impl<T: Send> Send for HostBuffer<T> {}
// SAFETY: shared access reads elements only after waiting for the copies that write them.
unsafe impl<T: Sync> Sync for HostBuffer<T> {}

impl Gpu {
    /// `len` elements in pinned memory. Not write-combined: the host may read it at full speed.
    pub fn pinned<T: Pod>(&self, len: usize) -> Result<HostBuffer<T>, Refusal> {
        let Some(bytes) = len.checked_mul(size_of::<T>()).filter(|&bytes| bytes <= isize::MAX as usize)
        else {
            return Err(Refusal::Device(format!("{len} elements are more than an address space holds")));
        };
        let stream = self.stream().clone();
        let mut pointer = std::ptr::null_mut::<c_void>();
        {
            let _turn = stream.context().enter()?;
            // SAFETY: a context is current; writes one address. 0 bytes are refused by the driver.
            unsafe { cuda!(cuMemHostAlloc(&mut pointer, bytes.max(1), 0)) }.map_err(|error| {
                let bytes = crate::units::bytes(bytes as u64);
                Refusal::Device(format!("{bytes} of pinned memory cannot be had: {error}"))
            })?;
        }
        let Some(elements) = NonNull::new(pointer.cast::<T>()) else {
            return Err(Refusal::Device("cuMemHostAlloc returned no memory".into()));
        };
        // SAFETY: pages, so aligned for any element, of `bytes` bytes at least.
        unsafe { pointer.write_bytes(0, bytes) };
        Ok(HostBuffer { stream, elements, len, kind: Kind::Pinned, busy: AtomicBool::new(false) })
    }

    /// `len` elements in ordinary memory.
    pub fn pageable<T: Pod>(&self, len: usize) -> Result<HostBuffer<T>, Refusal> {
        let mut vec = Vec::<T>::new();
        vec.try_reserve_exact(len).map_err(|error| Refusal::Device(format!("{len} elements: {error}")))?;
        vec.resize(len, T::zeroed());
        let elements = NonNull::from(Box::leak(vec.into_boxed_slice())).cast::<T>();
        let (stream, busy) = (self.stream().clone(), AtomicBool::new(false));
        Ok(HostBuffer { stream, elements, len, kind: Kind::Pageable, busy })
    }
}

impl<T: Pod> HostBuffer<T> {
    /// How many elements.
    pub fn len(&self) -> usize {
        self.len
    }
    /// None at all?
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The elements, after all copies.
    pub fn as_slice(&self) -> Result<&[T], DeviceError> {
        self.wait()?;
        // SAFETY: `len` initialised elements (zero or a copy of such), and no copy writes them while they are borrowed:
        // `enqueue_download` takes `&mut self`.
        Ok(unsafe { std::slice::from_raw_parts(self.elements.as_ptr(), self.len) })
    }

    /// The elements, after all copies.
    pub fn as_mut_slice(&mut self) -> Result<&mut [T], DeviceError> {
        self.wait()?;
        // SAFETY: the same; both ways to copy need this borrow to have ended.
        Ok(unsafe { std::slice::from_raw_parts_mut(self.elements.as_ptr(), self.len) })
    }

    /// Puts a copy of all elements to `to`, memory of the same GPU, into its stream.
    pub fn enqueue_upload(&self, to: &mut Buffer<T>) -> Result<(), DeviceError> {
        self.check_length(to)?;
        let turn = self.stream.context().enter()?;
        turn.check_not_capturing()?;
        self.busy.store(true, Ordering::Release);
        // SAFETY: the elements are initialised and borrowed for reading only.
        let bytes = unsafe {
            std::slice::from_raw_parts(self.elements.as_ptr().cast::<u8>(), self.len * size_of::<T>())
        };
        // SAFETY: whoever writes or frees the elements waits first; the lengths are equal.
        Ok(unsafe { enqueue_write(&self.stream, to.address(), bytes, &turn) }?)
    }

    /// Puts a copy of all elements of `from`, memory of the same GPU, into its stream.
    pub fn enqueue_download(&mut self, from: &Buffer<T>) -> Result<(), DeviceError> {
        self.check_length(from)?;
        let turn = self.stream.context().enter()?;
        turn.check_not_capturing()?;
        self.busy.store(true, Ordering::Release);
        // SAFETY: the elements are initialised and borrowed exclusively.
        let bytes = unsafe {
            std::slice::from_raw_parts_mut(self.elements.as_ptr().cast::<u8>(), self.len * size_of::<T>())
        };
        // SAFETY: whoever looks at the elements or frees them waits first; the lengths are equal.
        Ok(unsafe { enqueue_read(&self.stream, from.address(), bytes, &turn) }?)
    }

    fn check_length(&self, buffer: &Buffer<T>) -> Result<(), DeviceError> {
        if buffer.len() == self.len {
            return Ok(());
        }
        Err(DeviceError::Length { buffer: buffer.name().into(), has: buffer.len(), wanted: self.len })
    }
}

impl<T> HostBuffer<T> {
    fn wait(&self) -> Result<(), DeviceError> {
        if self.busy.load(Ordering::Acquire) {
            self.stream.synchronize()?;
            self.busy.store(false, Ordering::Release);
        }
        Ok(())
    }
}

impl<T> Drop for HostBuffer<T> {
    fn drop(&mut self) {
        if self.wait().is_err() {
            return; // a copy may still be under way: better lose the memory than let it write elsewhere
        }
        match self.kind {
            Kind::Pinned => {
                if let Ok(_turn) = self.stream.context().enter() {
                    // SAFETY: came from cuMemHostAlloc, and no copy uses it any more.
                    let _ = unsafe { cuda!(cuMemFreeHost(self.elements.as_ptr().cast())) };
                }
            }
            Kind::Pageable => {
                let slice = NonNull::slice_from_raw_parts(self.elements, self.len);
                // SAFETY: came from a leaked box of this length, and no copy uses it any more.
                drop(unsafe { Box::from_raw(slice.as_ptr()) });
            }
        }
    }
}
