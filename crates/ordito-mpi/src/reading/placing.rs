//! Entries go to the owners of their rows, and become rows there.

use crate::error::Error;
use crate::local_rows::LocalRows;
use crate::partition::Partition;
use crate::ranks::Ranks;
use crate::reading::borders::Owners;
use crate::reading::share::{Limit, Share, Triplets};
use crate::reading::together::{agreed, deliver, number_of_all, zeros};
use ordito::Scalar;
use ordito::io::matrix_market::{Header, Symmetry};

/// What came from one rank in one round: entries as the file lists them, then mirror images.
struct Came {
    bytes: Vec<u8>,
    /// Bytes of the first.
    listed: usize,
}

/// Sends entries and their mirror images to the owners of their rows. Says how many were taken up by others at the same place, on all ranks together.
///
/// Those at the same place are added in the order of the file, first what it lists and then what is mirrored: ranks hold shares of the file in order.
pub(super) fn place<S: Scalar>(
    ranks: &dyn Ranks,
    mut share: Share<S>,
    header: &Header,
    rows: &Partition,
    name: &str,
    limit: &Limit,
) -> Result<(LocalRows<S>, usize), Error> {
    let rounds = number_of_all(ranks, share.pieces.len() as u64)?.into_iter().max().unwrap_or(0);
    let mut came: Vec<Vec<Came>> = ranks_times(ranks, Vec::new);
    let (mut received, mut fault) = (0, None);
    for _ in 0..rounds {
        let messages = packed(share.pieces.pop_front(), header.symmetry, rows);
        for (from, mut bytes) in deliver(ranks, messages)?.into_iter().enumerate() {
            let Some((_, listed)) = bytes.split_last_chunk() else { continue };
            let listed = u64::from_ne_bytes(*listed) as usize;
            bytes.truncate(bytes.len() - size_of::<u64>());
            received += bytes.len() / entry_bytes::<S>();
            // Others go on sending: what is too much is let go.
            fault = fault.or(limit.check::<S>(received as u64).err());
            if fault.is_none() {
                came[from].push(Came { bytes, listed });
            }
        }
    }
    agreed(ranks, fault.map_or(Ok(()), Err))?;
    let made = agreed(ranks, assembled::<S>(came, rows.range(ranks.rank()), header.cols as u64, name))?;
    let merged = number_of_all(ranks, (received - made.nnz()) as u64)?;
    Ok((made, merged.iter().sum::<u64>() as usize))
}

fn ranks_times<T>(ranks: &dyn Ranks, make: impl Fn() -> T) -> Vec<T> {
    (0..ranks.count()).map(|_| make()).collect()
}

const fn entry_bytes<S>() -> usize {
    2 * size_of::<u32>() + size_of::<S>()
}

/// The entries of a piece for every rank. Behind them stands how many bytes of them are as the file lists them.
fn packed<S: Scalar>(piece: Option<Triplets<S>>, symmetry: Symmetry, rows: &Partition) -> Vec<Vec<u8>> {
    let mut messages = vec![Vec::new(); rows.ranks()];
    let Some(Triplets { rows: from, cols, values }) = piece else { return messages };
    let mut put = |owners: &mut Owners<'_>, row: u32, col: u32, value: S| {
        let message: &mut Vec<u8> = &mut messages[owners.owner(row.into())];
        message.extend_from_slice(bytemuck::bytes_of(&[row, col]));
        message.extend_from_slice(bytemuck::bytes_of(&value));
        message.len()
    };
    let mut listed = vec![0; rows.ranks()];
    let mut owners = Owners::new(rows);
    for ((&row, &col), &value) in from.iter().zip(&cols).zip(&values) {
        let length = put(&mut owners, row, col, value);
        listed[owners.last()] = length;
    }
    if symmetry != Symmetry::General {
        let entries = from.iter().zip(&cols).zip(&values);
        for ((&row, &col), &value) in entries.filter(|((row, col), _)| row != col) {
            put(&mut owners, col, row, if symmetry == Symmetry::SkewSymmetric { -value } else { value });
        }
    }
    for (message, listed) in messages.iter_mut().zip(listed).filter(|(message, _)| !message.is_empty()) {
        message.extend_from_slice(&(listed as u64).to_ne_bytes());
    }
    messages
}

/// Calls `work` with row, column and value of every entry.
fn for_each_entry<S: Scalar>(bytes: &[u8], mut work: impl FnMut(u64, u64, S)) {
    for entry in bytes.chunks_exact(entry_bytes::<S>()) {
        let (place, value) = entry.split_at(2 * size_of::<u32>());
        let [row, col]: [u32; 2] = bytemuck::pod_read_unaligned(place);
        work(row.into(), col.into(), bytemuck::pod_read_unaligned(value));
    }
}

/// Rows of what came: counted, put behind each other in their order, then sorted within every row.
fn assembled<S: Scalar>(
    mut came: Vec<Vec<Came>>,
    range: std::ops::Range<u64>,
    cols: u64,
    name: &str,
) -> Result<LocalRows<S>, Error> {
    let rows = (range.end - range.start) as usize;
    let mut offsets: Vec<usize> = zeros(name, rows + 1)?;
    for came in came.iter().flatten() {
        for_each_entry::<S>(&came.bytes, |row, _, _| offsets[(row - range.start) as usize + 1] += 1);
    }
    (0..rows).for_each(|row| offsets[row + 1] += offsets[row]);
    let (mut columns, mut values): (Vec<u64>, Vec<S>) =
        (zeros(name, offsets[rows])?, zeros(name, offsets[rows])?);
    // Where the next entry of a row goes; in the end, where the row behind it begins.
    let mut put = |row: u64, col: u64, value: S| {
        let next = &mut offsets[(row - range.start) as usize];
        (columns[*next], values[*next]) = (col, value);
        *next += 1;
    };
    for came in came.iter().flatten() {
        for_each_entry(&came.bytes[..came.listed], &mut put);
    }
    for came in came.iter_mut().flat_map(std::mem::take) {
        for_each_entry(&came.bytes[came.listed..], &mut put);
    }
    offsets.copy_within(0..rows, 1);
    offsets[0] = 0;
    sum_duplicates(&mut offsets, &mut columns, &mut values);
    LocalRows::new(cols, offsets, columns, values)
}

/// Sorts every row by column and adds what stands at the same place, in the order in which it stands.
fn sum_duplicates<S: Scalar>(offsets: &mut [usize], columns: &mut Vec<u64>, values: &mut Vec<S>) {
    let (mut kept, mut start) = (0, 0);
    let mut row = Vec::new();
    for end in &mut offsets[1..] {
        let range = start..*end;
        start = *end;
        if columns[range.clone()].is_sorted_by(|left, right| left < right) {
            columns.copy_within(range.clone(), kept);
            values.copy_within(range.clone(), kept);
            kept += range.len();
        } else {
            row.clear();
            row.extend(columns[range.clone()].iter().copied().zip(values[range.clone()].iter().copied()));
            row.sort_by_key(|&(column, _)| column); // keeps the order of equal ones
            row.dedup_by(|next, first| {
                let same = next.0 == first.0;
                if same {
                    first.1 += next.1;
                }
                same
            });
            for &(column, value) in &row {
                (columns[kept], values[kept]) = (column, value);
                kept += 1;
            }
        }
        *end = kept;
    }
    columns.truncate(kept);
    values.truncate(kept);
}
