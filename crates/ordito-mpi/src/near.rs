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
    /// Where they begin among those that all members publish, and how many all of these are.
    pub(crate) first_published: usize,
    pub(crate) all_published: usize,
    /// What this rank's part multiplies lies here among those of all members: ascending, apart, none empty. All of them, where they are read in place.
    pub(crate) read: Vec<Range<usize>>,
    /// As these ranges number rows, one after the other: how many there are; where this rank's begin, if it shows all of them.
    pub(crate) total: usize,
    pub(crate) first: usize,
    /// Those that read here, or are read from: they tell each other when rows are there.
    pub(crate) partners: Vec<usize>,
    /// The same rows as messages, where memory cannot be shared, and for the way back.
    pub(crate) halo: Halo,
    /// The numbers of the rows of `halo`.
    pub(crate) places: Vec<u32>,
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
        // Ranges are not empty.
        let read = (total > 0).then_some(0..total).into_iter().collect();
        Ok(Near {
            members,
            published,
            is_whole,
            first_published: first,
            all_published: total,
            read,
            total,
            first,
            partners,
            halo,
            places,
        })
    }

    /// Rows of all members can have numbers of 32 bits.
    pub(crate) fn can_show_all(&self, of: &Partition) -> bool {
        u32::try_from(Abreast::new(&self.members, of).all).is_ok()
    }

    /// From now on every rank of the computer shows all of its rows, one rank after the other. Tells the new number of each row that had one; nothing where this rank is alone.
    pub(crate) fn show_all(&mut self, rank: usize, of: &Partition) -> Option<Vec<u32>> {
        if self.members.len() < 2 {
            return None;
        }
        let abreast = Abreast::new(&self.members, of);
        let (mine, first, all) = (of.rows_of(rank), abreast.first(rank), abreast.all);
        let place = |&column: &u64| {
            let owner = of.owner(column);
            (abreast.first(owner) as u64 + column - of.range(owner).start) as u32
        };
        let places: Vec<u32> = self.halo.columns().iter().map(place).collect();
        let mut numbers = vec![0; self.total];
        if self.is_whole {
            (0..mine).for_each(|row| numbers[self.first + row] = (first + row) as u32);
        }
        self.places.iter().zip(&places).for_each(|(&old, &new)| numbers[old as usize] = new);
        self.published = (0..mine as u32).collect();
        self.is_whole = true;
        (self.first_published, self.first) = (first, first);
        (self.all_published, self.total) = (all, all);
        self.read = (all > 0).then_some(0..all).into_iter().collect();
        self.places = places;
        Some(numbers)
    }

    /// From now on only what this rank's part multiplies has numbers, and is brought together: its own rows if it shows all of them, and those of `halo`.
    /// Tells the new number of each that has one.
    pub(crate) fn bring_together(&mut self) -> Vec<u32> {
        let own = if self.is_whole { self.first..self.first + self.published.len() } else { 0..0 };
        let mut needed: Vec<usize> = self.places.iter().map(|&place| place as usize).chain(own).collect();
        needed.sort_unstable();
        let mut numbers = vec![0; self.total];
        self.read.clear();
        for (number, &place) in needed.iter().enumerate() {
            numbers[place] = number as u32;
            match self.read.last_mut() {
                Some(last) if last.end == place => last.end += 1,
                _ => self.read.push(place..place + 1),
            }
        }
        self.first = needed.partition_point(|&place| place < self.first);
        self.total = needed.len();
        self.places.iter_mut().for_each(|place| *place = numbers[*place as usize]);
        numbers
    }
}

/// Rows of the ranks of one computer, those of one after those of the other.
pub(crate) struct Abreast {
    /// Ranks, ascending, and where the rows of each begin.
    starts: Vec<(usize, usize)>,
    /// How many rows there are.
    pub(crate) all: usize,
}

impl Abreast {
    pub(crate) fn new(members: &[usize], of: &Partition) -> Self {
        let mut all = 0;
        let start = |&member: &usize| {
            let start = all;
            all += of.rows_of(member);
            (member, start)
        };
        let starts = members.iter().map(start).collect();
        Abreast { starts, all }
    }

    /// Where the rows of this rank begin, one of them.
    pub(crate) fn first(&self, rank: usize) -> usize {
        let at = self.starts.partition_point(|(member, _)| *member < rank);
        self.starts.get(at).map_or(self.all, |(_, start)| *start)
    }
}

