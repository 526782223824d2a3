//! What belongs to one process, such as threads. A child that `fork` made has nothing of it, and makes its own on first use.

use crate::cpu::fork;
use std::ptr;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicPtr, AtomicUsize};

/// Made on first use, and once more on first use in a child.
///
/// What a child inherits is never dropped there: threads that are gone cannot be waited for. No lock of the standard library is
/// used: one that a thread of the parent held while another forked stays closed in the child for ever.
pub(crate) struct PerProcess<T> {
    made: AtomicPtr<Made<T>>,
    /// Whose turn it is to make it: one more than the generation of its process; 0: nobody's.
    turn: AtomicUsize,
}

struct Made<T> {
    generation: usize,
    value: T,
}

impl<T: Send + Sync> PerProcess<T> {
    pub(crate) const fn new() -> Self {
        PerProcess { made: AtomicPtr::new(ptr::null_mut()), turn: AtomicUsize::new(0) }
    }

    /// What this process has made already.
    pub(crate) fn holding(value: T) -> Self {
        let held = PerProcess::new();
        held.get_or_make(|_| value);
        held
    }

    /// What this process has; if nothing yet, what `make` makes, which is shown what was inherited. It must not ask again itself.
    #[inline]
    pub(crate) fn get_or_make(&self, make: impl FnOnce(Option<&T>) -> T) -> &T {
        match self.made_in(fork::generation()) {
            Some(value) => value,
            None => {
                fork::watch(); // first: a child must not find a turn that it takes for one of its own
                self.make_in(fork::generation(), make)
            }
        }
    }

    #[inline]
    fn made_in(&self, generation: usize) -> Option<&T> {
        self.last().filter(|made| made.generation == generation).map(|made| &made.value)
    }

    /// Of this process, or inherited.
    #[inline]
    fn last(&self) -> Option<&Made<T>> {
        // SAFETY: null, or a box that is given back when `self` is dropped and not before. It was filled before it was stored.
        unsafe { self.made.load(Acquire).as_ref() }
    }

    /// One thread makes it, others wait.
    #[cold]
    fn make_in(&self, generation: usize, make: impl FnOnce(Option<&T>) -> T) -> &T {
        let _turn = Turn::take(&self.turn, generation);
        if self.made_in(generation).is_none() {
            let value = make(self.last().map(|inherited| &inherited.value));
            // What was there stays where it is: somebody in this process may still look at it.
            self.made.store(Box::into_raw(Box::new(Made { generation, value })), Release);
        }
        self.made_in(generation).expect("made above, or by whoever had the turn")
    }
}

/// The turn is one thread's until this is dropped.
struct Turn<'a>(&'a AtomicUsize);

impl<'a> Turn<'a> {
    /// Waits for threads of the same process only.
    fn take(turn: &'a AtomicUsize, generation: usize) -> Self {
        let mine = generation + 1;
        loop {
            let now = turn.load(Relaxed);
            if now != mine && turn.compare_exchange(now, mine, Acquire, Relaxed).is_ok() {
                return Turn(turn);
            }
            std::thread::yield_now();
        }
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.0.store(0, Release);
    }
}

impl<T> Drop for PerProcess<T> {
    fn drop(&mut self) {
        let made = *self.made.get_mut();
        // SAFETY: as in `last`.
        if unsafe { made.as_ref() }.is_some_and(|made| made.generation == fork::generation()) {
            // SAFETY: it came from a box, and nobody looks at it any more.
            drop(unsafe { Box::from_raw(made) });
        }
    }
}

impl<T: std::fmt::Debug + Send + Sync> std::fmt::Debug for PerProcess<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.made_in(fork::generation()).fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn made_once_in_every_generation_and_shown_what_was_inherited() {
        let place = PerProcess::new();
        assert_eq!(place.make_in(3, |inherited| (inherited.is_none(), "first")), &(true, "first"));
        assert_eq!(place.make_in(3, |_| (true, "again")), &(true, "first"));
        let inherited = place.made_in(3).unwrap();
        assert!(place.made_in(4).is_none());
        assert_eq!(place.make_in(4, |before| (before == Some(inherited), "second")), &(true, "second"));
        assert_eq!(inherited, &(true, "first"), "who still looks at it may");
    }

    #[test]
    fn threads_make_one_between_them() {
        let (place, made) = (PerProcess::new(), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    let one = place.get_or_make(|_| {
                        std::thread::sleep(std::time::Duration::from_millis(20));
                        made.fetch_add(1, Relaxed)
                    });
                    assert_eq!(*one, 0);
                });
            }
        });
        assert_eq!(made.into_inner(), 1);
    }

    #[test]
    fn a_turn_of_another_process_is_not_waited_for() {
        let place = PerProcess::new();
        std::mem::forget(Turn::take(&place.turn, 6)); // as a child finds it whose parent was making it
        assert_eq!(place.make_in(7, |_| "made"), &"made");
        assert_eq!(place.turn.load(Relaxed), 0);
        let fails = || place.make_in(8, |_| panic!("on purpose"));
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(fails)).unwrap_err();
        assert_eq!(place.make_in(8, |_| "after a panic"), &"after a panic");
    }

    #[test]
    fn only_what_this_process_made_is_dropped() {
        let value = Arc::new(());
        for (generation, left) in [(fork::generation(), 1), (fork::generation() + 1, 2)] {
            let place = PerProcess::new();
            place.make_in(generation, |_| value.clone());
            drop(place);
            assert_eq!(Arc::strong_count(&value), left, "generation {generation}");
        }
    }
}
