//! Machine code on a GPU: loaded once per process, compiled only where neither process nor disk has it.

use crate::device::argument::Argument;
use crate::device::backend::{DeviceError, Function};
use crate::device::gpu::Gpu;
use crate::device::gpu::api::driver as sys;
use crate::device::gpu::context::Context;
use crate::device::gpu::driver::{CudaError, cuda};
use crate::device::gpu::libraries::Library;
use crate::device::gpu::nvrtc;
use crate::device::gpu::stream::Stream;
use crate::device::kernel_cache::KernelCache;
use crate::device::launch::{KernelAttributes, LaunchPlan};
use crate::device::source::KernelSource;
use crate::refusal::Refusal;
use std::collections::HashMap;
use std::ffi::{CString, c_int, c_void};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Shared memory that a block may have without asking.
const SHARED_BYTES_UNASKED: u32 = 48 << 10;
/// More parameters than any kernel here has.
const MOST_PARAMETERS: usize = 64;

/// Functions that were loaded.
#[derive(Debug, Default)]
pub(crate) struct Modules(Mutex<HashMap<KernelSource, Arc<Loaded>>>);

/// A loaded module.
#[derive(Debug)]
struct Module {
    context: Arc<Context>,
    raw: sys::CUmodule,
}

// SAFETY: the driver allows every thread to use a module.
unsafe impl Send for Module {}
// SAFETY: the same.
unsafe impl Sync for Module {}

impl Module {
    fn load(context: &Arc<Context>, cubin: &[u8]) -> Result<Self, CudaError> {
        let _turn = context.enter()?;
        let mut raw = std::ptr::null_mut();
        // SAFETY: a context is current; the driver finds the end of the image by itself and checks what it reads. Both
        // NVRTC and the cache hand out whole images.
        unsafe { cuda!(cuModuleLoadData(&mut raw, cubin.as_ptr().cast::<c_void>())) }?;
        Ok(Module { context: context.clone(), raw })
    }
}

impl Drop for Module {
    fn drop(&mut self) {
        if let Ok(_turn) = self.context.enter() {
            // SAFETY: the module is valid, and no function of it is left.
            let _ = unsafe { cuda!(cuModuleUnload(self.raw)) };
        }
    }
}

/// A kernel of a loaded module.
#[derive(Debug)]
struct Loaded {
    module: Module,
    entry: &'static str,
    raw: sys::CUfunction,
    attributes: KernelAttributes,
    /// Bytes of each parameter, where the driver tells.
    parameters: Option<Vec<usize>>,
    /// Dynamic shared memory that a block may have after asking.
    most_dynamic_shared: u32,
    asked_for_shared: AtomicBool,
}

// SAFETY: the driver allows every thread to use a function.
unsafe impl Send for Loaded {}
// SAFETY: the same.
unsafe impl Sync for Loaded {}

impl Gpu {
    /// The kernel, from this process, from the disk, or compiled now.
    pub(crate) fn load(&self, source: &KernelSource) -> Result<GpuFunction, Refusal> {
        let loaded = || self.modules().0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = loaded().get(source).cloned();
        let function = match known {
            Some(function) => function,
            None => {
                // Not under the lock: other kernels may be compiled meanwhile, and this one twice at worst.
                let function = Arc::new(Loaded::new(self, source, self.module(source)?)?);
                // Whoever came first stays: a function that is launched and dropped lives on here until it has run.
                loaded().entry(source.clone()).or_insert(function).clone()
            }
        };
        Ok(GpuFunction { function, stream: self.stream().clone() })
    }

    fn module(&self, source: &KernelSource) -> Result<Module, Refusal> {
        let architecture = source.target(self.device_limits().architecture())?;
        self.check_compiler()?;
        let (cache, key) = (KernelCache::open("cubin"), nvrtc::key(source, architecture)?);
        // What the driver does not load, though whole, is made again: it may come from another driver's time.
        let kept = cache.get(&key).and_then(|cubin| Module::load(self.context(), &cubin).ok());
        if let Some(module) = kept {
            return Ok(module);
        }
        let cubin = nvrtc::compile(source, architecture)?.cubin;
        let module = Module::load(self.context(), &cubin)?;
        cache.put(&key, &cubin);
        Ok(module)
    }

