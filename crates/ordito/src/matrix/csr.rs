//! Compressed sparse rows: the format that everything else is made from.

use crate::Scalar;
use crate::cpu::parallel;
use crate::matrix::FormatError;
use crate::matrix::array::{Array, Elsewhere};
use crate::matrix::coo::{Coo, Duplicates};
use crate::matrix::coo_to_csr::offsets_if_in_order;
use crate::matrix::coo_to_csr::{SORT_SERIALLY_BELOW, sort_entries};
use crate::matrix::csr_slices::{CsrSlices, check};
use crate::matrix::pattern::Pattern;
use crate::matrix::room::check_room;
use crate::refusal::Refusal;
use std::any::Any;
use std::borrow::Cow;
use std::sync::Arc;

/// Rows that one thread writes at a time.
const ROWS_PER_TASK: usize = 1 << 13;

/// A sparse matrix by rows: entries `offsets[r]..offsets[r + 1]` of `columns` and `values` are row `r`.
///
/// Invariant: `offsets` has `rows + 1` elements, starts at 0, never falls and ends at the number of nonzeros;
/// `columns` and `values` have that length; every column is below `cols`. Columns need not be sorted and may
/// repeat; [`Csr::from_coo`] sorts them.
///
/// ```
/// use ordito::{Coo, Csr, Duplicates};
/// let a = Coo::new(2, 2, vec![1, 0, 1], vec![1, 0, 1], vec![2.0, 1.0, 3.0])?;
/// let a = Csr::from_coo(&a, Duplicates::Sum);
/// assert_eq!(a.row_offsets(), &[0, 1, 2]);
/// assert_eq!(a.values(), &[1.0, 5.0]);
/// # Ok::<(), ordito::FormatError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Csr<S> {
    rows: usize,
    cols: usize,
    offsets: Array<usize>,
    columns: Array<u32>,
    values: Array<S>,
}

/// Threads that are worth waking to sort so many entries.
pub(super) fn threads_for(nonzeros: usize) -> usize {
    if nonzeros < SORT_SERIALLY_BELOW { 1 } else { parallel::threads() }
}

impl<S: Scalar> Csr<S> {
    /// Checks the invariant and takes the arrays.
    pub fn from_parts(
        rows: usize,
        cols: usize,
        offsets: Vec<usize>,
        columns: Vec<u32>,
        values: Vec<S>,
    ) -> Result<Self, FormatError> {
        check(rows, cols, &offsets, &columns, values.len())?;
        Ok(Csr::of_checked(rows, cols, (offsets, columns, values)))
    }

    /// The arrays of a view where they lie; those that were converted for it move here.
    ///
    /// # Safety
    /// What the view borrows must be there, and not change, as long as the result is used.
    pub(super) unsafe fn lent(
        (rows, cols): (usize, usize),
        offsets: Cow<'_, [usize]>,
        columns: Cow<'_, [u32]>,
        values: &[S],
    ) -> Self {
        // SAFETY: the caller's promise.
        let (offsets, columns) = unsafe { (Array::of(offsets), Array::of(columns)) };
        // SAFETY: as above.
        Csr { rows, cols, offsets, columns, values: unsafe { Array::lent(values) } }
    }

    /// Of values that stay where they are until somebody looks at them.
    pub(crate) fn with_values_elsewhere(
        (rows, cols): (usize, usize),
        offsets: Vec<usize>,
        columns: Vec<u32>,
        values: Arc<dyn Elsewhere<S>>,
    ) -> Result<Self, FormatError> {
        check(rows, cols, &offsets, &columns, values.count())?;
        let (offsets, columns) = (offsets.into(), columns.into());
        Ok(Csr { rows, cols, offsets, columns, values: Array::elsewhere(values) })
    }

    /// Where the values lie, if that is elsewhere: those who know of such places ask for them by type.
    pub(crate) fn place_of_values(&self) -> Option<&dyn Any> {
        self.values.place().map(Elsewhere::as_any)
    }

    /// How often somebody who looked at the values saw none, since they could not be brought.
    pub(crate) fn looks_in_vain(&self) -> usize {
        self.values.looks_in_vain()
    }

    /// Why somebody saw none since they were so many, if so.
    pub(crate) fn check_values_seen(&self, looks_in_vain: usize) -> Result<(), Refusal> {
        self.values.check_seen(looks_in_vain)
    }

    /// Has somebody looked at them, or were they here all along?
    #[cfg(test)]
    pub(crate) fn has_values_here(&self) -> bool {
        self.values.is_here()
    }

    /// Other numbers, once their number has been checked.
    pub(crate) fn check_values(&self, values: &[S]) -> Result<(), FormatError> {
        let (found, expected) = (values.len(), self.nnz());
        if found == expected {
            return Ok(());
        }
        Err(FormatError::Length { what: "values", found, expected })
    }

