//! Which rows belong to which rank.

use crate::error::Error;
use std::ops::Range;
use std::sync::Arc;

/// Rows in order, a range for every rank; some may be empty. Numbers of rows have 64 bits: all ranks together hold more than any one can.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Partition {
    /// Where the rows of every rank begin, and where the last ones end.
    starts: Arc<[u64]>,
}

impl Partition {
    /// Rank r has the rows from `starts[r]` up to `starts[r + 1]`.
    pub fn new(starts: impl Into<Arc<[u64]>>) -> Result<Self, Error> {
        let starts = starts.into();
        if starts.first() != Some(&0) || !starts.is_sorted() || starts.len() < 2 {
            return Err(Error::Asked(
                "a partition begins with row 0 and its starts never decrease".to_owned(),
            ));
        }
        Ok(Partition { starts })
    }

    /// As many rows for every rank, or one more.
    pub fn even(rows: u64, ranks: usize) -> Self {
        let ranks = ranks.max(1) as u128;
        Partition { starts: (0..=ranks).map(|rank| (u128::from(rows) * rank / ranks) as u64).collect() }
    }

    /// As much work for every rank, as far as whole rows allow: rank r begins with the first row before which at least r of as many shares lie. `before` gives the work of all
    /// rows before one.
    pub fn balanced(rows: u64, ranks: usize, before: impl Fn(u64) -> u64) -> Self {
        let total = u128::from(before(rows));
        let ranks = ranks.max(1);
        let start = |rank: usize| {
            let share = total * rank as u128 / ranks as u128;
            // The border that lies nearer to the share.
            let (mut low, mut high) = (0, rows);
            while low < high {
                let middle = low + (high - low) / 2;
                if u128::from(before(middle)) < share { low = middle + 1 } else { high = middle }
            }
            let behind = u128::from(before(low)) - share.min(u128::from(before(low)));
            let nearer = low > 0 && share - u128::from(before(low - 1)).min(share) < behind;
            if rank == 0 { 0 } else { low - u64::from(nearer) }
        };
        let mut starts: Vec<u64> = (0..ranks).map(start).chain([rows]).collect();
        // Nearest borders of neighbouring shares never cross, but what is empty may be given to either: keep the order.
        (1..starts.len()).for_each(|rank| starts[rank] = starts[rank].max(starts[rank - 1]));
        Partition { starts: starts.into() }
    }

    /// How many ranks there are.
    pub fn ranks(&self) -> usize {
        self.starts.len() - 1
    }
    /// Rows of all ranks.
    pub fn total(&self) -> u64 {
        self.starts[self.ranks()]
    }
    /// Rows of one rank.
    pub fn range(&self, rank: usize) -> Range<u64> {
        self.starts[rank]..self.starts[rank + 1]
    }
    /// How many rows a rank has.
    pub fn rows_of(&self, rank: usize) -> usize {
        (self.starts[rank + 1] - self.starts[rank]) as usize
    }
    /// Where the rows of every rank begin, and where the last ones end.
    pub fn starts(&self) -> &[u64] {
        &self.starts
    }
    /// A number that two partitions hardly share: what ranks compare, instead of all starts.
    pub(crate) fn fingerprint(&self) -> u64 {
        let mixed = |hash: u64, &start: &u64| (hash ^ start).wrapping_mul(0x100_0000_01b3).rotate_left(23);
        self.starts.iter().fold(0, mixed)
    }
    /// Who has that row.
    pub fn owner(&self, row: u64) -> usize {
        debug_assert!(row < self.total());
        self.starts.partition_point(|&start| start <= row) - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn owners_have_their_rows() {
        // More rows than 32 bits hold.
        let partition = Partition::even((1 << 33) + 5, 3);
        assert_eq!((partition.total(), partition.ranks()), ((1 << 33) + 5, 3));
        for rank in 0..3 {
            let range = partition.range(rank);
            assert_eq!((partition.owner(range.start), partition.owner(range.end - 1)), (rank, rank));
        }
        // Ranks without rows own none.
        let few = Partition::even(2, 5);
        assert_eq!(few.starts(), [0, 0, 0, 1, 1, 2]);
        assert_eq!((few.owner(0), few.owner(1)), (2, 4));
        assert!(
            Partition::new([0, 3, 2]).is_err()
                && Partition::new([1, 2]).is_err()
                && Partition::new([0]).is_err()
        );
    }

    #[test]
    fn work_is_shared_as_whole_rows_allow() {
        // One row has nearly all of it.
        let lengths = [1u64, 1, 100, 1, 1, 1];
        let before = |row: u64| lengths[..row as usize].iter().sum();
        let partition = Partition::balanced(6, 3, before);
        assert_eq!(partition.starts(), [0, 2, 3, 6]);
        // Without any work, and without rows.
        assert_eq!(Partition::balanced(4, 2, |_| 0).total(), 4);
        assert_eq!(Partition::balanced(0, 3, |_| 0).starts(), [0, 0, 0, 0]);
        let even = Partition::balanced(100, 4, |row| 7 * row);
        assert_eq!(even.starts(), [0, 25, 50, 75, 100]);
    }
}
