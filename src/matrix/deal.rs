//! Triplets dealt into buckets of neighbouring rows, by several threads, each its part in memory of its own.

use super::Coo;
use super::row_buckets::{ENTRIES_PER_BUCKET, RowBuckets};
use super::unwritten::{Room, Stretch};
use crate::Scalar;
use rayon::prelude::*;
use std::ops::Range;

/// Entries that are put together before they go to their bucket: two lines of a cache. One by one, every entry would be
/// written to another page than the one before it. Where the next of them go is asked for as soon as these are gone: with
/// that, dealing takes half the time.
const ENTRIES_AT_ONCE: usize = 8;

/// A triplet.
#[derive(Clone, Copy, Default)]
pub(super) struct Entry<S> {
    pub(super) row: u32,
    pub(super) column: u32,
    pub(super) value: S,
}

/// One thread's entries: bucket `b` is `starts[b]..starts[b + 1]`, in the order in which they stood.
pub(super) struct Dealt<S> {
    starts: Vec<usize>,
    entries: Vec<Entry<S>>,
}

impl<S> Dealt<S> {
    pub(super) fn bucket(&self, bucket: usize) -> &[Entry<S>] {
        &self.entries[self.starts[bucket]..self.starts[bucket + 1]]
    }
}

/// Contiguous parts of the entries, one after the other, each dealt out.
pub(super) fn deal<S: Scalar>(coo: &Coo<S>, buckets: &RowBuckets, threads: usize) -> Vec<Dealt<S>> {
    let nonzeros = coo.nonzeros();
    let parts = threads.clamp(1, nonzeros / ENTRIES_PER_BUCKET + 1);
    let part = |part: usize| deal_part(coo, nonzeros * part / parts..nonzeros * (part + 1) / parts, buckets);
    match parts {
        1 => vec![part(0)],
        _ => (0..parts).into_par_iter().map(part).collect(),
    }
}

/// A bucket's memory, and the entries on the way there.
struct Open<'a, S> {
    stretch: Stretch<'a, Entry<S>>,
    waiting: usize,
    entries: [Entry<S>; ENTRIES_AT_ONCE],
}

/// Counting sort by bucket.
fn deal_part<S: Scalar>(coo: &Coo<S>, part: Range<usize>, buckets: &RowBuckets) -> Dealt<S> {
    let rows = &coo.row_indices()[part.clone()];
    let mut counts = vec![0; buckets.count()];
    for &row in rows {
        counts[buckets.of_row(row)] += 1;
    }
    let mut room = Room::for_most(rows.len());
    let mut left = room.take();
    let open = |&count: &usize| Open {
        stretch: left.stretch(count),
        waiting: 0,
        entries: [Entry::default(); ENTRIES_AT_ONCE],
    };
    let mut open: Vec<Open<'_, S>> = counts.iter().map(open).collect();
    let entries = rows.iter().zip(&coo.column_indices()[part.clone()]).zip(&coo.values()[part]);
    for ((&row, &column), &value) in entries {
        let bucket = &mut open[buckets.of_row(row)];
        bucket.entries[bucket.waiting] = Entry { row, column, value };
        bucket.waiting += 1;
        if bucket.waiting == ENTRIES_AT_ONCE {
            bucket.stretch.append(&bucket.entries);
            bucket.stretch.ask_for(ENTRIES_AT_ONCE);
            bucket.waiting = 0;
        }
    }
    for bucket in &mut open {
        bucket.stretch.append(&bucket.entries[..bucket.waiting]);
    }
    drop(open);
    let ends = counts.iter().scan(0, |end, count| {
        *end += count;
        Some(*end)
    });
    Dealt { starts: std::iter::once(0).chain(ends).collect(), entries: room.into_vec() }
}
