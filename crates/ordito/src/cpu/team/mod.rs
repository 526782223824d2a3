//! The threads of hot kernels: a call forks, works on numbered chunks and joins, on two cores in less than a microsecond.
//!
//! Why beside rayon: a sparse product may take 5 µs, and rayon's `join` costs 1.0 to 1.4 µs, its `broadcast` 8 to 10
//! (measured on a 2-core Xeon); a team whose threads are still spinning costs 0.4. Rayon serves everything else.
//!
//! The caller is the first thread. The others spin for a while after the last call, then sleep. Each thread takes the chunks
//! of its own range first and then those of others. When no chunk is left the caller bars who has not come and waits only
//! for threads that have: one that was slow to wake is never waited for. (A fixed share for every thread, waited
//! for, was measured too: 0.18 of the speed whenever a thread is not running just then.)
//!
//! What costs time between cores is to touch memory that another has written, and most of all if all write to it. So a call is
//! announced in one cache line, and every thread has a seat of its own, which others read and seldom write. Where there is one chunk for
//! each thread, to come is to take it: a thread writes to its seat twice and looks at nobody else's, and the caller looks at each
//! once. Where there are fewer chunks than threads, the last threads stay out.
//!
//! A system may wake a thread on the core of the caller, which does not wait for it: it would not run for many milliseconds. So the caller
//! lets others run after a call for which it has woken a thread that did not come, and so do the threads that are there; one that
//! wakes on somebody's core, or has missed many calls and runs on one, goes to another. (Two cores, products of 20 to 40 µs after pauses
//! of 3 ms: before, all of 400 took as long as on one thread in two of five turns.)
//!
//! One call has the team at a time. Calls from other threads meanwhile, and calls from inside the work, do their chunks on
//! the thread that they are made from: nobody waits for somebody else's product, and nothing can lock up.
//!
//! A team belongs to the process that started it. A child that `fork` made must neither call nor drop it, since nobody is there to
//! work or to be waited for: a pool has one for every process.

mod seat;
#[cfg(test)]
mod tests;

use crate::cpu::aside::{current_core, step_aside};
use crate::cpu::info::logical_cores;
use crate::cpu::taken::Taken;
use crate::cpu::team::seat::{ASLEEP, AWAKE, CALLED, Region, Seat};
use std::any::Any;
use std::cell::UnsafeCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::Ordering::{Acquire, Relaxed, SeqCst};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize};
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
/// Pauses of the caller before it takes the chunk of a thread that is awake and has not come.
const MOMENT: u32 = 8;
/// A thread that has missed so many calls was not running, and looks whether it has a core to itself.
const OFTEN: u64 = 16;
/// Pauses of the caller before it lets others run while it waits for them.
const PATIENCE: u32 = 2000;
/// What is announced once the team has ended.
const ENDED: u64 = u64::MAX;

/// What one thread writes does not share a cache line (or the pair of lines that is fetched together) with what others do.
#[repr(align(128))]
#[derive(Debug, Default)]
struct Apart<T>(T);

/// The work of a region, its lifetime forgotten. See the safety reasons where it is written and read.
type Work = *const (dyn Fn(usize) + Sync);

/// What workers look at while they wait, and need when they come: one cache line.
#[derive(Debug)]
struct Announcement {
    /// A [`Region`]; [`ENDED`] at last.
    region: AtomicU64,
    /// Of that region. Written by the call that has the team while nobody is inside.
    work: UnsafeCell<Option<Work>>,
    chunks: AtomicUsize,
}

/// What callers write, and workers seldom look at.
#[derive(Debug, Default)]
struct Callers {
    /// A call has the team.
    busy: AtomicBool,
    /// The first panic of the work in this region.
    panic: Mutex<Option<Box<dyn Any + Send>>>,
}

struct Shared {
    call: Apart<Announcement>,
    callers: Apart<Callers>,
    /// Workers that sleep, or are about to.
    sleepers: AtomicUsize,
    /// Those of them that were woken and have not run since.
    called: AtomicUsize,
    seats: Vec<Apart<Seat>>,
    spin: Duration,
}

