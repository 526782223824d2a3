//! Where the entries of a matrix are, at a glance.

use crate::Scalar;
use crate::cpu::parallel;
use crate::matrix::csr::Csr;
use crate::precision::compiled_here;

/// Where the entries of a matrix are: how many in each cell of a grid laid over it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default))]
pub struct Spy {
    /// Rows of cells.
    pub rows: usize,
    /// Columns of cells.
    pub cols: usize,
    /// Entries in each, row after row.
    pub counts: Vec<u64>,
}

impl Spy {
    /// A grid of at most `most_side` × `most_side` cells, and of no more cells than places: row r of the matrix is seen
    /// in row ⌊r · rows of cells / rows⌋. Looks at every entry once, on the threads of the current rayon pool.
    ///
    /// ```
    /// use ordito::matrix::Spy;
    /// use ordito::{Coo, Csr, Duplicates};
    /// let a = Coo::new(4, 4, vec![0, 1, 3], vec![0, 1, 0], vec![1.0; 3])?;
    /// let spy = Spy::of(&Csr::from_coo(&a, Duplicates::Sum), 2);
    /// assert_eq!(spy, Spy { rows: 2, cols: 2, counts: vec![2, 0, 1, 0] });
    /// # Ok::<(), ordito::FormatError>(())
    /// ```
    pub fn of<S: Scalar>(a: &Csr<S>, most_side: usize) -> Self {
        type Look<S> = fn(&Csr<S>, usize) -> Spy;
        compiled_here!(S, look, Look)(a, most_side)
    }
}

fn look<S: Scalar>(a: &Csr<S>, most_side: usize) -> Spy {
    let (rows, cols) = (a.rows().min(most_side), a.cols().min(most_side));
    if rows == 0 || cols == 0 {
        return Spy { rows, cols, counts: Vec::new() };
    }
    let view = a.view();
    // Products of dimensions fit: both factors are at most 32 bits wide.
    let first_row = |cell: usize| (cell * a.rows()).div_ceil(rows);
    let column_cell = |column: u32| column as usize * cols / a.cols();
    let mut counts = vec![0; rows * cols];
    parallel::for_each(counts.chunks_mut(cols).enumerate().collect(), |(cell, counts)| {
        // Rows of a cell follow each other, and so do their entries.
        let entries = view.offsets()[first_row(cell)]..view.offsets()[first_row(cell + 1)];
        for &column in &view.columns()[entries] {
            counts[column_cell(column)] += 1;
        }
    });
    Spy { rows, cols, counts }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::coo::{Coo, Duplicates};

    fn csr(rows: usize, cols: usize, entries: &[(u32, u32)]) -> Csr<f64> {
        let (r, c) = entries.iter().copied().unzip();
        let coo = Coo::new(rows, cols, r, c, vec![1.0; entries.len()]).unwrap();
        Csr::from_coo(&coo, Duplicates::Keep)
    }

    #[test]
    fn nothing_has_no_cells() {
        for (rows, cols, most_side) in [(0, 0, 96), (0, 5, 96), (5, 0, 96), (5, 5, 0)] {
            let spy = Spy::of(&csr(rows, cols, &[]), most_side);
            assert!(spy.counts.is_empty() && spy.rows * spy.cols == 0, "{spy:?}");
        }
    }

    #[test]
    fn a_small_matrix_has_a_cell_for_every_place() {
        assert_eq!(Spy::of(&csr(1, 1, &[(0, 0)]), 96), Spy { rows: 1, cols: 1, counts: vec![1] });
        let wide = csr(2, 3, &[(0, 2), (1, 0), (1, 0)]);
        assert_eq!(Spy::of(&wide, 96), Spy { rows: 2, cols: 3, counts: vec![0, 0, 1, 2, 0, 0] });
    }

    #[test]
    fn wide_and_tall_matrices_are_cut_evenly() {
        let along: Vec<(u32, u32)> = (0..10).map(|place| (0, place)).collect();
        let spy = Spy::of(&csr(1, 10, &along), 4);
        assert_eq!((spy.rows, spy.cols, &spy.counts[..]), (1, 4, &[3, 2, 3, 2][..]));
        let down: Vec<(u32, u32)> = (0..10).map(|place| (place, 0)).collect();
        let spy = Spy::of(&csr(10, 1, &down), 4);
        assert_eq!((spy.rows, spy.cols, &spy.counts[..]), (4, 1, &[3, 2, 3, 2][..]));
    }

    #[test]
    fn every_entry_is_seen_once_and_where_it_is() {
        let entries: Vec<(u32, u32)> = (0..1000).map(|i| (i * 7 % 131, i * i % 57)).collect();
        let a = csr(131, 57, &entries);
        for most_side in [1, 2, 31, 57, 96, 131, 1000] {
            let spy = Spy::of(&a, most_side);
            let mut expected = vec![0; spy.rows * spy.cols];
            for &(row, col) in &entries {
                expected[row as usize * spy.rows / 131 * spy.cols + col as usize * spy.cols / 57] += 1;
            }
            assert_eq!(spy.counts, expected, "{most_side}");
            assert_eq!(spy.counts.iter().sum::<u64>(), 1000);
        }
    }

    #[test]
    fn the_last_row_of_the_largest_matrix_has_a_cell() {
        let last = u32::MAX - 1;
        let columns = csr(1, u32::MAX as usize, &[(0, 0), (0, last)]);
        let spy = Spy::of(&columns, 96);
        assert_eq!((spy.counts[0], spy.counts[95]), (1, 1));
    }
}
