//! Diagonal runs: consecutive rows whose nonzeros stand on shared diagonals, as in stencils and bands.

mod find;
mod grow;
mod place;
mod run;

pub(crate) use crate::spmm::cpu::formats::diagonal_runs::run::{Run, Runs};

use crate::Scalar;
use crate::cpu::parallel;
use crate::matrix::concat::concat_into;
use crate::matrix::lanes;
use crate::matrix::{Csr, CsrSlices, FormatError, huge_pages};
use crate::spmm::cpu::formats::diagonal_runs::find::ChunkDiagonals;
use crate::spmm::cpu::formats::diagonal_runs::grow::{Growing, Room};
use crate::spmm::cpu::formats::diagonal_runs::place::place;
use crate::spmm::cpu::formats::diagonal_runs::run::{Header, Patterns};
use std::ops::Range;

/// A sparse matrix in chunks of as many consecutive rows as a vector of 64 bytes has lanes (8 of f64, 16 of f32). Up to 32 chunks
/// whose entries stand on the same diagonals are a run: a kernel reads A and X by whole vectors, without gathers, with one index for
/// a diagonal of the run, in a loop whose length stays the same. Where a diagonal has no nonzero a zero is stored, and a mask says so:
/// what X has there must not matter. A run takes no more memory than CSR, of a small matrix half as much again. Chunks that would, whose
/// rows have duplicates or unsorted columns, are kept as rows.
///
/// Invariant: `on_diagonals` holds the diagonals of the runs one after the other, from a multiple of 64 bytes on; `in_rows` the values
/// of chunks of rows. `words` describes the runs one after the other: a [`Header`], then diagonals and masks, two to a word; or lengths
/// of rows and columns. `stretches` says where every 32nd chunk starts, at which a run starts too, and where all end. Every nonzero
/// lies inside the matrix: where a mask has a lane, the diagonal's column there is in `0..cols`. Only [`from_csr`](Self::from_csr)
/// makes one.
#[derive(Debug)]
pub(crate) struct DiagonalRuns<S> {
    rows: usize,
    cols: usize,
    words: Vec<u32>,
    on_diagonals: Vec<S>,
    in_rows: Vec<S>,
    /// Where in `on_diagonals` the first one is.
    aligned: usize,
    stretches: Vec<StretchStart>,
}

/// Elements before a stretch, in each of the arrays.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
struct StretchStart {
    word: usize,
    on_diagonals: usize,
    in_rows: usize,
}

/// A stretch while it is made: what describes it, and how many values it has.
#[derive(Default)]
struct Stretch {
    words: Vec<u32>,
    on_diagonals: usize,
    in_rows: usize,
}

/// Chunks between two places at which threads may start: 256 or 512 rows, enough places for many threads. (Eight were 0.7 to 0.9 as
/// fast for one column and rows of two or three nonzeros: what begins a run takes time.)
const CHUNKS_PER_STRETCH: usize = 32;
/// A matrix is small if CSR takes no more: what it takes on diagonals then lies in 2 MiB, the second-level cache of a core of the Xeon
/// that this was seen on. Fixed, so that a product has the same bits on every machine.
const SMALL_BYTES: u64 = 1 << 20;
/// Stretches that a thread makes with one scratch.
const STRETCHES_PER_TASK: usize = 16;

/// Where memory begins is no part of a matrix.
#[cfg(test)]
impl<S: Scalar> PartialEq for DiagonalRuns<S> {
    fn eq(&self, other: &Self) -> bool {
        let shapes = (self.rows, self.cols, &self.stretches) == (other.rows, other.cols, &other.stretches);
        shapes && self.runs(0..self.stretches()).eq(other.runs(0..other.stretches()))
    }
}