/// The ranks of this rank's computer, ascending.
pub(crate) fn on_this_computer(ranks: &dyn Ranks) -> Result<Vec<usize>, RanksError> {
    let hosts = ranks.all_gather(ranks.host().as_bytes())?;
    let mine = &hosts[ranks.rank()];
    Ok((0..ranks.count()).filter(|&rank| hosts[rank] == *mine).collect())
}

/// The same, if they can share memory; else this rank alone, and all rows travel.
pub(crate) fn members(ranks: &dyn Ranks) -> Result<Vec<usize>, RanksError> {
    let members = on_this_computer(ranks)?;
    let tried = SharedMemory::new(ranks, &members, size_of::<u64>())?;
    Ok(if tried.is_some() { members } else { vec![ranks.rank()] })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(places: &[u32], own: Range<usize>, is_whole: bool) -> Near {
        Near {
            published: own.clone().map(|row| row as u32).collect(),
            is_whole,
            first: own.start,
            total: 100,
            places: places.to_vec(),
            ..Near::default()
        }
    }

    #[test]
    fn rows_lie_in_the_order_of_ranks_and_have_numbers_of_32_bits() {
        let of = Partition::new([0, 3, 3, 8, 10]).unwrap();
        let some = Abreast::new(&[0, 2, 3], &of);
        assert_eq!((some.all, [0, 2, 3].map(|rank| some.first(rank))), (10, [0, 3, 8]));
        let on = |members: &[usize]| Near { members: members.to_vec(), ..Near::default() };
        assert!(on(&[0, 2]).can_show_all(&of));
        let many = Partition::new([0, 3 << 30, 6 << 30]).unwrap();
        assert!(on(&[0]).can_show_all(&many) && !on(&[0, 1]).can_show_all(&many));
    }

    /// Rank 1 of ranks 1 and 3, with rows 3 to 7 of X; it reads rows 12 and 14 of rank 3, which shows these two alone.
    #[test]
    fn who_shows_all_has_the_numbers_of_all() {
        let of = Partition::new([0, 3, 8, 11, 16]).unwrap();
        for is_whole in [false, true] {
            let shown = if is_whole { 5 } else { 0 };
            let halo = Halo::of_columns(vec![12, 14]);
            let (total, places) = (shown + 2, vec![shown as u32, shown as u32 + 1]);
            let mut it = Near { members: vec![1, 3], halo, places, total, is_whole, ..Near::default() };
            let numbers = it.show_all(1, &of).unwrap();
            assert_eq!(it.places, [6, 8]);
            assert_eq!(numbers[shown..], [6, 8]);
            assert_eq!(numbers[..shown], [0, 1, 2, 3, 4][..shown]);
            assert_eq!(it.read, std::slice::from_ref(&(0..10)));
            assert_eq!((it.first, it.total, it.published.len()), (0, 10, 5));
        }
        assert_eq!(Near { members: vec![1], ..Near::default() }.show_all(1, &of), None);
    }

    #[test]
    fn only_what_is_multiplied_is_numbered() {
        let mut some = near(&[3, 4, 9, 50], 20..30, false);
        let numbers = some.bring_together();
        assert_eq!((some.total, &some.places[..]), (4, &[0, 1, 2, 3][..]));
        assert_eq!(some.read, [3..5, 9..10, 50..51]);
        assert_eq!([3, 4, 9, 50].map(|place: usize| numbers[place]), [0, 1, 2, 3]);

        // Its own rows too, between those of others.
        let mut whole = near(&[3, 19, 30, 99], 20..30, true);
        let numbers = whole.bring_together();
        assert_eq!((whole.total, whole.first, &whole.places[..]), (14, 2, &[0, 1, 12, 13][..]));
        assert_eq!(whole.read, [3..4, 19..31, 99..100]);
        assert_eq!([3, 19, 20, 29, 30].map(|place: usize| numbers[place]), [0, 1, 2, 11, 12]);

        // Who has no rows, and needs none.
        for is_whole in [false, true] {
            let mut none = near(&[], 100..100, is_whole);
            none.bring_together();
            assert_eq!((none.total, none.read), (0, vec![]));
        }
    }
}
