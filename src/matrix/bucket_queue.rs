//! Where buckets that are sorted side by side wait for their place in the result: one behind the other, without gaps.
//!
//! Entries that were dealt lie in the memory of the result already: what a bucket leaves is written over what was dealt to it
//! and, where duplicates made room, to those before it. Each of these has read its own by then.

use super::unwritten::{Again, Stretch};
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Buckets 0, 1, 2 …, each of which learns its length when it is sorted.
pub(super) struct BucketQueue<'a, S> {
    /// Bucket `b` has `starts[b]..starts[b + 1]` until it has a place.
    starts: &'a [usize],
    columns: Again<'a, u32>,
    values: Again<'a, S>,
    state: Mutex<State>,
}

struct State {
    /// Buckets that have their ticket.
    begun: usize,
    /// The bucket whose turn it is, and the end of those before it.
    next: usize,
    end: usize,
    /// A bucket will never come: whoever waits for it would wait for ever.
    given_up: bool,
}

/// A bucket's right to a place. Dropped without having taken it, because sorting panicked, it tells those behind it.
pub(super) struct Ticket<'q, S> {
    queue: &'q BucketQueue<'q, S>,
    bucket: usize,
    used: bool,
}

/// Where a bucket is written.
pub(super) struct Place<'q, S> {
    pub(super) columns: Stretch<'q, u32>,
    pub(super) values: Stretch<'q, S>,
}

impl<'a, S> BucketQueue<'a, S> {
    pub(super) fn new(starts: &'a [usize], columns: Again<'a, u32>, values: Again<'a, S>) -> Self {
        assert!(starts.is_sorted());
        BucketQueue {
            starts,
            columns,
            values,
            state: Mutex::new(State { begun: 0, next: 0, end: 0, given_up: false }),
        }
    }

    /// Of every bucket that has none yet, in their order. They end when some bucket will never come: then the others need not
    /// be sorted.
    pub(super) fn tickets(&self) -> impl Iterator<Item = Ticket<'_, S>> {
        std::iter::from_fn(|| {
            let mut state = self.state();
            let bucket = state.begun;
            if state.given_up || bucket + 1 >= self.starts.len() {
                return None;
            }
            state.begun += 1;
            Some(Ticket { queue: self, bucket, used: false })
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<'q, S> Ticket<'q, S> {
    /// Which entries the bucket has.
    pub(super) fn entries(&self) -> Range<usize> {
        self.queue.starts[self.bucket]..self.queue.starts[self.bucket + 1]
    }

    /// Columns and values that were dealt to the bucket.
    pub(super) fn dealt(&self) -> (&[u32], &[S]) {
        // SAFETY: places end where the bucket that they are given to did, or before; so only this bucket and later ones get
        // any here, and none of them before this ticket, the bucket's only one, is gone.
        unsafe { (self.queue.columns.held(self.entries()), self.queue.values.held(self.entries())) }
    }

    /// Memory for so many entries, behind the buckets before it. They are about equally long and begun in turn, so that
    /// hardly anything is waited for. `None`: one of them will never come.
    pub(super) fn wait(mut self, count: usize) -> Option<Place<'q, S>> {
        assert!(count <= self.entries().len(), "a bucket has grown");
        loop {
            let mut state = self.queue.state();
            if state.given_up {
                return None;
            }
            if state.next == self.bucket {
                let place = state.end..state.end + count;
                (state.next, state.end) = (self.bucket + 1, place.end);
                self.used = true;
                // SAFETY: places follow each other, and end where the bucket did, or before; this one and those before it have
                // given their tickets for a place, and with them what was dealt to them.
                let (columns, values) =
                    unsafe { (self.queue.columns.place(place.clone()), self.queue.values.place(place)) };
                return Some(Place { columns, values });
            }
            drop(state);
            std::thread::yield_now();
        }
    }
}

impl<S> Drop for Ticket<'_, S> {
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
            let starts: Vec<usize> = (0..10).collect();
            let queue = BucketQueue::new(&starts, columns.take_again(), values.take_again());
            let sort = |ticket: Ticket<'_, f64>, _: &mut ()| {
                let bucket = ticket.entries().start;
                // Those behind it are waiting by now.
                std::thread::sleep(Duration::from_millis(if bucket == 2 { 20 } else { 0 }));
                assert!(bucket != 2, "bucket {bucket} is broken");
                let Some(mut place) = ticket.wait(1) else {
                    assert!(bucket > 2);
                    return;
                };
                place.columns.append(&[7]);
                place.values.append(&[7.0]);
            };
            let sorted =
                catch_unwind(AssertUnwindSafe(|| pool.install(|| in_turn(3, queue.tickets(), sort))));
            let panic = sorted.unwrap_err();
            assert_eq!(panic.downcast_ref::<String>().unwrap(), "bucket 2 is broken");
        }));
    }

    /// Buckets of four of which two are left, by several threads: none is overwritten before it was read.
    #[test]
    fn what_is_left_is_written_over_what_was_dealt() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
        let numbers: Vec<u32> = (0..4000).collect();
        let (mut columns, mut values) = (Room::for_most(4000), Room::for_most(4000));
        columns.take().stretch(4000).append(&numbers);
        values.take().stretch(4000).append(&numbers);
        let starts: Vec<usize> = (0..=4000).step_by(4).collect();
        let queue = BucketQueue::new(&starts, columns.take_again(), values.take_again());
        let halve = |ticket: Ticket<'_, u32>, _: &mut ()| {
            let (columns, values) = ticket.dealt();
            let (columns, values) = ([columns[1], columns[3]], [values[0], values[2]]);
            let mut place = ticket.wait(2).unwrap();
            place.columns.append(&columns);
            place.values.append(&values);
        };
        pool.install(|| in_turn(3, queue.tickets(), halve));
        assert!(columns.into_vec().into_iter().eq((1..4000).step_by(2)));
        assert!(values.into_vec().into_iter().eq((0..4000).step_by(2)));
    }

    #[test]
    #[should_panic(expected = "grown")]
    fn a_bucket_gets_no_more_than_it_had() {
        let (mut columns, mut values) = (Room::<u32>::for_most(9), Room::<f64>::for_most(9));
        let queue = BucketQueue::new(&[0, 3, 9], columns.take_again(), values.take_again());
        queue.tickets().next().unwrap().wait(4);
    }
}
