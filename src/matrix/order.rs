//! In which order triplets stand.

use super::Coo;
use crate::Scalar;
use std::ops::Range;

/// What the order of some entries is, the better the greater.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Order {
    None,
    ByRow,
    /// By row and column, no place twice.
    ByPlace,
}

impl Order {
    /// Of the entries in a range and the one before it.
    pub(super) fn of<S: Scalar>(coo: &Coo<S>, range: Range<usize>) -> Order {
        let range = range.start.saturating_sub(1)..range.end;
        let (rows, columns) = (&coo.row_indices()[range.clone()], &coo.column_indices()[range]);
        let places = rows.iter().zip(columns).map(|(&row, &col)| place(row, col));
        if places.is_sorted_by(|before, after| before < after) {
            Order::ByPlace
        } else if rows.is_sorted() {
            Order::ByRow
        } else {
            Order::None
        }
    }
}

/// Numbers that stand in the order of places.
pub(super) fn place(row: u32, col: u32) -> u64 {
    u64::from(row) << 32 | u64::from(col)
}

/// Lengths of rows that stand one after the other.
pub(super) fn count_runs(rows: &[u32], first_row: usize, lengths: &mut [usize]) {
    for run in rows.chunk_by(|before, after| before == after) {
        lengths[run[0] as usize - first_row] = run.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_sees_the_entry_before_it() {
        let of = |rows: &[u32], cols: &[u32], range| {
            let values = vec![1.0; rows.len()];
            Order::of(&Coo::new(9, 9, rows.to_vec(), cols.to_vec(), values).unwrap(), range)
        };
        assert!(of(&[0, 0, 1], &[1, 2, 0], 0..3) == Order::ByPlace);
        assert!(of(&[0, 0, 1], &[2, 2, 0], 0..3) == Order::ByRow);
        assert!(of(&[0, 0, 1], &[2, 2, 0], 2..3) == Order::ByPlace);
        assert!(of(&[0, 0, 1], &[2, 2, 0], 1..3) == Order::ByRow);
        assert!(of(&[3, 0, 1], &[2, 2, 0], 1..3) == Order::None);
        assert!(of(&[3, 0, 1], &[2, 2, 0], 2..3) == Order::ByPlace);
        assert!(of(&[], &[], 0..0) == Order::ByPlace);
    }
}
