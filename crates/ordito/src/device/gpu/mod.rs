//! NVIDIA GPUs. The driver and the libraries are opened at run time: where they are missing, or too old, the answer is
//! a refusal that says what to install. Everything here is compiled and linted on machines without a GPU.

mod api;
mod context;
mod copies;
#[doc(hidden)]
pub mod cublas;
#[doc(hidden)]
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
mod staging;
mod state;
mod status;
mod stream;

pub use crate::device::gpu::driver::GpuInfo;
pub use crate::device::gpu::event::Event;
pub use crate::device::gpu::graph::Graph;
pub use crate::device::gpu::libraries::{Found, Library, Version};
pub use crate::device::gpu::pinned::PinnedBuffer;
pub use crate::device::gpu::resources::Resources;
pub use crate::device::gpu::search::FOLDERS_VARIABLE;
pub use crate::device::gpu::state::{GpuFingerprint, GpuState};
pub use crate::device::gpu::stream::Stream;

use crate::cpu::Pool;
use crate::device::backend::{Backend, DeviceError, Function, Memory};
use crate::device::gpu::api::driver::CUdevice_attribute as Attribute;
use crate::device::gpu::context::Context;
use crate::device::gpu::memory::{DeviceMemory, MemoryPool};
use crate::device::gpu::module::Modules;
use crate::device::gpu::pinned::is_pinned;
use crate::device::gpu::staging::Staging;
use crate::device::launch::DeviceLimits;
use crate::device::source::KernelSource;
use crate::refusal::Refusal;
use std::collections::HashMap;
use std::ffi::c_void;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

/// The oldest GPUs that kernels are written and checked for.
const LEAST_CAPABILITY: [u32; 2] = [8, 0];

/// An open GPU, and the stream that everything done through this handle goes into.
#[derive(Debug)]
pub struct Gpu {
    core: Arc<Core>,
    stream: Arc<Stream>,
    /// Threads that help to copy from and to memory that is not pinned.
    copiers: Option<Arc<Pool>>,
}

/// What all handles of a GPU share.
#[derive(Debug)]
struct Core {
    info: GpuInfo,
    limits: DeviceLimits,
    /// `None` where the driver offers none: memory then comes straight from the device, slowly.
    pool: Option<MemoryPool>,
    modules: Modules,
    /// Made when first needed.
    staging: Mutex<Option<Staging>>,
}

/// GPUs that have been opened, by number: never closed.
static OPEN: LazyLock<Mutex<HashMap<usize, Arc<Gpu>>>> = LazyLock::new(Mutex::default);

