//! Synthetic matrices, made in place: every rank its rows and nothing else, the same bits as one process makes.
//!
//! Values are one stream, of which a rank must know where its own begin: so ranks count together which pairs of random numbers make a value.

use crate::error::Error;
use crate::local_rows::LocalRows;
use crate::partition::Partition;
use crate::ranks::Ranks;
use crate::reading::borders::WORK_OF_A_ROW;
use crate::reading::share::Limit;
use crate::reading::together::{agreed, number_of_all, numbers_of_all, zeros};
use crate::reading::{DistributedRows, borders};
use ordito::Scalar;
use ordito::io::synthetic::{Parts, Rows, Values};
use ordito::io::{Origin, ReadError, ReadOptions};
use std::ops::Range;

/// Where counts of pairs are noted: after every so many parts of what a rank counts. A rank then has little to count once more.
const NOTES_PER_RANK: u64 = 64;

pub(super) fn make<S: Scalar>(
    ranks: &dyn Ranks,
    name: &str,
    parts: Result<Parts, ReadError>,
    options: &ReadOptions,
    given: Option<Partition>,
) -> Result<DistributedRows<S>, Error> {
    let parts = agreed(ranks, parts)?;
    let limit = Limit::new(name, options.max_bytes, ranks.count());
    agreed(ranks, limit.check::<S>(parts.most_entries().div_ceil(ranks.count() as u64)))?;
    if let Some(rows) = &given {
        borders::check(ranks, name, parts.rows(), rows)?;
    }
    // A matrix without entries may have billions of rows: nothing to do in any of them.
    let patterns = (parts.most_entries() > 0).then(|| parts.patterns());
    let rows = match (given, &patterns) {
        (Some(rows), _) => rows,
        (None, None) => Partition::balanced(parts.rows(), ranks.count(), |row| row * WORK_OF_A_ROW),
        (None, Some(patterns)) => balanced(ranks, name, parts.rows(), patterns)?,
    };
    let range = rows.range(ranks.rank());
    let (offsets, columns) = agreed(ranks, places::<S>(name, patterns.as_ref(), range, &limit))?;
    let values = values(ranks, &parts.values(), columns.len())?;
    let local = agreed(ranks, LocalRows::new(parts.cols(), offsets, columns, values))?;
    let origin = Origin::Synthetic { seed: options.seed };
    Ok(DistributedRows {
        rows,
        cols: parts.cols(),
        local,
        name: name.to_owned(),
        origin,
        merged_duplicates: 0,
    })
}

/// As many nonzeros for every rank. Rows are counted where they are at home, and made where they end up.
fn balanced(ranks: &dyn Ranks, name: &str, rows: u64, patterns: &Rows) -> Result<Partition, Error> {
    let homes = Partition::even(rows, ranks.count());
    if ranks.count() == 1 {
        return Ok(homes);
    }
    let mut counts: Vec<u64> = agreed(ranks, zeros(name, homes.rows_of(ranks.rank())))?;
    let mut columns = Vec::new();
    for (row, count) in homes.range(ranks.rank()).zip(&mut counts) {
        patterns.columns(row, &mut columns);
        *count = columns.len() as u64;
    }
    borders::of_counts(ranks, &homes, &counts)
}

/// Offsets and columns of some rows.
fn places<S: Scalar>(
    name: &str,
    patterns: Option<&Rows>,
    range: Range<u64>,
    limit: &Limit,
) -> Result<(Vec<usize>, Vec<u64>), Error> {
    let mut offsets: Vec<usize> = zeros(name, (range.end - range.start) as usize + 1)?;
    let (mut of_row, mut columns) = (Vec::new(), Vec::new());
    for (row, end) in range.zip(&mut offsets[1..]) {
        let Some(patterns) = patterns else { break };
        patterns.columns(row, &mut of_row);
        limit.check::<S>((columns.len() + of_row.len()) as u64)?;
        columns.extend(of_row.iter().map(|&column| u64::from(column)));
        *end = columns.len();
    }
    Ok((offsets, columns))
}

/// The values of this rank's entries, so many.
fn values<S: Scalar>(ranks: &dyn Ranks, values: &Values, count: usize) -> Result<Vec<S>, Error> {
    let counts = number_of_all(ranks, count as u64)?;
    let before: u64 = counts[..ranks.rank()].iter().sum();
    let pair = if ranks.count() == 1 { 0 } else { pair_of(ranks, values, before, counts.iter().sum())? };
    Ok(values.from_pair(pair).take(count).collect())
}

/// The pair of random numbers behind which value `before` of `total` is made.
fn pair_of(ranks: &dyn Ranks, values: &Values, before: u64, total: u64) -> Result<u64, Error> {
    // π/4 of all pairs make a value. Should these be too few, the last ranks count on.
    let pairs = (total as f64 * std::f64::consts::FRAC_2_PI * 2.0) as u64 + 1;
    let notes = NOTES_PER_RANK * ranks.count() as u64;
    let border = |note: u64| (u128::from(pairs) * u128::from(note) / u128::from(notes)) as u64;
    let own = ranks.rank() as u64 * NOTES_PER_RANK..(ranks.rank() as u64 + 1) * NOTES_PER_RANK;
    let own: Vec<u64> = own.map(|note| values.count(border(note)..border(note + 1))).collect();
    let (mut made, mut note) = (0, 0);
    for count in numbers_of_all(ranks, &own)?.into_iter().flatten() {
        if made + count > before {
            break;
        }
        (made, note) = (made + count, note + 1);
    }
    let mut pair = border(note);
    while made < before {
        made += values.count(pair..pair + 1);
        pair += 1;
    }
    Ok(pair)
}
