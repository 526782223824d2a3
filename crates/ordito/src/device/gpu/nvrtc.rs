//! NVRTC compiles kernels straight to machine code, without a toolkit and without a GPU.

use crate::device::gpu::api::nvrtc as sys;
use crate::device::gpu::libraries::Library;
use crate::device::gpu::resources::Resources;
use crate::device::gpu::status::in_words;
use crate::device::source::{Architecture, KernelSource};
use crate::files::Key;
use crate::refusal::Refusal;
use std::ffi::{CString, c_int};

/// A compiled file.
#[derive(Debug)]
pub struct Compiled {
    /// Machine code, as the driver loads it.
    pub cubin: Vec<u8>,
    /// What the compiler said: warnings.
    pub log: String,
}

/// Compiles a kernel for one architecture.
pub fn compile(source: &KernelSource, architecture: Architecture) -> Result<Compiled, Refusal> {
    compile_with(source, architecture, &options(source, architecture))
}

/// Compiles a kernel and tells what it takes. Needs no GPU.
pub fn check(source: &KernelSource, architecture: Architecture) -> Result<Resources, Refusal> {
    let mut options = options(source, architecture);
    options.push("--ptxas-options=-v".into());
    // Where a driver is at hand NVRTC keeps what it compiled, and an assembler that is not asked says nothing.
    if Library::Nvrtc.find()?.version.is_some_and(|version| version.major >= 13) {
        options.push("--no-cache".into());
    }
    let compiled = compile_with(source, architecture, &options)?;
    Resources::parse(&compiled.log, source.entry).ok_or_else(|| Refusal::Compile {
        kernel: source.title(),
        log: format!(
            "the assembler does not mention an `extern \"C\"` kernel {}: {}",
            source.entry, compiled.log
        ),
    })
}

/// Everything that the machine code depends on.
pub(crate) fn key(source: &KernelSource, architecture: Architecture) -> Result<Key, Refusal> {
    let version = Library::Nvrtc.find()?.to_string();
    let options = options(source, architecture).join("\n");
    let mut pieces = vec![&version, source.file, source.text, &options];
    pieces.extend(source.all_headers().flat_map(|(name, text)| [name, text]));
    Ok(Key::of(&pieces.into_iter().map(str::as_bytes).collect::<Vec<_>>()))
}

/// A name for everything that the machine code depends on: text, headers, options, and which NVRTC it is.
pub fn fingerprint(source: &KernelSource, architecture: Architecture) -> Result<String, Refusal> {
    Ok(key(source, architecture)?.to_hex())
}

fn options(source: &KernelSource, architecture: Architecture) -> Vec<String> {
    let mut options = vec![
        format!("--gpu-architecture=sm_{architecture}"),
        "--std=c++17".into(),
        "-lineinfo".into(), // profilers then name lines; costs nothing at run time
    ];
    options.extend(source.defines.iter().map(|(name, value)| format!("-D{name}={value}")));
    options
}

fn compile_with(
    source: &KernelSource,
    architecture: Architecture,
    options: &[String],
) -> Result<Compiled, Refusal> {
    source.check_headers()?;
    let found = Library::Nvrtc.find()?;
    let supported = supported_architectures()?;
    if !supported.contains(&(architecture.number as c_int)) {
        return Err(Refusal::NoLibrary(format!(
            "NVRTC {found} cannot compile for sm_{architecture}; install a release of CUDA that knows this GPU"
        )));
    }
    let failed = |log: String| Refusal::Compile { kernel: source.title(), log };
    let c_string = |text: &str| CString::new(text).map_err(|error| failed(error.to_string()));
    let options = options.iter().map(|option| c_string(option)).collect::<Result<Vec<_>, _>>()?;
    let pointers: Vec<_> = options.iter().map(|option| option.as_ptr()).collect();
    let program = Program::new(source).map_err(&failed)?;
    // SAFETY: the program is valid; so many pointers to strings follow, which live on until the call returns.
    let code = unsafe { sys::nvrtcCompileProgram(program.0, pointers.len() as c_int, pointers.as_ptr()) };
    let log = program.log().map_err(&failed)?;
    if let Err(why) = check_code("nvrtcCompileProgram", code) {
        return Err(failed(if log.trim().is_empty() { why } else { log }));
    }
    Ok(Compiled { cubin: program.cubin().map_err(&failed)?, log })
}

