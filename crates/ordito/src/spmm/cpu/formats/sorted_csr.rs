//! CSR whose rows stand in order of length inside windows, eight of one length entry by entry: a kernel takes eight rows in
//! one loop that ends once, and knows for a whole stretch of rows how long it is.

use crate::Scalar;
use crate::cpu::parallel;
#[cfg(test)]
use crate::matrix::Coo;
use crate::matrix::{CsrSlices, FormatError, huge_pages};
use crate::spmm::cpu::formats::row_windows::{by_length, row_windows};
use crate::spmm::cpu::formats::side_by_side::{alternate, fill_parts};

/// Rows whose entries alternate: enough sums to hide the latency of an addition. Over MKL at K = 4 and 8 in f32 and f64:
/// four rows had 0.84 to 0.91 on mdual, eight 1.05 to 1.17.
pub(crate) const SIDE_BY_SIDE: usize = 8;
/// Rows of a stretch at most, so that threads can share a matrix of one length evenly.
const LONGEST_STRETCH: usize = 64;

/// Stretches that one thread fills at a time.
const STRETCHES_PER_TASK: usize = 32;

/// Neighbours in the order that have the same length.
///
/// Where they are [`SIDE_BY_SIDE`] or more, they are a multiple of that, and of every eight the first entries stand side by
/// side, then the second ones, and so on. Fewer stand one after the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stretch {
    /// Its first row, as a place in the order.
    pub place: u32,
    /// Where its entries begin.
    pub entry: u32,
    /// Entries of each of its rows.
    pub length: u32,
}

/// A sparse matrix by rows, sorted by length inside windows of rows.
///
/// Invariant: a stretch ends where the next begins, and the last one, which has no rows, begins at the number of rows and of
/// entries; `order` holds every row once, and those of a window in its places; no stretch reaches over windows; every column is
/// below `cols`. Entries are counted in 32 bits: a matrix with 2³² or more has no such form.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SortedCsr<S> {
    cols: usize,
    /// Rows at which windows begin, and how many there are.
    windows: Vec<usize>,
    stretches: Vec<Stretch>,
    order: Vec<u32>,
    columns: Vec<u32>,
    values: Vec<S>,
}

impl<S: Scalar> SortedCsr<S> {
    /// Sorts the rows, on the threads of the current rayon pool. Rows of the same length stay in order.
    pub(crate) fn from_csr(a: CsrSlices<'_, S>) -> Result<Self, FormatError> {
        if u32::try_from(a.nnz()).is_err() {
            return Err(FormatError::TooManyElements {
                what: "CSR sorted by length, with 32-bit numbers of entries,",
            });
        }
        let windows = row_windows(a.offsets());
        let order = by_length(a.offsets(), &windows);
        // A window keeps the places of its rows and of their entries.
        let found: Vec<Vec<Stretch>> = parallel::map_index(windows.len() - 1, |window| {
            let first = windows[window];
            stretches_of(a, first, &order[first..windows[window + 1]])
        });
        let end = Stretch { place: a.rows() as u32, entry: a.nnz() as u32, length: 0 }; // both checked
        let stretches = found.into_iter().flatten().chain([end]).collect();
        let (columns, values) = (huge_pages::zeros(a.nnz()), huge_pages::zeros(a.nnz()));
        let mut sorted = SortedCsr { cols: a.cols(), windows, stretches, order, columns, values };
        place(&sorted.stretches, &sorted.order, (a.offsets(), a.columns()), &mut sorted.columns);
        sorted.set_values(a);
        Ok(sorted)
    }

    /// New numbers in the pattern that it was made of, in one pass over them. `a` has the pattern that it was made of.
    pub(crate) fn set_values(&mut self, a: CsrSlices<'_, S>) {
        place(&self.stretches, &self.order, (a.offsets(), a.values()), &mut self.values);
    }

    /// The triplets, in the order in which they are stored.
    #[cfg(test)]
    pub(crate) fn to_coo(&self) -> Coo<S> {
        let mut rows = Vec::with_capacity(self.columns.len());
        for pair in self.stretches.windows(2) {
            let stretch = &self.order[pair[0].place as usize..pair[1].place as usize];
            for together in stretch.chunks(rows_together(stretch.len())) {
                (0..pair[0].length).for_each(|_| rows.extend_from_slice(together));
            }
        }
        Coo::new(self.order.len(), self.cols, rows, self.columns.clone(), self.values.clone())
            .expect("sorted rows have valid indices")
    }

