//! The functions that kernels call: for every access to memory, barrier and collective.

use crate::device::emulator::access::Access;
use crate::device::emulator::copies::AsyncCopy;
use crate::device::emulator::fault::Fault;
use crate::device::emulator::scheduler::Pause;
use crate::device::emulator::state::State;
use crate::device::emulator::xray::Page;
use std::ffi::{CStr, c_char, c_void};

/// Where a thread is; as in `cuda_emulator.h`.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub(crate) struct ThreadPosition {
    pub(crate) thread: [u32; 3],
    pub(crate) block: [u32; 3],
    pub(crate) block_size: [u32; 3],
    pub(crate) grid_size: [u32; 3],
    pub(crate) lane: u32,
    pub(crate) dynamic_shared: *mut u8,
    /// Where a function that begins below it has no room any more.
    pub(crate) stack_floor: usize,
}

/// What a library is given before a launch; as in `cuda_emulator.h`.
#[derive(Debug)]
#[repr(C, align(128))]
pub(crate) struct Table {
    state: *mut State,
    place: *const ThreadPosition,
    access: unsafe extern "C" fn(*mut State, usize, usize, u32, usize),
    collective: unsafe extern "C" fn(*mut State, u32, u32, u64, u32, usize) -> u64,
    barrier: unsafe extern "C" fn(*mut State, u32, u32, usize) -> u32,
    fence: unsafe extern "C" fn(*mut State),
    undefined: unsafe extern "C" fn(*mut State, *const c_char, *const c_char, u32),
    gather: unsafe extern "C" fn(*mut State, u32, *const u8, u32, usize) -> *const u64,
    copy: unsafe extern "C" fn(*mut State, usize, usize, u32, u32, usize),
    copy_commit: unsafe extern "C" fn(*mut State),
    copy_wait: unsafe extern "C" fn(*mut State, u32),
    move_bytes: unsafe extern "C" fn(*mut State, usize, usize, usize, usize),
    fill_bytes: unsafe extern "C" fn(*mut State, usize, u8, usize, usize),
    stack_is_full: unsafe extern "C" fn(*mut State, usize),
    basic_block: unsafe extern "C" fn(*mut State, usize),
    /// Where a kernel that is counted notes what it does; else null.
    page: *mut Page,
}

impl Table {
    /// # Safety
    /// The state lives at this address as long as a kernel uses the table.
    pub(crate) unsafe fn new(state: *mut State) -> Self {
        // SAFETY: only the address of a field is taken.
        let place = unsafe { &raw const (*state).place };
        // SAFETY: nobody else has the state yet.
        let page = unsafe { (*state).tracer.as_ref().map(|tracer| tracer.page()) };
        Table {
            state,
            place,
            // Who counts has functions of its own, so that others pay nothing.
            access: if page.is_some() { access_traced } else { access },
            collective,
            barrier,
            fence,
            undefined,
            gather,
            copy,
            copy_commit,
            copy_wait,
            move_bytes,
            fill_bytes,
            stack_is_full,
            basic_block,
            page: page.unwrap_or(std::ptr::null_mut()),
        }
    }
}

/// Leaves the kernel for good: the fiber is never resumed.
///
/// # Safety
/// As [`access`].
#[cold]
unsafe fn stop(state: *mut State, fault: Fault) -> ! {
    // SAFETY: no other reference to the state is alive.
    unsafe { (*state).fault = Some(fault) };
    loop {
        // SAFETY: as the caller promises.
        unsafe { suspend(state, Pause::Stopped) };
    }
}

/// Leaves the kernel until the scheduler resumes this fiber.
///
/// # Safety
/// As [`access`].
unsafe fn suspend(state: *mut State, pause: Pause) {
    // SAFETY: the fiber that runs noted its own yielder, which lives as long as the fiber. No reference to the
    // state is held while others run.
    unsafe {
        let yielder = (*state).yielder;
        (*yielder).suspend(pause);
        (*state).yielder = yielder;
    }
}

/// # Safety
/// Called by a kernel, on a fiber of the scheduler that owns the state.
unsafe extern "C" fn access(state: *mut State, address: usize, bytes: usize, kind: u32, from: usize) {
    // SAFETY: kernels run only while the scheduler holds no reference to the state.
    if let Err(fault) = unsafe { (*state).access(address, bytes, kind, from) } {
        // SAFETY: the same.
        unsafe { stop(state, fault) }
    }
}

/// The same where accesses are counted.
///
/// # Safety
/// As [`access`].
unsafe extern "C" fn access_traced(state: *mut State, address: usize, bytes: usize, kind: u32, from: usize) {
    // SAFETY: as in `access`.
    if let Err(fault) = unsafe { (*state).access_traced(address, bytes, kind, from) } {
        // SAFETY: the same.
        unsafe { stop(state, fault) }
    }
}

/// A basic block begins; only told where threads are followed.
///
/// # Safety
/// As [`access`].
unsafe extern "C" fn basic_block(state: *mut State, from: usize) {
    // SAFETY: as in `access`.
    if let Err(fault) = unsafe { (*state).basic_block(from) } {
        // SAFETY: the same.
        unsafe { stop(state, fault) }
    }
}

/// Whichever of the two the launch wants.
///
/// # Safety
/// As [`access`].
unsafe fn access_of_bytes(state: *mut State, address: usize, bytes: usize, kind: u32, from: usize) {
    // SAFETY: as in `access`.
    unsafe {
        if (*state).tracer.is_some() {
            access_traced(state, address, bytes, kind, from)
        } else {
            access(state, address, bytes, kind, from)
        }
    }
}

