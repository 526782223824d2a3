//! ELLPACK: rows stored side by side with the same length (padded), or each with its own (ragged).

use crate::Scalar;
use crate::matrix::coo::Coo;
use crate::matrix::csr::Csr;
use crate::matrix::{FormatError, check_dimensions};

/// Padded ELLPACK: every row has `width` places, `width` being the longest row's length; what a row does not
/// fill holds value 0 at column 0. Row after row in memory.
///
/// Invariant: `columns` and `values` have `rows · width` elements; `row_lengths` has `rows`, none above `width`;
/// columns are below `cols`; padding is (0, 0).
///
/// Kernels multiply the padding too: where X's first row holds an infinity or a NaN, 0 · ∞ spoils rows that never
/// touch it. That is the price of the format; CSR has no such rows.
#[derive(Debug, Clone, PartialEq)]
pub struct EllPadded<S> {
    rows: usize,
    cols: usize,
    width: usize,
    row_lengths: Vec<usize>,
    columns: Vec<u32>,
    values: Vec<S>,
}

impl<S: Scalar> EllPadded<S> {
    /// Checks the invariant and takes the arrays.
    pub fn from_parts(
        rows: usize,
        cols: usize,
        width: usize,
        row_lengths: Vec<usize>,
        columns: Vec<u32>,
        values: Vec<S>,
    ) -> Result<Self, FormatError> {
        check_dimensions(rows, cols)?;
        let places =
            rows.checked_mul(width).ok_or(FormatError::TooManyElements { what: "padded ELLPACK" })?;
        let lengths = [
            ("row_lengths", row_lengths.len(), rows),
            ("columns", columns.len(), places),
            ("values", values.len(), places),
        ];
        for (what, found, expected) in lengths {
            if found != expected {
                return Err(FormatError::Length { what, found, expected });
            }
        }
        for (row, &length) in row_lengths.iter().enumerate() {
            if length > width {
                return Err(FormatError::Length { what: "a row", found: length, expected: width });
            }
            let start = row * width;
            for entry in start..start + width {
                let filled = entry - start < length;
                let bound = if filled { cols } else { 1 };
                if columns[entry] as usize >= bound || !(filled || values[entry] == S::ZERO) {
                    let index = columns[entry];
                    return Err(FormatError::IndexOutOfRange {
                        entry,
                        what: "column",
                        index: index.into(),
                        bound,
                    });
                }
            }
        }
        Ok(EllPadded { rows, cols, width, row_lengths, columns, values })
    }

    /// Bytes for `rows` rows of `width` places, or `None` when that overflows 64 bits.
    pub fn bytes_for(rows: usize, width: usize) -> Option<u64> {
        let places = (rows as u64).checked_mul(width as u64)?;
        let lengths = (rows as u64).checked_mul(size_of::<usize>() as u64)?;
        places.checked_mul((size_of::<u32>() + size_of::<S>()) as u64)?.checked_add(lengths)
    }

    /// Pads the rows of a CSR matrix. Ask [`bytes_for`](Self::bytes_for) first: a single long row makes this huge.
    pub fn from_csr(csr: &Csr<S>) -> Result<Self, FormatError> {
        let (rows, width) = (csr.rows(), csr.longest_row());
        let places =
            rows.checked_mul(width).ok_or(FormatError::TooManyElements { what: "padded ELLPACK" })?;
        let (mut columns, mut values) = (vec![0; places], vec![S::ZERO; places]);
        let view = csr.view();
        for row in 0..rows {
            let (range, start) = (view.range(row), row * width);
            columns[start..start + range.len()].copy_from_slice(&view.columns()[range.clone()]);
            values[start..start + range.len()].copy_from_slice(&view.values()[range]);
        }
        let row_lengths = csr.row_lengths().collect();
        Ok(EllPadded { rows, cols: csr.cols(), width, row_lengths, columns, values })
    }

    /// The triplets without the padding, row by row.
    pub fn to_coo(&self) -> Coo<S> {
        let rows = self.row_lengths.iter().enumerate().map(|(row, &length)| {
            let range = row * self.width..row * self.width + length;
            (&self.columns[range.clone()], &self.values[range])
        });
        coo_from_rows(self.rows, self.cols, rows)
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }
    /// Number of columns.
    pub fn cols(&self) -> usize {
        self.cols
    }
    /// Places per row.
    pub fn width(&self) -> usize {
        self.width
    }
    /// Entries of every row that are no padding.
    pub fn row_lengths(&self) -> &[usize] {
        &self.row_lengths
    }
    /// Column of every place, row after row.
    pub fn columns(&self) -> &[u32] {
        &self.columns
    }
    /// Value of every place, row after row.
    pub fn values(&self) -> &[S] {
        &self.values
    }
}

