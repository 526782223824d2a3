//! The lanes of a warp meeting: what they wait for, and what each of them then gets.

/// What lanes meet for; numbers as in `cuda_emulator.h`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Kind(pub(crate) u32);

impl Kind {
    pub(crate) const SYNC_WARP: Kind = Kind(0);

    /// As CUDA calls it.
    pub(crate) fn name(self) -> &'static str {
        const NAMES: [&str; 19] = [
            "__syncwarp",
            "__shfl_sync",
            "__shfl_up_sync",
            "__shfl_down_sync",
            "__shfl_xor_sync",
            "__ballot_sync",
            "__any_sync",
            "__all_sync",
            "__reduce_add_sync",
            "__reduce_min_sync",
            "__reduce_min_sync",
            "__reduce_max_sync",
            "__reduce_max_sync",
            "__reduce_and_sync",
            "__reduce_or_sync",
            "__reduce_xor_sync",
            "__match_any_sync",
            "multiply_16x8x8", // of doubles
            "multiply_16x8x8", // of TF32
        ];
        NAMES.get(self.0 as usize).copied().unwrap_or("a collective")
    }

    /// Every lane gets what all brought, and none may be missing.
    fn gathers(self) -> bool {
        self.0 >= 17
    }

    fn shuffles(self) -> bool {
        (1..=4).contains(&self.0)
    }
}

/// Lanes that wait for the others of their mask.
#[derive(Debug, Clone, Copy)]
struct Group {
    kind: Kind,
    mask: u32,
    arrived: u32,
}

/// 32 threads. Each mask has a bit for each lane.
#[derive(Debug, Clone)]
pub(crate) struct Warp {
    /// Lanes that have not ended.
    pub(crate) live: u32,
    /// Lanes that have not begun.
    pub(crate) unstarted: u32,
    /// Lanes that waited and may go on.
    pub(crate) ready: u32,
    /// Lanes that wait at a barrier of the block.
    pub(crate) at_barrier: u32,
    groups: Vec<Group>,
    values: [u64; 32],
    sources: [u32; 32],
    results: [u64; 32],
    /// What each lane brings to a gathering, and what all brought to the last: it stays until all have come again, and
    /// so have read it. Empty until the first.
    brought: Vec<u64>,
    gathered: Vec<u64>,
}

/// Words of 8 bytes that a lane can bring: the operands of a tensor core, 4 and 2 doubles.
const BROUGHT_WORDS: usize = 6;

/// What happens to a lane that arrives.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Arrival {
    /// It waits.
    Wait,
    /// It was the last: all lanes of the mask have met.
    Met {
        /// Those that have.
        lanes: u32,
    },
}

/// Lanes that should have taken part.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Missing {
    /// The one that a shuffle reads from.
    Source { lane: u32, source: u32 },
    /// Some of those that must be all; `lanes` came.
    Lanes { kind: Kind, lanes: u32 },
}

impl Warp {
    /// A warp of the first `lanes` lanes.
    pub(crate) fn new(lanes: usize) -> Self {
        let all = if lanes >= 32 { u32::MAX } else { (1 << lanes) - 1 };
        Warp {
            live: all,
            unstarted: all,
            ready: 0,
            at_barrier: 0,
            groups: Vec::new(),
            values: [0; 32],
            sources: [0; 32],
            results: [0; 32],
            brought: Vec::new(),
            gathered: Vec::new(),
        }
    }

    /// The same warp in a new block.
    pub(crate) fn start_block(&mut self, lanes: usize) {
        let all = if lanes >= 32 { u32::MAX } else { (1 << lanes) - 1 };
        (self.live, self.unstarted, self.ready, self.at_barrier) = (all, all, 0, 0);
        self.groups.clear();
    }

    /// A lane comes to a collective. `mask` holds the lane's own bit.
    #[inline]
    pub(crate) fn arrive(
        &mut self,
        lane: u32,
        kind: Kind,
        mask: u32,
        value: u64,
        source: u32,
    ) -> Result<Arrival, Missing> {
        if kind != Kind::SYNC_WARP {
            self.values[lane as usize] = value;
            self.sources[lane as usize] = source;
        }
        let same = |group: &Group| group.kind == kind && group.mask == mask;
        let index = self.groups.iter().position(same).unwrap_or_else(|| {
            self.groups.push(Group { kind, mask, arrived: 0 });
            self.groups.len() - 1
        });
        self.groups[index].arrived |= 1 << lane;
        self.finish(index)
    }

    /// A lane ends. Lanes that waited for it wait no more: CUDA does not count it. Those that have met then.
    pub(crate) fn exit(&mut self, lane: u32) -> Result<Vec<(Kind, Arrival)>, Missing> {
        self.live &= !(1 << lane);
        let mut met = Vec::new();
        for index in (0..self.groups.len()).rev() {
            let kind = self.groups[index].kind;
            let arrival = self.finish(index)?;
            if arrival != Arrival::Wait {
                met.push((kind, arrival));
            }
        }
        Ok(met)
    }

    /// What the lane was given when it met the others.
    pub(crate) fn result(&self, lane: u32) -> u64 {
        self.results[lane as usize]
    }

    /// A lane's part of a gathering that it is about to come to: as many bytes from each, at most 48.
    pub(crate) fn bring(&mut self, lane: usize, bytes: &[u8]) {
        if self.brought.is_empty() {
            (self.brought, self.gathered) = (vec![0; 32 * BROUGHT_WORDS], vec![0; 32 * BROUGHT_WORDS]);
        }
        let all: &mut [u8] = bytemuck::cast_slice_mut(&mut self.brought);
        if let Some(place) = all.get_mut(lane * bytes.len()..(lane + 1) * bytes.len()) {
            place.copy_from_slice(bytes);
        }
    }

