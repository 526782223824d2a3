//! Triplets sorted by row and column, in parallel, without locks: what turns [`Coo`] into CSR.
//!
//! 1. The entries are cut into one contiguous part per thread; each thread deals its part into buckets of
//!    neighbouring rows, in memory of its own. Entries that already stand row by row need no dealing: a bucket
//!    is a stretch of them.
//! 2. Each bucket (about 16 K entries: they fit the L2 cache) gathers its share of every part, in order,
//!    counts per row, sorts each row by column and writes its own stretch of the result.
//!
//! Every step keeps the order of equal keys, so the result is the same for any number of threads.

use super::{Coo, Duplicates};
use crate::Scalar;
use rayon::prelude::*;
use std::ops::Range;

#[derive(Clone, Copy, Default)]
struct Entry<S> {
    row: u32,
    col: u32,
    value: S,
}

/// One thread's entries, dealt into buckets: bucket `b` is `entries[starts[b]..starts[b + 1]]`.
struct Dealt<S> {
    starts: Vec<usize>,
    entries: Vec<Entry<S>>,
}

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

    let mut offsets = vec![0; rows + 1];
    let mut columns = vec![0u32; nonzeros];
    let mut values = vec![S::ZERO; nonzeros];

    let mut tasks = Vec::with_capacity(bucket_count);
    let (mut lengths_left, mut columns_left, mut values_left) =
        (&mut offsets[1..], &mut columns[..], &mut values[..]);
    for bucket in 0..bucket_count {
        let first_row = bucket << shift;
        let (lengths, rest) = lengths_left.split_at_mut((rows - first_row).min(1 << shift));
        lengths_left = rest;
        let length = buckets.length(bucket);
        let (bucket_columns, rest) = columns_left.split_at_mut(length);
        columns_left = rest;
        let (bucket_values, rest) = values_left.split_at_mut(length);
        values_left = rest;
        tasks.push((bucket, first_row, lengths, bucket_columns, bucket_values));
    }
    let kept = map_all(threads, tasks, |(bucket, first_row, lengths, columns, values)| {
        let grouped = buckets.group_by_row(bucket, first_row, lengths);
        write_rows(grouped, duplicates, lengths, columns, values)
    });

    close_gaps(&kept, (0..bucket_count).map(|bucket| buckets.length(bucket)), &mut columns, &mut values);
    let mut end = 0;
    for offset in &mut offsets[1..] {
        end += *offset;
        *offset = end;
    }
    (offsets, columns, values)
}

/// Does `work` for every item, on several threads or on the caller's alone.
fn map_all<T: Send, R: Send>(threads: usize, items: Vec<T>, work: impl Fn(T) -> R + Send + Sync) -> Vec<R> {
    if threads > 1 {
        items.into_par_iter().map(work).collect()
    } else {
        items.into_iter().map(work).collect()
    }
}

/// The entries by bucket.
enum Buckets<'a, S> {
    /// Row by row already: bucket `b` is entries `starts[b]..starts[b + 1]` as they stand.
    InOrder { coo: &'a Coo<S>, starts: Vec<usize> },
    /// Dealt out by each thread.
    Dealt(Vec<Dealt<S>>),
}

impl<'a, S: Scalar> Buckets<'a, S> {
    fn of(coo: &'a Coo<S>, shift: u32, bucket_count: usize, threads: usize) -> Self {
        let (row_indices, nonzeros) = (coo.row_indices(), coo.nonzeros());
        if row_indices.is_sorted() {
            let start = |bucket: usize| row_indices.partition_point(|&row| (row as usize >> shift) < bucket);
            return Buckets::InOrder { coo, starts: (0..=bucket_count).map(start).collect() };
        }
        let parts = threads.clamp(1, nonzeros / ENTRIES_PER_BUCKET + 1);
        let ranges = (0..parts).map(|part| nonzeros * part / parts..nonzeros * (part + 1) / parts).collect();
        Buckets::Dealt(map_all(threads, ranges, |range| deal(coo, range, shift, bucket_count)))
    }

    /// Entries of a bucket.
    fn length(&self, bucket: usize) -> usize {
        match self {
            Buckets::InOrder { starts, .. } => starts[bucket + 1] - starts[bucket],
            Buckets::Dealt(parts) => parts.iter().map(|part| part.bucket(bucket).len()).sum(),
        }
    }

