//! Triplets sorted by row and column, in parallel, without locks: what turns [`Coo`] into CSR.
//!
//! 1. Entries that already stand in order, as those of files mostly do, are only copied.
//! 2. Others are cut into one contiguous part per thread; each thread deals its part into buckets of neighbouring rows,
//!    in memory of its own. Entries that stand row by row need no dealing: a bucket is a stretch of them.
//! 3. Each bucket (about 16 K entries: they fit the L2 cache) gathers its share of every part, in order, counts per
//!    row, sorts each row by column ([`super::row_sort`]) and writes its own stretch of the result.
//!
//! Every step keeps the order of equal keys, so the result is the same for any number of threads.

use super::order::{Order, count_runs, place};
use super::row_sort::{Scratch, merge_duplicates, sort_row};
use super::{Coo, Duplicates, huge_pages};
use crate::Scalar;
use rayon::prelude::*;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// About how many entries a bucket should hold: 16 K entries of 16 bytes are 256 KiB.
const ENTRIES_PER_BUCKET: usize = 16 * 1024;
/// Fewer entries are sorted before a second thread has woken up.
pub const SORT_SERIALLY_BELOW: usize = 16 * 1024;
/// More buckets than this write to too many pages at once.
const MOST_BUCKETS: usize = 2048;

/// Buckets are `row >> shift`: the smallest shift that leaves few enough of them.
fn bucket_shift(rows: usize, entries: usize) -> u32 {
    let wanted = (entries / ENTRIES_PER_BUCKET).clamp(1, MOST_BUCKETS);
    (0..32).find(|&shift| (rows.max(1) - 1) >> shift < wanted).unwrap_or(32)
}

/// One bucket's rows, and its stretch of the result.
struct Task<'a, S> {
    bucket: usize,
    first_row: usize,
    lengths: &'a mut [usize],
    columns: &'a mut [u32],
    values: &'a mut [S],
    kept: &'a mut usize,
}

/// Row offsets, columns and values of the matrix, sorted by row and column. With one thread everything happens on
/// the caller's; with more, on those of the current rayon pool.
pub fn sort_entries<S: Scalar>(
    coo: &Coo<S>,
    duplicates: Duplicates,
    threads: usize,
) -> (Vec<usize>, Vec<u32>, Vec<S>) {
    let (rows, nonzeros) = (coo.rows(), coo.nonzeros());
    let shift = bucket_shift(rows, nonzeros);
    let bucket_count = if rows == 0 { 0 } else { ((rows - 1) >> shift) + 1 };
    let buckets = Buckets::of(coo, shift, bucket_count, threads);

    // Zeros from the system, which nobody writes.
    let (mut offsets, mut columns, mut values) =
        (vec![0; rows + 1], vec![0; nonzeros], vec![S::ZERO; nonzeros]);
    huge_pages::advise(&mut columns);
    huge_pages::advise(&mut values);
    let mut kept = vec![0; bucket_count];
    let mut tasks = Vec::with_capacity(bucket_count);
    let (mut lengths_left, mut columns_left, mut values_left) =
        (&mut offsets[1..], &mut columns[..], &mut values[..]);
    for (bucket, kept) in kept.iter_mut().enumerate() {
        let first_row = bucket << shift;
        let length = buckets.length(bucket);
        tasks.push(Task {
            bucket,
            first_row,
            lengths: take_front(&mut lengths_left, (rows - first_row).min(1 << shift)),
            columns: take_front(&mut columns_left, length),
            values: take_front(&mut values_left, length),
            kept,
        });
    }
    // Every thread has its scratch, and takes the next bucket when it is done with one.
    let tasks = Mutex::new(tasks.into_iter());
    let next_task = || tasks.lock().unwrap_or_else(PoisonError::into_inner).next();
    let work = |_| {
        let mut scratch = Scratch::default();
        while let Some(task) = next_task() {
            buckets.sort(task, duplicates, &mut scratch);
        }
    };
    if threads > 1 {
        (0..threads).into_par_iter().with_max_len(1).for_each(work)
    } else {
        work(0)
    }

    let total: usize = kept.iter().sum();
    if total < nonzeros {
        let lengths: Vec<usize> = (0..bucket_count).map(|bucket| buckets.length(bucket)).collect();
        columns = without_gaps(&columns, &lengths, &kept, 0);
        values = without_gaps(&values, &lengths, &kept, S::ZERO);
    }
    let mut end = 0;
    for offset in &mut offsets[1..] {
        end += *offset;
        *offset = end;
    }
    (offsets, columns, values)
}

/// The first so many elements, which are taken off the slice.
fn take_front<'a, T>(slice: &mut &'a mut [T], count: usize) -> &'a mut [T] {
    let (front, rest) = std::mem::take(slice).split_at_mut(count);
    *slice = rest;
    front
}

/// The entries by bucket.
enum Buckets<'a, S> {
    /// Row by row already: bucket `b` is entries `starts[b]..starts[b + 1]` as they stand. `sorted`: their columns too,
    /// and no place repeats.
    InOrder { coo: &'a Coo<S>, starts: Vec<usize>, sorted: bool },
    /// Dealt out by each thread.
    Dealt(Vec<Dealt<S>>),
}

/// One thread's entries, dealt into buckets: bucket `b` is `starts[b]..starts[b + 1]` of both.
struct Dealt<S> {
    starts: Vec<usize>,
    /// Row and column, the row in the upper half.
    places: Vec<u64>,
    values: Vec<S>,
}

