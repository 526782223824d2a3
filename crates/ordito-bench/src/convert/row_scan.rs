//! What the row-scanning rungs share: counting, the work limit, and the scan itself.

use ordito::Scalar;
use ordito::machine::Machine;
use ordito::matrix::Coo;
use ordito::refusal::Refusal;
use std::ops::Range;

/// About a second of scanning on one core.
const BEARABLE_STEPS: u64 = 2_000_000_000;

/// Refuses M·nz steps above the work limit.
pub(crate) fn check_work<S: Scalar>(machine: &Machine, coo: &Coo<S>) -> Result<(), Refusal> {
    let (rows, nonzeros) = (coo.rows(), coo.nonzeros());
    let what = format!("scanning all {nonzeros} nonzeros for each of {rows} rows");
    machine.check_work(what, rows as u128 * nonzeros as u128, BEARABLE_STEPS)
}

/// Every entry of `row`, found by looking at all of them.
pub(crate) fn scan<S: Scalar>(coo: &Coo<S>, row: usize) -> impl Iterator<Item = (u32, S)> + '_ {
    let rows = coo.row_indices().iter().enumerate();
    rows.filter(move |&(_, &at)| at as usize == row)
        .map(|(entry, _)| (coo.column_indices()[entry], coo.values()[entry]))
}

/// Where each row starts: counts, then their prefix sum.
pub(crate) fn offsets<S: Scalar>(coo: &Coo<S>) -> Vec<usize> {
    let mut offsets = Vec::with_capacity(coo.rows() + 1);
    let mut end = 0;
    offsets.push(0);
    for length in coo.row_lengths() {
        end += length;
        offsets.push(end);
    }
    offsets
}

/// Even, contiguous shares of `count` things.
pub(crate) fn shares(count: usize, threads: usize) -> impl Iterator<Item = Range<usize>> {
    (0..threads).map(move |t| count * t / threads..count * (t + 1) / threads)
}
