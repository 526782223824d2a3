//! A few columns of a block as kernels see them. Several of them side by side are one operand.

use crate::Scalar;
use crate::matrix::{DenseView, DenseViewMut};

/// Columns that lie side by side in every row of a block.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Part<S> {
    /// The first element.
    pub(crate) at: *mut S,
    pub(crate) cols: usize,
    /// From one row to the next, in elements.
    pub(crate) distance: usize,
}

// SAFETY: an address; whoever uses it promises that what lies there may be used from several threads.
unsafe impl<S: Scalar> Send for Part<S> {}
// SAFETY: the same.
unsafe impl<S: Scalar> Sync for Part<S> {}

impl<S: Scalar> Part<S> {
    /// To be read only.
    pub(crate) fn read(view: &DenseView<'_, S>) -> Self {
        Part { at: view.data().as_ptr().cast_mut(), cols: view.cols(), distance: view.leading_dimension() }
    }
    /// A row of it.
    ///
    /// # Safety
    /// The row is there, may be written for as long as the slice lives, and nobody else uses it meanwhile.
    #[cfg(feature = "solve")]
    pub(crate) unsafe fn row_mut<'a>(self, row: usize) -> &'a mut [S] {
        // SAFETY: the caller's promise.
        unsafe { std::slice::from_raw_parts_mut(self.at.add(row * self.distance), self.cols) }
    }
    pub(crate) fn written(view: &mut DenseViewMut<'_, S>) -> Self {
        let (cols, distance) = (view.cols(), view.leading_dimension());
        Part { at: view.data_mut().as_mut_ptr(), cols, distance }
    }
}

/// How many columns all of them have.
pub(crate) fn columns_of<S>(parts: &[Part<S>]) -> usize {
    parts.iter().map(|part| part.cols).sum()
}
