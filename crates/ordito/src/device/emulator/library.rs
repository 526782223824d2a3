//! A compiled kernel in this process.

use crate::device::emulator::flags::Checks;
use crate::device::emulator::hooks::Table;
use crate::device::emulator::source_lines::SourceLines;
use crate::files::kernel_prefix;
use crate::refusal::Refusal;
use std::ffi::c_void;
use std::io::Write;
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The kernel with its arguments unpacked, as one thread runs it.
pub(crate) type Call = unsafe extern "C" fn(arguments: *mut *mut c_void);

/// What a library says of itself; as in `cuda_emulator.h`.
#[repr(C)]
struct Description {
    image: usize,
    shared_start: usize,
    shared_stop: usize,
    parameter_bytes: *const usize,
    parameters: usize,
}

/// A loaded library. Its static shared memory exists once, so launches of it exclude each other.
#[derive(Debug)]
pub(crate) struct KernelLibrary {
    /// Kept for the lines in messages; the file is gone.
    pub(crate) code: Vec<u8>,
    /// Where it was loaded.
    pub(crate) image: usize,
    /// Shared memory that the kernel declares itself.
    pub(crate) static_shared: Range<usize>,
    /// Tables that the kernel may read.
    pub(crate) constants: Vec<Range<usize>>,
    /// Size of each parameter.
    pub(crate) parameter_bytes: Vec<usize>,
    pub(crate) call: Call,
    start: unsafe extern "C" fn(*const Table),
    running: Mutex<()>,
    /// Last, so that it is closed last.
    _library: libloading::Library,
}

impl KernelLibrary {
    /// Loads what [`Compiler::compile`](crate::device::emulator::compiler::Compiler::compile) made. Its file is gone then, unless a
    /// sanitizer may want to read the lines in it.
    pub(crate) fn load(code: Vec<u8>, checks: Checks) -> Result<Self, Refusal> {
        let failed = |error: &dyn std::fmt::Display| {
            let folder = std::env::temp_dir();
            Refusal::Device(format!(
                "a kernel cannot be loaded from {}: {error}; set TMPDIR to a folder from which programs may run",
                folder.display()
            ))
        };
        let made = tempfile::Builder::new().prefix(&kernel_prefix()).suffix(".so").tempfile();
        let mut file = made.map_err(|error| failed(&error))?;
        file.write_all(&code).map_err(|error| failed(&error))?;
        let path = file.into_temp_path(); // closed: what is open for writing cannot be executed everywhere
        // SAFETY: the library was compiled from `cuda_emulator.h` and a kernel; loading it runs nothing but an
        // empty initialisation.
        let library = unsafe { libloading::Library::new(&*path) }.map_err(|error| failed(&error))?;
        if checks == Checks::AddressSanitizer {
            path.keep().map_err(|error| failed(&error))?;
        }
        let mut description = Description {
            image: 0,
            shared_start: 0,
            shared_stop: 0,
            parameter_bytes: std::ptr::null(),
            parameters: 0,
        };
        // SAFETY: the functions have these types in `cuda_emulator.h` and in the compiled unit.
        let (call, start, parameter_bytes, constants) = unsafe {
            let describe = library
                .get::<unsafe extern "C" fn(*mut Description)>(b"ordito_describe\0")
                .map_err(|error| failed(&error))?;
            describe(&raw mut description);
            let sizes = std::slice::from_raw_parts(description.parameter_bytes, description.parameters);
            let call = *library.get::<Call>(b"ordito_call\0").map_err(|error| failed(&error))?;
            let start = *library
                .get::<unsafe extern "C" fn(*const Table)>(b"ordito_start\0")
                .map_err(|error| failed(&error))?;
            (call, start, sizes.to_vec(), read_only(description.image))
        };
        Ok(KernelLibrary {
            code,
            image: description.image,
            static_shared: description.shared_start..description.shared_stop,
            constants,
            parameter_bytes,
            call,
            start,
            running: Mutex::new(()),
            _library: library,
        })
    }

    /// Where its code comes from.
    pub(crate) fn lines(&self) -> SourceLines<'_> {
        SourceLines { code: &self.code, image: self.image }
    }

    /// Held during a launch.
    pub(crate) fn lock(&self) -> MutexGuard<'_, ()> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Hands the program's functions to the library. The lock is held.
    pub(crate) fn start(&self, table: &Table) {
        // SAFETY: the library copies the table; nothing of it runs now.
        unsafe { (self.start)(table) }
    }
}

/// The parts of a loaded 64-bit ELF image that nobody writes to, by its program headers.
///
/// # Safety
/// `image` is where such an image was loaded.
unsafe fn read_only(image: usize) -> Vec<Range<usize>> {
    const LOAD: u32 = 1;
    const READ_ONLY_AFTER_RELOCATION: u32 = 0x6474_e552;
    const WRITABLE: u32 = 2;
    // SAFETY: the ELF header and the program headers are loaded with the image; fields are read as they come.
    let word = |offset: usize| unsafe { ((image + offset) as *const u64).read_unaligned() };
    let half = |offset: usize| word(offset) as u16 as usize;
    let (table, entry_bytes, entries) = (word(0x20) as usize, half(0x36), half(0x38));
    let parts = (0..entries).map(|entry| table + entry * entry_bytes).filter_map(|header| {
        let (kind, flags) = (word(header) as u32, (word(header) >> 32) as u32);
        let start = image + word(header + 0x10) as usize;
        let wanted = kind == LOAD && flags & WRITABLE == 0 || kind == READ_ONLY_AFTER_RELOCATION;
        wanted.then(|| start..start + word(header + 0x28) as usize)
    });
    parts.collect()
}
