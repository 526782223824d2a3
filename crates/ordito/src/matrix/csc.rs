//! Compressed sparse columns become rows: how matrices of others arrive that lie by columns, and what transposing is.

use crate::Scalar;
use crate::matrix::coo_to_csr::sort_columns;
use crate::matrix::csr::{Csr, threads_for};
use crate::matrix::csr_slices::CsrSlices;
use crate::matrix::csr_view::CsrView;
use crate::matrix::room::check_room;
use crate::matrix::{FormatError, Index};

impl<S: Scalar> Csr<S> {
    /// A matrix by rows of one by columns (CSC): column `c` has the entries `col_offsets[c]..col_offsets[c + 1]` of `row_indices` and
    /// `values`. All of it is checked. Rows come out with sorted columns; entries at the same place are kept, in their order. Works on the
    /// threads of the current rayon pool; the result does not depend on their number.
    ///
    /// ```
    /// use ordito::Csr;
    /// let (offsets, rows, values) = ([0_i32, 2, 3, 3], [0_i32, 1, 1], [1.0, 2.0, 3.0]); // as SciPy has them
    /// let a = Csr::from_csc_parts(2, 3, &offsets, &rows, &values)?;
    /// assert_eq!(a.row(0).collect::<Vec<_>>(), [(0, 1.0)]);
    /// assert_eq!(a.row(1).collect::<Vec<_>>(), [(0, 2.0), (1, 3.0)]);
    ///
    /// let error = Csr::from_csc_parts(2, 3, &offsets, &[0, 1, 7], &values).unwrap_err();
    /// assert_eq!(error.to_string(), "entry 2: row 7 is outside 0..2");
    /// # Ok::<(), ordito::Error>(())
    /// ```
    pub fn from_csc_parts<O: Index, R: Index>(
        rows: usize,
        cols: usize,
        col_offsets: &[O],
        row_indices: &[R],
        values: &[S],
    ) -> Result<Self, FormatError> {
        let transposed = CsrView::from_parts(cols, rows, col_offsets, row_indices, values)
            .map_err(FormatError::transposed)?;
        check_room("a matrix by rows", Csr::<S>::bytes_to_sort(rows, transposed.nnz()))?;
        Ok(transpose(transposed.slices()))
    }

    /// Aᵀ, with sorted columns.
    pub fn transpose(&self) -> Self {
        transpose(self.view())
    }

    /// The same; an error where there is no memory for it: of a matrix with few rows and many columns it takes much more than
    /// the matrix itself.
    pub fn try_transpose(&self) -> Result<Self, FormatError> {
        check_room("the transposed matrix", Csr::<S>::bytes_to_sort(self.cols(), self.nnz()))?;
        Ok(self.transpose())
    }
}

