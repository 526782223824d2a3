//! A text that all ranks read, each a range of its bytes.

use crate::error::Error;
use crate::ranks::Ranks;
use crate::reading::share::{Limit, Pieces, Share};
use crate::reading::together::{agreed, agreed_unless_alone, number_of_all};
use ordito::Scalar;
use ordito::io::ReadError;
use ordito::io::matrix_market::parts::{Start, TextPart, missing_entries};
use std::path::Path;

/// Reads the entries of this rank's range.
///
/// Lines are counted first: what stands before a range says which lines and entries are in it. Comments and blank lines are told apart only where there are other
/// than as many lines as entries.
pub(super) fn read<S: Scalar>(
    ranks: &dyn Ranks,
    path: &Path,
    start: &Start,
    pieces: Pieces,
    limit: Limit,
) -> Result<Share<S>, Error> {
    let part = TextPart::<S>::open(path, start, ranks.rank(), ranks.count());
    let mut part = agreed_unless_alone(ranks, part)?;
    let lines = number_of_all(ranks, agreed(ranks, part.count_lines())?)?;
    let listed = match lines.iter().sum::<u64>() == start.header.entries {
        true => lines.clone(),
        false => number_of_all(ranks, agreed(ranks, part.count_entries())?)?,
    };
    let before = |counts: &[u64]| counts[..ranks.rank()].iter().sum::<u64>();
    part.begin(start.lines() + before(&lines), before(&listed));
    let mut share = Share::new(pieces, ranks.count(), limit);
    agreed(ranks, read_to_end(&mut part, &mut share, pieces.segment_bytes))?;
    let entries = number_of_all(ranks, share.entries())?.iter().sum();
    let lines = start.lines() + lines.iter().sum::<u64>();
    match missing_entries(path, &start.header, lines, entries) {
        Some(fault) => Err(Error::File(fault.to_string())),
        None => Ok(share),
    }
}

fn read_to_end<S: Scalar>(
    part: &mut TextPart<S>,
    share: &mut Share<S>,
    segment_bytes: usize,
) -> Result<(), ReadError> {
    while let Some(batch) = part.next(segment_bytes)? {
        share.push(batch)?;
    }
    Ok(())
}
