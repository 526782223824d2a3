//! How many threads are used where nobody says, and how many can be asked for.

use crate::cpu::info::logical_cores;
use crate::cpu::thread_error::ThreadError;
use crate::text;
use std::ffi::OsStr;

/// Name of the variable that says how many threads are used where the program does not.
const THREADS_VARIABLE: &str = "ORDITO_THREADS";

/// More than this for every core is a slip of the keyboard: they only wait for each other (4096 threads on two cores took
/// 88 s for what one of them does in a millisecond).
const MOST_PER_CORE: usize = 32;

/// As many threads as can be asked for on this computer.
pub(super) fn most_threads() -> usize {
    most_on(logical_cores())
}

fn most_on(cores: usize) -> usize {
    cores.saturating_mul(MOST_PER_CORE)
}

/// As many as `ORDITO_THREADS` says; where it is not set, as many as this process may run at once.
pub fn default_threads() -> Result<usize, ThreadError> {
    choose_threads(std::env::var_os(THREADS_VARIABLE).as_deref(), logical_cores())
}

fn choose_threads(wish: Option<&OsStr>, cores: usize) -> Result<usize, ThreadError> {
    let Some(wish) = wish.map(OsStr::to_string_lossy).filter(|wish| !wish.trim().is_empty()) else {
        return Ok(cores);
    };
    let most = most_on(cores);
    wish.trim().parse().ok().filter(|threads| (1..=most).contains(threads)).ok_or_else(|| {
        ThreadError::Variable(format!(
            "{THREADS_VARIABLE}={}: between 1 and {most} threads can be asked for on this computer",
            text::for_one_line(&wish)
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wish_is_a_number_of_threads_or_an_error_that_names_it() {
        let choose = |wish: &str| choose_threads(Some(OsStr::new(wish)), 4);
        assert_eq!(choose_threads(None, 4), Ok(4));
        for (wish, threads) in [("", 4), (" ", 4), ("1", 1), (" 3 ", 3), ("128", 128)] {
            assert_eq!(choose(wish), Ok(threads), "{wish:?}");
        }
        for wrong in ["0", "129", "-1", "2.5", "many", "99999999999999999999999", "\u{1b}[2J"] {
            let error = choose(wrong).unwrap_err().to_string();
            assert!(error.starts_with("ORDITO_THREADS="), "{error}");
            assert!(
                error.ends_with(": between 1 and 128 threads can be asked for on this computer"),
                "{error}"
            );
            assert!(!error.contains('\u{1b}'), "{error:?}");
        }
    }
}
