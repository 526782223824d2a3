//! The functions of MPI that are called here. Each is declared once; the declaration makes its place in the table, and the function that calls
//! through it: one thread at a time, a failure as a value.

use crate::ranks::RanksError;
use crate::ranks::mpi::abi::Handle;
use std::ffi::{c_char, c_int, c_void};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError, TryLockError};
use std::time::{Duration, Instant};

/// Longer than any MPI's longest text: `MPI_MAX_LIBRARY_VERSION_STRING` of MPICH.
const TEXT_BYTES: usize = 8192;

/// Calls that do not wait for others take microseconds.
const LONGEST_CALL: Duration = Duration::from_millis(200);

/// A function of a library, by its name.
///
/// # Safety
/// `F` is the type of a pointer to that function, and is not called after the library is closed.
pub(super) unsafe fn function<F: Copy>(library: &libloading::Library, name: &str) -> Option<F> {
    const { assert!(size_of::<F>() == size_of::<*const c_void>()) };
    // SAFETY: the caller's promise; as large as a pointer, and not null.
    address(library, name).map(|address| unsafe { std::mem::transmute_copy(&address) })
}

/// Where the library has a function or a variable.
pub(super) fn address(library: &libloading::Library, name: &str) -> Option<usize> {
    // SAFETY: only the address is taken.
    let found = unsafe { library.get::<*const c_void>(name) }.ok().map(|symbol| *symbol as usize);
    found.filter(|address| *address != 0)
}

