//! Rows of X that a rank needs of others, and those that others need of it: agreed once.

use crate::partition::Partition;
use crate::ranks::{Collective, Message, Ranks, RanksError, Tag};
use std::ops::Range;

/// Which rows of X travel. A halo row is a whole row: with K columns it is one piece of memory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Halo {
    /// Columns of the whole matrix that are not this rank's, ascending: halo row i is row `columns[i]` of X.
    columns: Vec<u64>,
    /// From whom which of them come.
    receives: Vec<(usize, Range<usize>)>,
    /// To whom which rows of this rank go.
    sends: Vec<(usize, Vec<u32>)>,
}

impl Halo {
    /// Asks the owners for these columns, ascending, none of them this rank's. Every rank calls it.
    pub(crate) fn agree(ranks: &dyn Ranks, columns: Vec<u64>, of: &Partition) -> Result<Self, RanksError> {
        debug_assert!(columns.is_sorted());
        let receives = by_owner(&columns, of);
        let mut asked = vec![Vec::new(); ranks.count()];
        for (owner, range) in &receives {
            let first = of.range(*owner).start;
            let local: Vec<u32> =
                columns[range.clone()].iter().map(|column| (column - first) as u32).collect();
            asked[*owner] = bytemuck::cast_slice(&local).to_vec();
        }
        let wanted = ranks.deliver(Tag::DELIVERY, &asked)?;
        let rows = |bytes: Vec<u8>| bytemuck::pod_collect_to_vec::<u8, u32>(&bytes);
        let sends = wanted.into_iter().map(rows).enumerate().filter(|(_, rows)| !rows.is_empty()).collect();
        Ok(Halo { columns, receives, sends })
    }

    /// Rows that come from others.
    pub fn rows(&self) -> usize {
        self.columns.len()
    }
    /// Their numbers in the whole of X, ascending.
    pub fn columns(&self) -> &[u64] {
        &self.columns
    }
    /// From whom, and which of the halo rows.
    pub fn receives(&self) -> &[(usize, Range<usize>)] {
        &self.receives
    }
    /// To whom, and which rows of this rank.
    pub fn sends(&self) -> &[(usize, Vec<u32>)] {
        &self.sends
    }
    /// Rows of this rank in the order in which they are sent.
    pub(crate) fn rows_to_send(&self) -> impl Iterator<Item = usize> + '_ {
        self.sends.iter().flat_map(|(_, rows)| rows).map(|&row| row as usize)
    }
    /// Rows that go to others; one that goes to several counts for each.
    pub fn sent_rows(&self) -> usize {
        self.sends.iter().map(|(_, rows)| rows.len()).sum()
    }

    /// Messages out and in, when rows have so many bytes. What comes lies as the halo does, row after row.
    pub(crate) fn messages(&self, row_bytes: usize) -> (Vec<Message>, Vec<Message>) {
        let mut start = 0;
        let outgoing = self.sends.iter().map(|(rank, rows)| {
            let bytes = start..start + rows.len() * row_bytes;
            start = bytes.end;
            Message { rank: *rank, bytes }
        });
        let incoming = self.receives.iter().map(|(rank, range)| Message {
            rank: *rank,
            bytes: range.start * row_bytes..range.end * row_bytes,
        });
        (outgoing.collect(), incoming.collect())
    }
}

/// Ascending numbers in runs of the same owner.
fn by_owner(columns: &[u64], of: &Partition) -> Vec<(usize, Range<usize>)> {
    let mut runs = Vec::new();
    let mut start = 0;
    while let Some(&column) = columns.get(start) {
        let owner = of.owner(column);
        let end = of.range(owner).end;
        let length = columns[start..].partition_point(|&column| column < end);
        runs.push((owner, start..start + length));
        start += length;
    }
    runs
}

#[cfg(test)]
impl Halo {
    /// Of nobody: only numbers.
    pub(crate) fn of_columns(columns: Vec<u64>) -> Self {
        Halo { columns, ..Halo::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ranks::{Patience, on_threads};

    #[test]
    fn owners_learn_what_is_wanted() {
        let of = Partition::new([0, 3, 3, 8]).unwrap();
        let wanted = [vec![4, 7], vec![0, 5], vec![2]];
        let halos = on_threads(3, Patience::default(), |ranks| {
            Halo::agree(&ranks, wanted[ranks.rank()].clone(), &of).unwrap()
        });
        assert_eq!(halos[0].receives(), [(2, 0..2)]);
        assert_eq!(halos[0].sends(), [(1, vec![0]), (2, vec![2])]);
        assert_eq!(halos[1].receives(), [(0, 0..1), (2, 1..2)]);
        assert_eq!(halos[2].sends(), [(0, vec![1, 4]), (1, vec![2])]);
        assert_eq!(halos.iter().map(Halo::rows).sum::<usize>(), halos.iter().map(Halo::sent_rows).sum());
        let (outgoing, incoming) = halos[2].messages(16);
        assert_eq!(outgoing[1], Message { rank: 1, bytes: 32..48 });
        assert_eq!(incoming, [Message { rank: 0, bytes: 0..16 }]);
    }

    /// Columns beyond 32 bits are numbered inside their owner's rows.
    #[test]
    fn far_columns_fit_local_numbers() {
        let of = Partition::even(1 << 34, 8);
        let column = (1 << 33) + (1 << 31) - 1;
        let halos = on_threads(8, Patience::default(), |ranks| {
            let wanted = if ranks.rank() == 0 { vec![column] } else { Vec::new() };
            Halo::agree(&ranks, wanted, &of).unwrap()
        });
        let owner = of.owner(column);
        assert_eq!(halos[owner].sends(), [(0, vec![(column - of.range(owner).start) as u32])]);
    }
}
