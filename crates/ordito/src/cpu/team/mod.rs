//! The threads of hot kernels: a call forks, works on numbered chunks and joins, on two cores in less than a microsecond.
//!
//! Why beside rayon: a sparse product may take 5 µs, and rayon's `join` costs 1.0 to 1.4 µs, its `broadcast` 8 to 10
//! (measured on a 2-core Xeon); a team whose threads are still spinning costs 0.4. Rayon serves everything else.
//!
//! The caller is the first thread. The others spin for a while after the last call, then sleep. Each thread takes the chunks
//! of its own range first and then those of others. When no chunk is left the caller closes the region and waits only
//! for threads that have entered it: one that was slow to wake is never waited for. (A fixed share for every thread, waited
//! for, was measured too: 0.18 of the speed whenever a thread is not running just then.)
//!
//! Where there are fewer chunks than threads, the last threads stay out. What costs time between cores is to touch memory that another
//! has written, and most of all if all write to it: every thread counts on a seat of its own, which others read and seldom write.
//!
//! A system may wake a thread on the core of the caller, which does not wait for it: it would not run for many milliseconds. So the caller
//! lets others run after a call for which it has woken a thread that did not come, and a thread that wakes on somebody's core goes to
//! another. (Two cores, products of 20 to 40 µs after pauses of 3 ms: before, all of 400 took as long as on one thread in two of five turns.)
//!
//! One call has the team at a time. Calls from other threads meanwhile, and calls from inside the work, do their chunks on
//! the thread that they are made from: nobody waits for somebody else's product, and nothing can lock up.
//!
//! A team belongs to the process that started it. A child that `fork` made must neither call nor drop it, since nobody is there to
//! work or to be waited for: a pool has one for every process.

#[cfg(test)]
mod tests;

use crate::cpu::aside::{current_core, step_aside};
use crate::cpu::info::logical_cores;
use crate::cpu::taken::Taken;
use std::any::Any;
use std::cell::UnsafeCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::Ordering::{Acquire, Relaxed, SeqCst};
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, AtomicUsize};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// How long a thread looks for the next call before it sleeps: products that follow each other find it awake, and a program
/// that does something else is not disturbed for long.
const SPIN: Duration = Duration::from_micros(800);
/// How long it does so without asking whether somebody else wants the core: threads of OpenBLAS or OpenMP, say. On two cores a sparse
/// product and a dense one of OpenBLAS's by turns took 2.0 to 2.6 ms where no one asked, and 1.3 to 1.6, their sum, with this.
const ALONE: Duration = Duration::from_micros(20);
/// Pauses between two looks at the clock.
const PAUSES: u32 = 64;
/// Pauses of the caller before it lets others run while it waits for them.
const PATIENCE: u32 = 2000;
/// The region's number once the team has ended.
const ENDED: u64 = u64::MAX;

/// A worker at work, or looking for it.
const AWAKE: u8 = 0;
/// It sleeps, or is about to.
const ASLEEP: u8 = 1;
/// Somebody has woken it, and it has not run since.
const CALLED: u8 = 2;

/// What one thread writes does not share a cache line (or the pair of lines that is fetched together) with what others do.
#[repr(align(128))]
#[derive(Debug, Default)]
struct Apart<T>(T);

/// The work of a region, its lifetime forgotten. See the safety reasons where it is written and read.
type Work = *const (dyn Fn(usize) + Sync);

/// What a worker has to itself.
#[derive(Debug, Default)]
struct Seat {
    /// Chunks taken of this thread's range.
    taken: Taken,
    /// It is inside a region, or looking whether it may enter.
    inside: AtomicBool,
    /// [`AWAKE`], [`ASLEEP`] or [`CALLED`].
    sleep: AtomicU8,
    /// Where it ran when it woke, and the caller when it woke others; one more than the core's number, 0 where that is not known.
    core: AtomicUsize,
}

