//! Rows in another order: whoever partitions a graph says for every row which rank is to have it, and rows of a rank are then numbered one behind the other.
//!
//! X and Y of such a matrix are in the new order. [`Renumbering`] takes vectors there and back.

use crate::error::Error;
use crate::local_rows::LocalRows;
use crate::partition::Partition;
use crate::ranks::{Collective, Ranks, Tag};
use ordito::precision::compiled_here;
use ordito::{Dense, DenseView, Scalar};

/// Where every row of this rank went, and where those that it has now came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Renumbering {
    before: Partition,
    after: Partition,
    /// The new number of each row that was this rank's.
    new: Vec<u64>,
    /// The old number of each row that is this rank's now, ascending.
    old: Vec<u64>,
}

impl Renumbering {
    /// `owners` has the rank for each row that is this rank's before. Rows of a rank keep their order. Every rank calls it.
    pub fn new(ranks: &dyn Ranks, before: &Partition, owners: &[u32]) -> Result<Self, Error> {
        let count = ranks.count();
        let first = before.range(ranks.rank()).start;
        ranks.agree(check(owners, before.rows_of(ranks.rank()), count))?;
        // How many rows everyone gives to everyone.
        let mut given = vec![0u64; count];
        owners.iter().for_each(|&owner| given[owner as usize] += 1);
        let all: Vec<Vec<u64>> = ranks
            .all_gather(bytemuck::cast_slice(&given))?
            .iter()
            .map(|bytes| bytemuck::pod_collect_to_vec(bytes))
            .collect();
        let mut starts = vec![0];
        for owner in 0..count {
            starts.push(starts[owner] + all.iter().map(|given| given[owner]).sum::<u64>());
        }
        let after = Partition::new(starts)?;
        // Rows of lower ranks come before those of this one.
        let lower = |owner: usize| all[..ranks.rank()].iter().map(|given| given[owner]).sum::<u64>();
        let mut next: Vec<u64> = (0..count).map(|owner| after.range(owner).start + lower(owner)).collect();
        let number = |&owner: &u32| {
            let number = next[owner as usize];
            next[owner as usize] += 1;
            number
        };
        let new: Vec<u64> = owners.iter().map(number).collect();
        // Everyone learns the old numbers of what it gets.
        let mut told = vec![Vec::new(); count];
        for (row, &owner) in owners.iter().enumerate() {
            told[owner as usize].extend_from_slice(&(first + row as u64).to_le_bytes());
        }
        let old = bytemuck::pod_collect_to_vec(&ranks.deliver(Tag::DELIVERY, &told)?.concat());
        Ok(Renumbering { before: before.clone(), after, new, old })
    }

    /// Whose rows are which in the new order.
    pub fn rows(&self) -> &Partition {
        &self.after
    }
    /// The old numbers of this rank's rows, ascending.
    pub fn old_numbers(&self) -> &[u64] {
        &self.old
    }

    /// Rows of a square matrix: they go to their new owners, and columns get the numbers of rows.
    pub fn rows_of<S: Scalar>(&self, ranks: &dyn Ranks, local: &LocalRows<S>) -> Result<LocalRows<S>, Error> {
        type Move<S> = fn(&Renumbering, &dyn Ranks, &LocalRows<S>) -> Result<LocalRows<S>, Error>;
        compiled_here!(S, rows_moved, Move)(self, ranks, local)
    }

    /// Of these old numbers, ascending.
    fn new_numbers(&self, ranks: &dyn Ranks, asked: &[u64]) -> Result<Vec<u64>, Error> {
        let mut for_each = vec![Vec::new(); ranks.count()];
        asked.iter().for_each(|&row| for_each[self.before.owner(row)].extend_from_slice(&row.to_le_bytes()));
        let first = self.before.range(ranks.rank()).start;
        let answer = |asked: Vec<u8>| {
            let rows = bytemuck::pod_collect_to_vec::<u8, u64>(&asked);
            let numbers: Vec<u64> = rows.iter().map(|row| self.new[(row - first) as usize]).collect();
            bytemuck::cast_slice(&numbers).to_vec()
        };
        let answers: Vec<Vec<u8>> =
            ranks.deliver(Tag::DELIVERY, &for_each)?.into_iter().map(answer).collect();
        Ok(bytemuck::pod_collect_to_vec(&ranks.deliver(Tag::DELIVERY, &answers)?.concat()))
    }

