//! Work of one stream on buffers that other streams use too, in order.

use crate::Scalar;
use crate::device::backend::{Backend, DeviceError, Memory};
use crate::device::handle::Device;
use crate::device::view::{DeviceView, DeviceViewMut};
use std::sync::Arc;

impl Device {
    /// Runs `work`, which only enqueues here and uses nothing but these matrices and memory of its own: after all that was
    /// done to their buffers until now, before all that is done to them later, whichever streams those belong to.
    /// Matrices of other devices are an error.
    pub(crate) fn in_order<R: Scalar, W: Scalar, E: From<DeviceError>, const READ: usize>(
        &self,
        (names, read): ([&'static str; READ], [DeviceView<'_, R>; READ]),
        (what, written): (&'static str, DeviceViewMut<'_, W>),
        work: impl FnOnce([DeviceView<'_, R>; READ], DeviceViewMut<'_, W>) -> Result<(), E>,
    ) -> Result<(), E> {
        let backend = self.backend();
        let of_written = owned(backend, what, written.memory())?;
        let mut of_read = [None; READ];
        for ((memory, what), view) in of_read.iter_mut().zip(names).zip(read) {
            *memory = owned(backend, what, view.memory())?;
        }
        let used = || of_read.iter().chain([&of_written]).flatten();
        for memory in used() {
            backend.wait_for(&***memory)?;
        }
        let done = work(read, written);
        // Also after an error: something may have been enqueued.
        for memory in used() {
            backend.let_wait(&***memory)?;
        }
        done
    }
}

/// The memory, unless it is of another device; none where a view's caller sees to the order.
fn owned<'a>(
    backend: &dyn Backend,
    what: &'static str,
    memory: Option<&'a Arc<dyn Memory>>,
) -> Result<Option<&'a Arc<dyn Memory>>, DeviceError> {
    match memory {
        Some(memory) if !backend.owns(&**memory) => Err(DeviceError::Elsewhere { what }),
        memory => Ok(memory),
    }
}
