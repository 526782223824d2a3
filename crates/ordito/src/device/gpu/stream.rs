//! Queues of work on a GPU, and how one waits for another.

use crate::device::backend::DeviceError;
use crate::device::gpu::api::driver as sys;
use crate::device::gpu::context::{Context, Turn};
use crate::device::gpu::driver::{CudaError, cuda};
use std::ffi::c_void;
use std::sync::Arc;

/// A queue of work on a GPU; what is put into it happens in that order. Work of different streams may overlap, unless
/// one [waits for](Stream::wait_for) the other.
#[derive(Debug)]
pub struct Stream {
    context: Arc<Context>,
    raw: sys::CUstream,
    /// Made by somebody else, who will destroy it.
    borrowed: bool,
    /// What another stream waits for. Put anew for every wait: a wait that has been asked for keeps the mark it saw.
    mark: sys::CUevent,
}

// SAFETY: the driver allows every thread to use a stream and an event.
unsafe impl Send for Stream {}
// SAFETY: the same.
unsafe impl Sync for Stream {}

impl Stream {
    /// A stream that does not wait for the legacy stream, which other libraries of this process may use.
    pub(crate) fn new(context: &Arc<Context>) -> Result<Arc<Self>, CudaError> {
        let mut raw = std::ptr::null_mut();
        {
            let _turn = context.enter()?;
            // SAFETY: a context is current; writes one handle.
            unsafe { cuda!(cuStreamCreate(&mut raw, sys::CUstream_flags::CU_STREAM_NON_BLOCKING.0)) }?;
        }
        Stream::with_mark(context, raw, false)
    }

    /// A stream that somebody else made.
    ///
    /// # Safety
    /// `raw` is a stream of this context and stays one as long as anything here uses it.
    pub(crate) unsafe fn borrowed(context: &Arc<Context>, raw: *mut c_void) -> Result<Arc<Self>, CudaError> {
        Stream::with_mark(context, raw.cast(), true)
    }

    fn with_mark(context: &Arc<Context>, raw: sys::CUstream, borrowed: bool) -> Result<Arc<Self>, CudaError> {
        let mut stream = Stream { context: context.clone(), raw, borrowed, mark: std::ptr::null_mut() };
        {
            let _turn = context.enter()?;
            let flags = sys::CUevent_flags::CU_EVENT_DISABLE_TIMING.0; // nobody asks when, and it costs
            // SAFETY: a context is current; writes one handle.
            unsafe { cuda!(cuEventCreate(&mut stream.mark, flags)) }?;
        }
        Ok(Arc::new(stream))
    }

    pub(crate) fn context(&self) -> &Arc<Context> {
        &self.context
    }

    /// Are both of the same GPU?
    pub(crate) fn is_of_gpu_of(&self, other: &Stream) -> bool {
        Arc::ptr_eq(&self.context, &other.context)
    }

    pub(crate) fn raw(&self) -> sys::CUstream {
        self.raw
    }

    /// Waits until everything in it is done.
    pub fn synchronize(&self) -> Result<(), DeviceError> {
        let turn = self.context.enter()?;
        Ok(self.wait(&turn)?)
    }

    /// What is put into this stream from now on happens after all that is in the other one now. The host does not wait.
    pub fn wait_for(&self, earlier: &Stream) -> Result<(), DeviceError> {
        let same_gpu = self.is_of_gpu_of(earlier);
        if same_gpu && self.raw == earlier.raw {
            return Ok(());
        }
        let turn = earlier.context.enter()?;
        // SAFETY: mark and stream are valid and of one context. Where another thread puts the mark anew before the wait
        // below, that waits for more than it must, never for less.
        unsafe { cuda!(cuEventRecord(earlier.mark, earlier.raw)) }?;
        // One turn for both calls where that is possible, so that no capture begins between them.
        let _turn = if same_gpu {
            turn
        } else {
            drop(turn);
            self.context.enter()?
        };
        // SAFETY: stream and mark are valid; a mark of another GPU is allowed.
        Ok(unsafe { cuda!(cuStreamWaitEvent(self.raw, earlier.mark, 0)) }?)
    }

    /// As [`synchronize`](Self::synchronize), in the middle of other calls.
    pub(crate) fn wait(&self, _turn: &Turn<'_>) -> Result<(), CudaError> {
        // SAFETY: the stream is valid and its context is current.
        unsafe { cuda!(cuStreamSynchronize(self.raw)) }
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        let Ok(_turn) = self.context.enter() else { return };
        if !self.mark.is_null() {
            // SAFETY: the event is valid and nobody has it any more; waits for it that are under way go on.
            let _ = unsafe { cuda!(cuEventDestroy_v2(self.mark)) };
        }
        if !self.borrowed {
            // SAFETY: the stream is valid and nobody has it any more; the driver lets its work finish.
            let _ = unsafe { cuda!(cuStreamDestroy_v2(self.raw)) };
        }
    }
}
