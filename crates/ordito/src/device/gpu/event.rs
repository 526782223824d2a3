//! Marks in a stream, and the time between two of them as the GPU's own clock tells it.

use crate::device::backend::DeviceError;
use crate::device::gpu::Gpu;
use crate::device::gpu::api::driver as sys;
use crate::device::gpu::context::Context;
use crate::device::gpu::driver::cuda;
use crate::device::gpu::stream::Stream;
use std::sync::Arc;

/// A mark that a stream passes.
#[derive(Debug)]
pub struct Event {
    context: Arc<Context>,
    raw: sys::CUevent,
}

// SAFETY: the driver allows every thread to use an event.
unsafe impl Send for Event {}
// SAFETY: the same.
unsafe impl Sync for Event {}

impl Event {
    /// A mark that no stream has passed yet.
    pub fn new(gpu: &Gpu) -> Result<Self, DeviceError> {
        let context = gpu.context();
        let _turn = context.enter()?;
        let mut raw = std::ptr::null_mut();
        // SAFETY: a context is current; writes one handle.
        unsafe { cuda!(cuEventCreate(&mut raw, sys::CUevent_flags::CU_EVENT_DEFAULT.0)) }?;
        Ok(Event { context: context.clone(), raw })
    }

    /// Puts the mark behind all that is in the stream now; an earlier mark is forgotten.
    pub fn record(&self, stream: &Stream) -> Result<(), DeviceError> {
        let _turn = self.context.enter()?;
        // SAFETY: both are valid; of different contexts is an error that the driver reports.
        Ok(unsafe { cuda!(cuEventRecord(self.raw, stream.raw())) }?)
    }

    /// Waits until the stream has passed the mark; at once where none was put.
    pub fn synchronize(&self) -> Result<(), DeviceError> {
        let _turn = self.context.enter()?;
        // SAFETY: the event is valid and its context is current.
        Ok(unsafe { cuda!(cuEventSynchronize(self.raw)) }?)
    }

    /// Nanoseconds from one mark to another, waiting for the latter. The clock steps by about 500.
    pub fn elapsed_ns(start: &Event, end: &Event) -> Result<f64, DeviceError> {
        end.synchronize()?;
        let _turn = end.context.enter()?;
        let mut milliseconds = 0.0_f32;
        // SAFETY: both events are valid; marks that were never put are an error that the driver reports.
        unsafe { cuda!(cuEventElapsedTime(&mut milliseconds, start.raw, end.raw)) }?;
        Ok(f64::from(milliseconds) * 1e6)
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        if let Ok(_turn) = self.context.enter() {
            // SAFETY: the event is valid and nobody has it any more.
            let _ = unsafe { cuda!(cuEventDestroy_v2(self.raw)) };
        }
    }
}
