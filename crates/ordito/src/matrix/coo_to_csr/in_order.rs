//! Triplets that already stand by row and column, as those of many files do: nothing to sort. Every bucket of rows is
//! looked at, and copied while it is in the cache unless its memory can be kept.

use crate::Scalar;
use crate::cpu::parallel;
use crate::matrix::coo::Coo;
use crate::matrix::coo_to_csr::rising::ends_if_rising;
use crate::matrix::coo_to_csr::row_buckets::RowBuckets;
use crate::matrix::coo_to_csr::unwritten::Room;
use std::ops::Range;

/// Columns and values of so many bytes are written by non-temporal stores: that saves the fetching of what is overwritten, a copy of
/// 38 MB took 1.4 ms instead of 2.2. Less is still in a cache for whoever reads it next; and memory that the system zeroes first is
/// in one by then, too: 11.4 ms instead of 9.8.
const STREAM_FROM_BYTES: usize = 16 << 20;

/// One bucket's entries and rows.
struct Task<'a> {
    entries: Range<usize>,
    first_row: usize,
    ends: &'a mut [usize],
}

/// Do the entries stand by row and column, no place twice? Then `ends`, zeros before, say where rows end.
pub(crate) fn is_in_order<S: Scalar>(
    coo: &Coo<S>,
    buckets: &RowBuckets,
    ends: &mut [usize],
    threads: usize,
) -> bool {
    let starts = buckets.starts(coo.row_indices());
    starts.is_sorted()
        && all(threads, tasks(buckets, &starts, ends).collect(), |mut task: Task<'_>| task.holds(coo))
}

/// Columns and values of entries that stand by row and column, no place twice; `ends`, zeros before, say where rows end.
/// `None`: they stand otherwise.
pub(crate) fn copy_in_order<S: Scalar>(
    coo: &Coo<S>,
    buckets: &RowBuckets,
    ends: &mut [usize],
    threads: usize,
) -> Option<(Vec<u32>, Vec<S>)> {
    let starts = buckets.starts(coo.row_indices());
    if !starts.is_sorted() {
        return None;
    }
    let (mut columns, mut values) = (Room::for_most(coo.nnz()), Room::for_most(coo.nnz()));
    let bytes = coo.nnz() * (size_of::<u32>() + size_of::<S>());
    let streams = bytes >= STREAM_FROM_BYTES && columns.was_touched() && values.was_touched();
    let (mut columns_left, mut values_left) = (columns.take(), values.take());
    let tasks = tasks(buckets, &starts, ends).map(|task| {
        let length = task.entries.len();
        (task, columns_left.stretch(length), values_left.stretch(length))
    });
    let copied = all(threads, tasks.collect(), |(mut task, mut columns, mut values)| {
        let holds = task.holds(coo);
        let (column_indices, copied) =
            (&coo.col_indices()[task.entries.clone()], &coo.values()[task.entries]);
        if holds && streams {
            columns.append_streaming(column_indices);
            values.append_streaming(copied);
        } else if holds {
            columns.append(column_indices);
            values.append(copied);
        }
        holds
    });
    copied.then(|| (columns.into_vec(), values.into_vec()))
}

fn tasks<'a>(
    buckets: &'a RowBuckets,
    starts: &'a [usize],
    ends: &'a mut [usize],
) -> impl Iterator<Item = Task<'a>> {
    buckets.split(ends).enumerate().map(|(bucket, ends)| Task {
        entries: starts[bucket]..starts[bucket + 1],
        first_row: buckets.rows(bucket).start,
        ends,
    })
}

/// Does it hold of all? Every thread has a region of its own as long as there is one: where two write to the same page of
/// 2 MiB for the first time, the system zeroes it for both. A copy of 38 MB by two threads took 6.6 ms in halves, 9.8 ms by turns.
fn all<T: Send>(threads: usize, tasks: Vec<T>, holds: impl Fn(T) -> bool + Send + Sync) -> bool {
    match threads {
        ..=1 => tasks.into_iter().all(holds),
        _ => parallel::all(tasks, holds),
    }
}

impl Task<'_> {
    /// Whether everything stands in order; then the ends are right.
    fn holds<S: Scalar>(&mut self, coo: &Coo<S>) -> bool {
        let places = (&coo.row_indices()[self.entries.clone()], &coo.col_indices()[self.entries.clone()]);
        ends_if_rising(places, self.entries.start, self.first_row, self.ends)
    }
}
