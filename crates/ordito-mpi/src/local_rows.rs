//! The rows of one rank, with columns numbered as in the whole matrix.

use crate::error::Error;
use ordito::precision::compiled_here;
use ordito::{Csr, Scalar};
use std::ops::Range;

/// Some consecutive rows of a matrix. What a rank reads, makes or is given, before columns are numbered anew.
#[derive(Debug, Clone, PartialEq)]
pub struct LocalRows<S> {
    /// Columns of the whole matrix.
    cols: u64,
    offsets: Vec<usize>,
    /// Ascending in every row, none twice.
    columns: Vec<u64>,
    values: Vec<S>,
}

impl<S: Scalar> LocalRows<S> {
    /// Checked: offsets begin with 0, never decrease and end with the number of values; columns ascend in every row and are below `cols`.
    pub fn new(cols: u64, offsets: Vec<usize>, columns: Vec<u64>, values: Vec<S>) -> Result<Self, Error> {
        let asked = |sentence: String| Err(Error::Asked(sentence));
        if offsets.first() != Some(&0) || !offsets.is_sorted() || offsets.last() != Some(&values.len()) {
            return asked(
                "offsets of rows begin with 0, never decrease and end with the number of values".to_owned(),
            );
        }
        if columns.len() != values.len() {
            return asked(format!("{} columns for {} values", columns.len(), values.len()));
        }
        for (row, range) in offsets.windows(2).enumerate() {
            let columns = &columns[range[0]..range[1]];
            if let Some(pair) = columns.windows(2).find(|pair| pair[0] >= pair[1]) {
                return asked(format!(
                    "row {row} of this rank: column {} stands before {}",
                    pair[0], pair[1]
                ));
            }
            if let Some(last) = columns.last().filter(|&&column| column >= cols) {
                return asked(format!("row {row} of this rank: column {last}, but there are {cols}"));
            }
        }
        Ok(LocalRows { cols, offsets, columns, values })
    }

    /// Some rows of a matrix that lies here as a whole.
    ///
    /// # Panics
    /// When it has fewer rows.
    pub fn of_csr(a: &Csr<S>, rows: Range<u64>) -> Self {
        let offsets = &a.row_offsets()[rows.start as usize..=rows.end as usize];
        let entries = offsets[0]..offsets[offsets.len() - 1];
        let columns = a.col_indices()[entries.clone()].iter().map(|&column| u64::from(column)).collect();
        let offsets = offsets.iter().map(|at| at - entries.start).collect();
        LocalRows { cols: a.cols() as u64, offsets, columns, values: a.values()[entries].to_vec() }
    }

    /// From entries (row of this rank, column, value) in any order; those at the same place are added in the order in which they come.
    pub fn from_entries(rows: usize, cols: u64, entries: Vec<(u32, u64, S)>) -> Result<Self, Error> {
        type Make<S> = fn(usize, u64, Vec<(u32, u64, S)>) -> Result<LocalRows<S>, Error>;
        compiled_here!(S, LocalRows::sorted, Make)(rows, cols, entries)
    }

    fn sorted(rows: usize, cols: u64, mut entries: Vec<(u32, u64, S)>) -> Result<Self, Error> {
        entries.sort_by_key(|&(row, column, _)| (row, column)); // keeps the order of equal ones
        entries.dedup_by(|next, kept| {
            let same = (next.0, next.1) == (kept.0, kept.1);
            if same {
                kept.2 += next.2;
            }
            same
        });
        let mut offsets = vec![0; rows + 1];
        for &(row, ..) in &entries {
            let Some(count) = offsets.get_mut(row as usize + 1) else {
                return Err(Error::Asked(format!("row {row} of this rank, but it has {rows}")));
            };
            *count += 1;
        }
        (0..rows).for_each(|row| offsets[row + 1] += offsets[row]);
        let (columns, values) = entries.into_iter().map(|(_, column, value)| (column, value)).unzip();
        LocalRows::new(cols, offsets, columns, values)
    }

    /// How many rows.
    pub fn rows(&self) -> usize {
        self.offsets.len() - 1
    }
    /// Columns of the whole matrix.
    pub fn cols(&self) -> u64 {
        self.cols
    }
    /// Entries.
    pub fn nnz(&self) -> usize {
        self.values.len()
    }
    /// Where rows begin.
    pub fn offsets(&self) -> &[usize] {
        &self.offsets
    }
    /// Columns, row after row.
    pub fn columns(&self) -> &[u64] {
        &self.columns
    }
    /// Values, row after row.
    pub fn values(&self) -> &[S] {
        &self.values
    }
    /// The entries of a row.
    pub fn row(&self, row: usize) -> impl Iterator<Item = (u64, S)> + '_ {
        let range = self.offsets[row]..self.offsets[row + 1];
        self.columns[range.clone()].iter().copied().zip(self.values[range].iter().copied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_sorted_and_added_in_their_order() {
        let entries = vec![(1, 9, 1.0), (0, 5, 2.0), (1, 3, 4.0), (1, 9, 1e-17), (1, 9, 8.0)];
        let rows = LocalRows::from_entries(3, 1 << 40, entries).unwrap();
        assert_eq!((rows.offsets(), rows.columns()), (&[0, 1, 3, 3][..], &[5, 3, 9][..]));
        assert_eq!(rows.values(), [2.0, 4.0, 9.0]);
        assert!(LocalRows::from_entries(1, 5, vec![(1, 0, 1.0)]).is_err());
        assert!(LocalRows::from_entries(1, 5, vec![(0, 5, 1.0)]).is_err());
    }

    #[test]
    fn rows_that_cannot_be_are_refused() {
        let made = |offsets: &[usize], columns: &[u64]| {
            LocalRows::new(4, offsets.to_vec(), columns.to_vec(), vec![1.0; columns.len()])
                .map_err(|e| e.to_string())
        };
        assert!(made(&[0, 2], &[0, 3]).is_ok());
        assert_eq!(made(&[0, 2], &[3, 3]).unwrap_err(), "row 0 of this rank: column 3 stands before 3");
        assert_eq!(made(&[0, 1], &[4]).unwrap_err(), "row 0 of this rank: column 4, but there are 4");
        assert!(made(&[1, 1], &[0]).is_err() && made(&[0, 2], &[0]).is_err() && made(&[], &[]).is_err());
    }
}