    /// Rows of X in the old order become this rank's rows in the new one.
    pub fn to_new<S: Scalar>(&self, ranks: &dyn Ranks, x: DenseView<'_, S>) -> Result<Dense<S>, Error> {
        let new = |row: usize| self.new[row];
        let from = |row: usize| self.before.owner(self.old[row]);
        moved(ranks, x, (self.new.len(), &new, &self.after), (self.old.len(), &from))
    }

    /// And back.
    pub fn to_old<S: Scalar>(&self, ranks: &dyn Ranks, y: DenseView<'_, S>) -> Result<Dense<S>, Error> {
        let old = |row: usize| self.old[row];
        let from = |row: usize| self.after.owner(self.new[row]);
        moved(ranks, y, (self.old.len(), &old, &self.before), (self.new.len(), &from))
    }
}

fn rows_moved<S: Scalar>(
    order: &Renumbering,
    ranks: &dyn Ranks,
    local: &LocalRows<S>,
) -> Result<LocalRows<S>, Error> {
    let fits = match local.cols() == order.before.total() && local.rows() == order.new.len() {
        true => Ok(()),
        false => Err("a matrix whose rows are put in another order is square, and cut as they are"),
    };
    ranks.agree(fits)?;
    let mut asked = local.columns().to_vec();
    asked.sort_unstable();
    asked.dedup();
    let named = order.new_numbers(ranks, &asked)?;
    let mut for_each = vec![Vec::new(); ranks.count()];
    for row in 0..local.rows() {
        let number = order.new[row];
        let into = &mut for_each[order.after.owner(number)];
        for (column, value) in local.row(row) {
            let column = named[asked.partition_point(|&known| known < column)];
            into.extend_from_slice(&number.to_le_bytes());
            into.extend_from_slice(&column.to_le_bytes());
            into.extend_from_slice(bytemuck::bytes_of(&value));
        }
    }
    let entry = 2 * size_of::<u64>() + size_of::<S>();
    let mut entries = Vec::new();
    let first = order.after.range(ranks.rank()).start;
    for came in ranks.deliver(Tag::DELIVERY, &for_each)? {
        entries.extend(came.chunks_exact(entry).map(|entry| {
            let number = |at: usize| bytemuck::pod_read_unaligned::<u64>(&entry[8 * at..8 * at + 8]);
            ((number(0) - first) as u32, number(1), bytemuck::pod_read_unaligned(&entry[16..]))
        }));
    }
    let made = LocalRows::from_entries(order.old.len(), local.cols(), entries);
    Ok(ranks.agree(made)?)
}

/// Sends every row to whom its number belongs; `from` tells who an arriving row comes from. Rows keep their order on both sides, so what comes from a rank lies as it is wanted.
fn moved<S: Scalar>(
    ranks: &dyn Ranks,
    x: DenseView<'_, S>,
    leaving: Leaving<'_>,
    arriving: Arriving<'_>,
) -> Result<Dense<S>, Error> {
    type Move<S> = fn(&dyn Ranks, DenseView<'_, S>, Leaving<'_>, Arriving<'_>) -> Result<Dense<S>, Error>;
    compiled_here!(S, moved_here, Move)(ranks, x, leaving, arriving)
}

/// How many rows, the number of each, and whose that is.
type Leaving<'a> = (usize, &'a dyn Fn(usize) -> u64, &'a Partition);
/// How many rows, and the rank that each comes from.
type Arriving<'a> = (usize, &'a dyn Fn(usize) -> usize);

