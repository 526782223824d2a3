//! CUDA kernels on this CPU.

use super::Refusal;
use super::device::{Backend, DeviceError, Function, Memory};
use super::kernel::KernelSource;
use super::launch::DeviceLimits;
use std::sync::Arc;

/// A device that is none.
#[derive(Debug)]
pub struct Emulator {
    limits: DeviceLimits,
}

impl Emulator {
    /// Finds the compiler.
    pub fn open() -> Result<Arc<Self>, Refusal> {
        Err(Refusal::NoCompiler("not written yet".into()))
    }
}

impl Backend for Emulator {
    fn limits(&self) -> &DeviceLimits {
        &self.limits
    }
    fn allocate(&self, _what: &str, _bytes: usize) -> Result<Box<dyn Memory>, Refusal> {
        Err(Refusal::NoCompiler("not written yet".into()))
    }
    fn compile(&self, _source: &KernelSource) -> Result<Box<dyn Function>, Refusal> {
        Err(Refusal::NoCompiler("not written yet".into()))
    }
    fn synchronize(&self) -> Result<(), DeviceError> {
        Ok(())
    }
}
