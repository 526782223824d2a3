//! Ctrl-C once: stop after this run and keep the samples. Twice: stop now.

use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

static INTERRUPTED: AtomicBool = AtomicBool::new(false);
static INSTALL: Once = Once::new();

/// From now on Ctrl-C is remembered instead of ending the program.
pub(super) fn listen() {
    INSTALL.call_once(|| {
        let handler = || {
            if INTERRUPTED.swap(true, Ordering::Relaxed) {
                std::process::exit(130);
            }
        };
        // Without a handler Ctrl-C ends the program at once: not worth failing for.
        let _ = ctrlc::set_handler(handler);
    });
}

/// Was it pressed?
pub(super) fn interrupted() -> bool {
    INTERRUPTED.load(Ordering::Relaxed)
}