// SAFETY: `work` is written only by the call that has the team (`busy`) while nobody is inside or can enter, and
// read only by workers inside; everything else is safe to share. What it points to is `Sync`.
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
        let threads = threads.min(Region::MOST);
        // More threads than cores: one that spins keeps another from its work.
        let spin = if threads <= logical_cores() { SPIN } else { Duration::ZERO };
        let shared = Arc::new(Shared {
            call: Apart(Announcement {
                region: AtomicU64::new(0),
                work: UnsafeCell::new(None),
                chunks: AtomicUsize::new(0),
            }),
            callers: Apart::default(),
            sleepers: AtomicUsize::new(0),
            called: AtomicUsize::new(0),
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
    ///
    /// What `work` holds lies in cache lines of its own. What it refers to on the caller's stack does not: every thread fetches it there,
    /// one miss after the other, and the caller fetches it back. So short work had better be a `move` closure.
    pub fn run(&self, chunks: usize, work: impl Fn(usize) + Sync) {
        let work = Apart(work);
        self.share(chunks, &work.0);
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
        if shared.callers.0.busy.compare_exchange(false, true, Acquire, Relaxed).is_err() {
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
        let call = &shared.call.0;
        // Nobody but this call announces any.
        let number = Region::of(call.region.load(Relaxed)).number + 1;
        let region = Region { number, active: chunks.min(self.threads()) };
        if Taken::is_first(number) {
            shared.seats.iter().for_each(|Apart(seat)| seat.taken.reset());
        }
        call.chunks.store(chunks, Relaxed);
        // SAFETY: only the lifetime is changed. Workers follow the pointer only while they are inside this region, and this
        // function neither returns nor unwinds before they have left and nobody can enter: dropping `open` sees to both.
        let work = unsafe { std::mem::transmute::<*const (dyn Fn(usize) + Sync), Work>(work) };
        // SAFETY: this call has the team, nobody is inside and nobody can enter, so nobody else looks at the cell.
        unsafe { *call.work.get() = Some(work) };
        let open = OpenRegion::new(shared, region); // publishes what was written above
        let seats = &shared.seats[1..region.active];
        let mut has_called = false;
        if shared.sleepers.load(SeqCst) > 0 {
            shared.seats[0].0.stays_at(current_core());
            for (Apart(seat), worker) in seats.iter().zip(&self.workers) {
                // Looked at first: exchanging in vain would take the seat's line from its thread, too.
                if seat.sleep.load(SeqCst) == ASLEEP
                    && seat.sleep.compare_exchange(ASLEEP, CALLED, SeqCst, SeqCst).is_ok()
                {
                    shared.called.fetch_add(1, Relaxed);
                    worker.thread().unpark();
                    has_called = true;
                }
            }
        }
        shared.take_chunks(0, region, work);
        if chunks == region.active {
            shared.take_places(region, work);
        }
        drop(open);
        // It may wait for this core. Once: where others want the core, too, it is given away for long.
        if has_called && shared.called.load(Relaxed) > 0 {
            thread::yield_now();
        }
    }
}

/// The team is one call's until this is dropped.
struct Turn<'a>(&'a Shared);

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.0.callers.0.busy.store(false, SeqCst);
    }
}

/// A region that workers may enter. Dropped, nobody is inside or can enter any more, whatever happened meanwhile.
struct OpenRegion<'a> {
    shared: &'a Shared,
    region: Region,
}

impl<'a> OpenRegion<'a> {
    fn new(shared: &'a Shared, region: Region) -> Self {
        // Then the caller looks who sleeps; who lies down looks once more: in one order (SeqCst), so that one of the two sees the other.
        shared.call.0.region.store(region.announced(), SeqCst);
        OpenRegion { shared, region }
    }
}

impl Drop for OpenRegion<'_> {
    fn drop(&mut self) {
        let mut pauses = 0;
        for Apart(seat) in &self.shared.seats[1..self.region.active] {
            while !seat.bar(self.region) && seat.presence.load(Acquire) != self.region.over() {
                pauses += 1;
                if pauses < PATIENCE { std::hint::spin_loop() } else { thread::yield_now() }
            }
        }
    }
}