    /// Refuses a compiler whose machine code this driver cannot load.
    fn check_compiler(&self) -> Result<(), Refusal> {
        let (driver, compiler) = (Library::Cuda.find()?, Library::Nvrtc.find()?);
        match (driver.version, compiler.version) {
            (Some(of_driver), Some(of_compiler)) if of_driver.major < of_compiler.major => {
                // From CUDA 13 on the wheels have no suffix any more.
                let wheel = match of_driver.major {
                    major @ ..=12 => format!("nvidia-cuda-nvrtc-cu{major}"),
                    major => format!("'nvidia-cuda-nvrtc=={major}.*'"),
                };
                Err(Refusal::NoLibrary(format!(
                    "NVRTC is for CUDA {compiler}, the driver for CUDA {of_driver}, which cannot load its code; update the NVIDIA driver, or `pip install {wheel}` and name its folder in ORDITO_LIBRARY_PATH"
                )))
            }
            _ => Ok(()),
        }
    }
}

impl Loaded {
    fn new(gpu: &Gpu, source: &KernelSource, module: Module) -> Result<Self, Refusal> {
        let name = CString::new(source.entry).map_err(|error| Refusal::Device(error.to_string()))?;
        let mut raw = std::ptr::null_mut();
        let (attributes, parameters) = {
            let _turn = gpu.context().enter()?;
            // SAFETY: the module is valid and its context is current; writes one handle.
            unsafe { cuda!(cuModuleGetFunction(&mut raw, module.raw, name.as_ptr())) }.map_err(|error| {
                Refusal::Device(format!("kernel {} of {}: {error}", source.entry, source.file))
            })?;
            use sys::CUfunction_attribute as Attribute;
            let attribute = |which| {
                let mut value: c_int = 0;
                // SAFETY: the function is valid; writes one number. Also loads its code, which a capture could not.
                unsafe { cuda!(cuFuncGetAttribute(&mut value, which, raw)) }?;
                Ok::<_, CudaError>(u32::try_from(value).ok())
            };
            let attributes = KernelAttributes {
                registers: attribute(Attribute::CU_FUNC_ATTRIBUTE_NUM_REGS)?,
                static_shared_bytes: attribute(Attribute::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)?,
                local_bytes: attribute(Attribute::CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES)?,
            };
            (attributes, parameters(raw))
        };
        let limit = gpu.device_limits().shared_bytes_per_block;
        let most_dynamic_shared = limit.saturating_sub(attributes.static_shared_bytes.unwrap_or(0));
        let (entry, asked_for_shared) = (source.entry, AtomicBool::new(false));
        Ok(Loaded { module, entry, raw, attributes, parameters, most_dynamic_shared, asked_for_shared })
    }

    /// Asks for as much as there is, once, where a launch needs more than is given unasked.
    fn allow_shared(&self, plan: &LaunchPlan) -> Result<(), CudaError> {
        let unasked = SHARED_BYTES_UNASKED.saturating_sub(self.attributes.static_shared_bytes.unwrap_or(0));
        if plan.shared_bytes() <= unasked || self.asked_for_shared.load(Ordering::Relaxed) {
            return Ok(());
        }
        let which = sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        // SAFETY: the function is valid and its context is current. Only ever set to the same number.
        unsafe { cuda!(cuFuncSetAttribute(self.raw, which, self.most_dynamic_shared as c_int)) }?;
        self.asked_for_shared.store(true, Ordering::Relaxed);
        Ok(())
    }

    /// Arguments that are smaller than parameters, or fewer, would be read past their end.
    fn check_arguments(&self, arguments: &[Argument]) -> Result<(), String> {
        if arguments.len() > MOST_PARAMETERS {
            return Err(format!("{} arguments, at most {MOST_PARAMETERS} are allowed", arguments.len()));
        }
        let Some(parameters) = &self.parameters else { return Ok(()) };
        let sizes = || arguments.iter().map(|argument| argument.bytes().len());
        if !sizes().eq(parameters.iter().copied()) {
            let given: Vec<usize> = sizes().collect();
            return Err(format!("arguments of {given:?} bytes for parameters of {parameters:?} bytes"));
        }
        Ok(())
    }
}

