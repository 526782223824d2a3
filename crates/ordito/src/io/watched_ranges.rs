//! Ranges of memory in which SIGBUS is not the end. A handler is put in when the first range is watched, and stays; what is none of
//! its business it hands to the one that was there before.

use std::mem::MaybeUninit;
use std::ops::Range;
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicUsize};

/// A range that the handler knows of. It takes no lock: whoever is interrupted may hold any.
struct Entry {
    taken: AtomicBool,
    start: AtomicUsize,
    /// 0: nothing to watch.
    end: AtomicUsize,
    cut: AtomicBool,
}

/// So many files are read at once, at most; more are not mapped.
const ENTRIES: usize = 64;
static RANGES: [Entry; ENTRIES] = [const {
    Entry {
        taken: AtomicBool::new(false),
        start: AtomicUsize::new(0),
        end: AtomicUsize::new(0),
        cut: AtomicBool::new(false),
    }
}; ENTRIES];

/// What was there before; `None` where no handler could be put in.
static BEFORE: OnceLock<Option<libc::sigaction>> = OnceLock::new();
static PAGE_BYTES: AtomicUsize = AtomicUsize::new(0);

/// A range that is watched until this is dropped.
pub(super) struct Watched(&'static Entry);

impl Watched {
    /// `None` where too many are watched already, or the system lets nobody watch.
    ///
    /// # Safety
    /// The range is a mapping, and stays one as long as it is watched. Nobody writes to it.
    pub(super) unsafe fn new(range: Range<*const u8>) -> Option<Self> {
        BEFORE.get_or_init(put_in).as_ref()?;
        let take = |entry: &&Entry| entry.taken.compare_exchange(false, true, Acquire, Relaxed).is_ok();
        let entry = RANGES.iter().find(take)?;
        entry.cut.store(false, Relaxed);
        entry.start.store(range.start.addr(), Relaxed);
        entry.end.store(range.end.addr(), Release);
        Some(Watched(entry))
    }

    /// Was something in there gone when it was looked at?
    pub(super) fn is_cut(&self) -> bool {
        self.0.cut.load(Acquire)
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        self.0.end.store(0, Release);
        self.0.taken.store(false, Release);
    }
}

fn put_in() -> Option<libc::sigaction> {
    // SAFETY: asks for a number.
    let page_bytes = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    PAGE_BYTES.store(usize::try_from(page_bytes).ok()?, Relaxed);
    let mut before = MaybeUninit::<libc::sigaction>::uninit();
    // SAFETY: all of it is set that the system reads; a mask of zeros is an empty one. The handler does nothing that a handler
    // may not do. On the thread's other stack, as Rust's own: the stack may be full where it is called.
    unsafe {
        let mut handler: libc::sigaction = std::mem::zeroed();
        handler.sa_sigaction = on_bus_error as *const () as usize;
        handler.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        (libc::sigaction(libc::SIGBUS, &handler, before.as_mut_ptr()) == 0).then(|| before.assume_init())
    }
}

/// Puts zeros where a watched range has nothing any more, and lets go on who looked there.
extern "C" fn on_bus_error(signal: libc::c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    // SAFETY: the system hands over what the signal is about; for this one that is an address.
    let address = unsafe { (*info).si_addr() }.addr();
    let around = |entry: &&Entry| {
        let end = entry.end.load(Acquire);
        entry.start.load(Relaxed) <= address && address < end
    };
    if let Some(entry) = RANGES.iter().find(around)
        && fill_from(address, entry.end.load(Relaxed))
    {
        entry.cut.store(true, Release);
        return;
    }
    hand_on(signal, info, context);
}

/// Zeros from the page of `address` to `end`.
fn fill_from(address: usize, end: usize) -> bool {
    let start = address & !(PAGE_BYTES.load(Relaxed) - 1);
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED;
    let place = ptr::without_provenance_mut(start);
    // SAFETY: takes the place of a part of a mapping that is only read, and of which nothing is there any more. The number of the
    // last error, which the interrupted code may be about to look at, is put back.
    unsafe {
        let error = *libc::__errno_location();
        let filled = libc::mmap(place, end - start, libc::PROT_READ, flags, -1, 0) != libc::MAP_FAILED;
        *libc::__errno_location() = error;
        filled
    }
}

/// To the handler that was there before. Where there was none the signal gets its usual meaning back, and comes again at once.
fn hand_on(signal: libc::c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    let before = BEFORE.get().and_then(Option::as_ref);
    match before.map_or(libc::SIG_DFL, |before| before.sa_sigaction) {
        // SAFETY: the signal is a valid one, and so is its usual meaning.
        libc::SIG_DFL | libc::SIG_IGN => unsafe {
            libc::signal(signal, libc::SIG_DFL);
        },
        handler if before.is_some_and(|before| before.sa_flags & libc::SA_SIGINFO != 0) => {
            type Handler = extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void);
            // SAFETY: who put it in said that it is such a function.
            let handler = unsafe { std::mem::transmute::<usize, Handler>(handler) };
            handler(signal, info, context);
        }
        handler => {
            // SAFETY: the same, of a function that wants the signal only.
            let handler = unsafe { std::mem::transmute::<usize, extern "C" fn(libc::c_int)>(handler) };
            handler(signal);
        }
    }
}
