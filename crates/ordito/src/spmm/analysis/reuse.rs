//! What neighbouring rows share: nonzeros for every column of a window of rows, of a sample.

use crate::Scalar;
use crate::matrix::Csr;

/// Rows of a window, and windows that are looked at.
pub(crate) const WINDOW: usize = 8;
const WINDOWS: usize = 256;
/// Nonzeros of a window that are looked at.
const NONZEROS: usize = 4096;

/// Nonzeros for every column that is in one of 8 neighbouring rows, of windows that lie evenly over the matrix.
pub(crate) fn reuse<S: Scalar>(a: &Csr<S>) -> f64 {
    reuse_of(a, sampled(a.rows()), |row| row)
}

/// First rows of windows that lie evenly over so many.
pub(crate) fn sampled(rows: usize) -> impl Iterator<Item = usize> {
    let windows = rows.div_ceil(WINDOW);
    (0..windows.min(WINDOWS)).map(move |sample| sample * windows / windows.min(WINDOWS) * WINDOW)
}

/// Nonzeros for every column of the windows that begin at these places of an order of rows.
pub(crate) fn reuse_of<S: Scalar>(
    a: &Csr<S>,
    firsts: impl Iterator<Item = usize>,
    row_at: impl Fn(usize) -> usize,
) -> f64 {
    let view = a.view();
    let (mut nonzeros, mut distinct, mut columns) = (0, 0, Vec::<u32>::new());
    for first in firsts {
        columns.clear();
        for place in first..a.rows().min(first + WINDOW) {
            let left = NONZEROS.saturating_sub(columns.len());
            columns.extend(view.columns()[view.range(row_at(place))].iter().take(left));
        }
        nonzeros += columns.len();
        columns.sort_unstable();
        columns.dedup();
        distinct += columns.len();
    }
    nonzeros as f64 / distinct.max(1) as f64
}

#[cfg(any(feature = "cuda", feature = "emulator"))]
/// Nonzeros for every group of `2^shift` columns that is in one of `rows` neighbouring rows, of windows that lie evenly over the
/// matrix: what a cache that holds so many rows' worth of X would fetch once.
pub(crate) fn reuse_within<S: Scalar>(a: &Csr<S>, rows: usize, shift: u32) -> f64 {
    let view = a.view();
    let windows = a.rows().div_ceil(rows);
    let looked_at = windows.min((WINDOWS * WINDOW / rows).max(LEAST_WINDOWS));
    let (mut nonzeros, mut distinct, mut columns) = (0, 0, Vec::<u32>::new());
    for sample in 0..looked_at {
        let first = sample * windows / looked_at * rows;
        let all = view.offsets()[first]..view.offsets()[a.rows().min(first + rows)];
        columns.clear();
        columns
            .extend(view.columns()[all].iter().take(NONZEROS * rows / WINDOW).map(|column| column >> shift));
        nonzeros += columns.len();
        columns.sort_unstable();
        columns.dedup();
        distinct += columns.len();
    }
    nonzeros as f64 / distinct.max(1) as f64
}
#[cfg(any(feature = "cuda", feature = "emulator"))]
const LEAST_WINDOWS: usize = 16;

#[cfg(any(feature = "cuda", feature = "emulator"))]
/// The same of rows that come next to each other where rows are sorted by their lengths: those that are as long as the first.
pub(crate) fn reuse_of_equals<S: Scalar>(a: &Csr<S>, rows: usize) -> f64 {
    let view = a.view();
    let (mut nonzeros, mut distinct, mut columns) = (0, 0, Vec::<u32>::new());
    let looked_at = (WINDOWS * WINDOW / rows).max(LEAST_WINDOWS);
    for sample in 0..looked_at.min(a.rows()) {
        let first = sample * a.rows() / looked_at.min(a.rows());
        let length = view.range(first).len();
        let equals = (first..a.rows().min(first + FAR * rows)).filter(|&row| view.range(row).len() == length);
        columns.clear();
        for row in equals.take(rows) {
            let left = (NONZEROS * rows / WINDOW).saturating_sub(columns.len());
            columns.extend(view.columns()[view.range(row)].iter().take(left));
        }
        nonzeros += columns.len();
        columns.sort_unstable();
        columns.dedup();
        distinct += columns.len();
    }
    nonzeros as f64 / distinct.max(1) as f64
}
#[cfg(any(feature = "cuda", feature = "emulator"))]
/// Rows that are looked through for one that is as long.
const FAR: usize = 256;
