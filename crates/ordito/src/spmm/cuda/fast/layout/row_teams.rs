//! Which rows have a group of lanes each, and which a warp, a block or several blocks, so that nobody waits for a group that goes
//! through a long row step after step. Data, from how many rows are how long.

use crate::device::DeviceLimits;
use crate::spmm::analysis::row_work::AtLeast;

/// What is known of the rows.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lengths {
    pub(crate) nonzeros: usize,
    pub(crate) longest: usize,
    pub(crate) at_least: AtLeast,
}

/// How a kernel walks over a row: groups of `lanes` lanes, each with `split` nonzeros in a step and so many steps on their way; all of it for every
/// tile of columns.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Groups {
    pub(crate) lanes: u32,
    pub(crate) split: u32,
    pub(crate) in_flight: u32,
    pub(crate) tiles: u64,
}

/// Threads of a block and of a warp.
pub(crate) const THREADS: u32 = 256;
const WARP: u32 = 32;
/// What teams take, as turns of loads that a group waits for: that there are any, and as many groups more as a device holds at once. Fitted to
/// 2140 products on an H200 with and without teams, of 284 generated matrices whose rows have at most 64 nonzeros: so the fastest kernel takes
/// 0.977 of its time without teams, at most 1.14. It would be 0.973 with the better of both every time, and 0.987, at most 1.33, with a sixth
/// of `TURNS_OF_ALL_GROUPS` and nothing for `TURNS_OF_ANY`.
const TURNS_OF_ANY: f64 = 0.5;
const TURNS_OF_ALL_GROUPS: f64 = 12.0;
/// Nonzeros, and steps, of a row that has a group in any case; steps of a block that is one of several for a row, at least.
const SHORT: usize = 16;
const FEW_STEPS: usize = 2;
const MANY_STEPS: f64 = 16.0;
/// No row has more blocks than this, nor than are there at the same time (on an H200 1056, of so many threads): one adds up what they have.
const MOST_BLOCKS: usize = 1024;

/// The decision.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct RowTeams {
    /// Rows from so many nonzeros on have a warp, or blocks.
    pub(crate) from_warp: usize,
    pub(crate) from_block: usize,
    /// At most; a row of more has several blocks.
    pub(crate) nonzeros_of_block: usize,
    pub(crate) rows_with_warps: usize,
    pub(crate) rows_with_blocks: usize,
    /// Steps that follow each other at most.
    pub(crate) chain: f64,
}

impl RowTeams {
    /// The least time: the longest chain of steps, so many of which are waited for at once, or what all groups take anyway if that is more; and
    /// what teams cost, whose groups have little to do each.
    pub(crate) fn new(limits: &DeviceLimits, a: &Lengths, groups: Groups) -> Self {
        let Groups { lanes, split, in_flight, tiles } = groups;
        let threads_at_once = limits.multiprocessors.max(1) * limits.threads_per_multiprocessor.max(THREADS);
        let at_once = f64::from(threads_at_once / lanes) / tiles as f64;
        let most_blocks = MOST_BLOCKS.min((threads_at_once / THREADS) as usize);
        let anyway = a.nonzeros as f64 / f64::from(split) / at_once;
        let (in_warp, in_block) = (groups.in_warp(), groups.in_block());
        let steps = |nonzeros: usize, team: u32| nonzeros as f64 / f64::from(split * team);
        let nonzeros_of_block = (f64::from(in_block * split) * anyway.max(MANY_STEPS)) as usize;
        let with = |(from_warp, rows_with_either): (usize, usize),
                    (from_block, rows_with_blocks): (usize, usize)| {
            let of_group = steps(a.longest.min(from_warp - 1), 1);
            let of_warp = steps(a.longest.min(from_block - 1), in_warp);
            let nonzeros_of_block =
                nonzeros_of_block.max(from_block.min(a.longest)).max(a.longest.div_ceil(most_blocks));
            let rows_with_warps = rows_with_either - rows_with_blocks;
            let chain = of_group.max(if rows_with_warps > 0 { of_warp } else { 0.0 });
            RowTeams { from_warp, from_block, nonzeros_of_block, rows_with_warps, rows_with_blocks, chain }
        };
        let time = |teams: &RowTeams| {
            let of_any = if teams.any() { TURNS_OF_ANY } else { 0.0 };
            let of_groups = TURNS_OF_ALL_GROUPS * teams.groups_more(groups) / at_once;
            teams.chain.max(anyway) / f64::from(in_flight.max(1)) + of_any + of_groups
        };
        let least = SHORT.max(FEW_STEPS * split as usize);
        let lengths = a.at_least.lengths().filter(|&(length, rows)| length >= least && rows > 0);
        let lengths: Vec<(usize, usize)> = lengths.collect();
        let nobody = (usize::MAX, 0);
        let mut best = with(nobody, nobody);
        for &from_warp in &lengths {
            let from_blocks = lengths.iter().copied().chain([nobody]).filter(|&(length, _)| match in_warp {
                1 => length == from_warp.0, // a group is a warp
                _ => length >= from_warp.0,
            });
            for teams in from_blocks.map(|from_block| with(from_warp, from_block)) {
                if time(&teams) < time(&best) {
                    best = teams;
                }
            }
        }
        best
    }