/// The arrays by rows are those of the transposed matrix by columns.
fn transpose<S: Scalar>(a: CsrSlices<'_, S>) -> Csr<S> {
    let by_columns = (a.offsets(), a.columns(), a.values());
    let by_rows = sort_columns(a.cols(), by_columns, threads_for(a.nnz()));
    Csr::of_checked(a.cols(), a.rows(), by_rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::{Coo, Duplicates, Random};

    /// The triplets of arrays by columns.
    fn triplets(rows: usize, offsets: &[usize], row_indices: &[u32], values: &[f64]) -> Coo<f64> {
        let lengths = offsets.windows(2).map(|pair| pair[1] - pair[0]);
        let columns = lengths.enumerate().flat_map(|(col, length)| std::iter::repeat_n(col as u32, length));
        Coo::new(rows, offsets.len() - 1, row_indices.to_vec(), columns.collect(), values.to_vec()).unwrap()
    }

    fn compare(rows: usize, offsets: &[usize], row_indices: &[u32]) {
        let values: Vec<f64> = (0..row_indices.len()).map(|entry| entry as f64).collect();
        let cols = offsets.len() - 1;
        let coo = triplets(rows, offsets, row_indices, &values);
        let expected = Csr::from_coo(&coo, Duplicates::Keep);
        for threads in [1, 2, 3, 8] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let found = pool.install(|| Csr::from_csc_parts(rows, cols, offsets, row_indices, &values));
            assert!(found.unwrap() == expected, "{rows}×{cols}, {threads} threads");
            let by_columns = CsrSlices::from_parts(cols, rows, offsets, row_indices, &values).unwrap();
            assert!(pool.install(|| by_columns.to_csr().transpose()) == expected);
            assert!(pool.install(|| by_columns.to_csr().try_transpose()).unwrap() == expected);
        }
    }

    /// Columns of such lengths, rows in any order and some of them twice.
    fn drawn(rows: usize, lengths: impl Iterator<Item = usize>) -> (Vec<usize>, Vec<u32>) {
        let mut random = Random::new(7, 0);
        let (mut offsets, mut row_indices) = (vec![0], Vec::new());
        for length in lengths {
            row_indices.extend((0..length).map(|_| random.below(rows as u64) as u32));
            offsets.push(row_indices.len());
        }
        (offsets, row_indices)
    }

    #[test]
    fn few_entries_are_those_of_their_triplets() {
        compare(0, &[0], &[]);
        compare(5, &[0], &[]);
        compare(0, &[0; 4], &[]);
        compare(5, &[0; 4], &[]);
        compare(3, &[0, 3, 3, 5], &[2, 0, 2, 0, 1]);
        let (offsets, row_indices) = drawn(40, (0..60).map(|col| col % 7));
        compare(40, &offsets, &row_indices);
    }

    #[test]
    #[cfg_attr(miri, ignore = "takes minutes")]
    fn many_entries_are_those_of_their_triplets() {
        for (rows, lengths) in [
            (3000, (0..4000).map(|col| col * 7919 % 41).collect::<Vec<_>>()),
            (1, vec![3; 20_000]),
            (1_000_000, vec![0, 30_000, 0, 0, 17, 0]),
            (100, (0..40_000).map(|col| usize::from(col % 50 == 3) * 30).collect()),
        ] {
            let (offsets, row_indices) = drawn(rows, lengths.into_iter());
            compare(rows, &offsets, &row_indices);
        }
    }

    #[test]
    fn transposing_twice_is_the_identity() {
        let coo = Coo::new(3, 4, vec![0, 2, 2, 0], vec![3, 0, 1, 1], vec![1.0, 2.0, 3.0, 4.0]).unwrap();
        let a = Csr::from_coo(&coo, Duplicates::Keep);
        assert_eq!(a.transpose().cols(), 3);
        assert_eq!(a.transpose().transpose(), a);
    }

    #[test]
    fn construction_names_the_fault() {
        fn fault<O: Index, R: Index>(offsets: &[O], rows: &[R]) -> String {
            Csr::from_csc_parts(5, 2, offsets, rows, &[1.0, 2.0]).unwrap_err().to_string()
        }
        assert_eq!(fault(&[1, 1, 2], &[0, 1]), "column offsets must rise from 0 to 2; offset 0 is 1");
        assert_eq!(fault(&[0, 3, 2], &[0, 1]), "column offsets must rise from 0 to 2; offset 2 is 2");
        assert_eq!(fault(&[0, 1, 1], &[0, 1]), "column offsets must rise from 0 to 2; offset 2 is 1");
        assert_eq!(fault(&[0, -1, 2], &[0, 1]), "column offsets must rise from 0 to 2; offset 1 is -1");
        assert_eq!(fault(&[0, 2], &[0, 1]), "offsets has 2 elements, 3 expected");
        assert_eq!(fault(&[0, 1, 2], &[0]), "values has 2 elements, 1 expected");
        assert_eq!(fault(&[0, 1, 2], &[0, 7]), "entry 1: row 7 is outside 0..5");
        assert_eq!(fault(&[0, 1, 2], &[0, -1]), "entry 1: row -1 is outside 0..5");
        assert_eq!(fault(&[0, 1, 2], &[0, 1_u64 << 40]), "entry 1: row 1099511627776 is outside 0..5");
        let large = |rows, cols| Csr::<f64>::from_csc_parts(rows, cols, &[0_usize], &[0_u32; 0], &[]);
        assert!(large(1 << 33, 0).unwrap_err().to_string().starts_with("rows = 8589934592"));
        assert!(large(0, 1 << 33).unwrap_err().to_string().starts_with("columns = 8589934592"));
    }
}
