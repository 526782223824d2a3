//! What calls of the driver happen in: a context, made current on the calling thread.

use crate::device::backend::DeviceError;
use crate::device::gpu::api::driver as sys;
use crate::device::gpu::driver;
use crate::device::gpu::driver::{CudaError, cuda};
use std::cell::Cell;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};

/// The primary context of a GPU: the one that PyTorch and CuPy use as well, so that memory can be shared. Kept until
/// the process ends.
#[derive(Debug)]
pub(crate) struct Context {
    device: sys::CUdevice,
    raw: sys::CUcontext,
    /// Read while a call is made, written while a graph is captured: what another thread put into the stream
    /// meanwhile would become part of the graph.
    turns: RwLock<()>,
}

// SAFETY: the driver allows every thread to use a context.
unsafe impl Send for Context {}
// SAFETY: the same.
unsafe impl Sync for Context {}

thread_local! {
    /// Address of the context that this thread captures a graph in; 0 for none.
    static CAPTURING: Cell<usize> = const { Cell::new(0) };
}

impl Context {
    /// The primary context of the GPU of this number. The driver is started.
    pub(crate) fn primary(number: usize) -> Result<Arc<Self>, CudaError> {
        let device = driver::device(number as i32)?;
        let mut raw = std::ptr::null_mut();
        // SAFETY: the device exists; writes one handle. It is never released, so it stays valid.
        unsafe { cuda!(cuDevicePrimaryCtxRetain(&mut raw, device)) }?;
        Ok(Arc::new(Context { device, raw, turns: RwLock::new(()) }))
    }

    pub(crate) fn device(&self) -> sys::CUdevice {
        self.device
    }

    /// Makes the context current on this thread and waits while another one captures a graph. Held during a call;
    /// not to be asked for again before it is dropped.
    pub(crate) fn enter(&self) -> Result<Turn<'_>, CudaError> {
        let capturing = CAPTURING.get() == self.identity();
        let guard = (!capturing).then(|| self.turns.read().unwrap_or_else(PoisonError::into_inner));
        // SAFETY: the context is valid.
        unsafe { cuda!(cuCtxSetCurrent(self.raw)) }?;
        Ok(Turn { capturing, _guard: guard })
    }

    /// Runs `work` while no other thread makes calls in this context. A capture within a capture runs as part of it.
    pub(crate) fn alone<R>(&self, work: impl FnOnce() -> R) -> R {
        struct Restore(usize);
        impl Drop for Restore {
            fn drop(&mut self) {
                CAPTURING.set(self.0);
            }
        }
        let identity = self.identity();
        let _guard =
            (CAPTURING.get() != identity).then(|| self.turns.write().unwrap_or_else(PoisonError::into_inner));
        let _restore = Restore(CAPTURING.replace(identity));
        work()
    }

    fn identity(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }
}

/// The context is current on this thread.
#[derive(Debug)]
pub(crate) struct Turn<'a> {
    capturing: bool,
    _guard: Option<RwLockReadGuard<'a, ()>>,
}

impl Turn<'_> {
    /// Refuses what must not become part of a graph: a copy that names memory of the host would outlive it there.
    pub(crate) fn check_not_capturing(&self) -> Result<(), DeviceError> {
        if !self.capturing {
            return Ok(());
        }
        let why = "copies between host and device cannot be part of a graph".to_string();
        Err(DeviceError::Call { call: "capture", why })
    }
}
