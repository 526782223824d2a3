//! Where the time of preparing goes: what the devices of a thread spent on compiling kernels and on uploads. The
//! workbench asks before and after a variant gets ready.

use crate::cpu::Pool;
use std::cell::Cell;
use std::time::{Duration, Instant};

/// Time spent by this thread, ever since it began.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Spent {
    /// Compiling kernels, or loading compiled ones from the cache.
    pub compiling: Duration,
    /// Taking arrays to a device.
    pub uploading: Duration,
}

thread_local! {
    static SPENT: Cell<Spent> = const { Cell::new(Spent { compiling: Duration::ZERO, uploading: Duration::ZERO }) };
}

impl Spent {
    /// Until now.
    pub fn now() -> Self {
        SPENT.get()
    }

    /// Since an earlier moment of the same thread.
    pub fn since(earlier: Spent) -> Self {
        let now = Spent::now();
        Spent {
            compiling: now.compiling.saturating_sub(earlier.compiling),
            uploading: now.uploading.saturating_sub(earlier.uploading),
        }
    }

    /// Does `work` in the pool; what its thread spends there counts as spent by this one.
    pub(crate) fn in_pool<T: Send>(pool: &Pool, work: impl FnOnce() -> T + Send) -> T {
        let before = Spent::now();
        let (made, there) = pool.install(|| {
            let start = Spent::now();
            let made = work();
            (made, Spent::since(start))
        });
        // A thread of the pool does it itself, and has counted it.
        if Spent::now() == before {
            SPENT.set(Spent {
                compiling: before.compiling + there.compiling,
                uploading: before.uploading + there.uploading,
            });
        }
        made
    }

    /// Counts what `work` takes as compiling.
    pub(crate) fn compiling<T>(work: impl FnOnce() -> T) -> T {
        timed(work, |spent| &mut spent.compiling)
    }

    /// Counts what `work` takes as uploading.
    pub(crate) fn uploading<T>(work: impl FnOnce() -> T) -> T {
        timed(work, |spent| &mut spent.uploading)
    }
}

fn timed<T>(work: impl FnOnce() -> T, on: impl FnOnce(&mut Spent) -> &mut Duration) -> T {
    let start = Instant::now();
    let made = work();
    let mut spent = SPENT.get();
    *on(&mut spent) += start.elapsed();
    SPENT.set(spent);
    made
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_is_counted_by_itself_and_per_thread() {
        let pause = || std::thread::sleep(Duration::from_millis(2));
        let before = Spent::now();
        assert_eq!(
            Spent::compiling(|| {
                pause();
                7
            }),
            7
        );
        let spent = Spent::since(before);
        assert!(
            spent.compiling >= Duration::from_millis(2) && spent.uploading == Duration::ZERO,
            "{spent:?}"
        );
        std::thread::spawn(move || Spent::uploading(pause)).join().unwrap();
        assert_eq!(Spent::since(before), spent, "another thread's uploads are its own");
        Spent::uploading(pause);
        assert!(Spent::since(before).uploading >= Duration::from_millis(2));
    }

    #[test]
    fn what_is_done_in_a_pool_counts_once() {
        let pool = Pool::new(2).unwrap();
        let pause = || Spent::uploading(|| std::thread::sleep(Duration::from_millis(2)));
        let before = Spent::now();
        Spent::in_pool(&pool, pause);
        let once = Spent::since(before).uploading;
        assert!(once >= Duration::from_millis(2));
        let inside = pool.install(|| {
            let before = Spent::now();
            Spent::in_pool(&pool, pause);
            Spent::since(before).uploading
        });
        assert!(inside >= Duration::from_millis(2));
        assert_eq!(Spent::since(before).uploading, once, "not counted for threads that only wait");
    }
}