    /// Rows of one length, and one stretch more that says where they end.
    pub(crate) fn stretches(&self) -> &[Stretch] {
        &self.stretches
    }
    /// Rows at which windows begin, and the number of rows at last. A window's rows stand in its places.
    pub(crate) fn windows(&self) -> &[usize] {
        &self.windows
    }
    /// The stretch with which a window begins; how many there are, after the last.
    pub(crate) fn first_stretch(&self, window: usize) -> usize {
        let row = self.windows[window];
        self.stretches.partition_point(|stretch| (stretch.place as usize) < row)
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
    /// Bytes for `rows` rows with `nonzeros` entries in all, no two neighbours of one length.
    pub(crate) fn bytes_for(rows: usize, nonzeros: usize) -> Option<u64> {
        let per_row = (size_of::<u32>() + size_of::<Stretch>()) as u64;
        let of_rows = (rows as u64).checked_add(1)?.checked_mul(per_row)?;
        (nonzeros as u64).checked_mul((size_of::<u32>() + size_of::<S>()) as u64)?.checked_add(of_rows)
    }
}

/// How many rows of a stretch of so many alternate.
fn rows_together(rows: usize) -> usize {
    if rows < SIDE_BY_SIDE { 1 } else { SIDE_BY_SIDE }
}

/// The stretches of a window whose rows stand in this order, from place `first` on.
fn stretches_of<S: Scalar>(a: CsrSlices<'_, S>, first: usize, order: &[u32]) -> Vec<Stretch> {
    let length = |row: u32| a.range(row as usize).len();
    let (mut place, mut entry) = (first, a.offsets()[first]);
    let mut stretches = Vec::new();
    for alike in order.chunk_by(|&row, &next| length(row) == length(next)) {
        let (side_by_side, alone) = alike.split_at(alike.len() - alike.len() % SIDE_BY_SIDE);
        for rows in side_by_side.chunks(LONGEST_STRETCH).chain((!alone.is_empty()).then_some(alone)) {
            let length = length(rows[0]);
            // Checked: all entries fit, and so do the rows.
            stretches.push(Stretch { place: place as u32, entry: entry as u32, length: length as u32 });
            place += rows.len();
            entry += length * rows.len();
        }
    }
    stretches
}

/// Brings what there is of every entry, row by row, to where the stretches have it.
fn place<T: Copy + Send + Sync>(
    stretches: &[Stretch],
    order: &[u32],
    (offsets, from): (&[usize], &[T]),
    to: &mut [T],
) {
    let count = stretches.len() - 1; // the last one only ends them
    let last = |task: usize| count.min((task + 1) * STRETCHES_PER_TASK);
    let ends = (0..count.div_ceil(STRETCHES_PER_TASK)).map(|task| stretches[last(task)].entry as usize);
    fill_parts(to, ends, |task, mut to| {
        for pair in stretches[task * STRETCHES_PER_TASK..=last(task)].windows(2) {
            let (rows, length) =
                (&order[pair[0].place as usize..pair[1].place as usize], pair[0].length as usize);
            let entries = |row: u32| &from[offsets[row as usize]..][..length];
            for together in rows.chunks(rows_together(rows.len())) {
                let (these, rest) = to.split_at_mut(length * together.len());
                to = rest;
                match together.first_chunk::<SIDE_BY_SIDE>() {
                    Some(rows) => alternate(&rows.map(entries), these),
                    None => these.copy_from_slice(entries(together[0])),
                }
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::{Csr, Duplicates};

    #[test]
    fn short_rows_come_first() {
        let a = CsrSlices::from_parts(2, 2, &[0, 2, 3], &[0, 1, 1], &[1.0, 2.0, 3.0]).unwrap();
        let sorted = SortedCsr::from_csr(a).unwrap();
        assert_eq!((sorted.order(), sorted.values()), (&[1, 0][..], &[3.0, 1.0, 2.0][..]));
    }

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
        assert!(sorted.windows().len() > 2);
        for (window, pair) in sorted.windows().windows(2).enumerate() {
            let order = &sorted.order()[pair[0]..pair[1]];
            assert!(order.is_sorted_by_key(|&row| a.view().range(row as usize).len()));
            let mut held = order.to_vec();
            held.sort_unstable();
            assert!(held.iter().zip(pair[0]..).all(|(&row, expected)| row as usize == expected));
            let (first, next) = (sorted.first_stretch(window), sorted.first_stretch(window + 1));
            assert_eq!(sorted.stretches()[first].place as usize, pair[0]);
            assert_eq!(sorted.stretches()[next].place as usize, pair[1]);
        }
        for pair in sorted.stretches().windows(2) {
            let rows = (pair[1].place - pair[0].place) as usize;
            assert!(rows < SIDE_BY_SIDE || rows.is_multiple_of(SIDE_BY_SIDE) && rows <= LONGEST_STRETCH);
            assert_eq!((pair[1].entry - pair[0].entry) as usize, rows * pair[0].length as usize);
        }
    }

    #[test]
    fn eight_rows_of_one_length_alternate() {
        let offsets: Vec<usize> = (0..=9).map(|row| 2 * row).collect();
        let columns: Vec<u32> = (0..18).map(|entry| entry % 2).collect();
        let values: Vec<f64> = (0..18).map(f64::from).collect();
        let sorted =
            SortedCsr::from_csr(CsrSlices::from_parts(9, 2, &offsets, &columns, &values).unwrap()).unwrap();
        let of_rows = |entry: usize| (0..8).map(move |row| (2 * row + entry) as f64);
        let expected: Vec<f64> = of_rows(0).chain(of_rows(1)).chain([16.0, 17.0]).collect();
        assert_eq!(sorted.values(), expected);
    }

    #[test]
    fn nothing_is_fine() {
        let a = CsrSlices::<f32>::from_parts(0, 3, &[0], &[], &[]).unwrap();
        assert_eq!(SortedCsr::from_csr(a).unwrap().stretches(), [Stretch { place: 0, entry: 0, length: 0 }]);
    }
}
