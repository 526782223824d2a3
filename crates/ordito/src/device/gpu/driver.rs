//! The driver's calls, checked: what they return becomes a sentence.

use crate::device::backend::DeviceError;
use crate::device::gpu::api::driver as sys;
use crate::device::gpu::libraries::Library;
use crate::refusal::Refusal;
use std::ffi::{CStr, c_char, c_int};
use std::fmt;
use std::sync::OnceLock;

/// Calls a function of the driver and checks what it returns. Stands inside an `unsafe` block that says why the
/// arguments are right.
macro_rules! cuda {
    ($call:ident($($argument:expr),* $(,)?)) => {
        $crate::device::gpu::driver::check(stringify!($call), $crate::device::gpu::api::driver::$call($($argument),*))
    };
}
pub(crate) use cuda;

/// A call of the driver that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CudaError {
    call: &'static str,
    code: sys::CUresult,
}

impl CudaError {
    pub(crate) fn is_out_of_memory(self) -> bool {
        self.code == sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY
    }

    /// After these the context answers nothing but errors.
    fn is_final(self) -> bool {
        matches!(self.code.0, 214 | 700 | 702 | 710 | 714..=719)
    }

    /// `an illegal memory access was encountered (CUDA_ERROR_ILLEGAL_ADDRESS, 700)`
    pub(crate) fn why(self) -> String {
        // SAFETY: takes any code; the text that it points to is static.
        let name = text(|pointer| unsafe { sys::cuGetErrorName(self.code, pointer) });
        // SAFETY: the same.
        let sentence = text(|pointer| unsafe { sys::cuGetErrorString(self.code, pointer) });
        let lost = if self.is_final() { "; the GPU's context is lost, start the program again" } else { "" };
        let number = self.code.0;
        match (sentence, name) {
            (Some(sentence), Some(name)) => format!("{sentence} ({name}, {number}){lost}"),
            _ => format!("error {number}{lost}"),
        }
    }
}

fn text(ask: impl Fn(*mut *const c_char) -> sys::CUresult) -> Option<String> {
    let mut pointer = std::ptr::null();
    if ask(&mut pointer) != sys::CUresult::CUDA_SUCCESS || pointer.is_null() {
        return None;
    }
    // SAFETY: the driver points to a static string that ends with 0.
    Some(unsafe { CStr::from_ptr(pointer) }.to_string_lossy().into_owned())
}

impl fmt::Display for CudaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} failed: {}", self.call, self.why())
    }
}

impl From<CudaError> for DeviceError {
    fn from(error: CudaError) -> Self {
        DeviceError::Call { call: error.call, why: error.why() }
    }
}

impl From<CudaError> for Refusal {
    fn from(error: CudaError) -> Self {
        Refusal::Device(error.to_string())
    }
}

pub(crate) fn check(call: &'static str, code: sys::CUresult) -> Result<(), CudaError> {
    if code == sys::CUresult::CUDA_SUCCESS { Ok(()) } else { Err(CudaError { call, code }) }
}

/// Finds and starts the driver, once per process.
pub(crate) fn start() -> Result<(), Refusal> {
    static STARTED: OnceLock<Result<(), Refusal>> = OnceLock::new();
    STARTED
        .get_or_init(|| {
            let found = Library::Cuda.find()?;
            // SAFETY: the function is there, and takes no other flags than 0.
            unsafe { cuda!(cuInit(0)) }.map_err(|error| Refusal::NoGpu(why_not(error, &found.path)))
        })
        .clone()
}

/// What to do about a driver that does not start.
fn why_not(error: CudaError, path: &str) -> String {
    match error.code.0 {
        34 => format!(
            "{path} is a stub of the driver, which toolkits bring for linking only; take its folder out of LD_LIBRARY_PATH and install the NVIDIA driver"
        ),
        100 => no_device(),
        35 | 803 | 804 => format!(
            "{path} does not fit the driver's kernel module: {}; update the NVIDIA driver, or restart if it has just been updated",
            error.why()
        ),
        802 => {
            format!("the GPU is not ready: {}; on NVSwitch machines start nvidia-fabricmanager", error.why())
        }
        _ => format!("the NVIDIA driver ({path}) does not start: {}; `nvidia-smi` must work", error.why()),
    }
}

fn no_device() -> String {
    let visible = match std::env::var("CUDA_VISIBLE_DEVICES") {
        Ok(list) => format!("CUDA_VISIBLE_DEVICES is `{list}`, which may hide one"),
        Err(_) => "`nvidia-smi` should list one".into(),
    };
    format!("the NVIDIA driver sees no GPU: {visible}")
}

/// What the driver says about one GPU before it is opened.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct GpuInfo {
    /// Its number.
    pub number: usize,
    /// Its name.
    pub name: String,
    /// Compute capability, major and minor.
    pub compute_capability: [u32; 2],
    /// Its memory.
    pub memory_bytes: u64,
    /// Where it is plugged in: `0000:41:00.0`.
    pub pci_bus_id: String,
}

/// The GPUs of this machine: at least one.
pub(crate) fn devices() -> Result<Vec<GpuInfo>, Refusal> {
    start()?;
    let mut count = 0;
    // SAFETY: the driver is started; writes one number.
    unsafe { cuda!(cuDeviceGetCount(&mut count)) }?;
    if count <= 0 {
        return Err(Refusal::NoGpu(no_device()));
    }
    Ok((0..count).map(describe).collect::<Result<_, CudaError>>()?)
}

fn describe(ordinal: c_int) -> Result<GpuInfo, CudaError> {
    let device = device(ordinal)?;
    let (mut name, mut bus, mut memory) = ([0; 256], [0; 64], 0);
    // SAFETY: the device exists; each call writes what it is given room for.
    unsafe {
        cuda!(cuDeviceGetName(name.as_mut_ptr(), name.len() as c_int - 1, device))?;
        cuda!(cuDeviceGetPCIBusId(bus.as_mut_ptr(), bus.len() as c_int - 1, device))?;
        cuda!(cuDeviceTotalMem_v2(&mut memory, device))?;
    }
    use sys::CUdevice_attribute as Attribute;
    let major = attribute(device, Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?;
    let minor = attribute(device, Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?;
    Ok(GpuInfo {
        number: ordinal as usize,
        name: string(&name),
        compute_capability: [major, minor],
        memory_bytes: memory as u64,
        pci_bus_id: string(&bus),
    })
}

/// The last byte was not given to the driver, so a 0 ends the text.
fn string(bytes: &[c_char]) -> String {
    // SAFETY: the bytes are initialised and the last one is 0.
    unsafe { CStr::from_ptr(bytes.as_ptr()) }.to_string_lossy().into_owned()
}

/// The handle of the GPU of this number.
pub(crate) fn device(ordinal: c_int) -> Result<sys::CUdevice, CudaError> {
    let mut device = 0;
    // SAFETY: the driver is started; writes one handle.
    unsafe { cuda!(cuDeviceGet(&mut device, ordinal)) }?;
    Ok(device)
}

/// A number that describes a device; a negative one counts as 0.
pub(crate) fn attribute(device: sys::CUdevice, which: sys::CUdevice_attribute) -> Result<u32, CudaError> {
    let mut value = 0;
    // SAFETY: the device exists; writes one number.
    unsafe { cuda!(cuDeviceGetAttribute(&mut value, which, device)) }?;
    Ok(u32::try_from(value).unwrap_or(0))
}
