//! Calls aside of the interpreter: without its lock, and never cut in two by a fork.
//!
//! A child of `fork` has the memory of its parent and one of its threads. A lock that another thread held then is held for ever
//! there. So a fork waits until no call is under way, and calls wait while one is made.

use pyo3::prelude::*;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::thread::yield_now;

/// Calls that are under way.
static CALLS: AtomicUsize = AtomicUsize::new(0);
/// A process is being forked.
static FORKING: AtomicBool = AtomicBool::new(false);

/// Does the work while other threads of Python go on. It comes back to Python by [`back`] alone: a fork in between would wait for it, and
/// it for the fork.
pub(crate) fn aside<R: Send>(py: Python<'_>, work: impl Send + FnOnce() -> R) -> R {
    py.detach(|| {
        let _call = Call::begin(); // ends before the lock is asked for again, which whoever forks may hold
        work()
    })
}

/// From inside of [`aside`], for as long as the work takes back to the interpreter: a function of the caller's is to be called. A fork
/// need not wait for that: it is the caller's own.
pub(crate) fn back<R>(work: impl FnOnce(Python<'_>) -> R) -> R {
    let again = Again; // also after a panic
    CALLS.fetch_sub(1, SeqCst);
    let result = Python::attach(work);
    drop(again);
    result
}

/// Begins the call again that was left.
struct Again;

impl Drop for Again {
    fn drop(&mut self) {
        std::mem::forget(Call::begin());
    }
}

struct Call;

impl Call {
    fn begin() -> Self {
        loop {
            // Says that it is there, then looks; whoever forks says so, then looks who is there. In one order: one sees the other.
            CALLS.fetch_add(1, SeqCst);
            if !FORKING.load(SeqCst) {
                return Call;
            }
            CALLS.fetch_sub(1, SeqCst);
            while FORKING.load(SeqCst) {
                yield_now();
            }
        }
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        CALLS.fetch_sub(1, SeqCst);
    }
}

/// From now on forks and calls wait for each other.
#[cfg(unix)]
pub(crate) fn watch_forks() -> PyResult<()> {
    extern "C" fn before() {
        while FORKING.swap(true, SeqCst) {
            yield_now(); // somebody else's fork
        }
        while CALLS.load(SeqCst) != 0 {
            yield_now();
        }
    }
    extern "C" fn after() {
        FORKING.store(false, SeqCst);
    }
    static WATCHED: AtomicBool = AtomicBool::new(false);
    if WATCHED.swap(true, SeqCst) {
        return Ok(());
    }
    // SAFETY: functions of this program, which do nothing but change and look at two numbers. The module is never unloaded.
    match unsafe { libc::pthread_atfork(Some(before), Some(after), Some(after)) } {
        0 => Ok(()),
        _ => Err(pyo3::exceptions::PyMemoryError::new_err("no memory to watch for forks")),
    }
}

#[cfg(not(unix))]
pub(crate) fn watch_forks() -> PyResult<()> {
    Ok(())
}