/// Architectures that this NVRTC compiles for.
fn supported_architectures() -> Result<Vec<c_int>, Refusal> {
    let mut count = 0;
    // SAFETY: writes one number.
    check_code("nvrtcGetNumSupportedArchs", unsafe { sys::nvrtcGetNumSupportedArchs(&mut count) })
        .map_err(Refusal::NoLibrary)?;
    let mut architectures = vec![0; usize::try_from(count).unwrap_or(0)];
    // SAFETY: writes as many numbers as it said.
    check_code("nvrtcGetSupportedArchs", unsafe { sys::nvrtcGetSupportedArchs(architectures.as_mut_ptr()) })
        .map_err(Refusal::NoLibrary)?;
    Ok(architectures)
}

fn check_code(call: &str, code: sys::nvrtcResult) -> Result<(), String> {
    if code == sys::nvrtcResult::NVRTC_SUCCESS {
        return Ok(());
    }
    // SAFETY: takes any code and points to a static string.
    let why = unsafe { in_words(code.0, sys::nvrtcGetErrorString(code)) };
    Err(format!("{call} failed: {why}"))
}

/// A program of NVRTC's.
struct Program(sys::nvrtcProgram);

impl Program {
    fn new(source: &KernelSource) -> Result<Self, String> {
        let c_string = |text: &str| CString::new(text).map_err(|error| error.to_string());
        let (text, file) = (c_string(source.text)?, c_string(source.file)?);
        let headers = source.all_headers().map(|(name, text)| Ok((c_string(name)?, c_string(text)?)));
        let headers = headers.collect::<Result<Vec<_>, String>>()?;
        let (names, texts): (Vec<_>, Vec<_>) =
            headers.iter().map(|(name, text)| (name.as_ptr(), text.as_ptr())).unzip();
        let mut raw = std::ptr::null_mut();
        // SAFETY: strings that end with 0, as many headers as names; NVRTC copies them. Writes one handle.
        let code = unsafe {
            sys::nvrtcCreateProgram(
                &mut raw,
                text.as_ptr(),
                file.as_ptr(),
                texts.len() as c_int,
                texts.as_ptr(),
                names.as_ptr(),
            )
        };
        check_code("nvrtcCreateProgram", code)?;
        Ok(Program(raw))
    }

    fn log(&self) -> Result<String, String> {
        let mut size = 0;
        // SAFETY: the program is valid; writes one number.
        check_code("nvrtcGetProgramLogSize", unsafe { sys::nvrtcGetProgramLogSize(self.0, &mut size) })?;
        let mut bytes = vec![0_u8; size];
        if size > 0 {
            // SAFETY: writes as many bytes as it said, the last of them 0.
            let code = unsafe { sys::nvrtcGetProgramLog(self.0, bytes.as_mut_ptr().cast()) };
            check_code("nvrtcGetProgramLog", code)?;
        }
        Ok(String::from_utf8_lossy(&bytes).trim_end_matches('\0').trim_end().to_string())
    }

    fn cubin(&self) -> Result<Vec<u8>, String> {
        let mut size = 0;
        // SAFETY: the program is valid; writes one number.
        check_code("nvrtcGetCUBINSize", unsafe { sys::nvrtcGetCUBINSize(self.0, &mut size) })?;
        let mut cubin = vec![0_u8; size];
        if cubin.is_empty() {
            return Err("NVRTC made no machine code".into());
        }
        // SAFETY: writes as many bytes as it said.
        check_code("nvrtcGetCUBIN", unsafe { sys::nvrtcGetCUBIN(self.0, cubin.as_mut_ptr().cast()) })?;
        Ok(cubin)
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // SAFETY: the program is valid and nobody has it any more.
        let _ = unsafe { sys::nvrtcDestroyProgram(&mut self.0) };
    }
}
