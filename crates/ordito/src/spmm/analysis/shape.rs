//! What `auto` looks at: lengths of rows, all of them, and what neighbours share, of a sample. Costs less than a product.

use crate::Scalar;
use crate::matrix::Csr;
#[cfg(any(feature = "cuda", feature = "emulator"))]
use crate::spmm::analysis::gathered::foreseen;
use crate::spmm::analysis::reuse::reuse;

/// A matrix in a few numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(not(any(feature = "cuda", feature = "emulator")), allow(dead_code))] // only a choice on a device asks for all of it
pub(crate) struct Shape {
    pub(crate) rows: usize,
    pub(crate) nonzeros: usize,
    /// Nonzeros of a row, on average and at most.
    pub(crate) mean: f64,
    pub(crate) longest: usize,
    /// Entries for every nonzero if neighbouring rows were padded to the length of the longest.
    pub(crate) padded: f64,
    /// Nonzeros for every column that is in one of 8 neighbouring rows.
    pub(crate) reuse: f64,
    /// About the same of 8 rows that were gathered for it.
    #[cfg(any(feature = "cuda", feature = "emulator"))]
    pub(crate) gathered: f64,
}

/// Rows that are padded to the same length.
const PADDED_ROWS: usize = 8;

impl Shape {
    pub(crate) fn of<S: Scalar>(a: &Csr<S>) -> Self {
        let (rows, nonzeros) = (a.rows(), a.nnz());
        let (mut longest, mut entries, mut of_slice) = (0, 0, 0);
        for (row, length) in a.row_lengths().enumerate() {
            of_slice = length.max(of_slice);
            if row % PADDED_ROWS == PADDED_ROWS - 1 || row == rows - 1 {
                entries += of_slice * PADDED_ROWS;
                longest = of_slice.max(longest);
                of_slice = 0;
            }
        }
        let of = |count: usize, all: usize| count as f64 / all.max(1) as f64;
        let reuse = reuse(a);
        Shape {
            rows,
            nonzeros,
            mean: of(nonzeros, rows),
            longest,
            padded: of(entries, nonzeros),
            reuse,
            #[cfg(any(feature = "cuda", feature = "emulator"))]
            gathered: foreseen(a, reuse),
        }
    }
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
        assert_eq!((band.rows, band.nonzeros, band.longest, band.padded), (20_000, 1_000_000, 50, 1.0));
        assert!((band.reuse - 400.0 / 57.0).abs() < 0.1, "{}", band.reuse);
        let uniform = shape("uniform:20000x16");
        assert!(uniform.reuse < 1.01 && uniform.padded < 1.01);
        let skewed = shape("powerlaw:20000x16");
        assert!(skewed.longest > 300 && skewed.padded > 2.0);
        assert_eq!(shape("empty:0x0").reuse, 0.0);
    }
}
