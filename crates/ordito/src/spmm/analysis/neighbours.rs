//! What neighbouring rows have in common, of a sample: which storage suits a matrix on a CPU. Costs less than a product.

use crate::Scalar;
use crate::matrix::Csr;

/// Shares between 0 and 1, of the rows of a sample.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Neighbours {
    /// Nonzeros in rows that have the columns of the row above: such rows can share a list of columns.
    pub(crate) same_columns: f64,
    /// Rows that are not as long as the row above: ends of rows are hard to foresee.
    pub(crate) length_changes: f64,
    /// Of the places on diagonals that 8 and 16 neighbouring rows touch, those that hold a nonzero.
    pub(crate) diagonals_of_8: f64,
    pub(crate) diagonals_of_16: f64,
    /// Diagonals of 16 neighbouring rows whose next one is a diagonal, too: a row of X that is loaded then serves several rows.
    pub(crate) beside_another: f64,
    /// Columns from the first to the last of 16 neighbouring rows, of all there are: how far X is jumped about in.
    pub(crate) span: f64,
}

/// Rows of a window, and windows that are looked at.
const WINDOW: usize = 16;
const WINDOWS: usize = 256;
/// Rows longer than this are looked at up to there.
const NONZEROS_OF_ROW: usize = 64;

impl Neighbours {
    pub(crate) fn of<S: Scalar>(a: &Csr<S>) -> Self {
        Neighbours::of_sample(a, WINDOWS, usize::MAX)
    }

    /// Of at most so many windows, fewer where they would have more nonzeros than that, but at least two.
    pub(crate) fn of_sample<S: Scalar>(a: &Csr<S>, windows: usize, nonzeros: usize) -> Self {
        let all = a.rows() / WINDOW;
        let mean = a.nnz() / a.rows().max(1) * WINDOW;
        let windows = windows.min(nonzeros / mean.max(1)).max(2).min(all);
        let mut sums = Sums::default();
        for sample in 0..windows {
            sums.add(a, sample * all / windows * WINDOW);
        }
        sums.shares()
    }
}

/// Counted over all windows.
#[derive(Default)]
struct Sums {
    windows: usize,
    nonzeros: usize,
    nonzeros_as_above: usize,
    pairs: usize,
    length_changes: usize,
    places_of_8: usize,
    places_of_16: usize,
    beside_another: usize,
    span: f64,
    diagonals: Vec<i64>,
}

impl Sums {
    /// Looks at the window that begins at row `first`.
    fn add<S: Scalar>(&mut self, a: &Csr<S>, first: usize) {
        let pattern = a.pattern();
        let row = |row: usize| {
            let columns = &pattern.columns()[pattern.range(row)];
            &columns[..columns.len().min(NONZEROS_OF_ROW)]
        };
        let (mut least, mut most) = (u32::MAX, 0);
        for now in first..first + WINDOW {
            let columns = row(now);
            self.nonzeros += columns.len();
            (least, most) = columns.iter().fold((least, most), |(l, m), &col| (l.min(col), m.max(col)));
            if now > first {
                let above = row(now - 1);
                self.pairs += 1;
                self.length_changes += usize::from(pattern.range(now).len() != pattern.range(now - 1).len());
                self.nonzeros_as_above += if above == columns { columns.len() } else { 0 };
            }
        }
        self.windows += 1;
        self.span += f64::from(most.saturating_sub(least)) / a.cols().max(1) as f64;
        for half in [first, first + WINDOW / 2] {
            self.places_of_8 += WINDOW / 2 * self.distinct_diagonals(half..half + WINDOW / 2, row);
        }
        self.places_of_16 += WINDOW * self.distinct_diagonals(first..first + WINDOW, row);
        self.beside_another += self.diagonals.windows(2).filter(|pair| pair[1] == pair[0] + 1).count();
    }

    fn distinct_diagonals<'a>(
        &mut self,
        rows: std::ops::Range<usize>,
        row: impl Fn(usize) -> &'a [u32],
    ) -> usize {
        self.diagonals.clear();
        for now in rows {
            self.diagonals.extend(row(now).iter().map(|&col| i64::from(col) - now as i64));
        }
        self.diagonals.sort_unstable();
        self.diagonals.dedup();
        self.diagonals.len()
    }

    fn shares(&self) -> Neighbours {
        let of = |part: usize, all: usize| part as f64 / all.max(1) as f64;
        // The first row of a window has none above it that is looked at.
        let with_above = of(self.nonzeros * (WINDOW - 1), WINDOW);
        Neighbours {
            same_columns: (self.nonzeros_as_above as f64 / with_above.max(1.0)).min(1.0),
            length_changes: of(self.length_changes, self.pairs),
            diagonals_of_8: of(self.nonzeros, self.places_of_8),
            diagonals_of_16: of(self.nonzeros, self.places_of_16),
            beside_another: of(self.beside_another * WINDOW, self.places_of_16),
            span: self.span / self.windows.max(1) as f64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io;
    use crate::matrix::Duplicates;

    fn neighbours(name: &str) -> Neighbours {
        let coo = io::load::<f64>(name, &Default::default()).unwrap().coo;
        Neighbours::of(&Csr::from_coo(&coo, Duplicates::Sum))
    }

    #[test]
    fn kinds_of_matrices_are_told_apart() {
        let band = neighbours("band:20000x50");
        assert!(band.diagonals_of_8 > 0.95 && band.diagonals_of_16 > 0.95, "{band:?}");
        assert!(band.span < 0.01 && band.same_columns < 0.1 && band.beside_another > 0.9, "{band:?}");
        let blocks = neighbours("blocks:2000x12x3");
        assert!(blocks.same_columns > 0.5 && blocks.diagonals_of_8 < 0.8, "{blocks:?}");
        let uniform = neighbours("uniform:20000x16");
        assert!(uniform.span > 0.9 && uniform.diagonals_of_8 < 0.2, "{uniform:?}");
        let skewed = neighbours("powerlaw:20000x16");
        assert!(skewed.length_changes > 0.5 && uniform.length_changes < 0.1, "{skewed:?}");
        let cube = neighbours("stencil27:20"); // three neighbours, then a gap
        assert!(cube.beside_another > 0.6 && cube.beside_another < 0.7, "{cube:?}");
        assert_eq!(neighbours("empty:5x5"), Neighbours::default()); // fewer rows than a window
        assert_eq!(neighbours("empty:100x5"), Neighbours::default());
    }
}
