//! Teams of ranks that share rows: less of X travels where every rank needs nearly all of it.
//!
//! With one rank a team, a rank has whole rows of A, and needs of X whatever their columns say: for a graph that is nearly all of it. In a team of c ranks each holds the rows of the whole
//! team, but only the columns of every c-th rank ("1.5D"): it needs at most 1/c of X, and the team adds up its parts of Y.

use crate::partition::Partition;
use std::ops::Range;

/// So many consecutive ranks a team; the number of ranks is a multiple.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Teams {
    size: usize,
}

impl Teams {
    /// Everyone alone.
    pub const ALONE: Teams = Teams { size: 1 };

    /// Teams of that size, if so many ranks can be cut into them.
    pub fn of(size: usize, ranks: usize) -> Option<Teams> {
        (size >= 1 && ranks.is_multiple_of(size)).then_some(Teams { size })
    }

    /// Every size worth a thought: c teams of columns must not be more than teams of rows, or adding Y up costs more than X does.
    pub fn all(ranks: usize) -> impl Iterator<Item = Teams> {
        (1..=ranks)
            .take_while(move |size| size * size <= ranks)
            .filter_map(move |size| Teams::of(size, ranks))
    }

    /// Ranks of a team.
    pub fn size(self) -> usize {
        self.size
    }
    /// Those of the team of this rank.
    pub fn members(self, rank: usize) -> Range<usize> {
        let first = rank / self.size * self.size;
        first..first + self.size
    }
    /// Rows of all of them.
    pub fn rows(self, rank: usize, rows: &Partition) -> Range<u64> {
        let members = self.members(rank);
        rows.range(members.start).start..rows.range(members.end - 1).end
    }
    /// Who of the team of `rank` has the columns of that owner.
    pub fn holder(self, rank: usize, owner: usize) -> usize {
        self.members(rank).start + owner % self.size
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_has_one_holder() {
        let rows = Partition::even(100, 12);
        for teams in Teams::all(12) {
            for rank in 0..12 {
                assert!(teams.members(rank).contains(&rank));
                // Its own columns are its own.
                assert_eq!(teams.holder(rank, rank), rank);
                for owner in 0..12 {
                    let holder = teams.holder(rank, owner);
                    assert!(teams.members(rank).contains(&holder));
                    assert_eq!(teams.rows(holder, &rows), teams.rows(rank, &rows));
                }
            }
        }
        assert_eq!(Teams::all(12).map(Teams::size).collect::<Vec<_>>(), [1, 2, 3]);
        assert_eq!(Teams::of(5, 12), None);
    }
}
