//! Is this still the process in which something was made? After `fork` a child has one thread, that which called: those of
//! pools and teams are gone, and whoever held a lock never gives it back. Nobody tells a child so but the handler here.

use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

/// How many forks lie between the first process and this one, counted from when somebody began to watch.
static GENERATION: AtomicUsize = AtomicUsize::new(0);

/// Rises in every child. What was made in another generation was made in another process. Asked before every product, which may
/// take 5 µs: a load and no more. (The number of the process would be a call of the system.)
#[inline]
pub(super) fn generation() -> usize {
    GENERATION.load(Relaxed)
}

/// From now on children count. Called before anything is made that a child does not have.
#[cfg(all(unix, not(miri)))]
pub(super) fn watch() {
    use std::sync::atomic::AtomicBool;
    static WATCHED: AtomicBool = AtomicBool::new(false);
    // No lock, which a fork could leave closed. Two threads may both put the handler in: it then counts by two.
    if !WATCHED.load(Relaxed) {
        // SAFETY: the handler is a function of this program, and does nothing but change two numbers.
        let failed = unsafe { libc::pthread_atfork(None, None, Some(in_child)) } != 0;
        WATCHED.store(!failed, Relaxed); // without memory for it: tried again next time
    }
}

#[cfg(not(all(unix, not(miri))))]
pub(super) fn watch() {}

/// What a child does first.
#[cfg(all(unix, not(miri)))]
extern "C" fn in_child() {
    GENERATION.fetch_add(1, Relaxed);
    HAS_FORKED.set(true);
}

thread_local! {
    /// This thread was there before the fork that made this process.
    static HAS_FORKED: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

/// Was this thread one of a rayon pool when it forked? Then rayon still takes it for one, and while it waits lets it take what
/// threads that are gone have left: work whose stacks are gone too.
pub(super) fn is_orphan() -> bool {
    HAS_FORKED.get() && rayon::current_thread_index().is_some()
}
