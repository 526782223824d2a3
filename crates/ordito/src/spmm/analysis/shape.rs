//! What `auto` looks at on a device: lengths of rows, all of them, and what neighbours share, of a sample. Costs less than a product
//! on a CPU.

use crate::Scalar;
use crate::cpu::parallel;
use crate::matrix::Csr;
use crate::spmm::analysis::diagonals::OnDiagonals;
use crate::spmm::analysis::gathered::{Foreseen, foreseen};
use crate::spmm::analysis::reuse::{WINDOW, reuse, reuse_of_equals, reuse_within};
use crate::spmm::analysis::row_work::RowWork;
use crate::spmm::analysis::together::{PerLine, Rows, across, along};

/// A matrix in a few numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Shape {
    pub(crate) rows: usize,
    pub(crate) cols: usize,
    pub(crate) nonzeros: usize,
    /// How rows of such lengths can be dealt out.
    pub(crate) work: RowWork,
    /// Nonzeros for every column that is in one of 8 neighbouring rows; about the same of 8 rows that were gathered for it.
    pub(crate) reuse: f64,
    pub(crate) gathered: Foreseen,
    /// The same of 64 neighbours, and of 64 rows that come next to each other once rows are sorted by their lengths.
    pub(crate) near: f64,
    pub(crate) equals: f64,
    /// Nonzeros for every 8 columns, a sector of a vector in single precision, that are in one of 32 neighbouring rows.
    pub(crate) sectors: f64,
    /// Elements of X for every line of a cache that the lanes of a warp read them from, each for a row of its own, neighbours or rows
    /// that are equally long; and 8 lanes that share out a row.
    pub(crate) across: PerLine,
    pub(crate) across_equals: PerLine,
    pub(crate) along: PerLine,
    /// How well slices of a warp's rows lie on diagonals.
    pub(crate) diagonals: OnDiagonals,
}

const NEAR: usize = 64;
const WARP: usize = 32;
const LANES: usize = 8;
/// A sector holds 2 to the power of this elements.
const SECTOR: u32 = 3;

impl Shape {
    pub(crate) fn of<S: Scalar>(a: &Csr<S>) -> Self {
        let [reuse, of_neighbours, near, equals, sectors] = side_by_side([
            &|| reuse(a),
            &|| reuse_within(a, WINDOW, 0),
            &|| reuse_within(a, NEAR, 0),
            &|| reuse_of_equals(a, NEAR),
            &|| reuse_within(a, WARP, SECTOR),
        ]);
        let [across, across_equals, along] = side_by_side([
            &|| across(a, WARP, Rows::Neighbours),
            &|| across(a, WARP, Rows::OfOneLength),
            &|| along(a, LANES),
        ]);
        let diagonals = OnDiagonals::of(a);
        let gathered = foreseen(a, of_neighbours);
        let (rows, cols, nonzeros) = (a.rows(), a.cols(), a.nnz());
        let work = RowWork::of(a.pattern().offsets());
        Shape {
            rows,
            cols,
            nonzeros,
            work,
            reuse,
            gathered,
            near,
            equals,
            sectors,
            across,
            across_equals,
            along,
            diagonals,
        }
    }

    /// Nonzeros of a row on average.
    pub(crate) fn mean(&self) -> f64 {
        self.nonzeros as f64 / self.rows.max(1) as f64
    }
}

/// What all of them say, each on a thread of its own where there are as many.
fn side_by_side<R: Copy + Default + Send, const COUNT: usize>(
    all: [&(dyn Fn() -> R + Sync); COUNT],
) -> [R; COUNT] {
    let mut said = [R::default(); COUNT];
    let tasks = said.iter_mut().zip(all).collect();
    parallel::for_each(tasks, |(said, say): (&mut R, &(dyn Fn() -> R + Sync))| *said = say());
    said
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io;
    use crate::matrix::Duplicates;

    fn shape(name: &str) -> Shape {
        let coo = io::load::<f64>(name, &Default::default()).unwrap().coo;
        Shape::of(&Csr::from_coo(&coo, Duplicates::Sum))
    }

    #[test]
    fn a_band_and_random_rows_are_told_apart() {
        let band = shape("band:20000x50");
        assert_eq!((band.rows, band.nonzeros, band.work.longest), (20_000, 1_000_000, 50));
        assert_eq!(band.work.padded_to(8), 1_000_000.0);
        assert!((band.reuse - 400.0 / 57.0).abs() < 0.1, "{}", band.reuse);
        let uniform = shape("uniform:20000x16");
        assert!(uniform.reuse < 1.01 && uniform.work.padded_to(8) < 1.01 * 20_000.0 * 16.0);
        let skewed = shape("powerlaw:20000x16");
        assert!(skewed.work.longest > 300 && skewed.work.padded_to(8) > 2.0 * skewed.nonzeros as f64);
        assert!(band.near > 20.0 && band.equals > 20.0 && skewed.equals < 2.0, "{band:?} {skewed:?}");
        assert_eq!((shape("empty:0x0").reuse, shape("empty:0x0").across), (0.0, [1.0; 6]));
    }
}