impl<S: Scalar> DiagonalRuns<S> {
    /// Rearranges a CSR matrix, on the threads of the current rayon pool. Each stretch is made by itself: the result does not
    /// depend on their number.
    pub(crate) fn from_csr(a: &Csr<S>) -> Result<Self, FormatError> {
        if a.longest_row() > u32::MAX as usize {
            return Err(FormatError::TooManyElements { what: "a row of diagonal runs" });
        }
        let a = a.view();
        let rows_per_stretch = lanes::<S>() * CHUNKS_PER_STRETCH;
        let stretch_count = a.rows().div_ceil(rows_per_stretch);
        let made = parallel::map_index(stretch_count.div_ceil(STRETCHES_PER_TASK), |task| {
            let mut scratch = Scratch::default();
            scratch.run.room = room::<S>(a.rows(), a.nnz());
            let first = task * STRETCHES_PER_TASK;
            let stretches = first..(first + STRETCHES_PER_TASK).min(stretch_count);
            let made = stretches.map(|stretch| {
                let first = stretch * rows_per_stretch;
                Stretch::new(&mut scratch, a, first..(first + rows_per_stretch).min(a.rows()))
            });
            made.collect::<Vec<Stretch>>()
        });
        let made: Vec<Stretch> = made.into_iter().flatten().collect();

        let mut stretches = Vec::with_capacity(stretch_count + 1);
        let mut end = StretchStart::default();
        for stretch in &made {
            stretches.push(end);
            end.word += stretch.words.len();
            end.on_diagonals += stretch.on_diagonals;
            end.in_rows += stretch.in_rows;
        }
        stretches.push(end);
        let mut words = vec![0; end.word];
        concat_into(made.iter().map(|stretch| &stretch.words[..]), &mut words);
        drop(made);
        let on_diagonals = huge_pages::zeros::<S>(end.on_diagonals + lanes::<S>());
        let aligned = on_diagonals.as_ptr().align_offset(64).min(lanes::<S>());
        let mut runs = DiagonalRuns {
            rows: a.rows(),
            cols: a.cols(),
            words,
            on_diagonals,
            in_rows: huge_pages::zeros(end.in_rows),
            aligned,
            stretches,
        };
        runs.set_values(a);
        Ok(runs)
    }

    /// New numbers in the pattern that it was made of, in one pass over them. `a` has the pattern that it was made of.
    pub(crate) fn set_values(&mut self, a: CsrSlices<'_, S>) {
        let mut tasks = Vec::with_capacity(self.stretches().div_ceil(STRETCHES_PER_TASK));
        let (mut diagonals_rest, mut rows_rest) =
            (&mut self.on_diagonals[self.aligned..], &mut self.in_rows[..]);
        for first in (0..self.stretches.len() - 1).step_by(STRETCHES_PER_TASK) {
            let last = (first + STRETCHES_PER_TASK).min(self.stretches.len() - 1);
            let (from, to) = (self.stretches[first], self.stretches[last]);
            let (on_diagonals, in_rows);
            (on_diagonals, diagonals_rest) = diagonals_rest.split_at_mut(to.on_diagonals - from.on_diagonals);
            (in_rows, rows_rest) = rows_rest.split_at_mut(to.in_rows - from.in_rows);
            let rows = first_row::<S>(first, self.rows)..first_row::<S>(last, self.rows);
            let patterns = Patterns { rows_left: rows.len(), words: &self.words[from.word..to.word] };
            tasks.push((rows, patterns, on_diagonals, in_rows));
        }
        parallel::for_each(tasks, |(rows, patterns, on_diagonals, in_rows)| {
            place(a, rows, patterns, on_diagonals, in_rows);
        });
    }

    /// Is a matrix of so many rows and nonzeros so small that chunks with many holes stay on diagonals?
    pub(crate) fn is_small(rows: usize, nonzeros: usize) -> bool {
        Csr::<S>::bytes_for(rows, nonzeros).is_some_and(|bytes| bytes <= SMALL_BYTES)
    }
    /// Bytes that a matrix of so many rows and nonzeros takes at most.
    pub(crate) fn bytes_for(rows: usize, nonzeros: usize) -> Option<u64> {
        let of_csr = Csr::<S>::bytes_for(rows, nonzeros)?;
        Some(room::<S>(rows, nonzeros).of(usize::try_from(of_csr).ok()?) as u64)
    }
    /// Number of rows.
    pub(crate) fn rows(&self) -> usize {
        self.rows
    }
    /// Number of columns.
    pub(crate) fn cols(&self) -> usize {
        self.cols
    }
    /// Number of stretches, the places at which threads may start.
    pub(crate) fn stretches(&self) -> usize {
        self.stretches.len() - 1
    }
    /// Values that are stored before a stretch.
    pub(crate) fn values_before(&self, stretch: usize) -> usize {
        self.stretches[stretch].on_diagonals + self.stretches[stretch].in_rows
    }
    /// Its first row; of the one after the last, the number of rows.
    pub(crate) fn first_row(&self, stretch: usize) -> usize {
        first_row::<S>(stretch, self.rows)
    }
    /// Memory that it takes.
    pub(crate) fn bytes(&self) -> u64 {
        let values = self.on_diagonals.len() + self.in_rows.len();
        (size_of_val(&self.words[..]) + size_of_val(&self.stretches[..]) + values * size_of::<S>()) as u64
    }

