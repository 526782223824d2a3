//! The threads of a block: who has begun, who waits where, who has ended.

use crate::device::emulator::clock::Clock;
use crate::device::emulator::collective::{Arrival, Kind, Missing, Warp};
use std::collections::BTreeMap;

/// The threads of the block that runs.
#[derive(Debug)]
pub(crate) struct Block {
    threads: usize,
    pub(crate) warps: Vec<Warp>,
    live: usize,
    /// Threads at each kind of barrier: `__syncthreads`, `_count`, `_and`, `_or`.
    arrived: [usize; 4],
    /// How many of them brought a predicate that holds.
    holding: usize,
    /// Where the first of them called it, and whether others came to another call.
    site: usize,
    sites_differ: bool,
    /// The last barrier that opened was not one call that all threads of the block came to.
    pub(crate) diverged: bool,
    result: u32,
    /// Where each thread waits.
    waits: Vec<Wait>,
}

/// What a thread waits for, and where it was called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Wait {
    /// Of barriers of the block, or of collectives of a warp: those have a mask.
    kind: u32,
    mask: Option<u32>,
    /// Return address.
    pub(crate) from: usize,
}

/// Threads that wait for the same.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Waiting {
    pub(crate) wait: Wait,
    pub(crate) first: usize,
    pub(crate) count: usize,
}

impl Wait {
    /// `__syncwarp(0x0000ffff)`
    pub(crate) fn name(&self) -> String {
        match self.mask {
            Some(mask) => format!("{}(mask {mask:#010x})", Kind(self.kind).name()),
            None => BARRIERS[self.kind as usize % BARRIERS.len()].into(),
        }
    }
}

const BARRIERS: [&str; 4] = ["__syncthreads", "__syncthreads_count", "__syncthreads_and", "__syncthreads_or"];

impl Block {
    pub(crate) fn new(threads: usize) -> Self {
        let warps = (0..threads).step_by(32).map(|first| Warp::new(threads - first)).collect();
        let nowhere = Wait { kind: 0, mask: None, from: 0 };
        Block {
            threads,
            warps,
            live: threads,
            arrived: [0; 4],
            holding: 0,
            site: 0,
            sites_differ: false,
            diverged: false,
            result: 0,
            waits: vec![nowhere; threads],
        }
    }

    /// All threads of the next block.
    pub(crate) fn start(&mut self) {
        for (warp, first) in self.warps.iter_mut().zip((0..).step_by(32)) {
            warp.start_block(self.threads - first);
        }
        (self.live, self.arrived, self.holding) = (self.threads, [0; 4], 0);
        (self.sites_differ, self.diverged) = (false, false);
    }

    pub(crate) fn all_ended(&self) -> bool {
        self.live == 0
    }
    pub(crate) fn ended(&self) -> usize {
        self.threads - self.live
    }

    /// A thread comes to a barrier of the block; `true` when it need not wait.
    pub(crate) fn barrier(
        &mut self,
        thread: usize,
        kind: u32,
        predicate: bool,
        from: usize,
        clock: &mut Clock,
    ) -> bool {
        let kind = kind as usize % BARRIERS.len();
        self.waits[thread] = Wait { kind: kind as u32, mask: None, from };
        self.warps[thread / 32].at_barrier |= 1 << (thread % 32);
        if self.arrived == [0; 4] {
            self.site = from;
        }
        self.sites_differ |= self.site != from;
        self.arrived[kind] += 1;
        self.holding += usize::from(predicate);
        self.open_barrier(clock) && self.go_on(thread)
    }

    /// What the barrier gave to every thread.
    pub(crate) fn barrier_result(&self) -> u32 {
        self.result
    }

    fn open_barrier(&mut self, clock: &mut Clock) -> bool {
        let Some(kind) = (0..4).find(|&kind| self.live > 0 && self.arrived[kind] == self.live) else {
            return false;
        };
        self.result = match kind {
            2 => u32::from(self.holding == self.live),
            3 => u32::from(self.holding > 0),
            _ => self.holding as u32,
        };
        self.diverged = self.sites_differ || self.live < self.threads;
        (self.arrived, self.holding, self.sites_differ) = ([0; 4], 0, false);
        for warp in &mut self.warps {
            warp.ready |= warp.at_barrier;
            warp.at_barrier = 0;
        }
        clock.block_barrier();
        true
    }

    /// A thread comes to a collective of its warp; `true` when it need not wait.
    #[allow(clippy::too_many_arguments)] // they are what CUDA's collectives take
    #[inline]
    pub(crate) fn collective(
        &mut self,
        thread: usize,
        kind: Kind,
        mask: u32,
        value: u64,
        source: u32,
        from: usize,
        clock: &mut Clock,
    ) -> Result<bool, Missing> {
        self.waits[thread] = Wait { kind: kind.0, mask: Some(mask), from };
        let arrival = self.warps[thread / 32].arrive(thread as u32 % 32, kind, mask, value, source)?;
        Ok(self.note(thread / 32, kind, &arrival, clock) && self.go_on(thread))
    }