impl Gpu {
    /// The GPU of this number, opened once per process, with the stream that all who ask share.
    ///
    /// ```
    /// use ordito::device::Gpu;
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
                "there is no GPU {number}: this machine has {count} ({names})"
            )));
        };
        if info.compute_capability < LEAST_CAPABILITY {
            let ([major, minor], [least, _]) = (info.compute_capability, LEAST_CAPABILITY);
            return Err(Refusal::NoGpu(format!(
                "GPU {number} ({}) has compute capability {major}.{minor}; {least}.0 or newer is needed: use another GPU or the CPU",
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
        let core = Core { info, limits, pool, modules: Modules::default(), staging: Mutex::default() };
        Ok(Gpu { core: Arc::new(core), stream, copiers: None })
    }

    /// The same GPU with a new stream: its work is not ordered with that of other handles, unless a stream
    /// [waits for](Stream::wait_for) another.
    pub fn with_new_stream(&self) -> Result<Arc<Self>, Refusal> {
        Ok(self.with(Stream::new(self.context())?, self.copiers.clone()))
    }

    /// The same GPU with a stream that somebody else made: a `CUstream`, `cudaStream_t`, CuPy's `stream.ptr`, torch's
    /// `stream.cuda_stream`. Null is the legacy stream, in which nothing can be recorded.
    ///
    /// # Safety
    /// `raw` is a stream of this GPU's primary context, and is not destroyed before everything that was made through
    /// this handle is gone.
    pub unsafe fn with_raw_stream(&self, raw: *mut c_void) -> Result<Arc<Self>, Refusal> {
        // SAFETY: the caller's promise.
        let stream = unsafe { Stream::borrowed(self.context(), raw) }?;
        Ok(self.with(stream, self.copiers.clone()))
    }

    /// The same GPU and stream, with threads that help to copy from and to memory that is not pinned.
    pub(crate) fn with_copiers(&self, pool: &Arc<Pool>) -> Arc<Self> {
        self.with(self.stream.clone(), Some(pool.clone()))
    }

    fn with(&self, stream: Arc<Stream>, copiers: Option<Arc<Pool>>) -> Arc<Self> {
        Arc::new(Gpu { core: self.core.clone(), stream, copiers })
    }

    /// What the driver says about it.
    #[doc(hidden)]
    pub fn info(&self) -> &GpuInfo {
        &self.core.info
    }

    /// Its stream: every copy, fill and launch of buffers and kernels made through this handle goes into it.
    #[doc(hidden)]
    pub fn stream(&self) -> &Arc<Stream> {
        &self.stream
    }

    /// Bytes of its memory that can still be had, after what is in the stream.
    pub fn free_memory(&self) -> Result<u64, DeviceError> {
        let turn = self.context().enter()?;
        Ok(memory::free_memory(self.core.pool, &turn)?)
    }

    fn context(&self) -> &Arc<Context> {
        self.stream.context()
    }
    fn pool(&self) -> Option<MemoryPool> {
        self.core.pool
    }
    fn modules(&self) -> &Modules {
        &self.core.modules
    }
    fn device_limits(&self) -> &DeviceLimits {
        &self.core.limits
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
        &self.core.limits
    }
    fn takes(&self, source: &KernelSource) -> Result<(), Refusal> {
        source.target(self.core.limits.architecture()).map(drop)
    }
    fn allocate(&self, what: &str, bytes: usize) -> Result<Arc<dyn Memory>, Refusal> {
        Ok(Arc::new(DeviceMemory::allocate(self, what, bytes)?))
    }
    fn find_compiler(&self) -> Result<(), Refusal> {
        Library::Nvrtc.find().map(drop)
    }
    fn compile(&self, source: &KernelSource) -> Result<Box<dyn Function>, Refusal> {
        Ok(Box::new(self.load(source)?))
    }
    fn synchronize(&self) -> Result<(), DeviceError> {
        self.stream.synchronize()
    }

    fn owns(&self, memory: &dyn Memory) -> bool {
        memory::stream_of(memory).is_some_and(|theirs| theirs.is_of_gpu_of(&self.stream))
    }
    fn wait_for(&self, memory: &dyn Memory) -> Result<(), DeviceError> {
        memory::stream_of(memory).map_or(Ok(()), |theirs| self.stream.wait_for(theirs))
    }
    fn let_wait(&self, memory: &dyn Memory) -> Result<(), DeviceError> {
        memory::stream_of(memory).map_or(Ok(()), |theirs| theirs.wait_for(&self.stream))
    }

    fn copies_by_itself(&self, host: &[u8]) -> bool {
        is_pinned(host)
    }
    unsafe fn enqueue_upload(
        &self,
        from: &[u8],
        to: &dyn Memory,
        first_byte: usize,
    ) -> Result<(), DeviceError> {
        // SAFETY: the caller's promise.
        unsafe { self.upload_to(to.address() + first_byte as u64, from) }
    }
    unsafe fn enqueue_download(
        &self,
        from: &dyn Memory,
        first_byte: usize,
        into: &mut [u8],
    ) -> Result<(), DeviceError> {
        // SAFETY: the caller's promise.
        unsafe { self.download_from(from.address() + first_byte as u64, into) }
    }
}
