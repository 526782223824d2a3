//! Rows of X that ranks of one computer show each other: published once, read in place by whoever needs them.

use crate::halo::Halo;
use crate::partition::Partition;
use crate::ranks::{Collective, Ranks, RanksError, Tag};
use crate::shared_memory::SharedMemory;
use std::ops::Range;

/// What this rank shows to others of its computer, and what it sees of theirs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Near {
    /// Ranks of this computer, ascending.
    pub(crate) members: Vec<usize>,
    /// Rows of this rank that any of them reads, ascending; or all of its rows.
    pub(crate) published: Vec<u32>,
    /// This rank shows all of its rows, and reads them there itself: one pass over rows of Y serves its X and that of the others.
    pub(crate) is_whole: bool,
    /// Where they begin among those of all members.
    pub(crate) first: usize,
    /// How many all members publish.
    pub(crate) total: usize,
    /// Those that read here, or are read from: they tell each other when rows are there.
    pub(crate) partners: Vec<usize>,
    /// The same rows as messages, where memory cannot be shared, and for the way back.
    pub(crate) halo: Halo,
    /// Where the rows of `halo` lie among those of all members.
    pub(crate) places: Vec<u32>,
    /// Where those of this rank and its partners lie, ascending and apart: nobody writes them between one product's messages and the
    /// next one's. Others may be written at any time.
    pub(crate) readable: Vec<Range<usize>>,
}

impl Near {
    /// Asks the owners, all of them members, for these columns, ascending. Every rank calls it. `twice` are rows of Y that would be written a second time if own columns and these were multiplied apart.
    pub(crate) fn agree(
        ranks: &dyn Ranks,
        members: Vec<usize>,
        columns: Vec<u64>,
        of: &Partition,
        twice: usize,
    ) -> Result<Self, RanksError> {
        let halo = Halo::agree(ranks, columns, of)?;
        let mut published: Vec<u32> =
            halo.sends().iter().flat_map(|(_, rows)| rows.iter().copied()).collect();
        published.sort_unstable();
        published.dedup();
        // A row of Y that is read and written again costs what a row of X does that is copied, as many numbers: the fewer of both.
        let mine = of.rows_of(ranks.rank());
        let can_be_numbered = members.iter().map(|&rank| of.rows_of(rank) as u64).sum::<u64>() < 1 << 32;
        let is_whole = can_be_numbered && twice > mine - published.len();
        if is_whole {
            published = (0..mine as u32).collect();
        }
        let counts = ranks.all_gather(&(published.len() as u64).to_le_bytes())?;
        let mut spans = vec![0..0; ranks.count()];
        let mut total = 0;
        for &member in &members {
            let start = total;
            total += bytemuck::pod_collect_to_vec::<u8, u64>(&counts[member])[0] as usize;
            spans[member] = start..total;
        }
        // Everyone learns where among the published rows those lie that it has asked for.
        let mut answers = vec![Vec::new(); ranks.count()];
        for (rank, rows) in halo.sends() {
            let place = |row: &u32| {
                (spans[ranks.rank()].start + published.partition_point(|known| known < row)) as u32
            };
            let places: Vec<u32> = rows.iter().map(place).collect();
            answers[*rank] = bytemuck::cast_slice(&places).to_vec();
        }
        let places = bytemuck::pod_collect_to_vec(&ranks.deliver(Tag::DELIVERY, &answers)?.concat());
        let owners = halo.receives().iter().map(|(rank, _)| *rank);
        let mut partners: Vec<usize> = owners.chain(halo.sends().iter().map(|(rank, _)| *rank)).collect();
        partners.sort_unstable();
        partners.dedup();
        let first = spans[ranks.rank()].start;
        let is_readable = |rank: &usize| *rank == ranks.rank() || partners.contains(rank);
        let readable =
            joined(members.iter().filter(|rank| is_readable(rank)).map(|&rank| spans[rank].clone()));
        Ok(Near { members, published, is_whole, first, total, partners, halo, places, readable })
    }
}

/// Ranges that begin where the one before ends, as one; empty ones as none.
fn joined(ranges: impl Iterator<Item = Range<usize>>) -> Vec<Range<usize>> {
    let mut few: Vec<Range<usize>> = Vec::new();
    for range in ranges.filter(|range| !range.is_empty()) {
        match few.last_mut() {
            Some(last) if last.end == range.start => last.end = range.end,
            _ => few.push(range),
        }
    }
    few
}

/// The ranks of this rank's computer, ascending, if they can share memory; else this rank alone, and all rows travel.
pub(crate) fn members(ranks: &dyn Ranks) -> Result<Vec<usize>, RanksError> {
    let hosts = ranks.all_gather(ranks.host().as_bytes())?;
    let mine = &hosts[ranks.rank()];
    let members: Vec<usize> = (0..ranks.count()).filter(|&rank| hosts[rank] == *mine).collect();
    let tried = SharedMemory::new(ranks, &members, size_of::<u64>())?;
    Ok(if tried.is_some() { members } else { vec![ranks.rank()] })
}
