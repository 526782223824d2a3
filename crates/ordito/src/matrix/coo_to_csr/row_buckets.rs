//! Neighbouring rows in buckets, small enough for a cache and many enough for all threads.

use crate::cpu::parallel;

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// About how many entries a bucket should hold: 16 K entries of 14 bytes, and what they are sorted into, fit the L2 cache.
pub(crate) const ENTRIES_PER_BUCKET: usize = 16 * 1024;
/// Small matrices have so many, of fewer entries each: with four, one thread waits for the other's last one. For 10⁵ entries
/// that was a quarter of the time of both.
const ENOUGH_BUCKETS: usize = 32;
/// But not smaller ones: each costs something to begin (not measured by itself).
const FEWEST_ENTRIES_PER_BUCKET: usize = 2 * 1024;
/// More buckets than this write to too many pages at once. Only matrices of more than 134 million rows have more.
const MOST_BUCKETS: usize = 2048;
/// Rows of a bucket are numbers of two bytes. With four the shuffled entries of `uniform:200000x16` took 49 ms instead of 41, on a
/// two-core Xeon.
const MOST_ROW_BITS: u32 = 16;

/// Bucket of a row: `row >> shift`.
pub(crate) struct RowBuckets {
    rows: usize,
    shift: u32,
    count: usize,
}

impl RowBuckets {
    /// The smallest shift that leaves few enough of them, if rows of a bucket fit two bytes then.
    pub(crate) fn new(rows: usize, entries: usize) -> Self {
        let enough = (entries / FEWEST_ENTRIES_PER_BUCKET).min(ENOUGH_BUCKETS);
        let wanted = (entries / ENTRIES_PER_BUCKET).max(enough).clamp(1, MOST_BUCKETS);
        let last = rows.max(1) - 1;
        let shift = (0..MOST_ROW_BITS).find(|&shift| last >> shift < wanted).unwrap_or(MOST_ROW_BITS);
        RowBuckets { rows, shift, count: if rows == 0 { 0 } else { (last >> shift) + 1 } }
    }

    pub(crate) fn count(&self) -> usize {
        self.count
    }

    #[inline]
    pub(crate) fn of_row(&self, row: u32) -> usize {
        row as usize >> self.shift
    }

    #[inline]
    pub(crate) fn row_in_bucket(&self, row: u32) -> u16 {
        (row & ((1 << self.shift) - 1)) as u16
    }

    pub(crate) fn rows(&self, bucket: usize) -> Range<usize> {
        let first = bucket << self.shift;
        first..(first + (1 << self.shift)).min(self.rows)
    }

    /// Where the entries of every bucket begin, if they stand row by row; something else if they do not.
    pub(crate) fn starts(&self, row_indices: &[u32]) -> Vec<usize> {
        let start = |bucket: usize| row_indices.partition_point(|&row| self.of_row(row) < bucket);
        (0..=self.count).map(start).collect()
    }

    /// What there is for every row, cut into what there is for every bucket.
    pub(crate) fn split<'a, T>(&self, by_row: &'a mut [T]) -> std::slice::ChunksMut<'a, T> {
        by_row.chunks_mut(1 << self.shift)
    }
}

/// Does the tasks in their order, each thread with a scratch of its own taking the next one when it is done with one. With one
/// thread everything happens on the caller's; with more, on those of the current rayon pool.
pub(crate) fn in_turn<T, C: Default>(
    threads: usize,
    tasks: impl Iterator<Item = T> + Send,
    work: impl Fn(T, &mut C) + Sync,
) {
    let tasks = Mutex::new(tasks);
    let next = || tasks.lock().unwrap_or_else(PoisonError::into_inner).next();
    let take_all = |_| {
        let mut scratch = C::default();
        while let Some(task) = next() {
            work(task, &mut scratch);
        }
    };
    match threads {
        ..=1 => take_all(0),
        _ => parallel::for_each_index(threads, &take_all),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_cover_all_rows() {
        for rows in [1, 2, 31, 1000, 1 << 20, u32::MAX as usize] {
            for entries in [0, 1, 16_384, 1 << 24, 1 << 40] {
                let buckets = RowBuckets::new(rows, entries);
                let most = MOST_BUCKETS.max((rows >> MOST_ROW_BITS) + 1);
                assert!((1..=most).contains(&buckets.count()), "{rows} rows, {entries} entries");
                let (last_row, last) = (rows as u32 - 1, buckets.count() - 1);
                assert_eq!(buckets.rows(last).end, rows);
                assert_eq!(buckets.of_row(last_row), last);
                let in_bucket = usize::from(buckets.row_in_bucket(last_row));
                assert_eq!(buckets.rows(last).start + in_bucket, last_row as usize);
            }
        }
        assert_eq!(RowBuckets::new(0, 0).count(), 0);
    }
}