/// Sizes of all parameters; `None` where the driver does not tell. Called with the context current.
fn parameters(function: sys::CUfunction) -> Option<Vec<usize>> {
    let mut count = 0;
    // SAFETY: the function is valid; writes one number.
    let counted = unsafe { sys::cuFuncGetParamCount(function, &mut count) };
    // A driver that does not tell how many there are is asked until it refuses. (Whoever watches its calls sees one that
    // failed; a kernel that is launched with too few arguments would be worse.)
    let count = if counted == Some(sys::CUresult::CUDA_SUCCESS) { count } else { usize::MAX };
    let mut sizes = Vec::new();
    for index in 0..count {
        let (mut offset, mut size) = (0, 0);
        // SAFETY: the function is valid; writes two numbers, or refuses an index beyond the last one.
        let answer = unsafe { sys::cuFuncGetParamInfo(function, index, &mut offset, &mut size) }?;
        match answer {
            sys::CUresult::CUDA_SUCCESS => sizes.push(size),
            sys::CUresult::CUDA_ERROR_INVALID_VALUE => break,
            _ => return None,
        }
    }
    Some(sizes)
}

/// A kernel and the stream that it is launched in.
#[derive(Debug)]
pub(crate) struct GpuFunction {
    function: Arc<Loaded>,
    stream: Arc<Stream>,
}

impl Function for GpuFunction {
    unsafe fn launch(&self, plan: &LaunchPlan, arguments: &[Argument]) -> Result<(), DeviceError> {
        let function = &*self.function;
        let failed = |why: String| DeviceError::Call {
            call: "cuLaunchKernel",
            why: format!(
                "{}, grid {:?}, block {:?}, {} B shared: {why}",
                function.entry,
                plan.grid(),
                plan.block(),
                plan.shared_bytes()
            ),
        };
        let _turn = function.module.context.enter()?;
        function.check_arguments(arguments).map_err(failed)?;
        let nothing = 0_u64;
        let mut pointers = [(&raw const nothing).cast_mut().cast::<c_void>(); MOST_PARAMETERS];
        for (pointer, argument) in pointers.iter_mut().zip(arguments) {
            *pointer = argument.bytes().as_ptr().cast_mut().cast();
        }
        let ([grid_x, grid_y, grid_z], [block_x, block_y, block_z]) = (plan.grid(), plan.block());
        function.allow_shared(plan)?;
        // SAFETY: function and stream are valid and of the current context; the driver copies the arguments before it
        // returns. That they are what the kernel takes is the caller's promise; number and sizes are checked where the driver
        // tells its parameters.
        let launched = unsafe {
            cuda!(cuLaunchKernel(
                function.raw,
                grid_x,
                grid_y,
                grid_z,
                block_x,
                block_y,
                block_z,
                plan.shared_bytes(),
                self.stream.raw(),
                pointers.as_mut_ptr(),
                std::ptr::null_mut(),
            ))
        };
        launched.map_err(|error| failed(error.why()))
    }

    fn attributes(&self) -> KernelAttributes {
        self.function.attributes
    }

    fn blocks_per_multiprocessor(&self, plan: &LaunchPlan) -> Option<u32> {
        let _turn = self.function.module.context.enter().ok()?;
        self.function.allow_shared(plan).ok()?;
        let (threads, mut blocks) = (c_int::try_from(plan.threads_per_block()).ok()?, 0);
        let shared = plan.shared_bytes() as usize;
        // SAFETY: the function is valid and its context is current; writes one number.
        unsafe {
            cuda!(cuOccupancyMaxActiveBlocksPerMultiprocessor(
                &mut blocks,
                self.function.raw,
                threads,
                shared
            ))
        }
        .ok()?;
        u32::try_from(blocks).ok()
    }
}