    /// The runs of these stretches in order.
    #[inline(always)]
    pub(crate) fn runs(&self, stretches: Range<usize>) -> Runs<'_, S> {
        let (from, to) = (self.stretches[stretches.start], self.stretches[stretches.end]);
        let rows_left = self.first_row(stretches.end) - self.first_row(stretches.start);
        Runs {
            patterns: Patterns { rows_left, words: &self.words[from.word..to.word] },
            on_diagonals: &self.on_diagonals[self.aligned..][from.on_diagonals..to.on_diagonals],
            in_rows: &self.in_rows[from.in_rows..to.in_rows],
        }
    }

    /// The matrix by rows, columns rising inside those that were on diagonals.
    #[cfg(test)]
    pub(crate) fn to_csr(&self) -> Csr<S> {
        let (mut offsets, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
        for row in self.runs(0..self.stretches()).flat_map(Run::to_rows) {
            columns.extend(row.iter().map(|&(col, _)| col));
            values.extend(row.iter().map(|&(_, value)| value));
            offsets.push(columns.len());
        }
        offsets.resize(self.rows + 1, columns.len()); // without the lanes that the last chunk does not need
        Csr::from_parts(self.rows, self.cols, offsets, columns, values).expect("the invariant")
    }
}

/// How much memory the chunks of a matrix may take.
fn room<S: Scalar>(rows: usize, nonzeros: usize) -> Room {
    if DiagonalRuns::<S>::is_small(rows, nonzeros) { Room::HalfAsMuchAgain } else { Room::AsCsr }
}

/// Of a matrix of so many rows: the first one of a stretch.
#[inline(always)]
fn first_row<S>(stretch: usize, rows: usize) -> usize {
    (stretch * lanes::<S>() * CHUNKS_PER_STRETCH).min(rows)
}

/// What is used again for every stretch.
#[derive(Default)]
struct Scratch {
    chunk: ChunkDiagonals,
    run: Growing,
}

impl Stretch {
    fn new<S: Scalar>(scratch: &mut Scratch, a: CsrSlices<'_, S>, rows: Range<usize>) -> Self {
        let mut stretch = Stretch::default();
        for first in rows.clone().step_by(lanes::<S>()) {
            stretch.push(scratch, a, first..(first + lanes::<S>()).min(rows.end));
        }
        stretch.end_run::<S>(&mut scratch.run);
        stretch
    }

    /// Appends one chunk: to the run, as the first of the next, or as rows.
    fn push<S: Scalar>(
        &mut self,
        Scratch { chunk, run }: &mut Scratch,
        a: CsrSlices<'_, S>,
        rows: Range<usize>,
    ) {
        let entries = a.offsets()[rows.start]..a.offsets()[rows.end];
        let is_found = chunk.find(a, rows.clone(), run.room.most_diagonals::<S>(entries.len()));
        if is_found && run.take::<S>(chunk, entries.len()) {
            return;
        }
        self.end_run::<S>(run);
        if is_found && run.take::<S>(chunk, entries.len()) {
            return;
        }
        self.words.push(Header::ROWS.0);
        self.words.extend(rows.map(|row| a.range(row).len() as u32)); // `from_csr` has looked that it fits
        self.in_rows += entries.len();
        self.words.extend_from_slice(&a.columns()[entries]);
    }

