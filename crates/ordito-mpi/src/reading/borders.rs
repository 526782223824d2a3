//! Where the rows of every rank begin, so that all have as many nonzeros. Nobody knows all rows: each is counted at its home, one rank of equal numbers of rows.

use crate::error::Error;
use crate::partition::Partition;
use crate::ranks::{Collective, Ranks};
use crate::reading::share::Share;
use crate::reading::together::{agreed, deliver, number_of_all, numbers_of_all, zeros};
use ordito::Scalar;
use ordito::io::matrix_market::Symmetry;

/// A row counts as one nonzero more than it has: a row of Y is written and one of X kept for it, whatever stands in it, and rows without any are many in some matrices.
pub(super) const WORK_OF_A_ROW: u64 = 1;

/// Equal work for all ranks, given the shares of a file. Entries at the same place count as often as they are listed.
pub(super) fn of_shares<S: Scalar>(
    ranks: &dyn Ranks,
    name: &str,
    rows: u64,
    symmetry: Symmetry,
    share: &Share<S>,
) -> Result<Partition, Error> {
    let homes = Partition::even(rows, ranks.count());
    if ranks.count() == 1 {
        return Ok(homes);
    }
    let first = homes.range(ranks.rank()).start;
    let mut counts: Vec<u64> = agreed(ranks, zeros(name, homes.rows_of(ranks.rank())))?;
    let rounds = number_of_all(ranks, share.pieces.len() as u64)?.into_iter().max().unwrap_or(0);
    for round in 0..rounds {
        let mut for_each = vec![Vec::new(); ranks.count()];
        let mut finder = Owners::new(&homes);
        let mut tell = |row: u32| for_each[finder.owner(row.into())].extend_from_slice(&row.to_ne_bytes());
        if let Some(piece) = share.pieces.get(round as usize) {
            piece.rows.iter().for_each(|&row| tell(row));
            if symmetry != Symmetry::General {
                let places = piece.rows.iter().zip(&piece.cols);
                places.filter(|(row, col)| row != col).for_each(|(_, &col)| tell(col));
            }
        }
        for message in deliver(ranks, for_each)? {
            for row in message.as_chunks().0 {
                counts[(u64::from(u32::from_ne_bytes(*row)) - first) as usize] += 1;
            }
        }
    }
    of_counts(ranks, &homes, &counts)
}

/// Equal work for all ranks, given the nonzeros of the rows that this rank is home to: what [`Partition::balanced`] finds where all rows are known.
pub(super) fn of_counts(ranks: &dyn Ranks, homes: &Partition, counts: &[u64]) -> Result<Partition, Error> {
    let own = counts.iter().map(|count| count + WORK_OF_A_ROW).sum::<u64>();
    let works = number_of_all(ranks, own)?;
    let total = works.iter().map(|&work| u128::from(work)).sum::<u128>();
    let before = works[..ranks.rank()].iter().map(|&work| u128::from(work)).sum::<u128>();
    // A share ends behind the row that reaches it, or before that row, whichever is nearer. Shares that end among rows of this home:
    let (mut row, mut reached, mut reached_before) = (homes.range(ranks.rank()).start, before, before);
    let mut work = counts.iter().map(|count| u128::from(count + WORK_OF_A_ROW));
    let mut found = Vec::new();
    for rank in 1..ranks.count() {
        let share = total * rank as u128 / ranks.count() as u128;
        if share <= before || share > before + u128::from(own) {
            continue;
        }
        while reached < share {
            reached_before = reached;
            reached += work.next().unwrap_or(u128::MAX / 2);
            row += 1;
        }
        let nearer = share - reached_before < reached - share;
        found.extend([rank as u64, row - u64::from(nearer)]);
    }
    let mut starts = vec![0; ranks.count() + 1];
    starts[ranks.count()] = homes.total();
    for border in numbers_of_all(ranks, &found)?.iter().flat_map(|numbers| numbers.as_chunks::<2>().0) {
        starts[border[0] as usize] = border[1];
    }
    (1..starts.len()).for_each(|rank| starts[rank] = starts[rank].max(starts[rank - 1]));
    Partition::new(starts)
}

/// A partition that was given fits what is read, on all ranks.
pub(super) fn check(ranks: &dyn Ranks, name: &str, rows: u64, given: &Partition) -> Result<(), Error> {
    let fits = match (given.ranks(), given.total()) {
        (parts, _) if parts != ranks.count() => {
            Err(format!("{name}: the partition has {parts} parts, and there are {} ranks", ranks.count()))
        }
        (_, total) if total != rows => {
            Err(format!("{name}: the partition has {total} rows, the matrix {rows}"))
        }
        _ => Ok(()),
    };
    agreed(ranks, fits)?;
    Ok(ranks.same("the partition (its fingerprint)", &given.fingerprint().to_string())?)
}

/// Finds owners of rows. Files are nearly always sorted, so that the next row often has the owner of the last one.
pub(super) struct Owners<'a> {
    partition: &'a Partition,
    last: usize,
}

impl<'a> Owners<'a> {
    pub(super) fn new(partition: &'a Partition) -> Self {
        Owners { partition, last: 0 }
    }

    #[inline]
    pub(super) fn owner(&mut self, row: u64) -> usize {
        if !self.partition.range(self.last).contains(&row) {
            self.last = self.partition.owner(row);
        }
        self.last
    }

    /// The one that was found last.
    pub(super) fn last(&self) -> usize {
        self.last
    }
}