/// One row of ragged ELLPACK, in memory of its own.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RaggedRow<S> {
    /// Column of every entry.
    pub columns: Box<[u32]>,
    /// Value of every entry.
    pub values: Box<[S]>,
}

/// Ragged ELLPACK: an array of rows, each an allocation of its true length. No padding, and one more pointer
/// to follow per row.
///
/// Invariant: a row's `columns` and `values` have the same length; columns are below `cols`.
#[derive(Debug, Clone, PartialEq)]
pub struct EllRagged<S> {
    cols: usize,
    rows: Vec<RaggedRow<S>>,
}

impl<S: Scalar> EllRagged<S> {
    /// Checks the invariant and takes the rows.
    pub fn from_rows(cols: usize, rows: Vec<RaggedRow<S>>) -> Result<Self, FormatError> {
        check_dimensions(rows.len(), cols)?;
        for row in &rows {
            let (found, expected) = (row.values.len(), row.columns.len());
            if found != expected {
                return Err(FormatError::Length { what: "values", found, expected });
            }
            if let Some(entry) = row.columns.iter().position(|&col| col as usize >= cols) {
                let index = row.columns[entry];
                return Err(FormatError::IndexOutOfRange {
                    entry,
                    what: "column",
                    index: index.into(),
                    bound: cols,
                });
            }
        }
        Ok(EllRagged { cols, rows })
    }

    /// Bytes for `rows` rows with `nonzeros` entries in all (allocator overhead not counted).
    pub fn bytes_for(rows: usize, nonzeros: usize) -> Option<u64> {
        let pointers = (rows as u64).checked_mul(size_of::<RaggedRow<S>>() as u64)?;
        (nonzeros as u64).checked_mul((size_of::<u32>() + size_of::<S>()) as u64)?.checked_add(pointers)
    }

    /// Copies every row of a CSR matrix into memory of its own.
    pub fn from_csr(csr: &Csr<S>) -> Self {
        let view = csr.view();
        let rows = (0..csr.rows()).map(|row| {
            let range = view.range(row);
            RaggedRow { columns: view.columns()[range.clone()].into(), values: view.values()[range].into() }
        });
        EllRagged { cols: csr.cols(), rows: rows.collect() }
    }

    /// The triplets, row by row.
    pub fn to_coo(&self) -> Coo<S> {
        let rows = self.rows.iter().map(|row| (&row.columns[..], &row.values[..]));
        coo_from_rows(self.rows.len(), self.cols, rows)
    }

    /// Number of columns.
    pub fn cols(&self) -> usize {
        self.cols
    }
    /// The rows.
    pub fn rows(&self) -> &[RaggedRow<S>] {
        &self.rows
    }
}

/// Triplets of rows given as (columns, values).
fn coo_from_rows<'a, S: Scalar>(
    rows: usize,
    cols: usize,
    entries: impl Iterator<Item = (&'a [u32], &'a [S])>,
) -> Coo<S> {
    let (mut row_indices, mut column_indices, mut values) = (Vec::new(), Vec::new(), Vec::new());
    for (row, (row_columns, row_values)) in entries.enumerate() {
        row_indices.resize(row_indices.len() + row_columns.len(), row as u32);
        column_indices.extend_from_slice(row_columns);
        values.extend_from_slice(row_values);
    }
    Coo::new(rows, cols, row_indices, column_indices, values).expect("ELLPACK matrices have valid indices")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::coo::Duplicates;

    #[test]
    fn explicit_zeros_at_column_0_are_no_padding() {
        let coo = Coo::new(3, 2, vec![0, 0, 2], vec![0, 1, 0], vec![0.0, 5.0, 0.0]).unwrap();
        let csr = Csr::from_coo(&coo, Duplicates::Keep);
        assert_eq!(EllPadded::from_csr(&csr).unwrap().to_coo(), coo);
        assert_eq!(EllRagged::from_csr(&csr).to_coo(), coo);
    }

    #[test]
    fn construction_checks_padding_and_sizes() {
        let ell = |columns: Vec<u32>, values| EllPadded::from_parts(2, 2, 2, vec![2, 1], columns, values);
        assert!(ell(vec![0, 1, 1, 0], vec![1.0, 2.0, 3.0, 0.0]).is_ok());
        assert!(ell(vec![0, 1, 1, 1], vec![1.0, 2.0, 3.0, 0.0]).is_err(), "padding column");
        assert!(ell(vec![0, 1, 1, 0], vec![1.0, 2.0, 3.0, 4.0]).is_err(), "padding value");
        assert!(ell(vec![0, 2, 1, 0], vec![1.0, 2.0, 3.0, 0.0]).is_err(), "column");
        assert!(ell(vec![0, 1, 1], vec![1.0, 2.0, 3.0]).is_err(), "length");
        assert_eq!(EllPadded::<f64>::bytes_for(usize::MAX, 3), None);
    }
}
