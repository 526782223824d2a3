//! The arrays of a matrix by rows, borrowed: what kernels read, and what must hold of them.

use crate::Scalar;
use crate::matrix::{FormatError, check_dimensions};
use std::ops::Range;

/// The arrays of a matrix by rows as kernels read them: what a [`Csr`](crate::Csr) and a `CsrView` have in common.
#[doc(hidden)]
#[derive(Debug, Clone, Copy)]
pub struct CsrSlices<'a, S> {
    rows: usize,
    cols: usize,
    offsets: &'a [usize],
    columns: &'a [u32],
    values: &'a [S],
}

impl<'a, S: Scalar> CsrSlices<'a, S> {
    /// Checks the invariant and borrows the arrays.
    pub fn from_parts(
        rows: usize,
        cols: usize,
        offsets: &'a [usize],
        columns: &'a [u32],
        values: &'a [S],
    ) -> Result<Self, FormatError> {
        check(rows, cols, offsets, columns, values.len())?;
        Ok(CsrSlices { rows, cols, offsets, columns, values })
    }

    /// Of arrays that have passed [`check`].
    pub(super) fn of_checked(
        rows: usize,
        cols: usize,
        offsets: &'a [usize],
        columns: &'a [u32],
        values: &'a [S],
    ) -> Self {
        CsrSlices { rows, cols, offsets, columns, values }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }
    /// Number of columns.
    pub fn cols(&self) -> usize {
        self.cols
    }
    /// Number of stored entries.
    pub fn nnz(&self) -> usize {
        self.columns.len()
    }
    /// Where each row starts; one more than there are rows.
    pub fn offsets(&self) -> &'a [usize] {
        self.offsets
    }
    /// Column of every entry.
    pub fn columns(&self) -> &'a [u32] {
        self.columns
    }
    /// Value of every entry.
    pub fn values(&self) -> &'a [S] {
        self.values
    }
    /// Positions of a row's entries.
    #[inline(always)]
    pub fn range(&self, row: usize) -> Range<usize> {
        self.offsets[row]..self.offsets[row + 1]
    }
    /// Columns and values of one row.
    #[inline(always)]
    pub fn row(&self, row: usize) -> impl Iterator<Item = (usize, S)> + use<'a, S> {
        let range = self.range(row);
        let columns = self.columns[range.clone()].iter();
        columns.zip(&self.values[range]).map(|(&col, &value)| (col as usize, value))
    }
}

pub(super) fn check(
    rows: usize,
    cols: usize,
    offsets: &[usize],
    columns: &[u32],
    values: usize,
) -> Result<(), FormatError> {
    check_dimensions(rows, cols)?;
    let nonzeros = columns.len();
    if values != nonzeros {
        return Err(FormatError::Length { what: "values", found: values, expected: nonzeros });
    }
    if offsets.len() != rows + 1 {
        return Err(FormatError::Length { what: "offsets", found: offsets.len(), expected: rows + 1 });
    }
    let falls = offsets.windows(2).position(|pair| pair[1] < pair[0]).map(|p| p + 1);
    let wrong = if offsets[0] != 0 { Some(0) } else { falls };
    if let Some(position) = wrong.or((offsets[rows] != nonzeros).then_some(rows)) {
        return Err(FormatError::Offsets {
            what: "row",
            position,
            value: offsets[position] as i128,
            nonzeros,
        });
    }
    if let Some(entry) = columns.iter().position(|&col| col as usize >= cols) {
        return Err(FormatError::IndexOutOfRange {
            entry,
            what: "column",
            index: columns[entry].into(),
            bound: cols,
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn construction_names_the_fault() {
        let fault = |offsets: &[usize]| {
            CsrSlices::from_parts(2, 2, offsets, &[0, 1], &[1.0, 2.0]).unwrap_err().to_string()
        };
        assert_eq!(fault(&[1, 1, 2]), "row offsets must rise from 0 to 2; offset 0 is 1");
        assert_eq!(fault(&[0, 3, 2]), "row offsets must rise from 0 to 2; offset 2 is 2");
        assert_eq!(fault(&[0, 1, 1]), "row offsets must rise from 0 to 2; offset 2 is 1");
        assert_eq!(fault(&[0, 2]), "offsets has 2 elements, 3 expected");
        let error = CsrSlices::from_parts(1, 1, &[0, 1], &[1], &[1.0]).unwrap_err();
        assert_eq!(error.to_string(), "entry 0: column 1 is outside 0..1");
    }
}