impl Shared {
    /// The life of a worker.
    fn serve(&self, seat: usize) {
        let (mut last, mut since) = (0, Instant::now());
        while let Some((region, before)) = self.next_region(seat, &mut last, &mut since) {
            // Whoever enters does so before the caller bars the seat, and is waited for from then on.
            if let Some(inside) = self.seats[seat].0.enter(region) {
                // SAFETY: inside a region: the cell was written before it was announced and is not written while
                // anybody is inside.
                if let Some(work) = unsafe { *self.call.0.work.get() } {
                    self.take_chunks(seat, region, work);
                }
                drop(inside);
            }
            if self.called.load(Relaxed) > 0 {
                thread::yield_now(); // one that was woken may wait for this core
            }
            if region.number - before > OFTEN {
                self.find_core(seat);
            }
            self.seats[seat].0.stays_at(current_core());
            since = Instant::now();
        }
    }

    /// Waits for another announcement than the last, asleep once it has had nothing to do `since` long ago. One that leaves this seat out,
    /// since there are so few chunks, is none: it does not stay awake for that. The number before it, too; `None` when the team has ended.
    fn next_region(&self, seat: usize, last: &mut u64, since: &mut Instant) -> Option<(Region, u64)> {
        let announcement = &self.call.0.region;
        loop {
            for _ in 0..PAUSES {
                let announced = announcement.load(Acquire);
                if announced != *last {
                    let before = Region::of(std::mem::replace(last, announced)).number;
                    if announced == ENDED {
                        return None;
                    }
                    let region = Region::of(announced);
                    if seat < region.active {
                        return Some((region, before));
                    }
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
            let announced = announcement.load(SeqCst);
            if announced == *last || seat >= Region::of(announced).active {
                thread::park(); // the end is announced to all seats
            }
            self.sleepers.fetch_sub(1, SeqCst);
            if sleep.swap(AWAKE, SeqCst) == CALLED {
                self.called.fetch_sub(1, Relaxed);
            }
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

    /// The chunk of this seat, where each has one. Else chunks of its range until none is left, then those of the next seats. A panic
    /// ends it.
    fn take_chunks(&self, seat: usize, region: Region, work: Work) {
        let (active, chunks) = (region.active, self.call.0.chunks.load(Relaxed));
        // SAFETY: called inside the region that `work` belongs to, see `fork_and_join`.
        let work = unsafe { &*work };
        let take_all = || {
            if chunks == active {
                return work(seat);
            }
            for owner in (seat..active).chain(0..seat) {
                let (first, end) = (chunks * owner / active, chunks * (owner + 1) / active);
                while let Some(taken) = self.seats[owner].0.taken.take(region.number, end - first) {
                    work(first + taken);
                }
            }
        };
        if let Err(payload) = catch_unwind(AssertUnwindSafe(take_all)) {
            self.keep_first(payload);
        }
    }

    /// Where each seat has one chunk: those of threads that have not come, after another moment for those that are awake. Only the caller
    /// takes them: whoever looked would have to look at all seats.
    fn take_places(&self, region: Region, work: Work) {
        for (seat, Apart(they)) in self.seats.iter().enumerate().take(region.active).skip(1) {
            for _ in 0..MOMENT {
                if they.presence.load(Relaxed) >= region.inside() || they.sleep.load(Relaxed) != AWAKE {
                    break;
                }
                std::hint::spin_loop();
            }
            if they.bar(region) {
                self.seats[0].0.stays_at(current_core()); // where they had better not be
                self.take_chunks(seat, region, work);
            }
        }
    }

    fn first_panic(&self) -> MutexGuard<'_, Option<Box<dyn Any + Send>>> {
        self.callers.0.panic.lock().unwrap_or_else(PoisonError::into_inner)
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
        self.shared.call.0.region.store(ENDED, SeqCst);
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
