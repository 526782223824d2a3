//! CUDA kernels on this CPU: slow, and with every access to memory checked.
//!
//! A kernel is compiled by the system's C++ compiler with `cuda_emulator.h` before it, and loaded. Each of its
//! threads is a fiber on the thread that launches. The compiler puts a call before every access to memory, so that
//! accesses out of bounds, data races and reads of what nobody wrote are found exactly, where they happen; barriers
//! that not all threads come to are deadlocks; and every launch runs in several orders of its threads, which must
//! all give the same bits.
//!
//! ```
//! use ordito::device::{Argument, Device, Emulator, KernelSource, LaunchPlan};
//! # if Emulator::open().is_err() { return Ok(()); } // no compiler here
//! let device = Device::Emulator(Emulator::open()?);
//! let text = "extern \"C\" __global__ void twice(int* y) { y[threadIdx.x] *= 2; }";
//! let kernel = device.kernel(&KernelSource::new("twice", "twice.cu", text))?;
//! let mut y = device.upload("Y", &[1, 2, 3])?;
//! // SAFETY: the kernel takes one pointer and writes three numbers behind it: those of Y.
//! unsafe { kernel.launch(&LaunchPlan::linear(device.limits(), Some(3), 3)?, &[Argument::from(&mut y)]) }?;
//! let mut result = [0; 3];
//! y.read(&mut result)?;
//! assert_eq!(result, [2, 4, 6]);
//!
//! let plan = LaunchPlan::linear(device.limits(), Some(4), 4)?; // one thread too many
//! // SAFETY: it would write behind Y's end, but the emulator lets it touch nothing else.
//! let error = unsafe { kernel.launch(&plan, &[Argument::from(&mut y)]) }.unwrap_err();
//! assert!(error.to_string().contains("out-of-bounds read of 4 bytes at byte 12 of Y"), "{error}");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod access;
mod block;
mod clock;
mod collective;
mod compiler;
mod copies;
mod explain;
mod fault;
mod flags;
mod global_memory;
mod hooks;
mod launch;
mod library;
mod memory;
mod order;
mod scheduler;
mod shared_memory;
mod source_lines;
mod state;
pub mod xray;
#[cfg(test)]
mod tests;

pub use crate::device::emulator::order::Order;

use crate::cpu::available_memory_bytes;
use crate::device::backend::{Backend, DeviceError, Function, Memory};
use crate::device::emulator::compiler::Compiler;
use crate::device::emulator::flags::Checks;
use crate::device::emulator::launch::{EmulatedFunction, Resources};
use crate::device::emulator::library::KernelLibrary;
use crate::device::emulator::memory::{EmulatedMemory, Registry};
use crate::device::emulator::xray::{LaunchXray, Recorder, XrayOptions};
use crate::device::kernel_cache::KernelCache;
use crate::device::launch::DeviceLimits;
use crate::device::source::KernelSource;
use crate::files::Key;
use crate::refusal::Refusal;
use std::any::Any;
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, LazyLock, Mutex, OnceLock, PoisonError};

/// Its memory, where the free memory of the machine is not known.
const MEMORY_BYTES_UNKNOWN: u64 = 8 << 30;

type Loaded = Arc<OnceLock<Result<Arc<KernelLibrary>, Refusal>>>;

/// A device that is a C++ compiler and a scheduler of fibers. It has the limits of an H200 and half of the memory
/// that is free on this machine. A kernel reaches only the buffers that its arguments point into.
pub struct Emulator {
    compiler: Compiler,
    cache: KernelCache,
    resources: Arc<Resources>,
    /// Every kernel is loaded once.
    loaded: Mutex<HashMap<Key, Loaded>>,
}

impl fmt::Debug for Emulator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let orders = &self.resources.orders;
        f.debug_struct("Emulator")
            .field("compiler", &self.compiler)
            .field("orders", orders)
            .finish_non_exhaustive()
    }
}

impl Emulator {
    /// The emulator that runs every launch in all orders: found on first use, once per process.
    pub fn open() -> Result<Arc<Self>, Refusal> {
        static EMULATOR: LazyLock<Result<Arc<Emulator>, Refusal>> =
            LazyLock::new(|| Emulator::with_orders(&Order::ALL));
        EMULATOR.clone()
    }

    /// One of its own that runs every launch in these orders; one order is as many times faster as there are fewer,
    /// and finds less.
    #[doc(hidden)]
    pub fn with_orders(orders: &[Order]) -> Result<Arc<Self>, Refusal> {
        let compiler = Compiler::find(std::env::var_os("CXX"), Checks::from_environment())?;
        Ok(Arc::new(Emulator::new(compiler, orders, None)))
    }

