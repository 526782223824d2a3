//! Triplets that already stand by row and column, as those of many files do: nothing to sort. Every bucket of rows is
//! looked at, and copied while it is in the cache unless its memory can be kept.

use super::Coo;
use super::row_buckets::{RowBuckets, in_turn};
use super::unwritten::{Room, Stretch};
use crate::Scalar;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

/// One bucket's entries and rows.
struct Task<'a> {
    entries: Range<usize>,
    rows: Range<usize>,
    lengths: &'a mut [usize],
}

/// Where a bucket's columns and values go.
type Copies<'a, S> = (Stretch<'a, u32>, Stretch<'a, S>);

/// Do the entries stand by row and column, no place twice? Then the lengths of rows are in `lengths`.
pub(super) fn is_in_order<S: Scalar>(
    coo: &Coo<S>,
    buckets: &RowBuckets,
    lengths: &mut [usize],
    threads: usize,
) -> bool {
    let starts = buckets.starts(coo.row_indices());
    let all_hold = AtomicBool::new(starts.is_sorted());
    let tasks = tasks(buckets, &starts, lengths).filter(|_| all_hold.load(Ordering::Relaxed));
    in_turn(threads, tasks, |mut task, _: &mut ()| {
        if !task.holds(coo) {
            all_hold.store(false, Ordering::Relaxed);
        }
    });
    all_hold.into_inner()
}

/// Columns and values of entries that stand by row and column, no place twice, and the lengths of rows in `lengths`.
/// `None`: they stand otherwise.
pub(super) fn copy_in_order<S: Scalar>(
    coo: &Coo<S>,
    buckets: &RowBuckets,
    lengths: &mut [usize],
    threads: usize,
) -> Option<(Vec<u32>, Vec<S>)> {
    let starts = buckets.starts(coo.row_indices());
    if !starts.is_sorted() {
        return None;
    }
    let (mut columns, mut values) = (Room::for_most(coo.nonzeros()), Room::for_most(coo.nonzeros()));
    let (mut columns_left, mut values_left) = (columns.take(), values.take());
    let all_hold = AtomicBool::new(true);
    let tasks = tasks(buckets, &starts, lengths).filter(|_| all_hold.load(Ordering::Relaxed)).map(|task| {
        let length = task.entries.len();
        (task, (columns_left.stretch(length), values_left.stretch(length)))
    });
    in_turn(
        threads,
        tasks,
        |(mut task, (mut columns, mut values)): (Task<'_>, Copies<'_, S>), _: &mut ()| {
            if task.holds(coo) {
                columns.append(&coo.column_indices()[task.entries.clone()]);
                values.append(&coo.values()[task.entries]);
            } else {
                all_hold.store(false, Ordering::Relaxed);
            }
        },
    );
    all_hold.into_inner().then(|| (columns.into_vec(), values.into_vec()))
}

fn tasks<'a>(
    buckets: &'a RowBuckets,
    starts: &'a [usize],
    lengths: &'a mut [usize],
) -> impl Iterator<Item = Task<'a>> + Send {
    buckets.split(lengths).enumerate().map(|(bucket, lengths)| Task {
        entries: starts[bucket]..starts[bucket + 1],
        rows: buckets.rows(bucket),
        lengths,
    })
}

impl Task<'_> {
    /// Whether everything stands in order; then the lengths are right.
    fn holds<S: Scalar>(&mut self, coo: &Coo<S>) -> bool {
        let rows = &coo.row_indices()[self.entries.clone()];
        let columns = &coo.column_indices()[self.entries.clone()];
        let inside = |row: Option<&u32>| row.is_none_or(|&row| self.rows.contains(&(row as usize)));
        if !inside(rows.first()) || !inside(rows.last()) || !rises(rows, columns) {
            return false;
        }
        lengths_of_sorted(rows, self.rows.start, self.lengths);
        true
    }
}

/// Does every place come after the one before it?
fn rises(rows: &[u32], columns: &[u32]) -> bool {
    /// Looked at without asking in between, so that vectors of them are.
    const AT_ONCE: usize = 1024;
    let last = rows.len().saturating_sub(1);
    (0..last).step_by(AT_ONCE).all(|start| {
        let pairs = start..(start + AT_ONCE).min(last);
        let after = pairs.start + 1..pairs.end + 1;
        let places = rows[pairs.clone()].iter().zip(&columns[pairs]);
        let places_after = rows[after.clone()].iter().zip(&columns[after]);
        places.zip(places_after).fold(true, |rises, ((row, column), (row_after, column_after))| {
            rises & ((row < row_after) | ((row == row_after) & (column < column_after)))
        })
    })
}

/// Lengths of rows whose entries stand row by row.
pub(super) fn lengths_of_sorted(rows: &[u32], first_row: usize, lengths: &mut [usize]) {
    // Where each row ends: the last entry to say so is right, and nothing has to be predicted.
    lengths.fill(0);
    for (entry, &row) in rows.iter().enumerate() {
        lengths[row as usize - first_row] = entry + 1;
    }
    let mut start = 0;
    for length in lengths.iter_mut().filter(|end| **end > 0) {
        (start, *length) = (*length, *length - start);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_rising_places_are_in_order() {
        assert!(rises(&[0, 0, 1], &[1, 2, 0]) && rises(&[], &[]) && rises(&[3], &[3]));
        assert!(!rises(&[0, 0, 1], &[2, 2, 0]) && !rises(&[0, 0, 1], &[2, 1, 0]) && !rises(&[1, 0], &[0, 1]));
        let rows: Vec<u32> = (0..3000).collect();
        for fault in [1, 1023, 1024, 1025, 2048, 2999] {
            let mut wrong = rows.clone();
            wrong[fault] = wrong[fault - 1];
            assert!(rises(&rows, &rows) && !rises(&wrong, &vec![0; 3000]), "{fault}");
        }
    }

    #[test]
    fn empty_rows_have_no_length() {
        let mut lengths = [9; 5];
        lengths_of_sorted(&[11, 11, 13], 10, &mut lengths);
        assert_eq!(lengths, [0, 2, 0, 1, 0]);
    }
}
