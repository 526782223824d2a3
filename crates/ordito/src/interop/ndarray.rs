//! `ndarray`: two-dimensional arrays and views.
//!
//! ```
//! use ndarray::{Array2, array};
//! use ordito::{Dense, DenseView, DenseViewMut};
//! let x = array![[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]];
//! assert_eq!(DenseView::try_from(x.view())?.shape(), (2, 3)); // borrowed
//! assert!(DenseView::try_from(x.t()).is_err()); // its rows are no rows in memory
//! assert_eq!(Dense::try_from(x.t())?.view().row(0), &[1.0, 4.0]); // copied
//!
//! let mut y = Array2::<f64>::zeros((2, 2));
//! DenseViewMut::try_from(y.view_mut())?.row_mut(1)[0] = 7.0;
//! assert_eq!(y[(1, 0)], 7.0);
//! assert_eq!(Array2::from(Dense::try_from(y.view())?), y);
//! # Ok::<(), ordito::Error>(())
//! ```

use crate::Scalar;
use crate::matrix::{Dense, DenseView, DenseViewMut, FormatError};
use ndarray::{Array2, ArrayView2, ArrayViewMut2};

impl<'a, S: Scalar> TryFrom<ArrayView2<'a, S>> for DenseView<'a, S> {
    type Error = FormatError;

    /// Borrows an array in standard layout; others are refused (what lies between their rows may be lent to somebody who
    /// writes there): [`Dense`] copies them.
    fn try_from(array: ArrayView2<'a, S>) -> Result<Self, FormatError> {
        let (rows, cols) = array.dim();
        let data = array.to_slice().ok_or(FormatError::Strides)?;
        DenseView::new(data, rows, cols, cols)
    }
}

impl<'a, S: Scalar> TryFrom<ArrayViewMut2<'a, S>> for DenseViewMut<'a, S> {
    type Error = FormatError;

    /// Borrows an array in standard layout; others are refused.
    fn try_from(array: ArrayViewMut2<'a, S>) -> Result<Self, FormatError> {
        let (rows, cols) = array.dim();
        let data = array.into_slice().ok_or(FormatError::Strides)?;
        DenseViewMut::new(data, rows, cols, cols)
    }
}

impl<S: Scalar> TryFrom<ArrayView2<'_, S>> for Dense<S> {
    type Error = FormatError;

    /// A copy, whatever the strides.
    fn try_from(array: ArrayView2<'_, S>) -> Result<Self, FormatError> {
        let (rows, cols) = array.dim();
        Dense::from_rows(rows, cols, array.iter().copied().collect())
    }
}

impl<S: Scalar> TryFrom<Array2<S>> for Dense<S> {
    type Error = FormatError;

    /// Keeps the memory of an array in standard layout; others are copied.
    fn try_from(array: Array2<S>) -> Result<Self, FormatError> {
        let (rows, cols) = array.dim();
        if !array.is_standard_layout() {
            return Dense::try_from(array.view());
        }
        match array.into_raw_vec_and_offset() {
            (data, None | Some(0)) if data.len() == rows * cols => Dense::from_rows(rows, cols, data),
            (data, offset) => {
                let first = offset.unwrap_or(0);
                Dense::from_rows(rows, cols, data[first..first + rows * cols].to_vec())
            }
        }
    }
}

impl<S: Scalar> From<Dense<S>> for Array2<S> {
    fn from(dense: Dense<S>) -> Self {
        let (rows, cols) = dense.shape();
        let view = dense.view();
        Array2::from_shape_fn((rows, cols), |(row, col)| view.row(row)[col])
    }
}
