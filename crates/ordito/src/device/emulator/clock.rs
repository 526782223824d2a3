//! Which of two accesses by different threads certainly came first: the one that a barrier separates from the
//! other. Time is counted in barriers; two accesses without one in between could also have happened the other
//! way round, or at once.

use std::collections::HashMap;

const LANES: usize = 32;

/// What the barriers of a launch have ordered so far. Blocks run one after the other, so only the present block
/// has threads that wait.
#[derive(Debug)]
pub(crate) struct Clock {
    now: u64,
    /// When the present block began.
    block_start: u64,
    last_barrier: u64,
    warps: Vec<WarpClock>,
    /// When a block last published its writes: a fence, then an atomic.
    published: HashMap<u32, u64>,
    /// Each thread's last fence.
    fences: Vec<u64>,
    /// Each thread's last atomic, and the fence before the last one that had one.
    atomics: Vec<Atomic>,
    /// The present block's last atomic.
    last_atomic: u64,
}

#[derive(Debug, Clone, Copy, Default)]
struct Atomic {
    /// Of the last one.
    time: u64,
    /// What the thread did before this fence is published, since this time.
    published: u64,
    since: u64,
}

#[derive(Debug, Default)]
struct WarpClock {
    /// When all lanes last met.
    all_met: u64,
    /// `[b][a]`: lane b has met, perhaps through others, what lane a did before that time. Only kept for warps
    /// in which some lanes met without the others.
    met: Option<Box<[[u64; LANES]; LANES]>>,
}

impl Clock {
    pub(crate) fn new(threads: usize) -> Self {
        let warps = (0..threads.div_ceil(LANES)).map(|_| WarpClock::default()).collect();
        let (fences, atomics) = (vec![0; threads], vec![Atomic::default(); threads]);
        // Time 0 is never: records that are all zero are records of nothing.
        Clock {
            now: 1,
            block_start: 1,
            last_barrier: 0,
            warps,
            published: HashMap::new(),
            fences,
            atomics,
            last_atomic: 0,
        }
    }

    pub(crate) fn now(&self) -> u64 {
        self.now
    }
    pub(crate) fn block_start(&self) -> u64 {
        self.block_start
    }

    /// A new run: the blocks of the last one do not count.
    pub(crate) fn start_run(&mut self) -> u64 {
        self.published.clear();
        self.now += 1;
        self.now
    }

    pub(crate) fn start_block(&mut self) {
        self.now += 1;
        self.block_start = self.now;
        self.last_atomic = 0;
        self.fences.fill(0);
        self.atomics.fill(Atomic::default());
    }

    pub(crate) fn block_barrier(&mut self) {
        self.now += 1;
        self.last_barrier = self.now;
    }

    /// The lanes of `mask` met; `live` lanes have not ended.
    pub(crate) fn warp_barrier(&mut self, warp: usize, mask: u32, live: u32) {
        self.now += 1;
        let now = self.now;
        let warp = &mut self.warps[warp];
        if mask & live == live {
            warp.all_met = now;
            return;
        }
        let met = warp.met.get_or_insert_with(|| Box::new([[0; LANES]; LANES]));
        let members = || (0..LANES).filter(|&lane| mask >> lane & 1 == 1);
        let mut joined = [0; LANES];
        for member in members() {
            for (joined, &met) in joined.iter_mut().zip(&met[member]) {
                *joined = met.max(*joined);
            }
        }
        members().for_each(|member| joined[member] = now);
        members().for_each(|member| met[member] = joined);
    }

    pub(crate) fn fence(&mut self, thread: usize) {
        self.now += 1;
        self.fences[thread] = self.now;
    }

    /// An atomic operation on global memory: after a fence it publishes what the block (to other blocks) and the thread (to
    /// others of its block) wrote before the fence.
    pub(crate) fn atomic(&mut self, block: u32, thread: usize) {
        self.now += 1;
        let (fence, atomic) = (self.fences[thread], &mut self.atomics[thread]);
        if fence != 0 {
            self.published.insert(block, fence);
            (atomic.published, atomic.since) = (fence, self.now);
        }
        atomic.time = self.now;
        self.last_atomic = self.now;
    }

