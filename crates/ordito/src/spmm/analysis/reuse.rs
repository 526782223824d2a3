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
    let pattern = a.pattern();
    for_every_distinct(firsts, |first, columns| {
        for place in first..a.rows().min(first + WINDOW) {
            let left = NONZEROS.saturating_sub(columns.len());
            columns.extend(pattern.columns()[pattern.range(row_at(place))].iter().take(left));
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
pub(crate) use by_nonzeros::{reuse_of_equals, reuse_within};

/// Of windows around nonzeros that lie evenly over all of them, for a choice on a device: so a few long rows count for what they hold.
#[cfg(any(feature = "cuda", feature = "emulator"))]
mod by_nonzeros {
    use super::{Csr, NONZEROS, Scalar, WINDOW, WINDOWS};

    /// Fewer windows than this tell too little.
    const LEAST_WINDOWS: usize = 16;
    /// For every row of a window, rows that are looked through for one that is as long.
    const LOOKED_THROUGH: usize = 256;

    /// Nonzeros for every group of `2^shift` columns that is in one of `rows` neighbouring rows.
    pub(crate) fn reuse_within<S: Scalar>(a: &Csr<S>, rows: usize, shift: u32) -> f64 {
        let pattern = a.pattern();
        let window_of = |row| row / rows * rows;
        mean_reuse(a, rows, window_of, |first, columns| {
            let all = pattern.offsets()[first]..pattern.offsets()[a.rows().min(first + rows)];
            let thinned = Thinned::to(NONZEROS * rows / WINDOW, all.len());
            columns.extend(thinned.of(&pattern.columns()[all], shift));
        })
    }

    /// The same of rows that come next to each other where rows are sorted by their lengths: those that are as long.
    pub(crate) fn reuse_of_equals<S: Scalar>(a: &Csr<S>, rows: usize) -> f64 {
        let pattern = a.pattern();
        mean_reuse(
            a,
            rows,
            |row| row,
            |row, columns| {
                let length = pattern.range(row).len();
                let thinned = Thinned::to(NONZEROS * rows / WINDOW, length * rows);
                let near = row.saturating_sub(LOOKED_THROUGH / 2 * rows)
                    ..a.rows().min(row + LOOKED_THROUGH / 2 * rows);
                for row in near.filter(|&row| pattern.range(row).len() == length).take(rows) {
                    columns.extend(thinned.of(&pattern.columns()[pattern.range(row)], 0));
                }
            },
        )
    }

    /// Of windows of `rows` rows: which one a row is in says `window_of`, its columns lists `fill`. A long row is met many times, one after
    /// the other, and its window looked at once.
    fn mean_reuse<S: Scalar>(
        a: &Csr<S>,
        rows: usize,
        window_of: impl Fn(usize) -> usize,
        fill: impl Fn(usize, &mut Vec<u32>),
    ) -> f64 {
        let (ends, nonzeros) = (&a.pattern().offsets()[1..], a.nnz());
        // As many rows in all, whatever the size of a window.
        let windows = (WINDOWS * WINDOW / rows).max(LEAST_WINDOWS).min(nonzeros);
        let (mut columns, mut looked_at, mut distinct) = (Vec::new(), 0.0, 0.0);
        let (mut last, mut share) = (None, None);
        for window in 0..windows {
            let nonzero = nonzeros / windows * window + nonzeros % windows * window / windows;
            let here = window_of(ends.partition_point(|&end| end <= nonzero));
            if last != Some(here) {
                last = Some(here);
                columns.clear();
                fill(here, &mut columns);
                share = share_of_distinct(&mut columns);
            }
            if let Some(share) = share {
                looked_at += 1.0;
                distinct += share;
            }
        }
        if distinct > 0.0 { looked_at / distinct } else { 0.0 }
    }

    /// Of these columns; `None` where there are none.
    fn share_of_distinct(columns: &mut Vec<u32>) -> Option<f64> {
        let count = columns.len();
        columns.sort_unstable();
        columns.dedup();
        (count > 0).then(|| columns.len() as f64 / count as f64)
    }

    /// Of many columns some, the same ones in every row, so that what rows share stays what it is.
    struct Thinned {
        bits: u32,
    }

    impl Thinned {
        /// About to `most` of so many.
        fn to(most: usize, all: usize) -> Self {
            Thinned { bits: all.div_ceil(most).next_power_of_two().ilog2() }
        }

        /// In groups of `2^shift`.
        fn of(&self, columns: &[u32], shift: u32) -> impl Iterator<Item = u32> {
            let bits = self.bits;
            let groups = columns.iter().map(move |column| column >> shift);
            // Scattered by the golden ratio.
            groups.filter(move |group| (u64::from(group.wrapping_mul(0x9E37_79B9)) << bits) >> 32 == 0)
        }
    }
}

#[cfg(test)]
#[cfg(any(feature = "cuda", feature = "emulator"))]
mod tests {
    use super::*;
    use crate::matrix::{Coo, Duplicates};

    /// Rows of one nonzero each, then `long` rows that have all columns.
    fn bordered(short: u32, long: u32) -> Csr<f64> {
        let border = (short..short + long).flat_map(|row| (0..short).map(move |column| (row, column)));
        let (rows, columns): (Vec<u32>, Vec<u32>) = (0..short).map(|row| (row, row)).chain(border).unzip();
        let values = vec![1.0; rows.len()];
        let coo = Coo::new((short + long) as usize, short as usize, rows, columns, values).unwrap();
        Csr::from_coo(&coo, Duplicates::Sum)
    }

    #[test]
    fn long_rows_count_for_what_they_hold() {
        let a = bordered(8000, 8);
        // A ninth of the nonzeros share nothing, the others each column by eight.
        let exactly = 9.0 / (1.0 + 8.0 / 8.0);
        let found = reuse_within(&a, 8, 0);
        assert!((found / exactly - 1.0).abs() < 0.05, "{found} {exactly}");
        assert!(reuse(&a) < 1.1, "of windows that lie evenly over the rows");
        let equals = reuse_of_equals(&a, 64);
        assert!((equals / exactly - 1.0).abs() < 0.1, "of 32 windows: {equals} {exactly}");
    }

    #[test]
    fn nothing_is_shared_where_nothing_is() {
        assert_eq!(reuse_within(&bordered(0, 0), 8, 0), 0.0);
        assert_eq!(
            (reuse_within(&bordered(100, 0), 8, 0), reuse_of_equals(&bordered(100, 0), 64)),
            (1.0, 1.0)
        );
    }
}
