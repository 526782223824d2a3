//! Triplets dealt into buckets of neighbouring rows, by several threads. Columns and values go where the result will be, so that
//! only rows take memory besides. With memory of their own for all of it, which the system has to zero, a nonzero of 10⁷ took 1.4 to 1.6
//! times as long as one of 10⁵; now it takes 1.1 to 1.3 times as long (`benches/linear_cost.rs`).

use crate::Scalar;
use crate::cpu::parallel;
use crate::matrix::coo::Coo;
use crate::matrix::coo_to_csr::row_buckets::{ENTRIES_PER_BUCKET, RowBuckets};
use crate::matrix::coo_to_csr::unwritten::{Left, Room, Stretch};
use std::ops::Range;

/// Entries that are put together before they go to their bucket: one by one, each would be written to another page than the one
/// before it. Where the next of them go is asked for as soon as these are gone. 16 at once were no faster (`uniform:200000x16` and
/// `stencil27:58` shuffled, on a two-core Xeon).
const ENTRIES_AT_ONCE: usize = 8;

/// Entries by bucket: bucket `b` is `starts[b]..starts[b + 1]`, in the order in which they stood.
pub(crate) struct Dealt<S> {
    pub(crate) starts: Vec<usize>,
    /// Counted from the bucket's first.
    pub(crate) rows: Vec<u16>,
    pub(crate) columns: Vec<u32>,
    pub(crate) values: Vec<S>,
}

/// Entries to be dealt: row, column and value of each, as they lie.
#[derive(Clone, Copy)]
pub(crate) struct Entries<'a, S> {
    pub(crate) rows: &'a [u32],
    pub(crate) columns: Columns<'a>,
    pub(crate) values: &'a [S],
}

/// Where columns of entries are found.
#[derive(Clone, Copy)]
pub(crate) enum Columns<'a> {
    /// One for every entry.
    Listed(&'a [u32]),
    /// The entries stand column by column: where each begins, and where the last ends.
    Offsets(&'a [usize]),
}

impl<'a, S: Scalar> From<&'a Coo<S>> for Entries<'a, S> {
    fn from(coo: &'a Coo<S>) -> Self {
        let columns = Columns::Listed(coo.col_indices());
        Entries { rows: coo.row_indices(), columns, values: coo.values() }
    }
}

/// Every thread deals a contiguous part of the entries; in a bucket those of the first part come first.
pub(crate) fn deal<S: Scalar>(all: Entries<'_, S>, buckets: &RowBuckets, threads: usize) -> Dealt<S> {
    let nonzeros = all.values.len();
    let count = threads.clamp(1, nonzeros / ENTRIES_PER_BUCKET + 1);
    let parts = (0..count).map(|part| nonzeros * part / count..nonzeros * (part + 1) / count).collect();
    let counts = of_each(parts, |part| (count_by_bucket(&all.rows[part.clone()], buckets), part));

    let mut rows = Room::for_most(nonzeros);
    let (mut columns, mut values) = (Room::for_most(nonzeros), Room::for_most(nonzeros));
    let mut starts = vec![0];
    let mut hands: Vec<Hand<'_, S>> = counts.iter().map(|(_, part)| Hand::new(part, buckets)).collect();
    let mut left = (rows.take(), columns.take(), values.take());
    let mut end = 0;
    for bucket in 0..buckets.count() {
        for (hand, (counts, _)) in hands.iter_mut().zip(&counts) {
            hand.memory.push(Memory::take(&mut left, counts[bucket]));
            end += counts[bucket];
        }
        starts.push(end);
    }
    of_each(hands, |hand| hand.deal(all, buckets));
    Dealt { starts, rows: rows.into_vec(), columns: columns.into_vec(), values: values.into_vec() }
}

/// On as many threads as there are parts.
fn of_each<P: Send, T: Send>(parts: Vec<P>, work: impl Fn(P) -> T + Send + Sync) -> Vec<T> {
    match parts.len() {
        ..=1 => parts.into_iter().map(work).collect(),
        _ => parallel::map(parts, work),
    }
}

fn count_by_bucket(rows: &[u32], buckets: &RowBuckets) -> Vec<usize> {
    let mut counts = vec![0; buckets.count()];
    for &row in rows {
        counts[buckets.of_row(row)] += 1;
    }
    counts
}

/// A part of the entries, and where they go in every bucket.
struct Hand<'a, S> {
    entries: Range<usize>,
    memory: Vec<Memory<'a, S>>,
}

/// Of a part's entries in one bucket.
struct Memory<'a, S> {
    rows: Stretch<'a, u16>,
    columns: Stretch<'a, u32>,
    values: Stretch<'a, S>,
}

/// A bucket's memory, and the entries on the way there.
struct Pile<'a, S> {
    waiting: usize,
    rows: [u16; ENTRIES_AT_ONCE],
    columns: [u32; ENTRIES_AT_ONCE],
    values: [S; ENTRIES_AT_ONCE],
    memory: Memory<'a, S>,
}

