//! A model of the caches between multiprocessors and memory.
//!
//! Blocks are dealt out to multiprocessors in turn, as many to each as it holds at a time. The warps of a multiprocessor take turns,
//! an instruction each, and wait for each other at the barriers of their block; multiprocessors take turns at the second level. Loads look
//! into the first level. Stores pass it by, and what they wrote is gone from it. (An H200 keeps there what a store fills, and what a
//! volatile load reads is gone there: `measurements/2026-11-18-h200/xray/first-level.csv`. The model does not have that yet.)
//!
//! The second level has parts. A multiprocessor asks the part that is near; what has its home in another part, which memory hangs on, comes
//! from there, and stays in both. (NVIDIA's forum, "NCU L2 metric understanding", 2026.) A profiler counts what crosses in both parts.
//! Caches are empty at first. A GPU does not take such exact turns: hits are a model.

use crate::device::emulator::xray::caches::{Cache, CacheShape};
use crate::device::emulator::xray::coalesce::{LINE_BYTES, SECTOR_BYTES};
use crate::device::emulator::xray::collector::{BARRIER, Request};
use crate::device::emulator::xray::gpus::GpuModel;
use crate::device::emulator::xray::trace::Doing;

/// Sectors of one access in the code: found in the first level, asked of the second, found there.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Found {
    pub(crate) l1_hits: u64,
    pub(crate) l2_sectors: u64,
    pub(crate) l2_hits: u64,
}

/// [`Found`] by places in the code.
#[derive(Debug, Default)]
pub(crate) struct FoundAt(Vec<Found>);

impl FoundAt {
    #[inline]
    fn at(&mut self, site: u32) -> &mut Found {
        let site = site as usize;
        if site >= self.0.len() {
            self.0.resize(site + 1, Found::default());
        }
        &mut self.0[site]
    }

    pub(crate) fn get(&self, site: u32) -> Found {
        self.0.get(site as usize).copied().unwrap_or_default()
    }

    pub(crate) fn add(&mut self, other: &FoundAt) {
        for (site, found) in other.0.iter().enumerate() {
            if found.l1_hits + found.l2_sectors > 0 {
                let mine = self.at(site as u32);
                mine.l1_hits += found.l1_hits;
                mine.l2_sectors += found.l2_sectors;
                mine.l2_hits += found.l2_hits;
            }
        }
    }
}

/// The first level of one multiprocessor.
#[derive(Debug)]
pub(crate) struct FirstLevel {
    cache: Cache,
}

impl FirstLevel {
    pub(crate) fn new(shape: CacheShape) -> Self {
        FirstLevel { cache: Cache::new(shape) }
    }

    /// Lets the warps of blocks that run at the same time take turns; `warps_per_block` streams belong to a block. What the second
    /// level is asked for.
    pub(crate) fn run(
        &mut self,
        streams: &[Vec<Request>],
        warps_per_block: usize,
        found: &mut FoundAt,
    ) -> Vec<Request> {
        let mut missed = Vec::new();
        let mut next = vec![0; streams.len()];
        // At a barrier: waiting for the others of the block.
        let mut waits = vec![false; streams.len()];
        loop {
            let mut advanced = false;
            for (warp, stream) in streams.iter().enumerate() {
                let Some(request) = stream.get(next[warp]).filter(|_| !waits[warp]) else { continue };
                advanced = true;
                if request.site == BARRIER {
                    waits[warp] = true;
                    next[warp] += 1;
                    continue;
                }
                while let Some(request) = stream.get(next[warp]) {
                    self.take(request, found, &mut missed);
                    next[warp] += 1;
                    if stream.get(next[warp]).is_none_or(|request| request.first) {
                        break;
                    }
                }
            }
            if !advanced && !waits.contains(&true) {
                return missed;
            }
            // A barrier opens when every warp of the block waits at it or has ended.
            for block in 0..streams.len().div_ceil(warps_per_block.max(1)) {
                let warps = block * warps_per_block..((block + 1) * warps_per_block).min(streams.len());
                if warps.clone().all(|warp| waits[warp] || next[warp] >= streams[warp].len()) {
                    waits[warps].fill(false);
                }
            }
        }
    }

    #[inline]
    fn take(&mut self, request: &Request, found: &mut FoundAt, missed: &mut Vec<Request>) {
        let hit = match request.doing {
            Doing::Load => self.cache.read(request.sector),
            // They go past the first level, as atomics do.
            Doing::FreshLoad | Doing::Copy => false,
            Doing::Store | Doing::Atomic => {
                self.cache.forget(request.sector);
                false
            }
        };
        if hit {
            found.at(request.site).l1_hits += 1;
        } else {
            missed.push(*request);
        }
    }
}

/// The second level and the memory behind it.
#[derive(Debug)]
pub(crate) struct SecondLevel {
    parts: Vec<Cache>,
    dram_sectors: u64,
    pub(crate) dram_read_sectors: u64,
    pub(crate) read_sectors: u64,
    pub(crate) written_sectors: u64,
    /// Of them those that crossed from one part to another.
    pub(crate) far_read_sectors: u64,
    pub(crate) far_written_sectors: u64,
    pub(crate) found: FoundAt,
}

impl SecondLevel {
    pub(crate) fn new(gpu: &GpuModel) -> Self {
        let parts = gpu.l2_parts.max(1);
        let shape = CacheShape { bytes: gpu.l2.bytes / u64::from(parts), ..gpu.l2 };
        SecondLevel {
            parts: (0..parts).map(|_| Cache::new(shape)).collect(),
            dram_sectors: gpu.dram_sectors.max(1),
            dram_read_sectors: 0,
            read_sectors: 0,
            written_sectors: 0,
            far_read_sectors: 0,
            far_written_sectors: 0,
            found: FoundAt::default(),
        }
    }

