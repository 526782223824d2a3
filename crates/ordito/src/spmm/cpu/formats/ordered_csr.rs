//! CSR whose rows stand in another order: in clusters, so that rows of X are found in the cache, or by their lengths.

use crate::Scalar;
#[cfg(test)]
use crate::matrix::Coo;
use crate::matrix::{CsrSlices, FormatError, huge_pages};
use crate::spmm::cpu::formats::row_clusters::RowClusters;
use crate::spmm::cpu::formats::row_windows::{self, row_windows};
use crate::spmm::cpu::formats::side_by_side::fill_parts;

/// Rows that are copied by one thread at a time.
const ROWS_PER_TASK: usize = 1 << 12;

/// A sparse matrix by rows that do not stand in order.
///
/// Invariant: `starts` has one element more than there are rows, starts at 0, never falls and ends at the number of entries;
/// `order` holds every row once, and those of a window in its places; every column is below `cols`.
/// Starts take 32 bits: a matrix with 2³² entries or more has no such form.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct OrderedCsr<S> {
    cols: usize,
    /// Rows at which windows begin, and how many there are. Where rows go anywhere it is one window.
    windows: Vec<usize>,
    starts: Vec<u32>,
    order: Vec<u32>,
    columns: Vec<u32>,
    values: Vec<S>,
}

impl<S: Scalar> OrderedCsr<S> {
    /// Rows in clusters that were grown of the same matrix.
    pub(crate) fn in_clusters(a: CsrSlices<'_, S>, clusters: RowClusters) -> Result<Self, FormatError> {
        let (found, expected) = (clusters.order().len(), a.rows());
        if found != expected {
            return Err(FormatError::Length { what: "the order of rows", found, expected });
        }
        OrderedCsr::gather(a, vec![0, a.rows()], clusters.into_order())
    }

    /// Rows in order of length inside windows.
    pub(crate) fn by_length(a: CsrSlices<'_, S>) -> Result<Self, FormatError> {
        let windows = row_windows(a.offsets());
        let order = row_windows::by_length(a.offsets(), &windows);
        OrderedCsr::gather(a, windows, order)
    }

    /// Copies the rows, on the threads of the current rayon pool. `order` holds every row once, those of a window in its places.
    fn gather(a: CsrSlices<'_, S>, windows: Vec<usize>, order: Vec<u32>) -> Result<Self, FormatError> {
        if u32::try_from(a.nnz()).is_err() {
            return Err(FormatError::TooManyElements {
                what: "CSR in another order, with 32-bit row starts,",
            });
        }
        let mut starts = Vec::with_capacity(order.len() + 1);
        starts.push(0);
        let mut end = 0;
        starts.extend(order.iter().map(|&row| {
            end += a.range(row as usize).len() as u32; // checked: all entries fit
            end
        }));
        let (columns, values) = (huge_pages::zeros(a.nnz()), huge_pages::zeros(a.nnz()));
        let mut ordered = OrderedCsr { cols: a.cols(), windows, starts, order, columns, values };
        place(&ordered.starts, &ordered.order, (a.offsets(), a.columns()), &mut ordered.columns);
        ordered.set_values(a);
        Ok(ordered)
    }

    /// New numbers in the pattern that it was made of, in one pass over them. `a` has the pattern that it was made of.
    pub(crate) fn set_values(&mut self, a: CsrSlices<'_, S>) {
        place(&self.starts, &self.order, (a.offsets(), a.values()), &mut self.values);
    }

    /// The triplets, in the order in which they are stored.
    #[cfg(test)]
    pub(crate) fn to_coo(&self) -> Coo<S> {
        let mut rows = Vec::with_capacity(self.columns.len());
        for (row, end) in self.order.iter().zip(&self.starts[1..]) {
            rows.resize(*end as usize, *row);
        }
        Coo::new(self.order.len(), self.cols, rows, self.columns.clone(), self.values.clone())
            .expect("rows in any order have valid indices")
    }

