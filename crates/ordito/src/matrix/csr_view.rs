//! Compressed sparse rows in somebody else's memory, with whatever index types they have there.

use crate::Scalar;
use crate::matrix::csr::Csr;
use crate::matrix::csr_slices::{CsrSlices, check};
use crate::matrix::{FormatError, Index};
use std::borrow::Cow;

/// A sparse matrix by rows in somebody else's arrays: checked, and borrowed where a kernel can use them.
///
/// Row offsets and column indices may be `i32`, `u32`, `i64`, `u64`, `isize` or `usize`. 64-bit offsets and 32-bit columns
/// are used where they lie; others are converted once, which [`converted_bytes`](Self::converted_bytes) tells. The values
/// are never copied.
///
/// ```
/// use ordito::CsrView;
/// let (offsets, columns, values) = ([0_i64, 1, 2], [0_i32, 1], [1.0, 5.0]);
/// let a = CsrView::from_parts(2, 2, &offsets, &columns, &values)?;
/// assert_eq!(a.converted_bytes(), 0);
/// assert_eq!(a.row(1).collect::<Vec<_>>(), [(1, 5.0)]);
///
/// let offsets = [0_i32, 1, 2]; // as SciPy has them: become usize, three times eight bytes
/// let a = CsrView::from_parts(2, 2, &offsets, &columns, &values)?;
/// assert_eq!(a.converted_bytes(), 24);
///
/// let error = CsrView::from_parts(2, 2, &offsets, &[0, -1], &values).unwrap_err();
/// assert_eq!(error.to_string(), "entry 1: column -1 is outside 0..2");
/// # Ok::<(), ordito::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct CsrView<'a, S> {
    rows: usize,
    cols: usize,
    offsets: Cow<'a, [usize]>,
    columns: Cow<'a, [u32]>,
    values: &'a [S],
}

impl<'a, S: Scalar> CsrView<'a, S> {
    /// Row `r` has the entries `offsets[r]..offsets[r + 1]` of `columns` and `values`. All of it is checked.
    pub fn from_parts<O: Index, C: Index>(
        rows: usize,
        cols: usize,
        offsets: &'a [O],
        columns: &'a [C],
        values: &'a [S],
    ) -> Result<Self, FormatError> {
        let nonzeros = columns.len();
        let offsets = O::offsets(offsets).map_err(|position| FormatError::Offsets {
            what: "row",
            position,
            value: offsets[position].wide(),
            nonzeros,
        })?;
        let columns = C::columns(columns).map_err(|entry| FormatError::IndexOutOfRange {
            entry,
            what: "column",
            index: columns[entry].wide(),
            bound: cols,
        })?;
        check(rows, cols, &offsets, &columns, values.len())?;
        Ok(CsrView { rows, cols, offsets, columns, values })
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }
    /// Number of columns.
    pub fn cols(&self) -> usize {
        self.cols
    }
    /// Rows and columns.
    pub fn shape(&self) -> (usize, usize) {
        (self.rows, self.cols)
    }
    /// Number of stored entries.
    pub fn nnz(&self) -> usize {
        self.columns.len()
    }
    /// Where each row starts; one more than there are rows.
    pub fn row_offsets(&self) -> &[usize] {
        &self.offsets
    }
    /// Column of every entry.
    pub fn col_indices(&self) -> &[u32] {
        &self.columns
    }
    /// Value of every entry.
    pub fn values(&self) -> &'a [S] {
        self.values
    }
    /// Columns and values of one row.
    pub fn row(&self, row: usize) -> impl Iterator<Item = (usize, S)> + '_ {
        self.slices().row(row)
    }
    /// Bytes that had to be converted, because no kernel takes indices of their type: 0 where all arrays are borrowed.
    pub fn converted_bytes(&self) -> usize {
        let bytes = |owned: bool, bytes: usize| if owned { bytes } else { 0 };
        bytes(matches!(self.offsets, Cow::Owned(_)), size_of_val(&*self.offsets))
            + bytes(matches!(self.columns, Cow::Owned(_)), size_of_val(&*self.columns))
    }
    /// A copy that owns its arrays.
    pub fn to_csr(&self) -> Csr<S> {
        self.slices().to_csr()
    }

    /// A matrix that reads the arrays where they lie.
    ///
    /// # Safety
    /// The result must not be used once `'a` is over.
    pub(crate) unsafe fn lend(self) -> Csr<S> {
        // SAFETY: until then the arrays are there and nobody writes to them: they are borrowed.
        unsafe { Csr::lent((self.rows, self.cols), self.offsets, self.columns, self.values) }
    }

    pub(crate) fn slices(&self) -> CsrSlices<'_, S> {
        CsrSlices::of_checked(self.rows, self.cols, &self.offsets, &self.columns, self.values)
    }
}

impl<'a, S: Scalar> From<&'a Csr<S>> for CsrView<'a, S> {
    fn from(a: &'a Csr<S>) -> Self {
        let (offsets, columns) = (Cow::Borrowed(a.row_offsets()), Cow::Borrowed(a.col_indices()));
        CsrView { rows: a.rows(), cols: a.cols(), offsets, columns, values: a.values() }
    }
}

impl<'a, S: Scalar> From<&'a CsrView<'_, S>> for CsrView<'a, S> {
    fn from(a: &'a CsrView<'_, S>) -> Self {
        let (offsets, columns) = (Cow::Borrowed(&*a.offsets), Cow::Borrowed(&*a.columns));
        CsrView { rows: a.rows, cols: a.cols, offsets, columns, values: a.values }
    }
}