fn moved_here<S: Scalar>(
    ranks: &dyn Ranks,
    x: DenseView<'_, S>,
    (rows, number, of): Leaving<'_>,
    (arriving, from): Arriving<'_>,
) -> Result<Dense<S>, Error> {
    let fits = (x.rows() == rows).then_some(());
    ranks.agree(fits.ok_or(format!("{} rows were given, {rows} are this rank's", x.rows())))?;
    let mut for_each = vec![Vec::new(); ranks.count()];
    for row in 0..rows {
        for_each[of.owner(number(row))].extend_from_slice(bytemuck::cast_slice(x.row(row)));
    }
    let came = ranks.deliver(Tag::DELIVERY, &for_each)?;
    let row_bytes = x.cols() * size_of::<S>();
    let mut taken = vec![0; ranks.count()];
    let mut data = Vec::with_capacity(arriving * x.cols());
    for row in 0..arriving {
        let rank = from(row);
        data.extend(bytemuck::pod_collect_to_vec::<u8, S>(&came[rank][taken[rank]..taken[rank] + row_bytes]));
        taken[rank] += row_bytes;
    }
    Ok(ranks.agree(Dense::from_rows(arriving, x.cols(), data))?)
}

fn check(owners: &[u32], rows: usize, ranks: usize) -> Result<(), String> {
    if owners.len() != rows {
        return Err(format!("{} owners were given, {rows} rows are this rank's", owners.len()));
    }
    match owners.iter().find(|&&owner| owner as usize >= ranks) {
        Some(owner) => Err(format!("a row for rank {owner}, but there are {ranks}")),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ranks::{Patience, on_threads};

    #[test]
    fn rows_go_to_their_owners_and_back() {
        // Rows of 10 go to ranks 0, 3 and 1 in turn; rank 2 gets none.
        let owner = |row: u64| [0, 3, 1][row as usize % 3];
        let before = Partition::even(10, 4);
        on_threads(4, Patience::default(), |ranks| {
            let mine = before.range(ranks.rank());
            let owners: Vec<u32> = mine.clone().map(owner).collect();
            let order = Renumbering::new(&ranks, &before, &owners).unwrap();
            let expected: Vec<u64> = (0..10).filter(|&row| owner(row) as usize == ranks.rank()).collect();
            assert_eq!(order.old_numbers(), expected);
            assert_eq!(order.rows().starts(), [0, 4, 7, 7, 10]);
            let x =
                Dense::from_rows(mine.clone().count(), 2, mine.flat_map(|row| [row as f64, 0.5]).collect())
                    .unwrap();
            let there = order.to_new(&ranks, x.view()).unwrap();
            assert_eq!(there.data(), expected.iter().flat_map(|&row| [row as f64, 0.5]).collect::<Vec<_>>());
            assert_eq!(order.to_old(&ranks, there.view()).unwrap(), x);
            // The matrix whose entry (r, c) is 100 r + c, on three diagonals.
            let first = before.range(ranks.rank()).start;
            let rows = before.rows_of(ranks.rank());
            let entries = (0..rows as u32).flat_map(|row| {
                let old = first + u64::from(row);
                [old, (old + 1) % 10, (old + 5) % 10].map(|column| (row, column, (100 * old + column) as f64))
            });
            let local = LocalRows::from_entries(rows, 10, entries.collect()).unwrap();
            let moved = order.rows_of(&ranks, &local).unwrap();
            let mut all: Vec<u64> = (0..10).collect();
            all.sort_by_key(|&row| (owner(row), row)); // old numbers in the new order
            for (row, &old) in expected.iter().enumerate() {
                let mut found: Vec<(u64, f64)> =
                    moved.row(row).map(|(column, value)| (all[column as usize], value)).collect();
                found.sort_by_key(|entry| entry.0);
                let mut right: Vec<u64> = vec![old, (old + 1) % 10, (old + 5) % 10];
                right.sort_unstable();
                assert_eq!(
                    found,
                    right.iter().map(|&column| (column, (100 * old + column) as f64)).collect::<Vec<_>>()
                );
            }
        });
    }

    #[test]
    fn owners_that_are_not_there_are_refused() {
        let told = on_threads(2, Patience::default(), |ranks| {
            Renumbering::new(&ranks, &Partition::even(4, 2), &[0, 2 * ranks.rank() as u32])
                .unwrap_err()
                .to_string()
        });
        assert_eq!(told, ["rank 1: a row for rank 2, but there are 2"; 2]);
    }
}