    /// Number of rows.
    pub(crate) fn rows(&self) -> usize {
        self.order.len()
    }
    /// Number of columns.
    pub(crate) fn cols(&self) -> usize {
        self.cols
    }
    /// Rows at which windows begin, and the number of rows at last. A window's rows stand in its places.
    pub(crate) fn windows(&self) -> &[usize] {
        &self.windows
    }
    /// Where each stored row starts; one more than there are rows.
    pub(crate) fn starts(&self) -> &[u32] {
        &self.starts
    }
    /// Which row of the matrix each stored row is.
    pub(crate) fn order(&self) -> &[u32] {
        &self.order
    }
    /// Column of every entry.
    pub(crate) fn columns(&self) -> &[u32] {
        &self.columns
    }
    /// Value of every entry.
    pub(crate) fn values(&self) -> &[S] {
        &self.values
    }
    /// Bytes for `rows` rows with `nonzeros` entries in all.
    pub(crate) fn bytes_for(rows: usize, nonzeros: usize) -> Option<u64> {
        let per_row = (rows as u64).checked_mul(8)?.checked_add(4)?;
        (nonzeros as u64).checked_mul((size_of::<u32>() + size_of::<S>()) as u64)?.checked_add(per_row)
    }
}

/// Brings what there is of every entry, row by row, to where its row stands.
fn place<T: Copy + Send + Sync>(
    starts: &[u32],
    order: &[u32],
    (offsets, from): (&[usize], &[T]),
    to: &mut [T],
) {
    let ends = order.chunks(ROWS_PER_TASK).scan(0, |end, rows| {
        *end += rows.len();
        Some(starts[*end] as usize)
    });
    fill_parts(to, ends, |task, mut to| {
        for &row in order[task * ROWS_PER_TASK..].iter().take(ROWS_PER_TASK) {
            let entries = &from[offsets[row as usize]..offsets[row as usize + 1]];
            let (place, rest) = to.split_at_mut(entries.len());
            place.copy_from_slice(entries);
            to = rest;
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::{Csr, Duplicates};

    #[test]
    fn rows_of_a_cluster_lie_beside_each_other() {
        let a = CsrSlices::from_parts(4, 4, &[0, 1, 2, 3, 4], &[2, 0, 2, 0], &[1.0, 2.0, 3.0, 4.0]).unwrap();
        let clustered = OrderedCsr::in_clusters(a, RowClusters::grow(a, 1).unwrap()).unwrap();
        assert_eq!((clustered.order(), clustered.values()), (&[0, 2, 1, 3][..], &[1.0, 3.0, 2.0, 4.0][..]));
    }

    /// Rows of 0 to 10 entries.
    fn uneven() -> Csr<f64> {
        let (mut rows, mut cols) = (Vec::new(), Vec::new());
        for row in 0..1200u32 {
            for col in 0..row * 7919 % 11 {
                rows.push(row);
                cols.push(col);
            }
        }
        let values = (0..rows.len()).map(|i| i as f64).collect();
        Csr::from_coo(&Coo::new(1200, 11, rows, cols, values).unwrap(), Duplicates::Keep)
    }

    #[test]
    #[cfg_attr(miri, ignore = "takes minutes")]
    fn clusters_keep_every_entry_and_must_fit() {
        let a = uneven();
        let clusters = RowClusters::grow(a.view(), 5).unwrap();
        let ordered = OrderedCsr::in_clusters(a.view(), clusters.clone()).unwrap();
        assert_eq!(ordered.order(), clusters.order());
        assert_eq!(Csr::from_coo(&ordered.to_coo(), Duplicates::Keep), a);
        let other = CsrSlices::<f64>::from_parts(0, 3, &[0], &[], &[]).unwrap();
        let error = OrderedCsr::in_clusters(other, clusters).unwrap_err();
        assert_eq!(error.to_string(), "the order of rows has 1200 elements, 0 expected");
    }

    #[test]
    #[cfg_attr(miri, ignore = "takes minutes")]
    fn rows_stand_by_their_lengths_inside_windows() {
        let a = uneven();
        let ordered = OrderedCsr::by_length(a.view()).unwrap();
        let length = |&row: &u32| a.view().range(row as usize).len();
        assert!(ordered.windows().len() > 2);
        for window in ordered.windows().windows(2) {
            let rows = &ordered.order()[window[0]..window[1]];
            assert!(rows.is_sorted_by_key(length));
            assert!(rows.iter().all(|&row| (window[0]..window[1]).contains(&(row as usize))));
        }
        assert_eq!(Csr::from_coo(&ordered.to_coo(), Duplicates::Keep), a);
    }

    #[test]
    fn nothing_is_fine() {
        let a = CsrSlices::<f32>::from_parts(0, 3, &[0], &[], &[]).unwrap();
        assert_eq!(OrderedCsr::by_length(a).unwrap().starts(), [0]);
        let clusters = RowClusters::grow(a, 1).unwrap();
        assert_eq!(OrderedCsr::in_clusters(a, clusters).unwrap().starts(), [0]);
    }
}
