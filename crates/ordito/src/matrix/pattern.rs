//! Where the entries of a matrix by rows are.

use std::ops::Range;

/// A matrix by rows without its values: all that statistics, and layouts that a device fills, look at. So values can lie elsewhere.
#[cfg_attr(not(any(feature = "cuda", feature = "emulator")), allow(dead_code))] // layouts on a device ask for columns
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pattern<'a> {
    cols: usize,
    offsets: &'a [usize],
    columns: &'a [u32],
}

impl<'a> Pattern<'a> {
    /// Of arrays that have been checked.
    pub(super) fn of_checked(cols: usize, offsets: &'a [usize], columns: &'a [u32]) -> Self {
        Pattern { cols, offsets, columns }
    }

    /// Number of rows.
    pub(crate) fn rows(&self) -> usize {
        self.offsets.len() - 1
    }
    /// Number of columns.
    #[cfg_attr(not(any(feature = "cuda", feature = "emulator")), allow(dead_code))]
    pub(crate) fn cols(&self) -> usize {
        self.cols
    }
    /// Where each row starts; one more than there are rows.
    pub(crate) fn offsets(&self) -> &'a [usize] {
        self.offsets
    }
    /// Column of every entry.
    pub(crate) fn columns(&self) -> &'a [u32] {
        self.columns
    }
    /// Positions of a row's entries.
    #[inline(always)]
    pub(crate) fn range(&self, row: usize) -> Range<usize> {
        self.offsets[row]..self.offsets[row + 1]
    }
}