struct Shared {
    /// Odd: a region is open. Even: none is. Rises by one each time; [`ENDED`] at last.
    region: Apart<AtomicU64>,
    /// A call has the team.
    busy: AtomicBool,
    /// Workers that sleep, or are about to.
    sleepers: AtomicUsize,
    /// Of the open region. Written by the call that has the team while nobody is inside.
    work: UnsafeCell<Option<Work>>,
    chunks: AtomicUsize,
    /// Threads that share them: the first ones. Whoever reads it too late stays out of a region, or enters one with nothing to do.
    active: AtomicUsize,
    /// The first panic of the work in this region.
    panic: Mutex<Option<Box<dyn Any + Send>>>,
    seats: Vec<Apart<Seat>>,
    spin: Duration,
}

// SAFETY: `work` is written only by the call that has the team (`busy`) while no region is open and nobody is inside, and
// read only by workers inside an open region; everything else is safe to share. What it points to is `Sync`.
unsafe impl Sync for Shared {}
// SAFETY: as above; the pointer is not tied to a thread.
unsafe impl Send for Shared {}

/// A fixed number of threads that share chunks of work with the caller.
pub struct Team {
    shared: Arc<Shared>,
    workers: Vec<JoinHandle<()>>,
}

impl Team {
    /// The caller and `threads - 1` more, each of which calls `begin` with its number first. Where the system refuses some of
    /// them, the rest do their work.
    pub fn new(threads: usize, begin: impl Fn(usize) + Send + Clone + 'static) -> Self {
        // More threads than cores: one that spins keeps another from its work.
        let spin = if threads <= logical_cores() { SPIN } else { Duration::ZERO };
        let shared = Arc::new(Shared {
            region: Apart::default(),
            busy: AtomicBool::new(false),
            sleepers: AtomicUsize::new(0),
            work: UnsafeCell::new(None),
            chunks: AtomicUsize::new(0),
            active: AtomicUsize::new(0),
            panic: Mutex::new(None),
            seats: (0..threads.max(1)).map(|_| Apart::default()).collect(),
            spin,
        });
        let start = |seat: usize| {
            let (shared, begin) = (shared.clone(), begin.clone());
            let serve = move || {
                begin(seat);
                shared.serve(seat);
            };
            thread::Builder::new().name(format!("ordito-team-{seat}")).spawn(serve).ok()
        };
        let workers = (1..threads).map_while(start).collect();
        Team { shared, workers }
    }

    /// How many threads work, the caller among them.
    pub fn threads(&self) -> usize {
        1 + self.workers.len()
    }

    /// Does `work` once for every number below `chunks`, and returns when all is done. Which thread does which is left
    /// open. A panic of the work is passed on to the caller, once nobody works any more.
    pub fn run(&self, chunks: usize, work: impl Fn(usize) + Sync) {
        self.share(chunks, &work);
    }

    fn share(&self, chunks: usize, work: &(dyn Fn(usize) + Sync)) {
        if chunks > Taken::MOST {
            // More than are counted: several at a time.
            let at_once = chunks.div_ceil(Taken::MOST);
            let block = |block: usize| (block * at_once..chunks.min((block + 1) * at_once)).for_each(work);
            return self.share(chunks.div_ceil(at_once), &block);
        }
        let alone = || (0..chunks).for_each(work);
        if chunks <= 1 || self.workers.is_empty() {
            return alone();
        }
        let shared = &*self.shared;
        if shared.busy.compare_exchange(false, true, Acquire, Relaxed).is_err() {
            return alone();
        }
        let turn = Turn(shared);
        self.fork_and_join(chunks, work);
        let panicked = shared.first_panic().take();
        drop(turn);
        if let Some(payload) = panicked {
            resume_unwind(payload);
        }
    }

