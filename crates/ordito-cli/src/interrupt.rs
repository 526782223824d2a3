//! Signals that ask the program to end. At the first Ctrl-C a measurement stops, in the middle of a run where that can be, and
//! keeps its samples; a second one, any in other commands, and every other such signal (`kill`, `timeout`, a terminal that
//! closes) stops now. Either way no half-written file is left behind.

use ordito::files::remove_unfinished_files;
use ordito::machine::Interrupt;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, Ordering};

static KEEP_GOING: AtomicBool = AtomicBool::new(false);
/// Does a first Ctrl-C stop nothing by itself?
static REMEMBER_ONLY: AtomicBool = AtomicBool::new(false);
/// Ranks stop where they agree to, and nowhere else.
static TOGETHER: AtomicBool = AtomicBool::new(false);
/// They have.
static AGREED: AtomicBool = AtomicBool::new(false);
/// Was there one then?
static REMEMBERED: AtomicBool = AtomicBool::new(false);
/// Known to every machine of this program.
static INTERRUPT: LazyLock<Interrupt> = LazyLock::new(Interrupt::default);

/// What was asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wish {
    /// Ctrl-C: come to an end.
    Interrupt,
    /// End, with this exit code.
    #[cfg_attr(not(unix), allow(dead_code))] // other systems tell of Ctrl-C only
    End(i32),
}

/// What shells report for a program that Ctrl-C ended.
const EXIT_INTERRUPTED: i32 = 130;

/// From now on signals that ask the program to end are caught.
pub(crate) fn listen() {
    system::listen(|wish| {
        if wish == Wish::Interrupt && KEEP_GOING.load(Ordering::Relaxed) && !interrupted() {
            return match REMEMBER_ONLY.load(Ordering::Relaxed) {
                true => REMEMBERED.store(true, Ordering::Relaxed),
                false => interrupt().set(),
            };
        }
        // Not set here: the work must not come to an end of its own before this one does.
        remove_unfinished_files();
        system::exit_now(match wish {
            Wish::Interrupt => EXIT_INTERRUPTED,
            Wish::End(code) => code,
        });
    });
}

/// From now on the first Ctrl-C is only remembered.
pub(crate) fn keep_going() {
    KEEP_GOING.store(true, Ordering::Relaxed);
}

/// Of ranks that solve together: none of them may leave a product alone, and they stop together where their solver asks.
#[cfg(feature = "mpi")]
pub(crate) fn remember_only() {
    REMEMBER_ONLY.store(true, Ordering::Relaxed);
}

/// The same of ranks that measure together: a wish of one ends all, once they have agreed on it.
#[cfg(feature = "mpi")]
pub(crate) fn stop_together() {
    remember_only();
    TOGETHER.store(true, Ordering::Relaxed);
}

/// Does this rank wish to stop?
#[cfg(feature = "mpi")]
pub(crate) fn is_wished() -> bool {
    interrupt().is_set() || REMEMBERED.load(Ordering::Relaxed)
}

/// All ranks know of the wish.
#[cfg(feature = "mpi")]
pub(crate) fn agree_to_stop() {
    AGREED.store(true, Ordering::Relaxed);
}

/// What the first Ctrl-C sets.
pub(crate) fn interrupt() -> &'static Interrupt {
    &INTERRUPT
}

/// Was there one?
pub(crate) fn interrupted() -> bool {
    let known = if TOGETHER.load(Ordering::Relaxed) { &AGREED } else { &REMEMBERED };
    interrupt().is_set() || known.load(Ordering::Relaxed)
}

/// A handler that passes the number of a signal on, and a thread that acts on it: it may do what a handler must not.
#[cfg(unix)]
mod system {
    use super::Wish;
    use std::io::Read;
    use std::mem::MaybeUninit;
    use std::os::fd::IntoRawFd;
    use std::sync::atomic::{AtomicI32, Ordering};

    /// What shells add to a signal's number.
    const EXIT_BY_SIGNAL: i32 = 128;

    /// The end of the pipe that the handler writes to.
    static PIPE: AtomicI32 = AtomicI32::new(-1);

    pub(super) fn listen(wished: fn(Wish)) {
        // Without a handler such a signal ends the program at once: not worth failing for.
        let Ok((mut signals, pipe)) = std::io::pipe() else { return };
        let act = move || {
            let mut signal = [0];
            while signals.read_exact(&mut signal).is_ok() {
                wished(match i32::from(signal[0]) {
                    libc::SIGINT => Wish::Interrupt,
                    signal => Wish::End(EXIT_BY_SIGNAL + signal),
                });
            }
        };
        if std::thread::Builder::new().name("signals".into()).spawn(act).is_err() {
            return;
        }
        PIPE.store(pipe.into_raw_fd(), Ordering::Relaxed);
        // What is ignored from the start (`nohup`, the background of a script) stays ignored.
        for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP].into_iter().filter(|&it| !is_ignored(it)) {
            let handler: extern "C" fn(i32) = pass_on;
            let mut action = MaybeUninit::<libc::sigaction>::zeroed();
            // SAFETY: all zeros are a valid action, with an empty mask; the handler does only what one may do.
            unsafe {
                (*action.as_mut_ptr()).sa_sigaction = handler as libc::sighandler_t;
                (*action.as_mut_ptr()).sa_flags = libc::SA_RESTART;
                libc::sigaction(signal, action.as_ptr(), std::ptr::null_mut());
            }
        }
    }

    extern "C" fn pass_on(signal: i32) {
        let number = signal as u8;
        // SAFETY: one byte to a pipe that is never closed: a handler may do that.
        unsafe { libc::write(PIPE.load(Ordering::Relaxed), (&raw const number).cast(), 1) };
    }

    fn is_ignored(signal: i32) -> bool {
        let mut action = MaybeUninit::<libc::sigaction>::zeroed();
        // SAFETY: changes nothing, and writes what is done now.
        unsafe {
            libc::sigaction(signal, std::ptr::null(), action.as_mut_ptr()) == 0
                && action.assume_init().sa_sigaction == libc::SIG_IGN
        }
    }

    /// Without what libraries want to do at the end: other threads are in the middle of using them.
    pub(super) fn exit_now(code: i32) -> ! {
        // SAFETY: ends the process; files that matter were closed or removed.
        unsafe { libc::_exit(code) }
    }
}

#[cfg(not(unix))]
mod system {
    use super::Wish;

    pub(super) fn listen(wished: fn(Wish)) {
        // Without a handler Ctrl-C ends the program at once: not worth failing for.
        let _ = ctrlc::set_handler(move || wished(Wish::Interrupt));
    }

    pub(super) fn exit_now(code: i32) -> ! {
        std::process::exit(code)
    }
}
