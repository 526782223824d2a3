//! Who is where in a team: calls by number, and the seat of a thread, which says whether it has come to one.

use crate::cpu::taken::Taken;
use std::sync::atomic::Ordering::{AcqRel, Relaxed, Release};
use std::sync::atomic::{AtomicU8, AtomicU64, AtomicUsize};

/// A worker at work, or looking for it.
pub(super) const AWAKE: u8 = 0;
/// It sleeps, or is about to.
pub(super) const ASLEEP: u8 = 1;
/// Somebody has woken it, and it has not run since.
pub(super) const CALLED: u8 = 2;

/// A call as it is announced: its number, and how many threads share it, the first ones. One number for both, since whoever is late may
/// see the announcement of another call at any time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Region {
    pub(super) number: u64,
    pub(super) active: usize,
}

impl Region {
    const ACTIVE_BITS: u32 = 16;
    /// Threads that can share a call.
    pub(super) const MOST: usize = (1 << Self::ACTIVE_BITS) - 1;

    /// Numbers do not come round: at one each microsecond they last for nine years.
    pub(super) fn announced(self) -> u64 {
        self.number << Self::ACTIVE_BITS | self.active as u64
    }

    pub(super) fn of(announced: u64) -> Self {
        let active = announced as usize & Self::MOST;
        Region { number: announced >> Self::ACTIVE_BITS, active }
    }

    /// Of a seat whose thread is inside.
    pub(super) fn inside(self) -> u64 {
        2 * self.number + 1
    }

    /// Of a seat whose thread has left, or comes too late.
    pub(super) fn over(self) -> u64 {
        2 * self.number + 2
    }
}

/// What a worker has to itself.
#[derive(Debug, Default)]
pub(super) struct Seat {
    /// Chunks taken of this thread's range.
    pub(super) taken: Taken,
    /// [`Region::inside`] or [`Region::over`] of the last call that it came to, or was barred from. It only rises.
    pub(super) presence: AtomicU64,
    /// [`AWAKE`], [`ASLEEP`] or [`CALLED`].
    pub(super) sleep: AtomicU8,
    /// Where it ran last, as far as is known; one more than the core's number, 0 where it is not.
    pub(super) core: AtomicUsize,
}

impl Seat {
    pub(super) fn stays_at(&self, core: Option<usize>) {
        let core = core.map_or(0, |core| core + 1);
        if self.core.load(Relaxed) != core {
            self.core.store(core, Relaxed);
        }
    }

    /// From a region before this one to this state of it, unless its thread is inside already, or has left, or is barred.
    fn passes_to(&self, region: Region, state: u64) -> bool {
        let before = self.presence.load(Relaxed);
        before < region.inside() && self.presence.compare_exchange(before, state, AcqRel, Relaxed).is_ok()
    }

    /// Its thread enters, if it is in time.
    pub(super) fn enter(&self, region: Region) -> Option<Inside<'_>> {
        self.passes_to(region, region.inside()).then(|| Inside { seat: self, region })
    }

    /// Its thread cannot enter any more, if it has not.
    pub(super) fn bar(&self, region: Region) -> bool {
        self.passes_to(region, region.over())
    }
}

/// A worker inside a region. Dropped, it has left.
pub(super) struct Inside<'a> {
    seat: &'a Seat,
    region: Region,
}

impl Drop for Inside<'_> {
    fn drop(&mut self) {
        self.seat.presence.store(self.region.over(), Release);
    }
}