    /// Did what `earlier` did at `time` come before what `thread` of the same block does now?
    pub(crate) fn ordered(&self, earlier: usize, time: u64, thread: usize) -> bool {
        if earlier == thread || self.last_barrier > time {
            return true;
        }
        match earlier / LANES == thread / LANES {
            true => self.met(earlier, time, thread),
            false => self.heard_of(earlier, time, thread),
        }
    }

    /// Two lanes of a warp have met since.
    fn met(&self, earlier: usize, time: u64, thread: usize) -> bool {
        let warp = &self.warps[thread / LANES];
        let met = || warp.met.as_ref().is_some_and(|met| met[thread % LANES][earlier % LANES] > time);
        warp.all_met > time || met()
    }

    /// A thread of another warp published, and then this one did an atomic and a fence, or a lane that it has met since. Which
    /// counter the atomics were on is not asked.
    fn heard_of(&self, earlier: usize, time: u64, thread: usize) -> bool {
        let Atomic { published, since, .. } = self.atomics[earlier];
        let warp = thread / LANES * LANES..self.atomics.len().min((thread / LANES + 1) * LANES);
        let hears = |lane: usize| {
            let (heard, fence) = (self.atomics[lane].time, self.fences[lane]);
            heard > since && fence > heard && (lane == thread || self.met(lane, fence, thread))
        };
        published > time && warp.into_iter().any(hears)
    }

    /// Is what another block did known to this one? It published, and then this block did an atomic and so could know.
    pub(crate) fn ordered_across_blocks(&self, earlier_block: u32, time: u64) -> bool {
        self.published
            .get(&earlier_block)
            .is_some_and(|&published| published > time && self.last_atomic > published)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn barriers_order_what_lies_on_both_sides() {
        let mut clock = Clock::new(64);
        let before = clock.now();
        assert!(clock.ordered(3, before, 3));
        assert!(!clock.ordered(3, before, 4));
        clock.warp_barrier(0, u32::MAX, u32::MAX);
        assert!(
            clock.ordered(3, before, 4) && !clock.ordered(3, before, 40) && !clock.ordered(40, before, 3)
        );
        assert!(!clock.ordered(3, clock.now(), 4));
        clock.block_barrier();
        assert!(clock.ordered(3, before, 40) && !clock.ordered(3, clock.now(), 40));
    }

    #[test]
    fn some_lanes_may_meet_and_carry_on_what_they_know() {
        let mut clock = Clock::new(32);
        let before = clock.now();
        clock.warp_barrier(0, 0b0011, u32::MAX);
        assert!(clock.ordered(0, before, 1) && clock.ordered(1, before, 0) && !clock.ordered(0, before, 2));
        clock.warp_barrier(0, 0b0110, u32::MAX);
        assert!(clock.ordered(0, before, 2), "0 met 1, then 1 met 2");
        assert!(!clock.ordered(2, before, 0), "0 has met nobody since");
    }

    #[test]
    fn a_fence_and_an_atomic_publish_to_other_warps() {
        let mut clock = Clock::new(64);
        clock.start_block();
        let written = clock.now();
        clock.atomic(7, 0);
        clock.atomic(7, 40);
        assert!(!clock.ordered(0, written, 40), "without a fence");
        clock.fence(0);
        clock.atomic(7, 0);
        assert!(!clock.ordered(0, written, 40), "no atomic since");
        clock.atomic(7, 40);
        assert!(!clock.ordered(0, written, 40), "no fence behind the atomic");
        clock.fence(40);
        assert!(clock.ordered(0, written, 40) && !clock.ordered(0, written, 41));
        assert!(!clock.ordered(0, clock.now(), 40) && !clock.ordered(1, written, 40));
        clock.warp_barrier(1, u32::MAX, u32::MAX);
        assert!(clock.ordered(0, written, 41), "40 knew and has met 41");
    }

    #[test]
    fn a_fence_and_an_atomic_publish_to_other_blocks() {
        let mut clock = Clock::new(32);
        clock.start_block();
        let written = clock.now();
        clock.fence(0);
        clock.atomic(7, 0);
        let late = clock.now();
        clock.start_block();
        assert!(!clock.ordered_across_blocks(7, written), "this block did no atomic");
        clock.atomic(8, 5);
        assert!(clock.ordered_across_blocks(7, written));
        assert!(!clock.ordered_across_blocks(7, late) && !clock.ordered_across_blocks(6, written));
    }
}
