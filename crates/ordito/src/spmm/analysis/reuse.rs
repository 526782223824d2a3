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
    for_every_distinct(firsts, |first, columns| {
        for place in first..a.rows().min(first + WINDOW) {
            let left = NONZEROS.saturating_sub(columns.len());
            columns.extend(view.columns()[view.range(row_at(place))].iter().take(left));
        }
    })
}

/// Nonzeros for every distinct column of the windows that begin at these rows; `fill` lists the columns of one.
fn for_every_distinct(firsts: impl Iterator<Item = usize>, fill: impl Fn(usize, &mut Vec<u32>)) -> f64 {
    let (mut nonzeros, mut distinct, mut columns) = (0, 0, Vec::new());
    for first in firsts {
        columns.clear();
        fill(first, &mut columns);
        nonzeros += columns.len();
        columns.sort_unstable();
        columns.dedup();
        distinct += columns.len();
    }
    nonzeros as f64 / distinct.max(1) as f64
}

#[cfg(any(feature = "cuda", feature = "emulator"))]
pub(crate) use wider::{reuse_of_equals, reuse_within};

/// Of wider windows, for a choice on a device.
#[cfg(any(feature = "cuda", feature = "emulator"))]
mod wider {
    use super::{Csr, NONZEROS, Scalar, WINDOW, WINDOWS, for_every_distinct};

    /// Fewer windows than this tell too little.
    const LEAST_WINDOWS: usize = 16;
    /// For every row of a window, rows that are looked through for one that is as long.
    const LOOKED_THROUGH: usize = 256;

    /// Windows of so many rows that are looked at, and nonzeros of each: as many rows in all, whatever their size.
    fn looked_at(rows: usize) -> (usize, usize) {
        ((WINDOWS * WINDOW / rows).max(LEAST_WINDOWS), NONZEROS * rows / WINDOW)
    }

    /// Nonzeros for every group of `2^shift` columns that is in one of `rows` neighbouring rows, of windows that lie evenly over
    /// the matrix.
    pub(crate) fn reuse_within<S: Scalar>(a: &Csr<S>, rows: usize, shift: u32) -> f64 {
        let (view, windows, (most, nonzeros)) = (a.view(), a.rows().div_ceil(rows), looked_at(rows));
        let count = windows.min(most);
        for_every_distinct((0..count).map(|sample| sample * windows / count * rows), |first, columns| {
            let all = view.offsets()[first]..view.offsets()[a.rows().min(first + rows)];
            columns.extend(view.columns()[all].iter().take(nonzeros).map(|column| column >> shift));
        })
    }

    /// The same of rows that come next to each other where rows are sorted by their lengths: those that are as long as the first.
    pub(crate) fn reuse_of_equals<S: Scalar>(a: &Csr<S>, rows: usize) -> f64 {
        let (view, (most, nonzeros)) = (a.view(), looked_at(rows));
        let count = most.min(a.rows());
        for_every_distinct((0..count).map(|sample| sample * a.rows() / count), |first, columns| {
            let length = view.range(first).len();
            let near = first..a.rows().min(first + LOOKED_THROUGH * rows);
            for row in near.filter(|&row| view.range(row).len() == length).take(rows) {
                let left = nonzeros.saturating_sub(columns.len());
                columns.extend(view.columns()[view.range(row)].iter().take(left));
            }
        })
    }
}
