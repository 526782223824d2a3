//! Ctrl-C and the like. A measurement stops after this run and keeps its samples; a second Ctrl-C, and any in
//! other commands, stops now. Either way no half-written file is left behind.

use ordito::files::remove_unfinished_files;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

static KEEP_GOING: AtomicBool = AtomicBool::new(false);
static INTERRUPTED: AtomicBool = AtomicBool::new(false);
static INSTALL: Once = Once::new();

/// What shells report for a program that Ctrl-C ended.
const EXIT_INTERRUPTED: i32 = 130;

/// From now on signals that ask the program to end are caught.
pub(crate) fn listen() {
    INSTALL.call_once(|| {
        if starts_ignoring_signals() {
            return;
        }
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

/// Was the program started to outlive its terminal (`nohup`) or in the background of a script? Then its signals are
/// ignored already, and a handler would undo that.
fn starts_ignoring_signals() -> bool {
    const HANGUP_AND_INTERRUPT: u64 = 0b11; // signals 1 and 2
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    mask & HANGUP_AND_INTERRUPT != 0
}

/// From now on the first signal is only remembered.
pub(crate) fn keep_going() {
    KEEP_GOING.store(true, Ordering::Relaxed);
}

/// Was there one?
pub(crate) fn interrupted() -> bool {
    INTERRUPTED.load(Ordering::Relaxed)
}