    /// What the collective gave to this thread.
    pub(crate) fn collective_result(&self, thread: usize) -> u64 {
        self.warps[thread / 32].result(thread as u32 % 32)
    }

    /// What a thread brings to the collective that it comes to next.
    pub(crate) fn bring(&mut self, thread: usize, bytes: &[u8]) {
        self.warps[thread / 32].bring(thread % 32, bytes);
    }

    /// What the lanes of the thread's warp brought to the collective that it has left.
    pub(crate) fn gathered(&self, thread: usize) -> *const u64 {
        self.warps[thread / 32].gathered()
    }

    /// A thread ends; others may have waited for it.
    pub(crate) fn exit(&mut self, thread: usize, clock: &mut Clock) -> Result<(), Missing> {
        self.live -= 1;
        for (kind, arrival) in self.warps[thread / 32].exit(thread as u32 % 32)? {
            self.note(thread / 32, kind, &arrival, clock);
        }
        self.open_barrier(clock);
        Ok(())
    }

    /// Only `__syncwarp` orders memory; shuffles and votes do not.
    #[inline]
    fn note(&self, warp: usize, kind: Kind, arrival: &Arrival, clock: &mut Clock) -> bool {
        let Arrival::Met { lanes } = *arrival else { return false };
        if kind == Kind::SYNC_WARP {
            clock.warp_barrier(warp, lanes, self.warps[warp].live);
        }
        true
    }

    /// The last to arrive goes on at once.
    #[inline]
    fn go_on(&mut self, thread: usize) -> bool {
        self.warps[thread / 32].ready &= !(1 << (thread % 32));
        true
    }

    fn is_live(&self, thread: usize) -> bool {
        self.warps[thread / 32].live >> (thread % 32) & 1 == 1
    }

    /// The first thread that has ended.
    pub(crate) fn first_ended(&self) -> Option<usize> {
        (0..self.threads).find(|&thread| !self.is_live(thread))
    }

    /// Who waits for what, when nobody can go on; or who waited for what, when a barrier has just opened.
    pub(crate) fn waiting(&self) -> Vec<Waiting> {
        let mut found: BTreeMap<Wait, (usize, usize)> = BTreeMap::new();
        for thread in (0..self.threads).filter(|&thread| self.is_live(thread)) {
            found.entry(self.waits[thread]).or_insert((thread, 0)).1 += 1;
        }
        let mut found: Vec<_> =
            found.into_iter().map(|(wait, (first, count))| Waiting { wait, first, count }).collect();
        found.sort_by_key(|waiting| waiting.first);
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_barrier_opens_when_all_that_live_have_come() {
        let (mut block, mut clock) = (Block::new(40), Clock::new(40));
        for thread in 0..39 {
            assert!(!block.barrier(thread, 1, thread < 5, 0, &mut clock));
        }
        assert!(block.barrier(39, 1, true, 0, &mut clock));
        assert_eq!(block.barrier_result(), 6);
        assert_eq!((block.warps[0].ready, block.warps[1].ready), (u32::MAX, 0b0111_1111));
        for thread in 0..39 {
            assert!(!block.barrier(thread, 2, true, 0, &mut clock));
        }
        assert!(!block.diverged);
        block.exit(39, &mut clock).unwrap();
        assert_eq!(block.barrier_result(), 1, "all that live");
        assert!(block.diverged, "one never came");
        assert_eq!((block.first_ended(), block.ended()), (Some(39), 1));
    }

    #[test]
    fn two_calls_are_not_one_barrier() {
        let (mut block, mut clock) = (Block::new(2), Clock::new(2));
        for (sites, diverged) in [([10, 10], false), ([10, 20], true), ([20, 20], false)] {
            assert!(!block.barrier(0, 0, false, sites[0], &mut clock));
            assert!(block.barrier(1, 0, false, sites[1], &mut clock));
            assert_eq!(block.diverged, diverged, "{sites:?}");
        }
    }

    #[test]
    fn who_waits_for_what() {
        let (mut block, mut clock) = (Block::new(3), Clock::new(3));
        block.barrier(0, 0, false, 10, &mut clock);
        block.barrier(2, 0, false, 10, &mut clock);
        block.collective(1, Kind::SYNC_WARP, 7, 0, 0, 20, &mut clock).unwrap();
        let waiting = block.waiting();
        assert_eq!((waiting[0].first, waiting[0].count), (0, 2));
        assert_eq!(waiting[0].wait.name(), "__syncthreads");
        assert_eq!(waiting[1].wait.name(), "__syncwarp(mask 0x00000007)");
    }
}
