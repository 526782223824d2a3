//! Triplets sorted by row and column, in parallel: what turns [`Coo`] into CSR.
//!
//! 1. Entries that already stand in order, as those of files mostly do, are only copied ([`super::in_order`]).
//! 2. Others are cut into one contiguous part per thread, and each thread deals its part into buckets of neighbouring rows
//!    ([`super::deal`]). Entries that stand row by row need no dealing: a bucket is a stretch of them.
//! 3. Each bucket (about 16 K entries: they fit the L2 cache) gathers its share of every part, in order, groups it by row and
//!    sorts each row by column ([`super::row_sort`]). Then it waits until the buckets before it know how many entries are
//!    left of theirs, and writes its own behind them: duplicates leave no gaps.
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
    let shares = Shares::of(coo, buckets, threads);
    let (mut columns, mut values) = (Room::for_most(coo.nonzeros()), Room::for_most(coo.nonzeros()));
    let queue = BucketQueue::new(columns.take(), values.take());
    let tasks = buckets.split(lengths).enumerate().take_while(|_| !queue.given_up());
    in_turn(threads, tasks, |(bucket, lengths), sort: &mut BucketSort<S>| {
        let ticket = queue.ticket(bucket);
        let first_row = buckets.rows(bucket).start;
        let (sorted_columns, sorted_values) = match &shares {
            Shares::Stretches { coo, starts } => {
                let entries = starts[bucket]..starts[bucket + 1];
                let rows = &coo.row_indices()[entries.clone()];
                let found = (&coo.column_indices()[entries.clone()], &coo.values()[entries]);
                sort.rows_in_order(rows, found, first_row, lengths, duplicates)
            }
            Shares::Dealt(parts) => {
                let parts = || parts.iter().map(|part| part.bucket(bucket));
                sort.entries(parts, first_row, lengths, duplicates)
            }
        };
        // Without a place another bucket has panicked, and `in_turn` does not return.
        if let Some((mut columns, mut values)) = ticket.wait(sorted_columns.len()) {
            columns.append(sorted_columns);
            values.append(sorted_values);
        }
    });
    (columns.into_vec(), values.into_vec())
}

/// The entries by bucket.
enum Shares<'a, S> {
    /// Row by row already: bucket `b` is entries `starts[b]..starts[b + 1]` as they stand.
    Stretches { coo: &'a Coo<S>, starts: Vec<usize> },
    /// Dealt out by each thread.
    Dealt(Vec<Dealt<S>>),
}

impl<'a, S: Scalar> Shares<'a, S> {
    fn of(coo: &'a Coo<S>, buckets: &RowBuckets, threads: usize) -> Self {
        let rows = coo.row_indices();
        // Unless they stand by row this soon ends.
        match rows.is_sorted() {
            true => Shares::Stretches { coo, starts: buckets.starts(rows) },
            false => Shares::Dealt(deal(coo, buckets, threads)),
        }
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

    #[test]
    fn equals_a_stable_sort_for_any_number_of_threads() {
        let coo = scrambled(5000, 40, 100_000);
        let mut by_row: Vec<_> = coo.entries().collect();
        by_row.sort_by_key(|&(row, _, _)| row);
        let (rows, rest): (Vec<u32>, Vec<(u32, f64)>) = by_row.iter().map(|&(r, c, v)| (r, (c, v))).unzip();
        let (cols, values) = rest.into_iter().unzip();
        let by_row = Coo::new(5000, 40, rows, cols, values).unwrap();
        for (threads, coo) in [1, 2, 3, 8].into_iter().flat_map(|t| [(t, &coo), (t, &by_row)]) {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let (offsets, columns, values) = pool.install(|| sort_entries(coo, Duplicates::Keep, threads));
            let rows = (0..5000u32).flat_map(|r| vec![r; offsets[r as usize + 1] - offsets[r as usize]]);
            let found: Vec<_> = rows.zip(columns).zip(values).map(|((r, c), v)| (r, c, v)).collect();
            assert_eq!(found, expected(coo), "{threads} threads");
        }
    }

    #[test]
    fn summing_closes_every_gap() {
        let coo = scrambled(5000, 40, 100_000); // 20 entries per row over 40 columns: many repeat
        let mut sums = std::collections::BTreeMap::new();
        for (row, col, value) in coo.entries() {
            *sums.entry((row, col)).or_insert(0.0) += value;
        }
        let (offsets, columns, values) = sort_entries(&coo, Duplicates::Sum, 2);
        assert_eq!(*offsets.last().unwrap(), sums.len());
        assert_eq!(columns, sums.keys().map(|&(_, col)| col).collect::<Vec<_>>());
        assert_eq!(values, sums.into_values().collect::<Vec<_>>());
    }
}