/// # Safety
/// As [`access`].
unsafe extern "C" fn collective(
    state: *mut State,
    kind: u32,
    mask: u32,
    value: u64,
    source: u32,
    from: usize,
) -> u64 {
    // SAFETY: as in `access`; each reference ends before the fiber is left.
    unsafe {
        match (*state).collective(kind, mask, value, source, from) {
            Ok(true) => {}
            Ok(false) => suspend(state, Pause::Waiting),
            Err(fault) => stop(state, fault),
        }
        (*state).collective_result()
    }
}

/// # Safety
/// As [`access`].
unsafe extern "C" fn barrier(state: *mut State, kind: u32, value: u32, from: usize) -> u32 {
    // SAFETY: as in `collective`.
    unsafe {
        match (*state).barrier(kind, value != 0, from) {
            Ok(true) => {}
            Ok(false) => suspend(state, Pause::Waiting),
            Err(fault) => stop(state, fault),
        }
        (*state).barrier_result()
    }
}

/// # Safety
/// As [`access`].
unsafe extern "C" fn fence(state: *mut State) {
    // SAFETY: as in `access`.
    unsafe { (*state).fence() }
}

/// # Safety
/// As [`access`]; `what` is a string of `cuda_emulator.h`, and `file` one of the compiler.
unsafe extern "C" fn undefined(state: *mut State, what: *const c_char, file: *const c_char, line: u32) {
    // SAFETY: as in `access`.
    unsafe {
        let what = CStr::from_ptr(what).to_string_lossy();
        let mut fault = (*state).fault_here(what.into_owned(), 0);
        if !file.is_null() {
            let path = CStr::from_ptr(file).to_string_lossy();
            fault = fault.text(format!(" at {}:{line}", path.rsplit('/').next().unwrap_or(&path)));
        }
        stop(state, fault)
    }
}

/// # Safety
/// As [`access`]; `mine` points to so many bytes.
unsafe extern "C" fn gather(
    state: *mut State,
    kind: u32,
    mine: *const u8,
    bytes: u32,
    from: usize,
) -> *const u64 {
    // SAFETY: as in `collective`; the bytes are on the stack of the fiber that runs.
    unsafe {
        match (*state).gather(kind, std::slice::from_raw_parts(mine, bytes as usize), from) {
            Ok(true) => {}
            Ok(false) => suspend(state, Pause::Waiting),
            Err(fault) => stop(state, fault),
        }
        (*state).gathered()
    }
}

/// # Safety
/// As [`access`].
unsafe extern "C" fn copy(
    state: *mut State,
    shared: usize,
    global: usize,
    bytes: u32,
    valid: u32,
    from: usize,
) {
    let copy = AsyncCopy { shared, global, bytes: bytes as usize, valid: valid as usize, from };
    // SAFETY: as in `access`.
    unsafe {
        if let Err(fault) = (*state).start_copy(copy) {
            stop(state, fault)
        }
    }
}

/// # Safety
/// As [`access`].
unsafe extern "C" fn copy_commit(state: *mut State) {
    // SAFETY: as in `access`.
    unsafe { (*state).commit_copies() }
}

/// # Safety
/// As [`access`].
unsafe extern "C" fn copy_wait(state: *mut State, pending: u32) {
    // SAFETY: as in `access`.
    unsafe {
        if let Err(fault) = (*state).wait_for_copies(pending as usize) {
            stop(state, fault)
        }
    }
}

/// What `memcpy` and `memmove` do, seen like every other access.
///
/// # Safety
/// As [`access`].
unsafe extern "C" fn move_bytes(state: *mut State, to: usize, from: usize, bytes: usize, caller: usize) {
    if bytes == 0 {
        return;
    }
    // SAFETY: as in `access`; both ranges are the kernel's, or `access` does not return.
    unsafe {
        access_of_bytes(state, from, bytes, Access::READ | Access::UNALIGNED, caller);
        access_of_bytes(state, to, bytes, Access::WRITE | Access::UNALIGNED, caller);
        std::ptr::copy(from as *const u8, to as *mut u8, bytes);
    }
}

/// What `memset` does.
///
/// # Safety
/// As [`access`].
unsafe extern "C" fn fill_bytes(state: *mut State, to: usize, value: u8, bytes: usize, caller: usize) {
    if bytes == 0 {
        return;
    }
    // SAFETY: as in `move_bytes`.
    unsafe {
        access_of_bytes(state, to, bytes, Access::WRITE | Access::UNALIGNED, caller);
        (to as *mut u8).write_bytes(value, bytes);
    }
}

/// # Safety
/// As [`access`].
unsafe extern "C" fn stack_is_full(state: *mut State, from: usize) {
    // SAFETY: as in `access`.
    unsafe { stop(state, (*state).stack_is_full(from)) }
}

/// Arguments as the kernel's wrapper takes them.
#[derive(Debug)]
pub(crate) struct Arguments {
    /// Aligned to eight bytes each, as every parameter here is or less.
    _values: Vec<Vec<u64>>,
    pointers: Vec<*mut c_void>,
}

impl Arguments {
    pub(crate) fn new<'a>(arguments: impl Iterator<Item = &'a [u8]>) -> Self {
        let aligned = |bytes: &[u8]| {
            let mut words = vec![0_u64; bytes.len().div_ceil(8).max(1)];
            bytemuck::cast_slice_mut::<u64, u8>(&mut words)[..bytes.len()].copy_from_slice(bytes);
            words
        };
        let mut values: Vec<Vec<u64>> = arguments.map(aligned).collect();
        let pointers = values.iter_mut().map(|value| value.as_mut_ptr().cast()).collect();
        Arguments { _values: values, pointers }
    }

    pub(crate) fn as_mut_ptr(&mut self) -> *mut *mut c_void {
        self.pointers.as_mut_ptr()
    }
}
