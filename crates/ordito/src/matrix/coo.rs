//! Coordinate format: a list of (row, column, value) in any order.

use crate::Scalar;
use crate::cpu::parallel;
use crate::matrix::room::check_room;
use crate::matrix::{FormatError, check_dimensions};

/// What to do with several entries at the same place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Duplicates {
    /// Add them up in the order in which they stand: one entry remains.
    #[default]
    Sum,
    /// Keep each of them. Products are the same up to rounding.
    Keep,
}

/// A sparse matrix as a list of triplets, in the order in which they came. Explicit zeros and duplicates
/// are entries like any other.
///
/// Invariant: `row_indices`, `column_indices` and `values` have the same length, every row index is below
/// `rows` and every column index below `cols`.
///
/// ```
/// use ordito::Coo;
/// let a = Coo::new(2, 3, vec![0, 1], vec![2, 0], vec![5.0, 7.0])?;
/// assert_eq!(a.nnz(), 2);
/// assert_eq!(a.entries().next(), Some((0, 2, 5.0)));
/// assert!(Coo::new(2, 3, vec![2], vec![0], vec![1.0]).is_err());
/// # Ok::<(), ordito::FormatError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Coo<S> {
    rows: usize,
    cols: usize,
    row_indices: Vec<u32>,
    column_indices: Vec<u32>,
    values: Vec<S>,
}

/// Indices that a thread looks at.
const CHUNK: usize = 1 << 16;

impl<S: Scalar> Coo<S> {
    /// Checks the invariant and takes the arrays.
    pub fn new(
        rows: usize,
        cols: usize,
        row_indices: Vec<u32>,
        column_indices: Vec<u32>,
        values: Vec<S>,
    ) -> Result<Self, FormatError> {
        check_dimensions(rows, cols)?;
        for (what, found) in [("column_indices", column_indices.len()), ("values", values.len())] {
            if found != row_indices.len() {
                return Err(FormatError::Length { what, found, expected: row_indices.len() });
            }
        }
        for (what, indices, bound) in [("row", &row_indices, rows), ("column", &column_indices, cols)] {
            // The largest first, on all threads where that is worth waking them: of sound matrices nothing else is looked at.
            let largest = match indices.len() {
                ..=CHUNK => indices.iter().max(),
                _ => {
                    let chunks = indices.chunks(CHUNK).collect();
                    parallel::map(chunks, |part: &[u32]| part.iter().max()).into_iter().flatten().max()
                }
            };
            if largest.is_some_and(|&index| index as usize >= bound)
                && let Some(entry) = indices.iter().position(|&index| index as usize >= bound)
            {
                return Err(FormatError::IndexOutOfRange {
                    entry,
                    what,
                    index: indices[entry].into(),
                    bound,
                });
            }
        }
        Ok(Coo { rows, cols, row_indices, column_indices, values })
    }

    /// A matrix without entries.
    pub fn empty(rows: usize, cols: usize) -> Result<Self, FormatError> {
        Coo::new(rows, cols, Vec::new(), Vec::new(), Vec::new())
    }

    /// Rows and columns.
    pub fn shape(&self) -> (usize, usize) {
        (self.rows, self.cols)
    }
    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }
    /// Number of columns.
    pub fn cols(&self) -> usize {
        self.cols
    }
    /// Number of entries, explicit zeros and duplicates included.
    pub fn nnz(&self) -> usize {
        self.values.len()
    }
    /// Row of every entry.
    pub fn row_indices(&self) -> &[u32] {
        &self.row_indices
    }
    /// Column of every entry.
    pub fn col_indices(&self) -> &[u32] {
        &self.column_indices
    }
    /// Value of every entry.
    pub fn values(&self) -> &[S] {
        &self.values
    }
    /// Row indices, column indices and values: the arrays themselves.
    pub fn into_parts(self) -> (Vec<u32>, Vec<u32>, Vec<S>) {
        (self.row_indices, self.column_indices, self.values)
    }

    /// Does no entry stand behind one of a later row?
    #[doc(hidden)]
    pub fn is_by_row(&self) -> bool {
        is_sorted(&self.row_indices)
    }

    /// The triplets in the order in which they are stored.
    pub fn entries(&self) -> impl Iterator<Item = (u32, u32, S)> + '_ {
        let places = self.row_indices.iter().zip(&self.column_indices);
        places.zip(&self.values).map(|((&row, &col), &value)| (row, col, value))
    }

    /// The same; an error where there is no memory for a number for every row, which [`Coo::row_lengths`] ends the program for: a
    /// file of a few bytes can declare billions of rows.
    ///
    /// ```
    /// use ordito::Coo;
    /// let a = Coo::new(3, 1, vec![1, 1], vec![0, 0], vec![2.0, 3.0])?;
    /// assert_eq!(a.try_row_lengths()?, [0, 2, 0]);
    /// # Ok::<(), ordito::FormatError>(())
    /// ```
    pub fn try_row_lengths(&self) -> Result<Vec<usize>, FormatError> {
        check_room("the lengths of the rows", (self.rows as u64).checked_mul(size_of::<usize>() as u64))?;
        Ok(self.row_lengths())
    }

    /// How many entries each row has.
    pub fn row_lengths(&self) -> Vec<usize> {
        let mut lengths = vec![0; self.rows];
        for &row in &self.row_indices {
            lengths[row as usize] += 1;
        }
        lengths
    }

    /// Columns and values.
    pub(super) fn into_columns_and_values(self) -> (Vec<u32>, Vec<S>) {
        (self.column_indices, self.values)
    }

    /// Rows become columns.
    pub fn transpose(self) -> Self {
        Coo {
            rows: self.cols,
            cols: self.rows,
            row_indices: self.column_indices,
            column_indices: self.row_indices,
            values: self.values,
        }
    }
}

// Not generic: compiled here, and not with every program that asks.
#[inline(never)]
fn is_sorted(rows: &[u32]) -> bool {
    rows.is_sorted()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn construction_names_the_fault() {
        let error = Coo::new(2, 2, vec![0, 1], vec![0, 2], vec![1.0, 1.0]).unwrap_err();
        assert_eq!(error, FormatError::IndexOutOfRange { entry: 1, what: "column", index: 2, bound: 2 });
        assert_eq!(error.to_string(), "entry 1: column 2 is outside 0..2");
        let error = Coo::new(2, 2, vec![0], vec![0], Vec::<f32>::new()).unwrap_err();
        assert_eq!(error.to_string(), "values has 0 elements, 1 expected");
        assert!(Coo::<f64>::empty(1 << 33, 1).unwrap_err().to_string().starts_with("rows = 8589934592"));
    }

    #[test]
    fn matrices_without_rows_or_columns_exist() {
        for (rows, cols) in [(0, 0), (0, 5), (5, 0)] {
            assert_eq!(Coo::<f64>::empty(rows, cols).unwrap().row_lengths(), vec![0; rows]);
        }
    }
}
