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
