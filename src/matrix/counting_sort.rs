//! Triplets sorted by row and column, in parallel: what turns [`Coo`] into CSR.
//!
//! 1. Entries that already stand in order, as those of files mostly do, are only copied ([`super::in_order`]).
//! 2. Others are cut into one contiguous part per thread, and each thread deals its part into buckets of neighbouring rows
//!    ([`super::deal`]). Entries that stand row by row need no dealing: a bucket is a stretch of them.
//! 3. Each bucket (about 16 K entries: they fit the L2 cache) is grouped by row, and each row sorted by column, in memory of the
//!    thread's ([`super::row_sort`]). Then it waits until the buckets before it know how many entries are left of theirs, and
//!    is written behind them ([`super::bucket_queue`]): duplicates leave no gaps.
//!
//! Every step keeps the order of equal keys, so the result is the same for any number of threads.

use super::bucket_queue::BucketQueue;
use super::deal::{Dealt, deal};
use super::in_order::{copy_in_order, is_in_order};
use super::row_buckets::{RowBuckets, in_turn};
use super::row_sort::BucketSort;
use super::unwritten::Room;
use super::{Coo, Duplicates};
use crate::Scalar;

/// Fewer entries are sorted before a second thread has woken up.
pub const SORT_SERIALLY_BELOW: usize = 16 * 1024;

/// Row offsets, columns and values of the matrix, sorted by row and column. With one thread everything happens on
/// the caller's; with more, on those of the current rayon pool.
pub fn sort_entries<S: Scalar>(
    coo: &Coo<S>,
    duplicates: Duplicates,
    threads: usize,
) -> (Vec<usize>, Vec<u32>, Vec<S>) {
    let buckets = RowBuckets::new(coo.rows(), coo.nonzeros());
    let mut offsets = vec![0; coo.rows() + 1];
    let (columns, values) = match copy_in_order(coo, &buckets, &mut offsets[1..], threads) {
        Some(copied) => copied,
        None => {
            let sorted = sort_buckets(coo, &buckets, duplicates, &mut offsets[1..], threads);
            add_up(&mut offsets);
            sorted
        }
    };
    (offsets, columns, values)
}

/// Row offsets of entries that already stand as they would be sorted, no place twice, so that nothing has to be moved.
/// `None`: they stand otherwise.
pub(super) fn offsets_if_in_order<S: Scalar>(coo: &Coo<S>, threads: usize) -> Option<Vec<usize>> {
    let mut offsets = vec![0; coo.rows() + 1];
    let buckets = RowBuckets::new(coo.rows(), coo.nonzeros());
    is_in_order(coo, &buckets, &mut offsets[1..], threads).then_some(offsets)
}

/// Lengths, behind a zero, become offsets.
fn add_up(offsets: &mut [usize]) {
    let mut end = 0;
    for offset in offsets {
        end += *offset;
        *offset = end;
    }
}

/// Columns and values, sorted, and the lengths of rows in `lengths`.
fn sort_buckets<S: Scalar>(
    coo: &Coo<S>,
    buckets: &RowBuckets,
    duplicates: Duplicates,
    lengths: &mut [usize],
    threads: usize,
) -> (Vec<u32>, Vec<S>) {
    let mut shares = Shares::of(coo, buckets, threads);
    let queue = BucketQueue::new(&shares.starts, shares.columns.take_again(), shares.values.take_again());
    let tasks = buckets.split(lengths).zip(queue.tickets()).enumerate();
    in_turn(threads, tasks, |(bucket, (lengths, ticket)), sort: &mut BucketSort<S>| {
        let entries = ticket.entries();
        let (columns, values) = match &shares.rows {
            Some(rows) => sort.entries(&rows[entries], ticket.dealt(), lengths, duplicates),
            None => {
                let rows = &coo.row_indices()[entries.clone()];
                let listed = (&coo.column_indices()[entries.clone()], &coo.values()[entries]);
                sort.rows_in_order(rows, listed, buckets.rows(bucket).start, lengths, duplicates)
            }
        };
        // Without a place another bucket has panicked, and `in_turn` does not return.
        if let Some(mut place) = ticket.wait(columns.len()) {
            place.columns.append(columns);
            place.values.append(values);
        }
    });
    (shares.columns.into_vec(), shares.values.into_vec())
}