    /// Other numbers for this pattern.
    pub(crate) fn set_values(&mut self, values: Vec<S>) -> Result<(), FormatError> {
        self.check_values(&values)?;
        self.values = values.into();
        Ok(())
    }

    /// Sorts the triplets by row and column, on the threads of the current rayon pool, or outside of any on those of
    /// [`Machine::all_cores`](crate::Machine::all_cores) (few enough entries: on the caller's alone). Entries at the same
    /// place are summed or kept in the order in which they stand; the result does not depend on the number
    /// of threads.
    pub fn from_coo(coo: &Coo<S>, duplicates: Duplicates) -> Self {
        let arrays = sort_entries(coo, duplicates, threads_for(coo.nnz()));
        Csr::of_checked(coo.rows(), coo.cols(), arrays)
    }

    /// The same; an error where there is no memory for it, which [`Csr::from_coo`] ends the program for. Every row takes some,
    /// also an empty one: a file of a few bytes can declare billions of them.
    ///
    /// ```
    /// use ordito::{Coo, Csr, Duplicates};
    /// let a = Coo::new(2, 2, vec![1, 0], vec![1, 0], vec![2.0, 1.0])?;
    /// assert_eq!(Csr::try_from_coo(&a, Duplicates::Sum)?, Csr::from_coo(&a, Duplicates::Sum));
    /// # Ok::<(), ordito::FormatError>(())
    /// ```
    pub fn try_from_coo(coo: &Coo<S>, duplicates: Duplicates) -> Result<Self, FormatError> {
        check_room("a matrix by rows", Csr::<S>::bytes_to_sort(coo.rows(), coo.nnz()))?;
        Ok(Csr::from_coo(coo, duplicates))
    }

    /// [`Csr::from_owned_coo`]; an error where there is no memory for it.
    pub fn try_from_owned_coo(coo: Coo<S>, duplicates: Duplicates) -> Result<Self, FormatError> {
        check_room("a matrix by rows", Csr::<S>::bytes_to_sort(coo.rows(), coo.nnz()))?;
        Ok(Csr::from_owned_coo(coo, duplicates))
    }

    /// Bytes that sorting so many entries takes at most: the result, and the entries once more on their way there.
    pub(super) fn bytes_to_sort(rows: usize, nonzeros: usize) -> Option<u64> {
        let triplets = (nonzeros as u64).checked_mul((2 * size_of::<u32>() + size_of::<S>()) as u64);
        Csr::<S>::bytes_for(rows, nonzeros)?.checked_add(triplets?)
    }

    /// Of arrays that are known to pass [`check`].
    pub(super) fn of_checked(
        rows: usize,
        cols: usize,
        (offsets, columns, values): (Vec<usize>, Vec<u32>, Vec<S>),
    ) -> Self {
        Csr { rows, cols, offsets: offsets.into(), columns: columns.into(), values: values.into() }
    }

    /// Sorts triplets that are not needed any more, as [`Csr::from_coo`] does: those in order keep their memory.
    ///
    /// ```
    /// use ordito::{Coo, Csr, Duplicates};
    /// let a = Coo::new(2, 2, vec![1, 0, 1], vec![1, 0, 1], vec![2.0, 1.0, 3.0])?;
    /// assert_eq!(Csr::from_owned_coo(a.clone(), Duplicates::Sum), Csr::from_coo(&a, Duplicates::Sum));
    /// # Ok::<(), ordito::FormatError>(())
    /// ```
    pub fn from_owned_coo(coo: Coo<S>, duplicates: Duplicates) -> Self {
        let Some(offsets) = offsets_if_in_order(&coo, threads_for(coo.nnz())) else {
            return Csr::from_coo(&coo, duplicates);
        };
        let (rows, cols) = (coo.rows(), coo.cols());
        let (columns, values) = coo.into_columns_and_values();
        Csr::of_checked(rows, cols, (offsets, columns, values))
    }

    /// The triplets, row by row.
    pub fn to_coo(&self) -> Coo<S> {
        self.clone().into_coo()
    }

    /// The triplets, row by row, in the memory of this matrix. Row indices are written on the threads of the current rayon pool.
    pub fn into_coo(self) -> Coo<S> {
        let mut row_indices = vec![0; self.columns.len()];
        let mut left = &mut row_indices[..];
        let blocks = (0..self.rows).step_by(ROWS_PER_TASK).map(|first| {
            let rows = first..(first + ROWS_PER_TASK).min(self.rows);
            let length = self.offsets[rows.end] - self.offsets[first];
            let (block, rest) = std::mem::take(&mut left).split_at_mut(length);
            left = rest;
            (rows, block)
        });
        let blocks: Vec<_> = blocks.collect();
        parallel::for_each(blocks, |(rows, block)| {
            let start = self.offsets[rows.start];
            for row in rows {
                block[self.offsets[row] - start..self.offsets[row + 1] - start].fill(row as u32);
            }
        });
        Coo::new(self.rows, self.cols, row_indices, self.columns.into_vec(), self.values.into_vec())
            .expect("a CSR matrix has valid indices")
    }