    /// A bucket's entries row by row; leaves the row lengths in `lengths`.
    fn group_by_row(&self, bucket: usize, first_row: usize, lengths: &mut [usize]) -> Vec<Entry<S>> {
        match self {
            Buckets::InOrder { coo, starts } => {
                let range = starts[bucket]..starts[bucket + 1];
                let rows = &coo.row_indices()[range.clone()];
                rows.iter().for_each(|&row| lengths[row as usize - first_row] += 1);
                let columns = &coo.column_indices()[range.clone()];
                let entries = rows.iter().zip(columns).zip(&coo.values()[range]);
                entries.map(|((&row, &col), &value)| Entry { row, col, value }).collect()
            }
            Buckets::Dealt(parts) => {
                let shares: Vec<&[Entry<S>]> = parts.iter().map(|part| part.bucket(bucket)).collect();
                sort_by_row(&shares, first_row, lengths)
            }
        }
    }
}

impl<S> Dealt<S> {
    fn bucket(&self, bucket: usize) -> &[Entry<S>] {
        &self.entries[self.starts[bucket]..self.starts[bucket + 1]]
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
    let mut entries = vec![Entry::default(); row_indices.len()];
    let places = row_indices.iter().zip(&coo.column_indices()[range.clone()]);
    for ((&row, &col), &value) in places.zip(&coo.values()[range]) {
        let cursor = &mut cursors[row as usize >> shift];
        entries[*cursor] = Entry { row, col, value };
        *cursor += 1;
    }
    Dealt { starts, entries }
}

/// Counting sort of one bucket's shares by row; leaves the row lengths in `lengths`.
fn sort_by_row<S: Scalar>(shares: &[&[Entry<S>]], first_row: usize, lengths: &mut [usize]) -> Vec<Entry<S>> {
    for share in shares {
        for entry in *share {
            lengths[entry.row as usize - first_row] += 1;
        }
    }
    let mut cursors = Vec::with_capacity(lengths.len());
    let mut end = 0;
    for &length in lengths.iter() {
        cursors.push(end);
        end += length;
    }
    let mut grouped = vec![Entry::default(); end];
    for share in shares {
        for &entry in *share {
            let cursor = &mut cursors[entry.row as usize - first_row];
            grouped[*cursor] = entry;
            *cursor += 1;
        }
    }
    grouped
}

/// Sorts every row by column and writes it out; returns how many entries remain. Row lengths shrink where
/// duplicates are summed.
fn write_rows<S: Scalar>(
    mut grouped: Vec<Entry<S>>,
    duplicates: Duplicates,
    lengths: &mut [usize],
    columns: &mut [u32],
    values: &mut [S],
) -> usize {
    let (mut read, mut written) = (0, 0);
    for length in lengths {
        let row = &mut grouped[read..read + *length];
        read += *length;
        // Files are mostly sorted one way or the other, and then every row already is.
        if !row.is_sorted_by_key(|entry| entry.col) {
            row.sort_by_key(|entry| entry.col);
        }
        let row_start = written;
        if duplicates == Duplicates::Keep {
            let places = columns[written..].iter_mut().zip(&mut values[written..]);
            for (entry, (column, value)) in row.iter().zip(places) {
                (*column, *value) = (entry.col, entry.value);
            }
            written += row.len();
            continue;
        }
        for entry in row {
            if written > row_start && columns[written - 1] == entry.col {
                values[written - 1] += entry.value;
            } else {
                columns[written] = entry.col;
                values[written] = entry.value;
                written += 1;
            }
        }
        *length = written - row_start;
    }
    written
}

/// Moves the buckets together where summing has left gaps between them.
fn close_gaps<S: Copy>(
    kept: &[usize],
    lengths: impl Iterator<Item = usize>,
    columns: &mut Vec<u32>,
    values: &mut Vec<S>,
) {
    let (mut read, mut written) = (0, 0);
    for (&kept, length) in kept.iter().zip(lengths) {
        if read != written {
            columns.copy_within(read..read + kept, written);
            values.copy_within(read..read + kept, written);
        }
        read += length;
        written += kept;
    }
    columns.truncate(written);
    values.truncate(written);
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
