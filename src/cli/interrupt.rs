//! Ctrl-C and the like. A measurement stops after this run and keeps its samples; a second Ctrl-C, and any in
//! other commands, stops now. Either way no half-written file is left behind.

use crate::io::remove_unfinished_files;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

static KEEP_GOING: AtomicBool = AtomicBool::new(false);
static INTERRUPTED: AtomicBool = AtomicBool::new(false);
static INSTALL: Once = Once::new();

/// What shells report for a program that Ctrl-C ended.
const EXIT_INTERRUPTED: i32 = 130;

/// From now on signals that ask the program to end are caught.
pub(super) fn listen() {
    INSTALL.call_once(|| {
        let handler = || {
            if INTERRUPTED.swap(true, Ordering::Relaxed) || !KEEP_GOING.load(Ordering::Relaxed) {
                remove_unfinished_files();
                std::process::exit(EXIT_INTERRUPTED);
            }
        };
        // Without a handler such a signal ends the program at once: not worth failing for.
        let _ = ctrlc::set_handler(handler);
    });
}

/// From now on the first signal is only remembered.
pub(super) fn keep_going() {
    KEEP_GOING.store(true, Ordering::Relaxed);
}

/// Was there one?
pub(super) fn interrupted() -> bool {
    INTERRUPTED.load(Ordering::Relaxed)
}
