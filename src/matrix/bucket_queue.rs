//! Where buckets that are sorted side by side wait for their place in the result: one behind the other, without gaps.

use super::unwritten::{Left, Stretch};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Buckets 0, 1, 2 …, each of which learns its length when it is sorted.
pub(super) struct BucketQueue<'a, S>(Mutex<State<'a, S>>);

struct State<'a, S> {
    next: usize,
    /// A bucket will never come: whoever waits for it would wait for ever.
    given_up: bool,
    columns: Left<'a, u32>,
    values: Left<'a, S>,
}

/// A bucket's right to a place. Dropped without having taken it, because sorting panicked, it tells those behind it.
pub(super) struct Ticket<'q, 'a, S> {
    queue: &'q BucketQueue<'a, S>,
    bucket: usize,
    used: bool,
}

impl<'a, S> BucketQueue<'a, S> {
    pub(super) fn new(columns: Left<'a, u32>, values: Left<'a, S>) -> Self {
        BucketQueue(Mutex::new(State { next: 0, given_up: false, columns, values }))
    }

    /// Taken before a bucket is begun.
    pub(super) fn ticket(&self, bucket: usize) -> Ticket<'_, 'a, S> {
        Ticket { queue: self, bucket, used: false }
    }

    /// Will some bucket never come? Then the others need not be sorted.
    pub(super) fn given_up(&self) -> bool {
        self.state().given_up
    }

    fn state(&self) -> MutexGuard<'_, State<'a, S>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<'a, S> Ticket<'_, 'a, S> {
    /// Memory for so many entries, behind the buckets before it. They are about equally long and begun in turn, so that
    /// hardly anything is waited for. `None`: one of them will never come.
    pub(super) fn wait(mut self, count: usize) -> Option<(Stretch<'a, u32>, Stretch<'a, S>)> {
        loop {
            let mut state = self.queue.state();
            if state.given_up {
                return None;
            }
            if state.next == self.bucket {
                state.next += 1;
                self.used = true;
                return Some((state.columns.stretch(count), state.values.stretch(count)));
            }
            drop(state);
            std::thread::yield_now();
        }
    }
}

impl<S> Drop for Ticket<'_, '_, S> {
    fn drop(&mut self) {
        if !self.used {
            self.queue.state().given_up = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::row_buckets::in_turn;
    use super::super::unwritten::Room;
    use super::*;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::mpsc;
    use std::time::Duration;

    /// One that never ends would not fail but hang: it has twenty seconds.
    fn ends(test: impl FnOnce() + Send + 'static) -> bool {
        let (done, wait) = mpsc::channel();
        std::thread::spawn(move || {
            test();
            let _ = done.send(());
        });
        wait.recv_timeout(Duration::from_secs(20)).is_ok()
    }

    #[test]
    fn a_bucket_that_panics_is_waited_for_by_nobody() {
        assert!(ends(|| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
            let (mut columns, mut values) = (Room::<u32>::for_most(9), Room::<f64>::for_most(9));
            let queue = BucketQueue::new(columns.take(), values.take());
            let sort = |bucket: usize, _: &mut ()| {
                let ticket = queue.ticket(bucket);
                // Those behind it are waiting by now.
                std::thread::sleep(Duration::from_millis(if bucket == 2 { 20 } else { 0 }));
                assert!(bucket != 2, "bucket {bucket} is broken");
                let Some((mut columns, mut values)) = ticket.wait(1) else {
                    assert!(bucket > 2);
                    return;
                };
                columns.append(&[7]);
                values.append(&[7.0]);
            };
            let sorted = catch_unwind(AssertUnwindSafe(|| pool.install(|| in_turn(3, 0..9, sort))));
            let panic = sorted.unwrap_err();
            assert_eq!(panic.downcast_ref::<String>().unwrap(), "bucket 2 is broken");
        }));
    }
}