/// The entries by bucket.
struct Shares<S> {
    /// Bucket `b` is entries `starts[b]..starts[b + 1]`.
    starts: Vec<usize>,
    /// Rows, in their bucket, of entries that were dealt. `None`: the matrix lists them row by row already.
    rows: Option<Vec<u16>>,
    /// Memory of the result, where the rest of what was dealt is.
    columns: Room<u32>,
    values: Room<S>,
}

impl<S: Scalar> Shares<S> {
    fn of(coo: &Coo<S>, buckets: &RowBuckets, threads: usize) -> Self {
        let rows = coo.row_indices();
        // Unless they stand by row this soon ends.
        if rows.is_sorted() {
            let (columns, values) = (Room::for_most(coo.nonzeros()), Room::for_most(coo.nonzeros()));
            return Shares { starts: buckets.starts(rows), rows: None, columns, values };
        }
        let Dealt { starts, rows, columns, values } = deal(coo, buckets, threads);
        Shares { starts, rows: Some(rows), columns, values }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Enough entries for several buckets and parts, with duplicates, from a fixed recipe.
    fn scrambled(rows: usize, cols: usize, nonzeros: usize) -> Coo<f64> {
        let mix = |i: usize, salt: u64| {
            let mut z = (i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ salt;
            z = (z ^ (z >> 31)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            (z >> 29) as usize
        };
        let row_indices = (0..nonzeros).map(|i| (mix(i, 1) % rows) as u32).collect();
        let columns = (0..nonzeros).map(|i| (mix(i, 2) % cols) as u32).collect();
        Coo::new(rows, cols, row_indices, columns, (0..nonzeros).map(|i| i as f64).collect()).unwrap()
    }

    /// The definition: a stable sort of the triplets.
    fn expected(coo: &Coo<f64>) -> Vec<(u32, u32, f64)> {
        let mut entries: Vec<_> = coo.entries().collect();
        entries.sort_by_key(|&(row, col, _)| (row, col));
        entries
    }

    /// Whatever the number of threads, with and without adding up.
    fn check(coo: &Coo<f64>) {
        let mut sums: Vec<(u32, u32, f64)> = Vec::new();
        for (row, col, value) in expected(coo) {
            match sums.last_mut().filter(|last| (last.0, last.1) == (row, col)) {
                Some(last) => last.2 += value,
                None => sums.push((row, col, value)),
            }
        }
        for threads in [1, 2, 3, 8] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            for (duplicates, expected) in [(Duplicates::Keep, &expected(coo)), (Duplicates::Sum, &sums)] {
                let (offsets, columns, values) = pool.install(|| sort_entries(coo, duplicates, threads));
                let rows = (0..coo.rows())
                    .flat_map(|row| std::iter::repeat_n(row as u32, offsets[row + 1] - offsets[row]));
                let found = rows.zip(columns).zip(values).map(|((row, col), value)| (row, col, value));
                assert!(found.eq(expected.iter().copied()), "{duplicates:?}, {threads} threads");
            }
        }
    }

    #[test]
    fn equals_a_stable_sort_for_any_number_of_threads() {
        let coo = scrambled(5000, 40, 100_000); // 20 entries per row over 40 columns: many repeat
        check(&coo);
        let mut by_row: Vec<_> = coo.entries().collect();
        by_row.sort_by_key(|&(row, _, _)| row);
        let (rows, rest): (Vec<u32>, Vec<(u32, f64)>) = by_row.iter().map(|&(r, c, v)| (r, (c, v))).unzip();
        let (cols, values) = rest.into_iter().unzip();
        check(&Coo::new(5000, 40, rows, cols, values).unwrap());
    }

    /// Buckets of as many rows as two bytes number, most of them empty; and a single row for all threads.
    #[test]
    fn few_entries_in_many_rows_and_many_in_one() {
        check(&scrambled(1_000_000, 7, 20_000));
        check(&scrambled(1, 100_000, 100_000));
    }
}
