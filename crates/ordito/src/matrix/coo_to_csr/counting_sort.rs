//! Triplets sorted by row and column, in parallel: what turns [`Coo`] into CSR.
//!
//! 1. Entries that already stand in order, as those of files mostly do, are only copied ([`crate::matrix::coo_to_csr::in_order`]).
//! 2. Others are cut into one contiguous part per thread, and each thread deals its part into buckets of neighbouring rows
//!    ([`crate::matrix::coo_to_csr::deal`]). Entries that stand row by row need no dealing: a bucket is a stretch of them.
//! 3. Each bucket (about 16 K entries: they fit the L2 cache) is grouped by row, and each row sorted by column
//!    ([`crate::matrix::coo_to_csr::row_sort`]), where it stands.
//! 4. Where duplicates were added up, what is left of the buckets is moved together, columns by one thread and values by another.
//!    (Buckets that waited for those before them, to be written behind them at once, had 1.05 of the speed on shuffled entries of
//!    `uniform:200000x16` with every fifth twice, and 0.92 to 0.96 without duplicates, there and on `stencil27:58`, on a two-core Xeon.)
//!
//! Every step keeps the order of equal keys, so the result is the same for any number of threads.

use crate::Scalar;
use crate::cpu::parallel;
use crate::matrix::coo::{Coo, Duplicates};
use crate::matrix::coo_to_csr::deal::{Columns, Dealt, Entries, deal};
use crate::matrix::coo_to_csr::in_order::{copy_in_order, is_in_order};
use crate::matrix::coo_to_csr::row_buckets::{RowBuckets, in_turn};
use crate::matrix::coo_to_csr::row_sort::BucketSort;
use crate::matrix::coo_to_csr::unwritten::Room;
use crate::precision::compiled_here;

/// Fewer entries are sorted before a second thread has woken up.
pub const SORT_SERIALLY_BELOW: usize = 16 * 1024;

/// Row offsets, columns and values of the matrix, sorted by row and column. With one thread everything happens on
/// the caller's; with more, on those of the current rayon pool.
pub fn sort_entries<S: Scalar>(coo: &Coo<S>, duplicates: Duplicates, threads: usize) -> CsrArrays<S> {
    type Sort<S> = fn(&Coo<S>, Duplicates, usize) -> CsrArrays<S>;
    compiled_here!(S, sort, Sort)(coo, duplicates, threads)
}

/// Row offsets, columns and values.
type CsrArrays<S> = (Vec<usize>, Vec<u32>, Vec<S>);

