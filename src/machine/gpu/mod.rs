//! NVIDIA GPUs, opened at run time.

use super::Refusal;
use super::device::{Backend, DeviceError, Function, Memory};
use super::kernel::KernelSource;
use super::launch::DeviceLimits;
use std::sync::Arc;

/// An open GPU.
#[derive(Debug)]
pub struct Gpu {
    limits: DeviceLimits,
}

impl Gpu {
    /// The GPU of this number, opened once per process.
    pub fn open(_number: usize) -> Result<Arc<Self>, Refusal> {
        Err(Refusal::NoGpu("not written yet".into()))
    }
}

impl Backend for Gpu {
    fn limits(&self) -> &DeviceLimits {
        &self.limits
    }
    fn allocate(&self, _what: &str, _bytes: usize) -> Result<Box<dyn Memory>, Refusal> {
        Err(Refusal::NoGpu("not written yet".into()))
    }
    fn compile(&self, _source: &KernelSource) -> Result<Box<dyn Function>, Refusal> {
        Err(Refusal::NoGpu("not written yet".into()))
    }
    fn synchronize(&self) -> Result<(), DeviceError> {
        Ok(())
    }
}

/// stub
#[derive(Debug)]
pub struct Event;
/// stub
#[derive(Debug)]
pub struct Graph;
impl Event {
    /// stub
    pub fn record(&self) -> Result<(), DeviceError> {
        Ok(())
    }
    /// stub
    pub fn synchronize(&self) -> Result<(), DeviceError> {
        Ok(())
    }
    /// stub
    pub fn elapsed_ns(&self, _: &Event) -> Result<f64, DeviceError> {
        Ok(0.0)
    }
}
impl Graph {
    /// stub
    pub fn launch(&self) -> Result<(), DeviceError> {
        Ok(())
    }
}
impl Gpu {
    /// stub
    pub fn event(&self) -> Result<Event, DeviceError> {
        Ok(Event)
    }
    /// stub
    pub fn capture<E: From<DeviceError>>(&self, run: &mut dyn FnMut() -> Result<(), E>) -> Result<Graph, E> {
        run()?;
        Ok(Graph)
    }
}

/// stub
#[derive(Debug)]
pub struct PinnedBuffer<T>(Vec<T>);
impl<T> PinnedBuffer<T> {
    /// stub
    pub fn as_slice(&self) -> &[T] {
        &self.0
    }
    /// stub
    pub fn as_mut_slice(&mut self) -> &mut [T] {
        &mut self.0
    }
}
impl Gpu {
    /// stub
    pub fn pinned<T: bytemuck::Pod>(&self, len: usize) -> Result<PinnedBuffer<T>, Refusal> {
        Ok(PinnedBuffer(vec![T::zeroed(); len]))
    }
}
