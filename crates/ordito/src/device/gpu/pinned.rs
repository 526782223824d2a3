//! Memory of the host that stays where it is, so that the GPU reads and writes it directly: copies need no detour through
//! the driver's own buffers.

use crate::device::gpu::Gpu;
use crate::device::gpu::driver::cuda;
use crate::device::gpu::stream::Stream;
use crate::refusal::Refusal;
use bytemuck::Pod;
use std::collections::BTreeMap;
use std::ffi::c_void;
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// First address and bytes of all pinned memory of ours: what is copied from there needs no staging.
static PINNED: Mutex<BTreeMap<usize, usize>> = Mutex::new(BTreeMap::new());

fn pinned_ranges() -> MutexGuard<'static, BTreeMap<usize, usize>> {
    PINNED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Does all of it lie in pinned memory of ours? Memory that others pinned is not known here, and counts as any other.
pub(crate) fn is_pinned(bytes: &[u8]) -> bool {
    let first = bytes.as_ptr().addr();
    let ranges = pinned_ranges();
    let before = ranges.range(..=first).next_back();
    before.is_some_and(|(start, len)| first + bytes.len() <= start + len)
}

/// Elements in pinned memory of the host, zero at first. [`Buffer::write`](crate::device::buffer::Buffer::write) and `read` copy
/// from and to it as from and to any slice, and faster.
#[derive(Debug)]
pub struct PinnedBuffer<T> {
    stream: Arc<Stream>,
    elements: NonNull<T>,
    len: usize,
}

// SAFETY: owns its memory like a `Vec`; the driver allows every thread to free it.
unsafe impl<T: Send> Send for PinnedBuffer<T> {}
// SAFETY: shared access only reads.
unsafe impl<T: Sync> Sync for PinnedBuffer<T> {}

impl Gpu {
    /// `len` elements in pinned memory. Not write-combined: the host may read it at full speed.
    #[doc(hidden)]
    pub fn pinned<T: Pod>(&self, len: usize) -> Result<PinnedBuffer<T>, Refusal> {
        let Some(bytes) = len.checked_mul(size_of::<T>()).filter(|&bytes| bytes <= isize::MAX as usize)
        else {
            return Err(Refusal::Unsupported(format!("{len} elements are more than an address space holds")));
        };
        let stream = self.stream().clone();
        let mut pointer = std::ptr::null_mut::<c_void>();
        {
            let _turn = stream.context().enter()?;
            // SAFETY: a context is current; writes one address. 0 bytes are refused by the driver.
            unsafe { cuda!(cuMemHostAlloc(&mut pointer, bytes.max(1), 0)) }.map_err(|error| {
                let bytes = crate::units::bytes(bytes as u64);
                Refusal::Unsupported(format!("{bytes} of pinned memory cannot be had: {error}"))
            })?;
        }
        let Some(elements) = NonNull::new(pointer.cast::<T>()) else {
            return Err(Refusal::Device("cuMemHostAlloc returned no memory".into()));
        };
        // SAFETY: pages, so aligned for any element, of `bytes` bytes at least.
        unsafe { pointer.write_bytes(0, bytes) };
        pinned_ranges().insert(pointer.addr(), bytes);
        Ok(PinnedBuffer { stream, elements, len })
    }
}

impl<T: Pod> PinnedBuffer<T> {
    /// The elements.
    pub fn as_slice(&self) -> &[T] {
        // SAFETY: `len` initialised elements, owned.
        unsafe { std::slice::from_raw_parts(self.elements.as_ptr(), self.len) }
    }

    /// The elements.
    pub fn as_mut_slice(&mut self) -> &mut [T] {
        // SAFETY: the same, borrowed exclusively.
        unsafe { std::slice::from_raw_parts_mut(self.elements.as_ptr(), self.len) }
    }
}

impl<T> Drop for PinnedBuffer<T> {
    fn drop(&mut self) {
        pinned_ranges().remove(&self.elements.as_ptr().addr());
        if let Ok(_turn) = self.stream.context().enter() {
            // SAFETY: came from cuMemHostAlloc; every copy has been waited for by whoever asked for it.
            let _ = unsafe { cuda!(cuMemFreeHost(self.elements.as_ptr().cast())) };
        }
    }
}
