//! `sprs`: compressed matrices by rows or by columns.
//!
//! ```
//! use ordito::{Csr, CsrView, Dense};
//! let mut entries = sprs::TriMat::new((2, 3));
//! entries.add_triplet(0, 2, 1.5);
//! entries.add_triplet(1, 0, 2.0);
//! let by_rows: sprs::CsMat<f64> = entries.to_csr();
//! let by_columns: sprs::CsMat<f64> = entries.to_csc();
//!
//! let a = Csr::try_from(&by_rows)?;
//! assert_eq!(a, Csr::try_from(&by_columns)?); // converted, not taken for its transpose
//! let y = &a * &Dense::filled(3, 1, 1.0)?;
//! assert_eq!(y.data(), &[1.5, 2.0]);
//!
//! let borrowed = CsrView::try_from(&by_rows)?; // values are not copied
//! assert_eq!(borrowed.nnz(), 2);
//! assert!(CsrView::try_from(&by_columns).unwrap_err().to_string().contains("by columns"));
//! assert_eq!(sprs::CsMat::from(a), by_rows);
//! # Ok::<(), ordito::Error>(())
//! ```

use super::from_columns;
use crate::Scalar;
use crate::matrix::{Csr, CsrView, Duplicates, FormatError, Index};
use sprs::{CsMatBase, CsMatI, SpIndex};
use std::borrow::Cow;
use std::ops::Deref;

impl<S, I, P, PS, IS, DS> TryFrom<&CsMatBase<S, I, PS, IS, DS, P>> for Csr<S>
where
    S: Scalar,
    I: SpIndex + Index,
    P: SpIndex + Index,
    PS: Deref<Target = [P]>,
    IS: Deref<Target = [I]>,
    DS: Deref<Target = [S]>,
{
    type Error = FormatError;

    /// A copy; a matrix by columns is converted.
    fn try_from(a: &CsMatBase<S, I, PS, IS, DS, P>) -> Result<Self, FormatError> {
        let offsets = a.proper_indptr();
        let (rows, cols, indices, values) = (a.rows(), a.cols(), a.indices(), a.data());
        if a.is_csc() {
            return from_columns(rows, cols, &offsets, indices, values);
        }
        Ok(CsrView::from_parts(rows, cols, &offsets, indices, values)?.to_csr())
    }
}

impl<'a, S, I, P, PS, IS, DS> TryFrom<&'a CsMatBase<S, I, PS, IS, DS, P>> for CsrView<'a, S>
where
    S: Scalar,
    I: SpIndex + Index,
    P: SpIndex + Index,
    PS: Deref<Target = [P]>,
    IS: Deref<Target = [I]>,
    DS: Deref<Target = [S]>,
{
    type Error = FormatError;

    /// Borrows; a matrix by columns is refused.
    fn try_from(a: &'a CsMatBase<S, I, PS, IS, DS, P>) -> Result<Self, FormatError> {
        if a.is_csc() {
            return Err(FormatError::ByColumns);
        }
        // A slice of rows has offsets that do not begin at 0: only its copy can be used.
        let Cow::Borrowed(offsets) = a.proper_indptr() else { return Err(FormatError::SliceOfRows) };
        CsrView::from_parts(a.rows(), a.cols(), offsets, a.indices(), a.data())
    }
}

impl<S: Scalar> From<Csr<S>> for CsMatI<S, usize, usize> {
    /// Indices become `usize`. Columns come out sorted and entries at the same place summed, as `sprs` wants them.
    fn from(a: Csr<S>) -> Self {
        let rises = |row: usize| a.row(row).map(|(column, _)| column).is_sorted_by(|one, next| one < next);
        let a = if (0..a.rows()).all(rises) { a } else { Csr::from_owned_coo(a.into_coo(), Duplicates::Sum) };
        let shape = a.shape();
        let (offsets, columns, values) = a.into_parts();
        CsMatI::new(shape, offsets, columns.into_iter().map(|column| column as usize).collect(), values)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_at_the_same_place_are_summed_not_lost() {
        let a = Csr::from_parts(2, 3, vec![0, 3, 4], vec![2, 0, 2, 1], vec![1.0, 5.0, 2.0, 7.0]).unwrap();
        let found = CsMatI::from(a);
        assert_eq!((found.get(0, 2), found.get(0, 0), found.get(1, 1)), (Some(&3.0), Some(&5.0), Some(&7.0)));
        assert_eq!(found.nnz(), 3);
    }
}