macro_rules! functions {
    ($($(#[$about:meta])* fn $ours:ident = $theirs:ident($($argument:ident: $type:ty),*);)*) => {
        struct Table {
            $($ours: unsafe extern "C" fn($($type),*) -> c_int,)*
        }

        impl Table {
            /// All of them, or the name of the first that is missing.
            fn new(library: &libloading::Library) -> Result<Self, &'static str> {
                Ok(Table {
                    $(
                        // SAFETY: the library is an MPI and stays open; these are the types of MPI's functions.
                        $ours: unsafe { function(library, stringify!($theirs)) }.ok_or(stringify!($theirs))?,
                    )*
                })
            }
        }

        // Three are called through the table, where the gate is held already. MPI's parameters are what they are.
        #[allow(dead_code, clippy::too_many_arguments)]
        impl Functions {
            $(
                $(#[$about])*
                ///
                /// # Safety
                /// As MPI's documentation of this function asks: handles are valid, and memory lasts as long as it may be used.
                pub(crate) unsafe fn $ours(&self, $($argument: $type),*) -> Result<(), RanksError> {
                    // SAFETY: the caller's promise.
                    self.call(stringify!($theirs), || unsafe { (self.table.$ours)($($argument),*) })
                }
            )*
        }
    };
}

functions! {
    /// Has anyone called `MPI_Init`?
    fn initialized = MPI_Initialized(flag: *mut c_int);
    /// Has anyone called `MPI_Finalize`?
    fn finalized = MPI_Finalized(flag: *mut c_int);
    /// Begins.
    fn init_thread = MPI_Init_thread(count: *mut c_int, arguments: *mut c_void, wanted: c_int, provided: *mut c_int);
    /// Which level was provided?
    fn query_thread = MPI_Query_thread(provided: *mut c_int);
    /// Is this the thread that began?
    fn is_thread_main = MPI_Is_thread_main(flag: *mut c_int);
    /// Ends.
    fn finalize = MPI_Finalize();
    /// Ends all ranks.
    fn abort = MPI_Abort(comm: Handle, code: c_int);
    /// What the library says of itself.
    fn get_library_version = MPI_Get_library_version(text: *mut c_char, length: *mut c_int);
    /// The computer's name.
    fn get_processor_name = MPI_Get_processor_name(text: *mut c_char, length: *mut c_int);
    /// A failure in words.
    fn error_string = MPI_Error_string(code: c_int, text: *mut c_char, length: *mut c_int);
    /// Which rank this is.
    fn comm_rank = MPI_Comm_rank(comm: Handle, rank: *mut c_int);
    /// How many there are.
    fn comm_size = MPI_Comm_size(comm: Handle, size: *mut c_int);
    /// Are there two groups in it?
    fn comm_test_inter = MPI_Comm_test_inter(comm: Handle, flag: *mut c_int);
    /// The same ranks, whose messages are kept apart.
    fn comm_dup = MPI_Comm_dup(comm: Handle, new: *mut Handle);
    /// Gives it back.
    fn comm_free = MPI_Comm_free(comm: *mut Handle);
    /// What is done about failures.
    fn comm_set_errhandler = MPI_Comm_set_errhandler(comm: Handle, handler: Handle);
    /// A message that will be sent again and again.
    fn send_init = MPI_Send_init(from: *const c_void, count: c_int, datatype: Handle, to: c_int, tag: c_int, comm: Handle, request: *mut c_void);
    /// One that will come again and again.
    fn recv_init = MPI_Recv_init(into: *mut c_void, count: c_int, datatype: Handle, from: c_int, tag: c_int, comm: Handle, request: *mut c_void);
    /// Sends or expects it once.
    fn start = MPI_Start(request: *mut c_void);
    /// One message, sent.
    fn isend = MPI_Isend(from: *const c_void, count: c_int, datatype: Handle, to: c_int, tag: c_int, comm: Handle, request: *mut c_void);
    /// One message, expected.
    fn irecv = MPI_Irecv(into: *mut c_void, count: c_int, datatype: Handle, from: c_int, tag: c_int, comm: Handle, request: *mut c_void);
    /// Is it complete?
    fn test = MPI_Test(request: *mut c_void, flag: *mut c_int, status: usize);
    /// Are all of them?
    fn testall = MPI_Testall(count: c_int, requests: *mut c_void, flag: *mut c_int, statuses: usize);
    /// No longer wanted; it must still be completed.
    fn cancel = MPI_Cancel(request: *mut c_void);
    /// Gives it back.
    fn request_free = MPI_Request_free(request: *mut c_void);
}

/// Functions of an MPI that is open.
pub(crate) struct Functions {
    table: Table,
    /// Held during every call: MPI is asked for no more than calls of one thread at a time.
    gate: Mutex<()>,
    /// MPI can take calls of its main thread only.
    is_funneled: AtomicBool,
}

impl Functions {
    /// Looks all of them up, or the name of the first that is missing.
    ///
    /// # Safety
    /// The library is an MPI, and is never closed.
    pub(super) unsafe fn new(library: &libloading::Library) -> Result<Self, &'static str> {
        Ok(Functions {
            table: Table::new(library)?,
            gate: Mutex::new(()),
            is_funneled: AtomicBool::new(false),
        })
    }

    /// From now on calls of other threads than the main one are refused.
    pub(super) fn funnel(&self) {
        self.is_funneled.store(true, Ordering::Relaxed);
    }

    /// Is nobody in MPI, or soon? A process that exits may do so from within, and must not call it once more.
    pub(super) fn is_idle(&self) -> bool {
        let begin = Instant::now();
        while matches!(self.gate.try_lock(), Err(TryLockError::WouldBlock)) {
            if begin.elapsed() > LONGEST_CALL {
                return false;
            }
            std::thread::yield_now();
        }
        true
    }

    fn call(&self, function: &'static str, run: impl FnOnce() -> c_int) -> Result<(), RanksError> {
        let _alone = self.gate.lock().unwrap_or_else(PoisonError::into_inner);
        if self.is_funneled.load(Ordering::Relaxed) && !self.is_main() {
            let text = "this MPI can be called by its main thread only".to_owned();
            return Err(RanksError::Mpi { function, text });
        }
        match run() {
            0 => Ok(()),
            code => Err(RanksError::Mpi { function, text: self.in_words(code) }),
        }
    }

    fn is_main(&self) -> bool {
        let mut flag = 0;
        // SAFETY: any thread may ask, and MPI is initialised: `funnel` is called after that.
        unsafe { (self.table.is_thread_main)(&raw mut flag) == 0 && flag != 0 }
    }

    fn in_words(&self, code: c_int) -> String {
        // SAFETY: MPI may be asked at any time, and the text has room for the longest.
        let text = text(|text, length| unsafe { (self.table.error_string)(code, text, length) });
        text.unwrap_or_else(|| format!("error {code}"))
    }

    /// What the library says of itself. Before it is initialised, too.
    pub(crate) fn version(&self) -> Option<String> {
        let _alone = self.gate.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: as in `in_words`.
        text(|text, length| unsafe { (self.table.get_library_version)(text, length) })
    }

    /// The computer's name; MPI is initialised.
    pub(crate) fn processor_name(&self) -> Option<String> {
        // SAFETY: the text has room for the longest.
        text(|text, length| unsafe { self.get_processor_name(text, length) }.map_or(1, |()| 0))
    }
}

/// Of a function that fills in a text and its length.
fn text(fill: impl FnOnce(*mut c_char, *mut c_int) -> c_int) -> Option<String> {
    let mut bytes = vec![0u8; TEXT_BYTES];
    let mut length = 0;
    if fill(bytes.as_mut_ptr().cast(), &raw mut length) != 0 {
        return None;
    }
    let text = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
    Some(String::from_utf8_lossy(text).trim().to_owned())
}