impl<'a, S> Memory<'a, S> {
    fn take(left: &mut (Left<'a, u16>, Left<'a, u32>, Left<'a, S>), count: usize) -> Self {
        Memory { rows: left.0.stretch(count), columns: left.1.stretch(count), values: left.2.stretch(count) }
    }
}

impl<'a, S: Scalar> Hand<'a, S> {
    fn new(entries: &Range<usize>, buckets: &RowBuckets) -> Self {
        Hand { entries: entries.clone(), memory: Vec::with_capacity(buckets.count()) }
    }

    fn deal(self, all: Entries<'_, S>, buckets: &RowBuckets) {
        // Made by the thread that uses them.
        let mut piles: Vec<Pile<'_, S>> = self.memory.into_iter().map(Pile::new).collect();
        match all.columns {
            Columns::Listed(columns) => {
                deal_listed(&mut piles, buckets, self.entries, (all.rows, columns, all.values))
            }
            Columns::Offsets(offsets) => {
                deal_columns(&mut piles, buckets, self.entries, (offsets, all.rows, all.values))
            }
        }
        piles.iter_mut().for_each(Pile::end);
    }
}

fn deal_listed<S: Scalar>(
    piles: &mut [Pile<'_, S>],
    buckets: &RowBuckets,
    entries: Range<usize>,
    (rows, columns, values): (&[u32], &[u32], &[S]),
) {
    let places = rows[entries.clone()].iter().zip(&columns[entries.clone()]);
    for ((&row, &column), &value) in places.zip(&values[entries]) {
        piles[buckets.of_row(row)].put(buckets.row_in_bucket(row), column, value);
    }
}

fn deal_columns<S: Scalar>(
    piles: &mut [Pile<'_, S>],
    buckets: &RowBuckets,
    mut entries: Range<usize>,
    (offsets, rows, values): (&[usize], &[u32], &[S]),
) {
    // The column of the first entry is the last one that does not begin behind it.
    let mut column = offsets.partition_point(|&start| start <= entries.start).saturating_sub(1);
    while !entries.is_empty() {
        let end = offsets[column + 1].min(entries.end);
        let of_column = entries.start..end;
        for (&row, &value) in rows[of_column.clone()].iter().zip(&values[of_column]) {
            let in_bucket = buckets.row_in_bucket(row);
            piles[buckets.of_row(row)].put(in_bucket, column as u32, value); // `check_dimensions`: fewer than 2³² columns
        }
        (entries.start, column) = (end, column + 1);
    }
}

impl<'a, S: Scalar> Pile<'a, S> {
    fn new(memory: Memory<'a, S>) -> Self {
        Pile {
            waiting: 0,
            rows: [0; ENTRIES_AT_ONCE],
            columns: [0; ENTRIES_AT_ONCE],
            values: [S::ZERO; ENTRIES_AT_ONCE],
            memory,
        }
    }

    #[inline(always)] // a closure that both loops called was not
    fn put(&mut self, row: u16, column: u32, value: S) {
        let entry = self.waiting;
        (self.rows[entry], self.columns[entry], self.values[entry]) = (row, column, value);
        self.waiting += 1;
        if self.waiting == ENTRIES_AT_ONCE {
            self.memory.rows.append_all(&self.rows);
            self.memory.columns.append_all(&self.columns);
            self.memory.values.append_all(&self.values);
            self.waiting = 0;
        }
    }

    fn end(&mut self) {
        self.memory.rows.append(&self.rows[..self.waiting]);
        self.memory.columns.append(&self.columns[..self.waiting]);
        self.memory.values.append(&self.values[..self.waiting]);
    }
}

impl<T: Copy> Stretch<'_, T> {
    #[inline(always)]
    fn append_all(&mut self, elements: &[T; ENTRIES_AT_ONCE]) {
        self.append(elements);
        self.ask_for(ENTRIES_AT_ONCE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg_attr(miri, ignore = "takes minutes")]
    fn buckets_keep_the_order_of_their_entries() {
        let rows: Vec<u32> = (0..70_000u32).map(|entry| entry.wrapping_mul(2_654_435_761) % 3000).collect();
        let (columns, values) = (0..70_000).map(|entry| (entry, f64::from(entry))).unzip();
        let coo = Coo::new(3000, 70_000, rows, columns, values).unwrap();
        let buckets = &RowBuckets::new(3000, 70_000);
        for threads in [1, 2, 5] {
            let Dealt { starts, rows, columns, values } = deal((&coo).into(), buckets, threads);
            for bucket in 0..buckets.count() {
                let first_row = buckets.rows(bucket).start as u32;
                let found = (starts[bucket]..starts[bucket + 1])
                    .map(|entry| (first_row + u32::from(rows[entry]), columns[entry], values[entry]));
                let expected = coo.entries().filter(|&(row, ..)| buckets.of_row(row) == bucket);
                assert!(found.eq(expected), "bucket {bucket}, {threads} threads");
            }
        }
    }
}