    fn end_run<S>(&mut self, run: &mut Growing) {
        self.on_diagonals += run.end::<S>(&mut self.words);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::{Coo, Duplicates};

    fn csr(rows: usize, cols: usize, entries: &[(u32, u32)]) -> Csr<f64> {
        let (row, col): (Vec<u32>, Vec<u32>) = entries.iter().copied().unzip();
        let values = (0..entries.len()).map(|i| i as f64).collect();
        Csr::from_coo(&Coo::new(rows, cols, row, col, values).unwrap(), Duplicates::Keep)
    }

    /// Of every run: chunks, diagonals, masks; of a chunk of rows the nonzeros.
    fn shapes(a: &DiagonalRuns<f64>) -> Vec<(usize, usize, usize)> {
        let shape = |run| match run {
            Run::Diagonals { chunks, diagonals, masks, .. } => (chunks, diagonals.len(), masks.len()),
            Run::Rows { columns, .. } => (0, 0, columns.len()),
        };
        a.runs(0..a.stretches()).map(shape).collect()
    }

    /// So many rows, with entries beside the diagonal where they lie in the matrix.
    fn beside(rows: u32, cols: u32, offsets: &[i64]) -> Csr<f64> {
        let of = |row: u32| offsets.iter().map(move |offset| i64::from(row) + offset);
        let inside =
            |row| of(row).filter(|&col| col >= 0 && col < i64::from(cols)).map(move |col| (row, col as u32));
        csr(rows as usize, cols as usize, &(0..rows).flat_map(inside).collect::<Vec<_>>())
    }

    #[test]
    fn a_tridiagonal_matrix_is_a_run_in_every_stretch() {
        let a = beside(600, 600, &[-1, 0, 1]);
        let runs = DiagonalRuns::from_csr(&a).unwrap();
        // The first stretch lacks the entry left of the matrix, the last one that to the right.
        assert_eq!(shapes(&runs), [(32, 3, 96), (32, 3, 0), (11, 3, 33)]);
        let inside: Vec<_> = runs.runs(0..runs.stretches()).map(|run| run.chunks_inside(600)).collect();
        assert_eq!(inside, [1..32, 0..32, 0..10]);
        assert_eq!(runs.to_csr(), a);
    }

    #[test]
    fn a_run_ends_where_diagonals_move() {
        let moved = |row: u32| if row < 32 { [0, 9, 18, 27, 36] } else { [70, 79, 88, 97, 106] };
        let entries: Vec<_> = (0..64).flat_map(|row| moved(row).map(|by| (row, row + by))).collect();
        let a = csr(64, 200, &entries);
        let runs = DiagonalRuns::from_csr(&a).unwrap();
        assert_eq!(shapes(&runs), [(4, 5, 0), (4, 5, 0)]);
        assert_eq!(runs.to_csr(), a);
    }

    #[test]
    fn a_few_holes_do_not_end_a_run() {
        // As in a grid 23 wide: the ends of its lines have one neighbour less.
        let near = |row: u32| {
            [(!row.is_multiple_of(23)).then(|| row - 1), Some(row), (row % 23 != 22).then(|| row + 1)]
        };
        let entries: Vec<_> =
            (0..64).flat_map(|row| near(row).into_iter().flatten().map(move |col| (row, col))).collect();
        let a = csr(64, 65, &entries);
        let runs = DiagonalRuns::from_csr(&a).unwrap();
        assert_eq!(shapes(&runs), [(8, 3, 24)]);
        assert_eq!(runs.to_csr(), a);
        assert!(runs.bytes() <= Csr::<f64>::bytes_for(64, entries.len()).unwrap());
    }

    #[test]
    #[cfg_attr(miri, ignore = "takes minutes")]
    fn only_small_matrices_have_room_for_many_holes() {
        // Six diagonals, four of which have a nonzero in every other row.
        let of = |row: u32| {
            (0..if row.is_multiple_of(2) { 6 } else { 2 }).map(move |diagonal| (row, row + diagonal))
        };
        for (rows, shape) in [(64, (8, 6, 48)), (40_000, (0, 0, 32))] {
            let a = csr(rows, rows + 6, &(0..rows as u32).flat_map(of).collect::<Vec<_>>());
            let runs = DiagonalRuns::from_csr(&a).unwrap();
            assert!(shapes(&runs).iter().all(|&found| found == shape), "{rows} rows");
            assert_eq!(runs.to_csr(), a);
            assert!(runs.bytes() <= DiagonalRuns::<f64>::bytes_for(rows, a.nnz()).unwrap());
        }
    }

    #[test]
    fn duplicates_unsorted_and_scattered_rows_stay_rows() {
        let twice: Vec<_> = (0..8).flat_map(|row| [(row, row), (row, row)]).collect();
        let scattered: Vec<_> = (0..8).map(|row| (row, row * row % 41)).collect();
        for entries in [twice, scattered] {
            let a = csr(8, 50, &entries);
            let runs = DiagonalRuns::from_csr(&a).unwrap();
            assert_eq!(shapes(&runs), [(0, 0, entries.len())]);
            assert_eq!(runs.to_csr(), a);
        }
        let falling =
            Csr::from_parts(8, 9, (0..=8).map(|r| 2 * r).collect(), [1, 0].repeat(8), vec![1.0; 16]);
        let runs = DiagonalRuns::from_csr(&falling.clone().unwrap()).unwrap();
        assert_eq!((shapes(&runs), runs.to_csr()), (vec![(0, 0, 16)], falling.unwrap()));
    }
}
