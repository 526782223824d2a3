//! CSR whose rows stand in order of length inside windows: a loop over entries ends after as many steps as the one before,
//! and the processor foresees it.

use super::{Coo, CsrView, FormatError};
use crate::Scalar;
use rayon::prelude::*;

/// Rows in a window. Wide enough that neighbours have the same length, narrow enough that Y is still written nearly in
/// order. Other widths were not measured.
pub const WINDOW: usize = 512;

/// A sparse matrix by rows, sorted by length inside windows of [`WINDOW`] rows.
///
/// Invariant: `starts` has one element more than there are rows, starts at 0, never falls and ends at the number of entries;
/// `order` holds every row once, and rows `w · 512 .. (w + 1) · 512` of the matrix in those places; every column is below `cols`.
/// Starts take 32 bits: a matrix with 2³² entries or more has no such form.
///
/// ```
/// use ordito::matrix::{CsrView, SortedCsr};
/// let a = CsrView::from_parts(2, 2, &[0, 2, 3], &[0, 1, 1], &[1.0, 2.0, 3.0])?;
/// let sorted = SortedCsr::from_csr(a)?;
/// assert_eq!((sorted.order(), sorted.starts()), (&[1, 0][..], &[0, 1, 3][..]));
/// # Ok::<(), ordito::matrix::FormatError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct SortedCsr<S> {
    cols: usize,
    starts: Vec<u32>,
    order: Vec<u32>,
    columns: Vec<u32>,
    values: Vec<S>,
}

/// One window: its part of every array.
type Window<'a, S> = (usize, &'a mut [u32], &'a mut [u32], &'a mut [u32], &'a mut [S]);

impl<S: Scalar> SortedCsr<S> {
    /// Sorts the rows, on the threads of the current rayon pool. Rows of the same length stay in order.
    pub fn from_csr(a: CsrView<'_, S>) -> Result<Self, FormatError> {
        if u32::try_from(a.nonzeros()).is_err() {
            return Err(FormatError::TooManyElements {
                what: "CSR sorted by length, with 32-bit row starts,",
            });
        }
        let mut starts = vec![0; a.rows() + 1];
        let mut order = vec![0; a.rows()];
        let (mut columns, mut values) = (vec![0; a.nonzeros()], vec![S::ZERO; a.nonzeros()]);
        // A window keeps the places of its rows and of their entries, so windows can be filled side by side.
        let mut windows: Vec<Window<'_, S>> = Vec::with_capacity(a.rows().div_ceil(WINDOW));
        let (mut column_rest, mut value_rest) = (&mut columns[..], &mut values[..]);
        for (index, (starts, order)) in
            starts[1..].chunks_mut(WINDOW).zip(order.chunks_mut(WINDOW)).enumerate()
        {
            let first = index * WINDOW;
            let entries = a.offsets()[first + order.len()] - a.offsets()[first];
            let (columns, values);
            (columns, column_rest) = column_rest.split_at_mut(entries);
            (values, value_rest) = value_rest.split_at_mut(entries);
            windows.push((first, starts, order, columns, values));
        }
        windows.into_par_iter().for_each(|window| fill(a, window));
        Ok(SortedCsr { cols: a.cols(), starts, order, columns, values })
    }

    /// The triplets, in the order in which they are stored.
    pub fn to_coo(&self) -> Coo<S> {
        let mut rows = Vec::with_capacity(self.columns.len());
        for (row, end) in self.order.iter().zip(&self.starts[1..]) {
            rows.resize(*end as usize, *row);
        }
        Coo::new(self.order.len(), self.cols, rows, self.columns.clone(), self.values.clone())
            .expect("sorted rows have valid indices")
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.order.len()
    }
    /// Number of columns.
    pub fn cols(&self) -> usize {
        self.cols
    }
    /// Where each stored row starts; one more than there are rows.
    pub fn starts(&self) -> &[u32] {
        &self.starts
    }
    /// Which row of the matrix each stored row is.
    pub fn order(&self) -> &[u32] {
        &self.order
    }
    /// Column of every entry.
    pub fn columns(&self) -> &[u32] {
        &self.columns
    }
    /// Value of every entry.
    pub fn values(&self) -> &[S] {
        &self.values
    }
    /// Bytes for `rows` rows with `nonzeros` entries in all.
    pub fn bytes_for(rows: usize, nonzeros: usize) -> Option<u64> {
        let per_row = (rows as u64).checked_mul(8)?.checked_add(4)?;
        (nonzeros as u64).checked_mul((size_of::<u32>() + size_of::<S>()) as u64)?.checked_add(per_row)
    }
}

fn fill<S: Scalar>(a: CsrView<'_, S>, (first, starts, order, columns, values): Window<'_, S>) {
    for (place, row) in order.iter_mut().zip(first..) {
        *place = row as u32; // `check_dimensions` of the CSR matrix
    }
    order.sort_by_key(|&row| a.range(row as usize).len());
    let (base, mut at) = (a.offsets()[first], 0);
    for (row, end) in order.iter().zip(starts) {
        let from = a.range(*row as usize);
        let to = at..at + from.len();
        columns[to.clone()].copy_from_slice(&a.columns()[from.clone()]);
        values[to.clone()].copy_from_slice(&a.values()[from]);
        at = to.end;
        *end = (base + at) as u32; // checked: all entries fit
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::{Csr, Duplicates};

    #[test]
    fn windows_are_sorted_and_hold_their_rows() {
        let (mut rows, mut cols) = (Vec::new(), Vec::new());
        for row in 0..1200u32 {
            for col in 0..row * 7919 % 11 {
                rows.push(row);
                cols.push(col);
            }
        }
        let values = (0..rows.len()).map(|i| i as f64).collect();
        let a = Csr::from_coo(&Coo::new(1200, 11, rows, cols, values).unwrap(), Duplicates::Keep);
        let sorted = SortedCsr::from_csr(a.view()).unwrap();
        assert_eq!(Csr::from_coo(&sorted.to_coo(), Duplicates::Keep), a);
        let lengths: Vec<u32> = sorted.starts().windows(2).map(|pair| pair[1] - pair[0]).collect();
        for (window, lengths) in lengths.chunks(WINDOW).enumerate() {
            assert!(lengths.is_sorted());
            let mut held = sorted.order()[window * WINDOW..][..lengths.len()].to_vec();
            held.sort_unstable();
            assert!(held.iter().zip(window * WINDOW..).all(|(&row, expected)| row as usize == expected));
        }
    }

    #[test]
    fn nothing_is_fine() {
        let a = CsrView::<f32>::from_parts(0, 3, &[0], &[], &[]).unwrap();
        assert_eq!(SortedCsr::from_csr(a).unwrap().starts(), [0]);
    }
}
