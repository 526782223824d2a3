//! Matrices of other crates, behind features of their names. Every conversion is checked; what can be borrowed is.
//!
//! | feature | from | to |
//! |---|---|---|
//! | `sprs` | `CsMatBase` by rows or columns | [`Csr`](crate::Csr), by rows also [`CsrView`](crate::CsrView); and back |
//! | `nalgebra-sparse` | `CsrMatrix`, `CscMatrix`, `CooMatrix` | `Csr`, `Coo`; `CsrMatrix` from `Csr` |
//! | `faer` | `SparseRowMat`, `SparseColMat`, `MatRef` | `Csr`, `Dense`; `Mat` from `Dense` |
//! | `ndarray` | two-dimensional arrays and views | `Dense`, `DenseView`, `DenseViewMut`; `Array2` from `Dense` |

#[cfg(feature = "faer")]
mod faer;
#[cfg(feature = "nalgebra-sparse")]
mod nalgebra_sparse;
#[cfg(feature = "ndarray")]
mod ndarray;
#[cfg(feature = "sprs")]
mod sprs;

#[cfg(any(feature = "faer", feature = "nalgebra-sparse", feature = "sprs"))]
use crate::Scalar;
#[cfg(any(feature = "faer", feature = "nalgebra-sparse", feature = "sprs"))]
use crate::matrix::{Csr, CsrView, FormatError, Index};

/// Arrays that are compressed by columns, as rows: those of the transposed matrix by rows, transposed.
#[cfg(any(feature = "faer", feature = "nalgebra-sparse", feature = "sprs"))]
fn from_columns<S: Scalar, O: Index, R: Index>(
    rows: usize,
    cols: usize,
    col_offsets: &[O],
    row_indices: &[R],
    values: &[S],
) -> Result<Csr<S>, FormatError> {
    CsrView::from_parts(cols, rows, col_offsets, row_indices, values)?.to_csr().try_transpose()
}
