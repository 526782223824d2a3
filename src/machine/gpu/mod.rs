//! NVIDIA GPUs. The driver and the libraries are opened at run time: where they are missing, or too old, the answer is
//! a refusal that says what to install. Everything here is compiled and linted on machines without a GPU.

mod context;
pub mod cublas;
pub mod cusparse;
mod driver;
mod event;
mod graph;
mod libraries;
mod loader;
mod memory;
mod module;
pub mod nvrtc;
mod pinned;
mod resources;
mod search;
mod state;
mod status;
mod symbols;

pub use context::Stream;
pub use driver::GpuInfo;
pub use event::Event;
pub use graph::Graph;
pub use libraries::{Found, Library, Version};
pub use pinned::PinnedBuffer;
pub use resources::Resources;
pub use search::FOLDERS_VARIABLE;
pub use state::{GpuFingerprint, GpuState};

use super::Refusal;
use super::device::{Backend, DeviceError, Function, Memory};
use super::kernel::KernelSource;
use super::launch::DeviceLimits;
use context::Context;
use cudarc::driver::sys::CUdevice_attribute as Attribute;
use memory::{DeviceMemory, MemoryPool};
use module::Modules;
use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

/// The oldest GPUs that kernels are written and checked for.
const LEAST_CAPABILITY: [u32; 2] = [8, 0];

/// An open GPU, with one stream that orders everything done to it here.
#[derive(Debug)]
pub struct Gpu {
    info: GpuInfo,
    limits: DeviceLimits,
    stream: Arc<Stream>,
    /// `None` where the driver offers none: memory then comes straight from the device, slowly.
    pool: Option<MemoryPool>,
    modules: Modules,
}

/// GPUs that have been opened, by number: never closed.
static OPEN: LazyLock<Mutex<HashMap<usize, Arc<Gpu>>>> = LazyLock::new(Mutex::default);

impl Gpu {
    /// The GPU of this number, opened once per process.
    ///
    /// ```
    /// use ordito::machine::Gpu;
    /// match Gpu::open(0) {
    ///     Ok(gpu) => println!("{}", gpu.info().name),
    ///     Err(refusal) => println!("{refusal}"), // and what to do about it
    /// }
    /// ```
    pub fn open(number: usize) -> Result<Arc<Self>, Refusal> {
        let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(gpu) = open.get(&number) {
            return Ok(gpu.clone());
        }
        let gpu = Arc::new(Gpu::new(number)?);
        open.insert(number, gpu.clone());
        Ok(gpu)
    }

    /// What the driver says about each GPU of this machine; nothing is opened. Never empty.
    pub fn list() -> Result<Vec<GpuInfo>, Refusal> {
        driver::devices()
    }

    fn new(number: usize) -> Result<Self, Refusal> {
        let devices = driver::devices()?;
        let Some(info) = devices.get(number).cloned() else {
            let names: Vec<_> =
                devices.iter().map(|info| format!("{}: {}", info.number, info.name)).collect();
            let (count, names) = (devices.len(), names.join(", "));
            return Err(Refusal::NoGpu(format!(
                "there is no GPU {number}: this machine has {count} ({names}); choose one with --device"
            )));
        };
        if info.compute_capability < LEAST_CAPABILITY {
            let ([major, minor], [least, _]) = (info.compute_capability, LEAST_CAPABILITY);
            return Err(Refusal::NoGpu(format!(
                "GPU {number} ({}) has compute capability {major}.{minor}; {least}.0 or newer is needed: use another (--device) or the CPU",
                info.name
            )));
        }
        let context = Context::primary(number).map_err(|error| {
            Refusal::NoGpu(format!(
                "GPU {number} ({}) cannot be used: {error}; `nvidia-smi` shows who holds it and how it is",
                info.name
            ))
        })?;
        let limits = limits(&context, &info)?;
        let stream = Stream::new(&context)?;
        let pool = {
            let turn = context.enter()?;
            let supported =
                driver::attribute(context.device(), Attribute::CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED)?;
            (supported != 0).then(|| MemoryPool::of(context.device(), &turn)).transpose()?
        };
        Ok(Gpu { info, limits, stream, pool, modules: Modules::default() })
    }

    /// What the driver says about it.
    pub fn info(&self) -> &GpuInfo {
        &self.info
    }

    /// Its stream: every copy, fill and launch of its buffers and kernels goes through it.
    pub fn stream(&self) -> &Arc<Stream> {
        &self.stream
    }

    /// Bytes of its memory that can still be had, after what is in the stream.
    pub fn free_memory(&self) -> Result<u64, DeviceError> {
        let turn = self.context().enter()?;
        Ok(memory::free_memory(self.pool, &turn)?)
    }

    fn context(&self) -> &Arc<Context> {
        self.stream.context()
    }
    fn pool(&self) -> Option<MemoryPool> {
        self.pool
    }
    fn modules(&self) -> &Modules {
        &self.modules
    }
    fn device_limits(&self) -> &DeviceLimits {
        &self.limits
    }
}

fn limits(context: &Context, info: &GpuInfo) -> Result<DeviceLimits, Refusal> {
    let of = |which| driver::attribute(context.device(), which);
    Ok(DeviceLimits {
        name: info.name.clone(),
        compute_capability: info.compute_capability,
        multiprocessors: of(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?,
        threads_per_block: of(Attribute::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?,
        grid: [
            of(Attribute::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X)?,
            of(Attribute::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y)?,
            of(Attribute::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z)?,
        ],
        block: [
            of(Attribute::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X)?,
            of(Attribute::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y)?,
            of(Attribute::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z)?,
        ],
        shared_bytes_per_block: of(Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)?,
        threads_per_multiprocessor: of(Attribute::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR)?,
        memory_bytes: info.memory_bytes,
        l2_bytes: of(Attribute::CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE)?.into(),
    })
}

impl Backend for Gpu {
    fn limits(&self) -> &DeviceLimits {
        &self.limits
    }
    fn allocate(&self, what: &str, bytes: usize) -> Result<Box<dyn Memory>, Refusal> {
        Ok(Box::new(DeviceMemory::allocate(self, what, bytes)?))
    }
    fn compile(&self, source: &KernelSource) -> Result<Box<dyn Function>, Refusal> {
        Ok(Box::new(self.load(source)?))
    }
    fn synchronize(&self) -> Result<(), DeviceError> {
        self.stream.synchronize()
    }
}
