//! `faer`: sparse matrices by rows and by columns, dense matrices.
//!
//! ```
//! use faer::sparse::{SparseColMat, SparseRowMat, Triplet};
//! use ordito::{Csr, Dense};
//! let entries = [Triplet::new(0_usize, 2_usize, 1.5), Triplet::new(1, 0, 2.0)];
//! let by_rows = SparseRowMat::try_new_from_triplets(2, 3, &entries).unwrap();
//! let by_columns = SparseColMat::try_new_from_triplets(2, 3, &entries).unwrap();
//!
//! let a = Csr::try_from(by_rows.as_ref())?;
//! assert_eq!(a, Csr::try_from(by_columns.as_ref())?); // converted, not taken for its transpose
//!
//! let x = faer::mat![[1.0, 10.0], [2.0, 20.0], [3.0, 30.0]];
//! let y = &a * &Dense::try_from(x.as_ref())?; // faer's are column-major: copied
//! assert_eq!(faer::Mat::from(y), faer::mat![[4.5, 45.0], [2.0, 20.0]]);
//! # Ok::<(), ordito::Error>(())
//! ```

use super::from_columns;
use crate::Scalar;
use crate::matrix::{Csr, CsrView, Dense, FormatError, Index};
use faer::sparse::{SparseColMatRef, SparseRowMatRef};
use faer::{Mat, MatRef};

/// Offsets and indices without what lies between rows (or columns) that were not filled up.
fn packed<I: Index>(
    offsets: &[I],
    lengths: Option<&[I]>,
    used: impl Fn(usize) -> std::ops::Range<usize>,
) -> Option<(Vec<usize>, Vec<usize>)> {
    lengths?;
    let count = offsets.len() - 1;
    let mut starts = vec![0];
    let mut places = Vec::new();
    for line in 0..count {
        places.extend(used(line));
        starts.push(places.len());
    }
    Some((starts, places))
}

impl<S: Scalar, I: Index + faer::Index> TryFrom<SparseRowMatRef<'_, I, S>> for Csr<S> {
    type Error = FormatError;

    fn try_from(a: SparseRowMatRef<'_, I, S>) -> Result<Self, FormatError> {
        let (symbolic, values) = (a.symbolic(), a.val());
        let (rows, cols, columns) = (a.nrows(), a.ncols(), symbolic.col_idx());
        match packed(symbolic.row_ptr(), symbolic.row_nnz(), |row| symbolic.row_range(row)) {
            None => Ok(CsrView::from_parts(rows, cols, symbolic.row_ptr(), columns, values)?.to_csr()),
            Some((offsets, places)) => {
                let columns: Vec<I> = places.iter().map(|&place| columns[place]).collect();
                let values: Vec<S> = places.iter().map(|&place| values[place]).collect();
                Ok(CsrView::from_parts(rows, cols, &offsets, &columns, &values)?.to_csr())
            }
        }
    }
}

impl<S: Scalar, I: Index + faer::Index> TryFrom<SparseColMatRef<'_, I, S>> for Csr<S> {
    type Error = FormatError;

    /// Converts columns to rows.
    fn try_from(a: SparseColMatRef<'_, I, S>) -> Result<Self, FormatError> {
        let (symbolic, values) = (a.symbolic(), a.val());
        let (rows, cols, row_indices) = (a.nrows(), a.ncols(), symbolic.row_idx());
        match packed(symbolic.col_ptr(), symbolic.col_nnz(), |col| symbolic.col_range(col)) {
            None => from_columns(rows, cols, symbolic.col_ptr(), row_indices, values),
            Some((offsets, places)) => {
                let row_indices: Vec<I> = places.iter().map(|&place| row_indices[place]).collect();
                let values: Vec<S> = places.iter().map(|&place| values[place]).collect();
                from_columns(rows, cols, &offsets, &row_indices, &values)
            }
        }
    }
}

impl<S: Scalar> TryFrom<MatRef<'_, S>> for Dense<S> {
    type Error = FormatError;

    /// A copy, row after row.
    fn try_from(x: MatRef<'_, S>) -> Result<Self, FormatError> {
        let (rows, cols) = (x.nrows(), x.ncols());
        let mut dense = Dense::filled(rows, cols, S::ZERO)?;
        for row in 0..rows {
            let target = &mut dense.data_mut()[row * cols..(row + 1) * cols];
            for (col, element) in target.iter_mut().enumerate() {
                *element = x[(row, col)];
            }
        }
        Ok(dense)
    }
}

impl<S: Scalar> From<Dense<S>> for Mat<S> {
    fn from(x: Dense<S>) -> Self {
        let view = x.view();
        Mat::from_fn(x.rows(), x.cols(), |row, col| view.row(row)[col])
    }
}
