//! Copies between host and GPU that are only enqueued; whoever asks for them waits before the host's memory is free again.

use crate::device::backend::DeviceError;
use crate::device::gpu::Gpu;
use crate::device::gpu::memory::{enqueue_read, enqueue_write};
use crate::device::gpu::pinned::is_pinned;
use crate::device::gpu::staging::{LEAST_BYTES, Staging};
use std::sync::TryLockError;

impl Gpu {
    /// Host to device, in this handle's stream; memory that is not pinned goes through the ring of pinned chunks.
    ///
    /// # Safety
    /// `to` is memory of this GPU with room for the bytes; these stay where they are and as they are until the stream has
    /// passed the copy.
    pub(crate) unsafe fn upload_to(&self, to: u64, from: &[u8]) -> Result<(), DeviceError> {
        self.check_not_capturing()?;
        if self.is_staged(from) {
            let upload = |staging: &mut Staging| {
                // SAFETY: the caller's promise.
                unsafe { staging.upload(self.copiers.as_deref(), &self.stream, to, from) }
            };
            if let Some(done) = self.staged(upload) {
                return done;
            }
        }
        let turn = self.context().enter()?;
        // SAFETY: the caller's promise.
        Ok(unsafe { enqueue_write(&self.stream, to, from, &turn) }?)
    }

    /// Device to host, the same way.
    ///
    /// # Safety
    /// `from` is memory of this GPU with so many bytes; nobody looks at `into`, nor frees it, until the stream has passed
    /// the copy.
    pub(crate) unsafe fn download_from(&self, from: u64, into: &mut [u8]) -> Result<(), DeviceError> {
        self.check_not_capturing()?;
        if self.is_staged(into) {
            let download = |staging: &mut Staging| {
                // SAFETY: the caller's promise.
                unsafe { staging.download(self.copiers.as_deref(), &self.stream, from, into) }
            };
            if let Some(done) = self.staged(download) {
                return done;
            }
        }
        let turn = self.context().enter()?;
        // SAFETY: the caller's promise.
        Ok(unsafe { enqueue_read(&self.stream, from, into, &turn) }?)
    }

    fn check_not_capturing(&self) -> Result<(), DeviceError> {
        self.context().enter()?.check_not_capturing()
    }

    fn is_staged(&self, bytes: &[u8]) -> bool {
        bytes.len() >= LEAST_BYTES && !is_pinned(bytes)
    }

    /// `None` where the ring cannot be had: the driver then does what it can. Whoever finds it in use goes without rather
    /// than waits: a thread of the pool that helps with one copy may be given the next one to do meanwhile.
    fn staged<R>(&self, copy: impl FnOnce(&mut Staging) -> R) -> Option<R> {
        let mut staging = match self.core.staging.try_lock() {
            Ok(staging) => staging,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return None,
        };
        if staging.is_none() {
            *staging = Staging::new(self).ok();
        }
        staging.as_mut().map(copy)
    }
}