    /// Groups of teams beside the one that each row has anyway.
    pub(crate) fn groups_more(&self, groups: Groups) -> f64 {
        let of = |rows: usize, team: u32| rows as f64 * f64::from(team - 1);
        of(self.rows_with_warps, groups.in_warp()) + of(self.rows_with_blocks, groups.in_block())
    }

    /// Is there a row that has more than a group?
    pub(crate) fn any(&self) -> bool {
        self.rows_with_warps + self.rows_with_blocks > 0
    }
}

impl Groups {
    /// How many a warp has, and a block.
    pub(crate) fn in_warp(&self) -> u32 {
        WARP / self.lanes
    }
    pub(crate) fn in_block(&self) -> u32 {
        THREADS / self.lanes
    }
    /// Warps of a block.
    pub(crate) fn warps() -> u32 {
        THREADS / WARP
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn teams(rows: &[(usize, usize)], lanes: u32, split: u32) -> RowTeams {
        teams_on(&DeviceLimits::h200(), rows, lanes, split)
    }

    fn teams_on(limits: &DeviceLimits, rows: &[(usize, usize)], lanes: u32, split: u32) -> RowTeams {
        let mut offsets = vec![0];
        for &(count, length) in rows {
            (0..count).for_each(|_| offsets.push(offsets[offsets.len() - 1] + length));
        }
        let longest = rows.iter().map(|row| row.1).max().unwrap_or(0);
        let at_least = AtLeast::of(&offsets);
        let lengths = Lengths { nonzeros: offsets[offsets.len() - 1], longest, at_least };
        RowTeams::new(limits, &lengths, Groups { lanes, split, in_flight: 4, tiles: 1 })
    }

    #[test]
    fn a_few_long_rows_have_blocks() {
        let few = teams(&[(3, 1000), (4000, 5)], 8, 1);
        assert_eq!((few.rows_with_warps, few.rows_with_blocks, few.chain), (0, 3, 15.0));
        assert_eq!(few.nonzeros_of_block, 32 * 16);
        let giant = teams(&[(1, 10_000_000), (100, 1)], 32, 32);
        assert_eq!(
            (giant.rows_with_blocks, giant.nonzeros_of_block),
            (1, 10_000_000_usize.div_ceil(MOST_BLOCKS))
        );
    }

    #[test]
    fn many_rows_of_middle_length_have_warps_and_regular_ones_groups() {
        let middle = teams(&[(3000, 100), (70_000, 4)], 8, 1);
        assert!(middle.rows_with_warps == 3000 && middle.rows_with_blocks == 0, "{middle:?}");
        assert!(!teams(&[(1_000_000, 27)], 8, 1).any());
        assert!(!teams(&[], 32, 32).any());
        // There are so many nonzeros that nobody waits for the 300 of a row.
        assert!(!teams(&[(2000, 300), (1_000_000, 40)], 8, 1).any());
    }

    #[test]
    fn a_smaller_device_has_fewer_blocks_for_a_row_and_waits_less_for_long_ones() {
        let small =
            DeviceLimits { multiprocessors: 24, threads_per_multiprocessor: 1536, ..DeviceLimits::h200() };
        let giant = teams_on(&small, &[(1, 10_000_000), (100, 1)], 32, 32);
        assert_eq!(
            (giant.rows_with_blocks, giant.nonzeros_of_block),
            (1, 10_000_000_usize.div_ceil(24 * 1536 / 256))
        );
        // All groups take 555 000 / (24 · 1536 / 8) = 120 steps anyway, more than the longest row; with 2048 threads 90.
        let rows = [(100, 110), (108_800, 5)];
        let fuller = DeviceLimits { threads_per_multiprocessor: 2048, ..small.clone() };
        assert!(!teams_on(&small, &rows, 8, 1).any() && teams_on(&fuller, &rows, 8, 1).any());
    }
}