    /// This pattern with other numbers.
    pub fn with_values(&self, values: Vec<S>) -> Result<Self, FormatError> {
        self.check_values(&values)?;
        Ok(Csr {
            offsets: self.offsets.clone(),
            columns: self.columns.clone(),
            values: values.into(),
            ..*self
        })
    }

    /// What kernels read.
    #[doc(hidden)]
    pub fn view(&self) -> CsrSlices<'_, S> {
        CsrSlices::of_checked(self.rows, self.cols, &self.offsets, &self.columns, &self.values)
    }

    /// What is known of it without its values.
    pub(crate) fn pattern(&self) -> Pattern<'_> {
        Pattern::of_checked(self.cols, &self.offsets, &self.columns)
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
    /// Where each row starts among the entries; one more than there are rows.
    pub fn row_offsets(&self) -> &[usize] {
        &self.offsets
    }
    /// Column of every entry.
    pub fn col_indices(&self) -> &[u32] {
        &self.columns
    }
    /// Value of every entry. Those that lie on a device are brought from there when somebody looks; where that fails they are NaN, for there is nobody to
    /// tell: [`bring_values`](Self::bring_values) says so.
    pub fn values(&self) -> &[S] {
        &self.values
    }
    /// Values that lie on a device ([`DeviceCsrView::to_csr`](crate::device::DeviceCsrView::to_csr)) come to the host, if they have not yet; refused where the device fails.
    pub fn bring_values(&self) -> Result<(), Refusal> {
        self.values.bring()
    }
    /// A copy with values on the host; refused where they lie on a device and that fails. They are brought for the copy alone: this matrix leaves them
    /// there. (A plain `clone` leaves them there, too, and takes no memory for them.)
    pub fn try_clone(&self) -> Result<Self, Refusal> {
        let (offsets, columns) = (self.offsets.clone(), self.columns.clone());
        Ok(Csr { offsets, columns, values: self.values.try_clone()?, ..*self })
    }
    /// Columns and values of one row.
    ///
    /// # Panics
    /// When there is no such row.
    pub fn row(&self, row: usize) -> impl Iterator<Item = (usize, S)> + '_ {
        self.view().row(row)
    }
    /// Row offsets, column indices and values: the arrays themselves. As with [`values`](Self::values), those that cannot be brought from a device are NaN;
    /// ask [`bring_values`](Self::bring_values) before.
    pub fn into_parts(self) -> (Vec<usize>, Vec<u32>, Vec<S>) {
        (self.offsets.into_vec(), self.columns.into_vec(), self.values.into_vec())
    }
    /// Length of every row.
    pub fn row_lengths(&self) -> impl ExactSizeIterator<Item = usize> + '_ {
        self.offsets.windows(2).map(|pair| pair[1] - pair[0])
    }
    /// Length of the longest row; 0 where there is none.
    pub fn longest_row(&self) -> usize {
        self.row_lengths().max().unwrap_or(0)
    }
    /// Bytes for `rows` rows with `nonzeros` entries in all.
    #[doc(hidden)]
    pub fn bytes_for(rows: usize, nonzeros: usize) -> Option<u64> {
        let offsets = (rows as u64).checked_add(1)?.checked_mul(size_of::<usize>() as u64)?;
        (nonzeros as u64).checked_mul((size_of::<u32>() + size_of::<S>()) as u64)?.checked_add(offsets)
    }
}

impl<S: Scalar> CsrSlices<'_, S> {
    /// A copy that owns its arrays.
    pub fn to_csr(&self) -> Csr<S> {
        let arrays = (self.offsets().to_vec(), self.columns().to_vec(), self.values().to_vec());
        Csr::of_checked(self.rows(), self.cols(), arrays)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg_attr(miri, ignore = "takes minutes")]
    fn triplets_given_away_become_the_same_matrix() {
        let rows: Vec<u32> = (0..50_000).map(|entry| entry / 5).collect();
        let columns: Vec<u32> = (0..50_000).map(|entry| entry % 5 * 7).collect();
        let values: Vec<f64> = (0..50_000).map(f64::from).collect();
        let in_order = Coo::new(10_000, 30, rows, columns, values.clone()).unwrap();
        let memory = in_order.values().as_ptr();
        let mut twice = in_order.col_indices().to_vec();
        twice[49_999] = twice[49_998];
        let twice = Coo::new(10_000, 30, in_order.row_indices().to_vec(), twice, values).unwrap();
        for coo in [twice.clone().transpose(), twice, Coo::empty(0, 3).unwrap(), in_order] {
            let expected = Csr::from_coo(&coo, Duplicates::Sum);
            let found = Csr::from_owned_coo(coo, Duplicates::Sum);
            assert_eq!(found, expected);
            assert_eq!(found.values.as_ptr() == memory, found.nnz() == 50_000);
        }
    }
}