fn sort<S: Scalar>(coo: &Coo<S>, duplicates: Duplicates, threads: usize) -> CsrArrays<S> {
    let buckets = RowBuckets::new(coo.rows(), coo.nnz());
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
pub(crate) fn offsets_if_in_order<S: Scalar>(coo: &Coo<S>, threads: usize) -> Option<Vec<usize>> {
    type Look<S> = fn(&Coo<S>, usize) -> Option<Vec<usize>>;
    compiled_here!(S, look, Look)(coo, threads)
}

fn look<S: Scalar>(coo: &Coo<S>, threads: usize) -> Option<Vec<usize>> {
    let mut offsets = vec![0; coo.rows() + 1];
    let buckets = RowBuckets::new(coo.rows(), coo.nnz());
    is_in_order(coo, &buckets, &mut offsets[1..], threads).then_some(offsets)
}

/// Row offsets, columns and values of a matrix that lies column by column: column `c` has `offsets[c]..offsets[c + 1]` of the rows
/// and values. Dealt in this order, entries of a row have their columns in order, too.
pub(crate) fn sort_columns<S: Scalar>(
    rows: usize,
    (offsets, row_indices, values): (&[usize], &[u32], &[S]),
    threads: usize,
) -> CsrArrays<S> {
    type Sort<S> = fn(usize, Entries<'_, S>, usize) -> CsrArrays<S>;
    let entries = Entries { rows: row_indices, columns: Columns::Offsets(offsets), values };
    compiled_here!(S, sort_by_row, Sort)(rows, entries, threads)
}

fn sort_by_row<S: Scalar>(rows: usize, entries: Entries<'_, S>, threads: usize) -> CsrArrays<S> {
    let buckets = RowBuckets::new(rows, entries.values.len());
    let mut offsets = vec![0; rows + 1];
    let Dealt { starts, rows, mut columns, mut values } = deal(entries, &buckets, threads);
    let entries = split_at(&starts, &mut columns).zip(split_at(&starts, &mut values));
    let tasks = buckets.split(&mut offsets[1..]).zip(of_buckets(&starts, &rows)).zip(entries);
    in_turn(threads, tasks, |((lengths, rows), entries), sort: &mut BucketSort<S>| {
        sort.columns_in_order(rows, entries, lengths);
    });
    add_up(&mut offsets);
    (offsets, columns, values)
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
    // Unless they stand by row this soon ends.
    let sorted = match coo.row_indices().is_sorted() {
        true => sort_stretches(coo, buckets, duplicates, lengths, threads),
        false => sort_dealt(coo, buckets, duplicates, lengths, threads),
    };
    let left: Vec<usize> = buckets.split(lengths).map(|lengths| lengths.iter().sum()).collect();
    sorted.move_together(&left, threads)
}

/// Every bucket sorted: bucket `b` begins at `starts[b]`. It may have become shorter.
struct Sorted<S> {
    starts: Vec<usize>,
    columns: Vec<u32>,
    values: Vec<S>,
}

/// Entries in any order.
fn sort_dealt<S: Scalar>(
    coo: &Coo<S>,
    buckets: &RowBuckets,
    duplicates: Duplicates,
    lengths: &mut [usize],
    threads: usize,
) -> Sorted<S> {
    let Dealt { starts, rows, mut columns, mut values } = deal(coo.into(), buckets, threads);
    let entries = split_at(&starts, &mut columns).zip(split_at(&starts, &mut values));
    let tasks = buckets.split(lengths).zip(of_buckets(&starts, &rows)).zip(entries);
    in_turn(threads, tasks, |((lengths, rows), entries), sort: &mut BucketSort<S>| {
        sort.entries(rows, entries, lengths, duplicates);
    });
    Sorted { starts, columns, values }
}

/// Entries that stand row by row: a bucket is a stretch of them.
fn sort_stretches<S: Scalar>(
    coo: &Coo<S>,
    buckets: &RowBuckets,
    duplicates: Duplicates,
    lengths: &mut [usize],
    threads: usize,
) -> Sorted<S> {
    let starts = buckets.starts(coo.row_indices());
    let (mut columns, mut values) = (Room::for_most(coo.nnz()), Room::for_most(coo.nnz()));
    let (mut columns_left, mut values_left) = (columns.take(), values.take());
    let tasks = buckets.split(lengths).enumerate().map(|(bucket, lengths)| {
        let entries = starts[bucket]..starts[bucket + 1];
        let room = (columns_left.stretch(entries.len()), values_left.stretch(entries.len()));
        (buckets.rows(bucket).start, lengths, entries, room)
    });
    in_turn(threads, tasks, |(first_row, lengths, entries, mut room), sort: &mut BucketSort<S>| {
        let rows = &coo.row_indices()[entries.clone()];
        let listed = (&coo.col_indices()[entries.clone()], &coo.values()[entries]);
        let (columns, values) = sort.rows_in_order(rows, listed, first_row, lengths, duplicates);
        room.0.append(columns);
        room.1.append(values);
    });
    Sorted { columns: columns.into_vec(), values: values.into_vec(), starts }
}

/// What every bucket has.
fn of_buckets<'a, T>(starts: &'a [usize], all: &'a [T]) -> impl Iterator<Item = &'a [T]> {
    starts.windows(2).map(|bounds| &all[bounds[0]..bounds[1]])
}

/// The same, to be changed.
fn split_at<'a, T>(starts: &[usize], mut rest: &'a mut [T]) -> impl Iterator<Item = &'a mut [T]> {
    starts.windows(2).map(move |bounds| {
        let (bucket, behind) = std::mem::take(&mut rest).split_at_mut(bounds[1] - bounds[0]);
        rest = behind;
        bucket
    })
}

impl<S: Scalar> Sorted<S> {
    /// The first so many entries of every bucket, without gaps.
    fn move_together(mut self, left: &[usize], threads: usize) -> (Vec<u32>, Vec<S>) {
        let Sorted { starts, columns, values } = &mut self;
        let mut close_columns = || close_gaps(columns, starts, left);
        let mut close_values = || close_gaps(values, starts, left);
        match threads {
            ..=1 => {
                close_columns();
                close_values();
            }
            _ => parallel::beside(close_columns, close_values),
        }
        (self.columns, self.values)
    }
}

fn close_gaps<T: Copy>(elements: &mut Vec<T>, starts: &[usize], left: &[usize]) {
    let mut end = 0;
    for (&start, &left) in starts.iter().zip(left) {
        if start != end {
            elements.copy_within(start..start + left, end);
        }
        end += left;
    }
    elements.truncate(end);
    elements.shrink_to_fit();
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
                assert_eq!([columns.len(), values.len()], [offsets[coo.rows()]; 2]);
                let rows = (0..coo.rows())
                    .flat_map(|row| std::iter::repeat_n(row as u32, offsets[row + 1] - offsets[row]));
                let found = rows.zip(columns).zip(values).map(|((row, col), value)| (row, col, value));
                assert!(found.eq(expected.iter().copied()), "{duplicates:?}, {threads} threads");
            }
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "takes minutes")]
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
    #[cfg_attr(miri, ignore = "takes minutes")]
    fn few_entries_in_many_rows_and_many_in_one() {
        check(&scrambled(1_000_000, 7, 20_000));
        check(&scrambled(1, 100_000, 100_000));
    }
}