    /// What the lanes brought to the last gathering, one after the other.
    pub(crate) fn gathered(&self) -> *const u64 {
        self.gathered.as_ptr()
    }

    #[inline]
    fn finish(&mut self, index: usize) -> Result<Arrival, Missing> {
        let Group { kind, mask, arrived } = self.groups[index];
        if arrived != mask & self.live {
            return Ok(Arrival::Wait);
        }
        self.groups.swap_remove(index);
        self.ready |= arrived;
        if kind != Kind::SYNC_WARP {
            self.compute(kind, arrived)?;
        }
        Ok(Arrival::Met { lanes: arrived })
    }

    fn compute(&mut self, kind: Kind, lanes: u32) -> Result<(), Missing> {
        if kind.gathers() {
            std::mem::swap(&mut self.brought, &mut self.gathered);
            return if lanes == u32::MAX { Ok(()) } else { Err(Missing::Lanes { kind, lanes }) };
        }
        let members = || (0..32_u32).filter(|lane| lanes >> lane & 1 == 1);
        if kind.shuffles() {
            for lane in members() {
                let source = self.sources[lane as usize];
                if lanes.checked_shr(source).is_none_or(|bits| bits & 1 == 0) {
                    return Err(Missing::Source { lane, source });
                }
                self.results[lane as usize] = self.values[source as usize];
            }
            return Ok(());
        }
        if kind.0 == 16 {
            for lane in members() {
                let equal =
                    members().filter(|&other| self.values[other as usize] == self.values[lane as usize]);
                self.results[lane as usize] = equal.fold(0, |mask, other| mask | 1 << other);
            }
            return Ok(());
        }
        let values = || members().map(|lane| self.values[lane as usize] as u32);
        let result = match kind.0 {
            5 => members().fold(0, |mask, lane| mask | (self.values[lane as usize] as u32) << lane),
            6 => values().any(|value| value != 0).into(),
            7 => values().all(|value| value != 0).into(),
            8 => values().fold(0, u32::wrapping_add),
            9 => values().min().unwrap_or(0),
            10 => values().map(u32::cast_signed).min().unwrap_or(0).cast_unsigned(),
            11 => values().max().unwrap_or(0),
            12 => values().map(u32::cast_signed).max().unwrap_or(0).cast_unsigned(),
            13 => values().fold(u32::MAX, |all, value| all & value),
            14 => values().fold(0, |all, value| all | value),
            _ => values().fold(0, |all, value| all ^ value),
        };
        members().for_each(|lane| self.results[lane as usize] = result.into());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_wait_for_their_mask_and_not_for_those_that_ended() {
        let mut warp = Warp::new(4);
        for lane in [0, 2] {
            let arrival = warp.arrive(lane, Kind::SYNC_WARP, u32::MAX, 0, 0);
            assert_eq!(arrival, Ok(Arrival::Wait));
        }
        assert_eq!(warp.exit(3), Ok(vec![]));
        assert_eq!(warp.ready, 0);
        let met = Arrival::Met { lanes: 0b101 };
        assert_eq!(warp.exit(1), Ok(vec![(Kind::SYNC_WARP, met)]));
        assert_eq!(warp.ready, 0b101);
    }

    #[test]
    fn masks_and_kinds_keep_groups_apart() {
        let mut warp = Warp::new(32);
        let (shuffle, ballot) = (Kind(1), Kind(5));
        assert_eq!(warp.arrive(0, shuffle, 0b11, 10, 1), Ok(Arrival::Wait));
        assert_eq!(warp.arrive(4, ballot, 0b110000, 1, 0), Ok(Arrival::Wait));
        assert_eq!(warp.arrive(1, shuffle, 0b11, 11, 0), Ok(Arrival::Met { lanes: 0b11 }));
        assert_eq!((warp.result(0), warp.result(1)), (11, 10));
        assert_eq!(warp.arrive(5, ballot, 0b110000, 0, 0), Ok(Arrival::Met { lanes: 0b110000 }));
        assert_eq!(warp.result(5), 0b010000);
    }

    #[test]
    fn a_shuffle_needs_a_source_that_takes_part() {
        let mut warp = Warp::new(2);
        assert_eq!(warp.arrive(0, Kind(4), u32::MAX, 1, 1), Ok(Arrival::Wait));
        assert_eq!(warp.arrive(1, Kind(4), u32::MAX, 1, 17), Err(Missing::Source { lane: 1, source: 17 }));
    }

    #[test]
    fn signed_and_unsigned_differ() {
        let reduce = |kind, values: [i32; 2]| {
            let mut warp = Warp::new(2);
            for (lane, value) in (0..).zip(values) {
                warp.arrive(lane, Kind(kind), 0b11, i64::from(value) as u64, 0).unwrap();
            }
            warp.result(0) as u32 as i32
        };
        assert_eq!([9, 10, 11, 12].map(|kind| reduce(kind, [-1, 3])), [3, -1, -1, 3]);
        assert_eq!([8, 13, 14, 15].map(|kind| reduce(kind, [6, 3])), [9, 2, 7, 5]);
        assert_eq!([6, 7].map(|kind| reduce(kind, [1, 0])), [1, 0]);
    }
}