impl<'a, S: Scalar> Buckets<'a, S> {
    fn of(coo: &'a Coo<S>, shift: u32, bucket_count: usize, threads: usize) -> Self {
        let (row_indices, nonzeros) = (coo.row_indices(), coo.nonzeros());
        let parts = threads.clamp(1, nonzeros / ENTRIES_PER_BUCKET + 1);
        let range = |part: usize| nonzeros * part / parts..nonzeros * (part + 1) / parts;
        let ranges: Vec<Range<usize>> = (0..parts).map(range).collect();
        let orders = map_all(threads, ranges.clone(), |range| Order::of(coo, range));
        let order = orders.into_iter().fold(Order::ByPlace, Order::min);
        if order > Order::None {
            let start = |bucket: usize| row_indices.partition_point(|&row| (row as usize >> shift) < bucket);
            let starts = (0..=bucket_count).map(start).collect();
            return Buckets::InOrder { coo, starts, sorted: order == Order::ByPlace };
        }
        Buckets::Dealt(map_all(threads, ranges, |range| deal(coo, range, shift, bucket_count)))
    }

    /// Entries of a bucket.
    fn length(&self, bucket: usize) -> usize {
        match self {
            Buckets::InOrder { starts, .. } => starts[bucket + 1] - starts[bucket],
            Buckets::Dealt(parts) => {
                parts.iter().map(|part| part.starts[bucket + 1] - part.starts[bucket]).sum()
            }
        }
    }

    /// Writes a bucket's entries, and leaves the row lengths in `lengths`.
    fn sort(&self, task: Task<'_, S>, duplicates: Duplicates, scratch: &mut Scratch<S>) {
        let Task { bucket, first_row, lengths, columns, values, kept } = task;
        let (found_columns, found_values) = match self {
            Buckets::InOrder { coo, starts, sorted } => {
                let range = starts[bucket]..starts[bucket + 1];
                count_runs(&coo.row_indices()[range.clone()], first_row, lengths);
                let found = (&coo.column_indices()[range.clone()], &coo.values()[range]);
                if *sorted {
                    columns.copy_from_slice(found.0);
                    values.copy_from_slice(found.1);
                    *kept = columns.len();
                    return;
                }
                found
            }
            Buckets::Dealt(parts) => {
                let shares = || parts.iter().map(|part| part.bucket(bucket));
                scratch.group_by_row(shares, columns.len(), first_row, lengths)
            }
        };
        let (mut read, mut written) = (0, 0);
        for length in lengths {
            let row = read..read + *length;
            read = row.end;
            let into = written..written + *length;
            let (row_columns, row_values) = (&mut columns[into.clone()], &mut values[into]);
            sort_row(&found_columns[row.clone()], &found_values[row], row_columns, row_values);
            if duplicates == Duplicates::Sum {
                *length = merge_duplicates(row_columns, row_values);
            }
            written += *length;
        }
        *kept = written;
    }
}

/// Does `work` for every item, on several threads or on the caller's alone.
fn map_all<T: Send, R: Send>(threads: usize, items: Vec<T>, work: impl Fn(T) -> R + Send + Sync) -> Vec<R> {
    if threads > 1 {
        items.into_par_iter().map(work).collect()
    } else {
        items.into_iter().map(work).collect()
    }
}

impl<S> Dealt<S> {
    fn bucket(&self, bucket: usize) -> (&[u64], &[S]) {
        let range = self.starts[bucket]..self.starts[bucket + 1];
        (&self.places[range.clone()], &self.values[range])
    }
}

/// Counting sort of one part by bucket.
fn deal<S: Scalar>(coo: &Coo<S>, range: Range<usize>, shift: u32, bucket_count: usize) -> Dealt<S> {
    let row_indices = &coo.row_indices()[range.clone()];
    let mut starts = vec![0usize; bucket_count + 1];
    for &row in row_indices {
        starts[(row as usize >> shift) + 1] += 1;
    }
    for bucket in 0..bucket_count {
        starts[bucket + 1] += starts[bucket];
    }
    let mut cursors = starts.clone();
    let (mut places, mut values) = (vec![0; row_indices.len()], vec![S::ZERO; row_indices.len()]);
    huge_pages::advise(&mut places);
    huge_pages::advise(&mut values);
    let entries = row_indices.iter().zip(&coo.column_indices()[range.clone()]).zip(&coo.values()[range]);
    for ((&row, &col), &value) in entries {
        let cursor = &mut cursors[row as usize >> shift];
        (places[*cursor], values[*cursor]) = (place(row, col), value);
        *cursor += 1;
    }
    Dealt { starts, places, values }
}

/// The first `kept` elements of every stretch, one after the other. In new memory: where each goes is known, so that all
/// threads can copy at once.
fn without_gaps<T: Copy + Send + Sync>(from: &[T], lengths: &[usize], kept: &[usize], zero: T) -> Vec<T> {
    let mut joined = vec![zero; kept.iter().sum()];
    huge_pages::advise(&mut joined);
    let (mut from, mut into) = (from, &mut joined[..]);
    let stretches = lengths.iter().zip(kept).map(|(&length, &kept)| {
        let (stretch, rest) = from.split_at(length);
        from = rest;
        (&stretch[..kept], take_front(&mut into, kept))
    });
    let stretches: Vec<_> = stretches.collect();
    stretches.into_par_iter().for_each(|(from, into)| into.copy_from_slice(from));
    joined
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

    #[test]
    fn buckets_cover_all_rows() {
        for rows in [1, 2, 31, 1000, 1 << 20, u32::MAX as usize] {
            for entries in [0, 1, 16_384, 1 << 24, 1 << 40] {
                let buckets = ((rows - 1) >> bucket_shift(rows, entries)) + 1;
                assert!((1..=MOST_BUCKETS).contains(&buckets), "{rows} rows, {entries} entries: {buckets}");
            }
        }
    }
}
