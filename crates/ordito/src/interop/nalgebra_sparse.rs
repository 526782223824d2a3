//! `nalgebra-sparse`: matrices by rows, by columns, and as triplets.
//!
//! ```
//! use nalgebra_sparse::{CooMatrix, CscMatrix, CsrMatrix};
//! use ordito::{Coo, Csr};
//! let mut entries = CooMatrix::new(2, 3);
//! entries.push(0, 2, 1.5);
//! entries.push(1, 0, 2.0);
//!
//! let a = Csr::try_from(&CsrMatrix::from(&entries))?;
//! assert_eq!(a, Csr::try_from(&CscMatrix::from(&entries))?); // converted, not taken for its transpose
//! assert_eq!(Coo::try_from(&entries)?.nnz(), 2);
//! assert_eq!(CsrMatrix::try_from(a)?, CsrMatrix::from(&entries));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use super::from_columns;
use crate::Scalar;
use crate::matrix::{Coo, Csr, CsrView, FormatError, Index};
use nalgebra_sparse::{CooMatrix, CscMatrix, CsrMatrix, SparseFormatError};

impl<S: Scalar> TryFrom<&CsrMatrix<S>> for Csr<S> {
    type Error = FormatError;

    fn try_from(a: &CsrMatrix<S>) -> Result<Self, FormatError> {
        Ok(CsrView::try_from(a)?.to_csr())
    }
}

impl<'a, S: Scalar> TryFrom<&'a CsrMatrix<S>> for CsrView<'a, S> {
    type Error = FormatError;

    /// Borrows offsets and values; columns become `u32`.
    fn try_from(a: &'a CsrMatrix<S>) -> Result<Self, FormatError> {
        CsrView::from_parts(a.nrows(), a.ncols(), a.row_offsets(), a.col_indices(), a.values())
    }
}

impl<S: Scalar> TryFrom<&CscMatrix<S>> for Csr<S> {
    type Error = FormatError;

    /// Converts columns to rows.
    fn try_from(a: &CscMatrix<S>) -> Result<Self, FormatError> {
        from_columns(a.nrows(), a.ncols(), a.col_offsets(), a.row_indices(), a.values())
    }
}

impl<S: Scalar> TryFrom<&CooMatrix<S>> for Coo<S> {
    type Error = FormatError;

    fn try_from(a: &CooMatrix<S>) -> Result<Self, FormatError> {
        let narrow = |indices: &[usize], what, bound| {
            let narrow = Index::columns(indices).map_err(|entry| {
                let index = indices[entry].wide();
                FormatError::IndexOutOfRange { entry, what, index, bound }
            })?;
            Ok::<_, FormatError>(narrow.into_owned())
        };
        let rows = narrow(a.row_indices(), "row", a.nrows())?;
        let columns = narrow(a.col_indices(), "column", a.ncols())?;
        Coo::new(a.nrows(), a.ncols(), rows, columns, a.values().to_vec())
    }
}

impl<S: Scalar> TryFrom<Csr<S>> for CsrMatrix<S> {
    type Error = SparseFormatError;

    /// Refuses columns that are not sorted or repeat, which `nalgebra-sparse` does not hold.
    fn try_from(a: Csr<S>) -> Result<Self, SparseFormatError> {
        let (rows, cols) = a.shape();
        let (offsets, columns, values) = a.into_parts();
        let columns = columns.into_iter().map(|column| column as usize).collect();
        CsrMatrix::try_from_csr_data(rows, cols, offsets, columns, values)
    }
}
