//! A file that only one rank can read, compressed or a pipe: rank 0 reads it segment by segment and deals the entries out, as many to every rank as the header promises.

use crate::error::Error;
use crate::ranks::{Ranks, RanksError};
use crate::reading::share::{Limit, Pieces, Share};
use crate::reading::together::{agreed, deliver};
use ordito::Scalar;
use ordito::io::ReadError;
use ordito::io::matrix_market::parts::{Batch, StreamReader};

/// What a message begins with.
const MORE: u8 = 1;
const END: u8 = 0;

/// `reader` is there on rank 0.
pub(super) fn read<S: Scalar>(
    ranks: &dyn Ranks,
    reader: Option<StreamReader>,
    entries: u64,
    pieces: Pieces,
    limit: Limit,
) -> Result<Share<S>, Error> {
    let mut share = Share::new(pieces, ranks.count(), limit);
    let mut fault = None;
    if let Some(reader) = reader {
        let mut first = 0;
        let mut broken = None;
        let read = reader.read::<S>(&mut |batch| {
            let sent = deliver(ranks, dealt(batch, first, entries, ranks.count()));
            first += batch.rows.len() as u64;
            match sent {
                Ok(came) => fault = fault.take().or(take(&mut share, &came[0]).err()),
                Err(error) => broken = Some(error),
            }
            broken.is_none() && fault.is_none()
        });
        if let Some(error) = broken {
            return Err(RanksError::into(error));
        }
        fault = fault.or(read.err());
        deliver(ranks, vec![vec![END]; ranks.count()])?;
    } else {
        loop {
            let came = deliver(ranks, vec![Vec::new(); ranks.count()])?;
            if came[0].first() != Some(&MORE) {
                break;
            }
            if fault.is_none() {
                fault = take(&mut share, &came[0]).err();
            }
        }
    }
    agreed(ranks, fault.map_or(Ok(()), Err))?;
    Ok(share)
}

/// The entries of a batch, of which so many stand before it, in messages for those who are to hold them: rank r those from r of `ranks` shares of all entries on.
fn dealt<S: Scalar>(batch: Batch<'_, S>, first: u64, entries: u64, ranks: usize) -> Vec<Vec<u8>> {
    let count = batch.rows.len();
    let border = |rank: usize| {
        let border = (u128::from(entries) * rank as u128 / ranks as u128) as u64;
        border.saturating_sub(first).min(count as u64) as usize
    };
    let message = |rank: usize| {
        let range = border(rank)..if rank + 1 == ranks { count } else { border(rank + 1) };
        let mut bytes = vec![MORE];
        bytes.extend_from_slice(bytemuck::cast_slice(&batch.rows[range.clone()]));
        bytes.extend_from_slice(bytemuck::cast_slice(&batch.cols[range.clone()]));
        bytes.extend_from_slice(bytemuck::cast_slice(&batch.values[range]));
        bytes
    };
    (0..ranks).map(message).collect()
}

/// Adds the entries of a message to the share.
fn take<S: Scalar>(share: &mut Share<S>, message: &[u8]) -> Result<(), ReadError> {
    let bytes = &message[1..];
    let count = bytes.len() / (2 * size_of::<u32>() + size_of::<S>());
    let (rows, rest) = bytes.split_at(count * size_of::<u32>());
    let (cols, values) = rest.split_at(count * size_of::<u32>());
    let (rows, cols) = (bytemuck::pod_collect_to_vec(rows), bytemuck::pod_collect_to_vec(cols));
    let values: Vec<S> = bytemuck::pod_collect_to_vec(values);
    share.push(Batch { rows: &rows, cols: &cols, values: &values })
}