    fn fork_and_join(&self, chunks: usize, work: &(dyn Fn(usize) + Sync)) {
        let shared = &*self.shared;
        // Nobody but this call opens regions: the next one has the next odd number.
        if Taken::is_first(shared.region.0.load(Relaxed) + 1) {
            shared.seats.iter().for_each(|Apart(seat)| seat.taken.reset());
        }
        shared.chunks.store(chunks, Relaxed);
        shared.active.store(chunks.min(self.threads()), Relaxed);
        // SAFETY: only the lifetime is changed. Workers follow the pointer only while they are inside this region, and this
        // function neither returns nor unwinds before it is closed and they have left: dropping `open` sees to both.
        let work = unsafe { std::mem::transmute::<*const (dyn Fn(usize) + Sync), Work>(work) };
        // SAFETY: this call has the team, no region is open and nobody is inside, so nobody else looks at the cell.
        unsafe { *shared.work.get() = Some(work) };
        let open = OpenRegion::new(shared); // publishes what was written above
        let seats = &shared.seats[1..chunks.min(self.threads())];
        let mut has_called = false;
        if shared.sleepers.load(SeqCst) > 0 {
            shared.seats[0].0.stays_at(current_core());
            for (Apart(seat), worker) in seats.iter().zip(&self.workers) {
                if seat.sleep.compare_exchange(ASLEEP, CALLED, SeqCst, SeqCst).is_ok() {
                    worker.thread().unpark();
                    has_called = true;
                }
            }
        }
        shared.take_chunks(0, open.number, work);
        drop(open);
        // It may wait for this core. Once: where others want the core, too, it is given away for long.
        if has_called && seats.iter().any(|Apart(seat)| seat.sleep.load(Relaxed) == CALLED) {
            thread::yield_now();
        }
    }
}

/// The team is one call's until this is dropped.
struct Turn<'a>(&'a Shared);

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.0.busy.store(false, SeqCst);
    }
}

/// A region that workers may enter. Dropped, it is closed and nobody is inside any more, whatever happened meanwhile.
struct OpenRegion<'a> {
    shared: &'a Shared,
    number: u64,
}

impl<'a> OpenRegion<'a> {
    fn new(shared: &'a Shared) -> Self {
        let number = shared.region.0.fetch_add(1, SeqCst) + 1;
        OpenRegion { shared, number }
    }
}

impl Drop for OpenRegion<'_> {
    fn drop(&mut self) {
        self.shared.region.0.fetch_add(1, SeqCst); // whoever looks from now on does not enter
        let mut pauses = 0;
        for Apart(seat) in &self.shared.seats {
            while seat.inside.load(SeqCst) {
                pauses += 1;
                if pauses < PATIENCE { std::hint::spin_loop() } else { thread::yield_now() }
            }
        }
    }
}

impl Seat {
    fn stays_at(&self, core: Option<usize>) {
        self.core.store(core.map_or(0, |core| core + 1), Relaxed);
    }
}

/// A worker that looks whether it may enter, or is inside. Dropped, it has left.
struct Inside<'a>(&'a Seat);

impl<'a> Inside<'a> {
    fn new(seat: &'a Seat) -> Self {
        seat.inside.store(true, SeqCst);
        Inside(seat)
    }
}

impl Drop for Inside<'_> {
    fn drop(&mut self) {
        self.0.inside.store(false, SeqCst);
    }
}

impl Shared {
    /// The life of a worker.
    fn serve(&self, seat: usize) {
        let (mut last, mut since) = (0, Instant::now());
        while let Some(region) = self.next_region(seat, last, &mut since) {
            last = region;
            if seat >= self.active.load(Relaxed) {
                continue; // so few chunks that others have them all; it does not stay awake for that
            }
            // Says that it enters, then looks whether the region is still open; the caller closes it, then looks whether
            // somebody is inside. All four in one order (SeqCst): one of the two sees the other.
            let inside = Inside::new(&self.seats[seat].0);
            if self.region.0.load(SeqCst) == region {
                // SAFETY: inside an open region: the cell was written before it opened and is not written while
                // anybody is inside.
                if let Some(work) = unsafe { *self.work.get() } {
                    self.take_chunks(seat, region, work);
                }
            }
            drop(inside);
            since = Instant::now();
        }
    }