    /// One of its own for kernels of others: it runs every launch in all orders, and finds more loops without an end.
    #[doc(hidden)]
    pub fn following() -> Result<Arc<Self>, Refusal> {
        let checks = match Checks::from_environment() {
            Checks::Own => Checks::Followed,
            others => others,
        };
        let compiler = Compiler::find(std::env::var_os("CXX"), checks)?;
        Ok(Arc::new(Emulator::new(compiler, &Order::ALL, None)))
    }

    /// One of its own that counts what launches do, for [`take_xray`](Self::take_xray): it runs each once, on several cores,
    /// and finds no other faults than accesses out of bounds.
    #[doc(hidden)]
    pub fn counting(options: XrayOptions) -> Result<Arc<Self>, Refusal> {
        let compiler = Compiler::find(std::env::var_os("CXX"), Checks::Counted)?;
        Ok(Arc::new(Emulator::new(compiler, &[Order::Ascending], Some(Recorder::new(options)))))
    }

    /// What the launches since the last time did, in their order.
    #[doc(hidden)]
    pub fn take_xray(&self) -> Vec<LaunchXray> {
        self.resources.xray.as_ref().map_or_else(Vec::new, Recorder::take)
    }

    /// Which compiler it uses: its path and what it calls itself.
    #[doc(hidden)]
    pub fn compiler(&self) -> String {
        self.compiler.title()
    }

    fn new(compiler: Compiler, orders: &[Order], xray: Option<Recorder>) -> Self {
        // Half: what else the process holds grows with what it puts on its device.
        let free = available_memory_bytes();
        let memory_bytes = free.map_or(MEMORY_BYTES_UNKNOWN, |free| free / 2);
        let limits = DeviceLimits { name: "emulated H200".into(), memory_bytes, ..DeviceLimits::h200() };
        let checked = compiler.checks() != Checks::AddressSanitizer;
        let resources = Resources {
            registry: Registry::new(memory_bytes, checked),
            stacks: Default::default(),
            orders: orders.to_vec(),
            limits,
            checked,
            xray,
        };
        let (cache, loaded) = (KernelCache::open("emulator"), Mutex::default());
        Emulator { compiler, cache, resources: Arc::new(resources), loaded }
    }

    /// Loads a kernel once; who else asks for it meanwhile waits.
    fn library(&self, source: &KernelSource) -> Result<Arc<KernelLibrary>, Refusal> {
        let key = self.compiler.key(source);
        let loaded = {
            let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
            loaded.entry(key).or_default().clone()
        };
        let load = || {
            let code = match self.cache.get(&key) {
                Some(code) => code,
                None => {
                    let code = self.compiler.compile(source)?;
                    self.cache.put(&key, &code);
                    code
                }
            };
            KernelLibrary::load(code, self.compiler.checks()).map(Arc::new)
        };
        loaded.get_or_init(load).clone()
    }
}

impl Backend for Emulator {
    fn limits(&self) -> &DeviceLimits {
        &self.resources.limits
    }
    fn takes(&self, source: &KernelSource) -> Result<(), Refusal> {
        source.emulated()
    }
    fn allocate(&self, what: &str, bytes: usize) -> Result<Arc<dyn Memory>, Refusal> {
        Ok(Arc::new(self.resources.registry.allocate(what, bytes)?))
    }
    fn find_compiler(&self) -> Result<(), Refusal> {
        Ok(()) // it was found when the emulator was opened
    }
    fn compile(&self, source: &KernelSource) -> Result<Box<dyn Function>, Refusal> {
        source.emulated()?;
        let library = self.library(source)?;
        let resources = self.resources.clone();
        Ok(Box::new(EmulatedFunction { title: source.title(), source: source.clone(), library, resources }))
    }
    fn synchronize(&self) -> Result<(), DeviceError> {
        Ok(()) // a launch returns when it is done
    }

    fn owns(&self, memory: &dyn Memory) -> bool {
        (memory as &dyn Any).is::<EmulatedMemory>()
    }
    fn wait_for(&self, _: &dyn Memory) -> Result<(), DeviceError> {
        Ok(()) // everything is done at once
    }
    fn let_wait(&self, _: &dyn Memory) -> Result<(), DeviceError> {
        Ok(())
    }

    fn copies_by_itself(&self, _: &[u8]) -> bool {
        true
    }
    unsafe fn enqueue_upload(
        &self,
        from: &[u8],
        to: &dyn Memory,
        first_byte: usize,
    ) -> Result<(), DeviceError> {
        to.write(first_byte, from)
    }
    unsafe fn enqueue_download(
        &self,
        from: &dyn Memory,
        first_byte: usize,
        into: &mut [u8],
    ) -> Result<(), DeviceError> {
        from.read(first_byte, into)
    }
}