    /// Lets multiprocessors take turns at it, a few sectors each.
    pub(crate) fn run(&mut self, multiprocessors: &[Vec<Request>]) {
        /// About what one instruction asks for.
        const TURN: usize = 8;
        let longest = multiprocessors.iter().map(Vec::len).max().unwrap_or(0);
        for first in (0..longest).step_by(TURN) {
            for (multiprocessor, requests) in multiprocessors.iter().enumerate() {
                let turn = requests.len().min(first)..requests.len().min(first + TURN);
                let near = multiprocessor * self.parts.len() / multiprocessors.len();
                requests[turn].iter().for_each(|request| self.take(request, near));
            }
        }
    }

    /// A request of a multiprocessor that is near this part.
    fn take(&mut self, request: &Request, near: usize) {
        let Request { sector, site, doing, .. } = *request;
        let home = self.home(sector);
        let hit = match doing {
            Doing::Load | Doing::FreshLoad | Doing::Copy => {
                self.read_sectors += 1;
                self.parts[near].read(sector) || {
                    self.far_read_sectors += u64::from(near != home);
                    (near != home && self.parts[home].read(sector)) || self.fetch(sector, home)
                }
            }
            Doing::Store | Doing::Atomic => {
                self.written_sectors += 1;
                self.far_written_sectors += u64::from(near != home);
                // It passes the near part and stays there; copies in others are old now.
                for (number, part) in self.parts.iter_mut().enumerate().filter(|&(part, _)| part != home) {
                    if number == near {
                        part.read(sector);
                    } else {
                        part.forget(sector);
                    }
                }
                if doing == Doing::Store {
                    self.parts[home].write(sector)
                } else {
                    let hit = self.parts[home].read(sector) || self.fetch(sector, home);
                    self.parts[home].write(sector);
                    hit
                }
            }
        };
        let found = self.found.at(site);
        found.l2_sectors += 1;
        found.l2_hits += u64::from(hit);
    }

    /// The part that memory of this sector hangs on: lines take turns. So where a buffer begins makes no difference.
    fn home(&self, sector: u64) -> usize {
        (sector * SECTOR_BYTES / LINE_BYTES) as usize % self.parts.len()
    }

    /// Memory moves several sectors at a time. `false`: it was no hit.
    fn fetch(&mut self, sector: u64, home: usize) -> bool {
        let first = sector / self.dram_sectors * self.dram_sectors;
        for other in first..first + self.dram_sectors {
            self.parts[home].read(other);
        }
        self.dram_read_sectors += self.dram_sectors;
        false
    }

    /// Sectors that were written to memory, or will be once others want their place.
    pub(crate) fn dram_written_sectors(&self) -> u64 {
        self.parts.iter().map(|part| part.written_back + part.dirty()).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::emulator::xray::gpus::SM_90;

    fn load(sector: u64) -> Request {
        Request { sector, site: 7, doing: Doing::Load, first: true }
    }

    #[test]
    fn warps_of_a_block_wait_for_each_other_at_barriers() {
        let barrier = Request { site: BARRIER, ..load(0) };
        let mut level = FirstLevel::new(SM_90.l1(0));
        let mut found = FoundAt::default();
        // The second warp reads behind the barrier what the first has read before it.
        let streams = [vec![load(1), load(2), load(3), barrier], vec![barrier, load(3)]];
        let missed = level.run(&streams, 2, &mut found);
        assert_eq!(missed.iter().map(|request| request.sector).collect::<Vec<_>>(), [1, 2, 3]);
        assert_eq!(found.get(7).l1_hits, 1);
    }

    #[test]
    fn what_was_written_is_gone_from_the_first_level() {
        let mut level = FirstLevel::new(SM_90.l1(0));
        let mut found = FoundAt::default();
        let store = Request { doing: Doing::Store, ..load(1) };
        let missed = level.run(&[vec![load(1), load(1), store, load(1), load(2)]], 1, &mut found);
        assert_eq!(missed.len(), 4);
        assert_eq!(found.get(7).l1_hits, 1);
    }

    #[test]
    fn half_of_all_sectors_cross_and_stay_near() {
        let mut level = SecondLevel::new(&SM_90);
        let sectors = 4 * 10_000;
        let all = |doing| (0..sectors).map(|sector| Request { doing, ..load(sector) }).collect::<Vec<_>>();
        for _ in 0..2 {
            level.run(&[all(Doing::Load), vec![]]);
        }
        assert_eq!((level.read_sectors, level.dram_read_sectors), (2 * sectors, sectors));
        assert_eq!(level.far_read_sectors, sectors / 2, "once each");
        level.run(&[all(Doing::Store), vec![]]);
        level.run(&[all(Doing::Load), vec![]]);
        assert_eq!(
            (level.far_written_sectors, level.far_read_sectors),
            (sectors / 2, sectors / 2),
            "they stay"
        );
        level.run(&[vec![], all(Doing::Store)]);
        level.run(&[all(Doing::Load), vec![]]);
        assert_eq!(level.far_read_sectors, sectors, "the copies were old");
        assert_eq!(level.dram_written_sectors(), sectors);
    }

    #[test]
    fn memory_is_asked_once_and_written_at_last() {
        let mut level = SecondLevel::new(&SM_90);
        let store = Request { doing: Doing::Store, ..load(100) };
        level.run(&[vec![load(0), load(1)], vec![load(0), store]]);
        assert_eq!((level.read_sectors, level.written_sectors), (3, 1));
        assert_eq!((level.dram_read_sectors, level.dram_written_sectors()), (2, 1), "two sectors at a time");
        assert_eq!((level.found.get(7).l2_sectors, level.found.get(7).l2_hits), (4, 2));
    }
}