    /// Waits for an open region other than the last, asleep once it has had nothing to do `since` long ago; `None` when the team has
    /// ended.
    fn next_region(&self, seat: usize, last: u64, since: &mut Instant) -> Option<u64> {
        let fresh = |region: u64| region % 2 == 1 && region != last; // `ENDED` is odd
        let found = |region: u64| (region != ENDED).then_some(region);
        loop {
            for _ in 0..PAUSES {
                let region = self.region.0.load(Acquire);
                if fresh(region) {
                    return found(region);
                }
                std::hint::spin_loop();
            }
            let idle = since.elapsed();
            if idle < self.spin {
                if idle >= ALONE {
                    thread::yield_now();
                }
                continue;
            }
            let sleep = &self.seats[seat].0.sleep;
            sleep.store(ASLEEP, SeqCst); // then looks once more: the caller opens, then looks who sleeps
            self.sleepers.fetch_add(1, SeqCst);
            if !fresh(self.region.0.load(SeqCst)) {
                thread::park();
            }
            self.sleepers.fetch_sub(1, SeqCst);
            sleep.store(AWAKE, SeqCst);
            self.find_core(seat);
            *since = Instant::now(); // woken, perhaps too late for this call: somebody is at work, and may call again
        }
    }

    /// To a core where nobody of the team is awake, where it woke on one of theirs.
    fn find_core(&self, seat: usize) {
        let Some(mine) = current_core().filter(|_| !self.spin.is_zero()) else { return };
        let others = self.seats.iter().enumerate().filter(|(other, Apart(they))| {
            *other != seat && (*other == 0 || they.sleep.load(Relaxed) == AWAKE)
        });
        let taken: Vec<usize> =
            others.filter_map(|(_, Apart(they))| they.core.load(Relaxed).checked_sub(1)).collect();
        if taken.contains(&mine) {
            step_aside(&taken);
        }
        self.seats[seat].0.stays_at(current_core());
    }

    /// Chunks of this seat's range until none is left, then those of the next seats. A panic ends it.
    fn take_chunks(&self, seat: usize, region: u64, work: Work) {
        // SAFETY: called inside the region that `work` belongs to, see `fork_and_join`.
        let work = unsafe { &*work };
        let (active, chunks) = (self.active.load(Relaxed), self.chunks.load(Relaxed));
        let take_all = || {
            for owner in (seat..active).chain(0..seat.min(active)) {
                let (first, end) = (chunks * owner / active, chunks * (owner + 1) / active);
                while let Some(taken) = self.seats[owner].0.taken.take(region, end - first) {
                    work(first + taken);
                }
            }
        };
        if let Err(payload) = catch_unwind(AssertUnwindSafe(take_all)) {
            self.keep_first(payload);
        }
    }

    fn first_panic(&self) -> MutexGuard<'_, Option<Box<dyn Any + Send>>> {
        self.panic.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps what the first panic said. What a later one said is dropped, which may panic too: nobody is told of that, and what
    /// that one says is not dropped at all, or it would never end.
    fn keep_first(&self, payload: Box<dyn Any + Send>) {
        let surplus = {
            let mut first = self.first_panic();
            if first.is_none() { first.replace(payload) } else { Some(payload) }
        };
        if let Err(again) = catch_unwind(AssertUnwindSafe(|| drop(surplus))) {
            std::mem::forget(again);
        }
    }
}

impl Drop for Team {
    fn drop(&mut self) {
        self.shared.region.0.store(ENDED, SeqCst);
        for worker in self.workers.drain(..) {
            worker.thread().unpark();
            let _ = worker.join(); // it catches the panics of the work and has none of its own
        }
    }
}

impl std::fmt::Debug for Team {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Team").field("threads", &self.threads()).finish_non_exhaustive()
    }
}
