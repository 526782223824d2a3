//! Diagonal chunks: a few consecutive rows whose nonzeros stand on shared diagonals, as in stencils and bands.

mod chunk;
mod find;
mod place;

pub(crate) use crate::spmm::cpu::formats::diagonal_chunks::chunk::{Chunk, Chunks};

use crate::Scalar;
use crate::cpu::parallel;
use crate::matrix::concat::concat_into;
use crate::matrix::lanes;
use crate::matrix::{Csr, CsrSlices, FormatError};
use crate::spmm::cpu::formats::diagonal_chunks::chunk::Patterns;
use crate::spmm::cpu::formats::diagonal_chunks::find::ChunkDiagonals;
use crate::spmm::cpu::formats::diagonal_chunks::place::place;
use std::ops::Range;

/// A sparse matrix in chunks of as many consecutive rows as a vector of 64 bytes has lanes (8 of f64, 16 of f32).
/// An entry at lane `l` and column `c` stands on the diagonal `c − l` of its chunk; a diagonal is stored as one index and
/// the values of its lanes, so that a kernel reads A and X by whole vectors: no gathers, and 4 bytes of index for up to
/// 16 nonzeros. Nothing is padded: where a diagonal lacks lanes, a mask says which ones it has. Chunks whose entries share
/// too few diagonals, have duplicates or unsorted columns, are kept as rows.
///
/// Invariant: `full_values` holds the full diagonals of the chunks one after the other, from a multiple of 64 bytes on;
/// `other_values` what else they have, in the order of [`Chunk`]. `words` describes the chunks one after the other: a header (number of full diagonals, above it that of partial ones, or
/// `AS_ROWS`), then full diagonals, partial diagonals and their masks, two to a word; or lengths of rows and columns.
/// `stretches` says where every eighth chunk starts, and where all end. Every entry lies inside the
/// matrix: for each lane of a diagonal, `diagonal + lane` is in `0..cols`. Only [`from_csr`](Self::from_csr) makes one.
#[derive(Debug)]
pub(crate) struct DiagonalChunks<S> {
    rows: usize,
    cols: usize,
    words: Vec<u32>,
    full_values: Vec<S>,
    other_values: Vec<S>,
    /// Where in `full_values` the first one is.
    aligned: usize,
    stretches: Vec<StretchStart>,
}

/// Elements before a stretch, in each of the arrays.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
struct StretchStart {
    word: usize,
    full_value: usize,
    other_value: usize,
}

/// A stretch while it is made: what describes it, and how many values it has.
#[derive(Default)]
struct Stretch {
    words: Vec<u32>,
    full_values: usize,
    other_values: usize,
}

/// Chunks between two places at which threads may start: 64 or 128 rows, enough places for any number of threads.
const CHUNKS_PER_STRETCH: usize = 8;
/// Stretches that a thread makes with one scratch.
const STRETCHES_PER_TASK: usize = 16;
/// In a header, in place of the number of partial diagonals: the chunk is stored as rows.
const AS_ROWS: u32 = 0xffff;

/// Where memory begins is no part of a matrix.
#[cfg(test)]
impl<S: Scalar> PartialEq for DiagonalChunks<S> {
    fn eq(&self, other: &Self) -> bool {
        let shapes = (self.rows, self.cols, &self.stretches) == (other.rows, other.cols, &other.stretches);
        shapes && self.chunks(0..self.stretches()).eq(other.chunks(0..other.stretches()))
    }
}

impl<S: Scalar> DiagonalChunks<S> {
    /// Rearranges a CSR matrix, on the threads of the current rayon pool. Each chunk is made by itself: the result does not
    /// depend on their number.
    pub(crate) fn from_csr(a: &Csr<S>) -> Result<Self, FormatError> {
        if a.longest_row() > u32::MAX as usize {
            return Err(FormatError::TooManyElements { what: "a row of diagonal chunks" });
        }
        let a = a.view();
        let rows_per_stretch = lanes::<S>() * CHUNKS_PER_STRETCH;
        let stretch_count = a.rows().div_ceil(rows_per_stretch);
        let made = parallel::map_index(stretch_count.div_ceil(STRETCHES_PER_TASK), |task| {
            let mut found = ChunkDiagonals::default();
            let first = task * STRETCHES_PER_TASK;
            let stretches = first..(first + STRETCHES_PER_TASK).min(stretch_count);
            let made = stretches.map(|stretch| {
                let first = stretch * rows_per_stretch;
                Stretch::new(&mut found, a, first..(first + rows_per_stretch).min(a.rows()))
            });
            made.collect::<Vec<Stretch>>()
        });
        let made: Vec<Stretch> = made.into_iter().flatten().collect();

        let mut stretches = Vec::with_capacity(stretch_count + 1);
        let mut end = StretchStart::default();
        for stretch in &made {
            stretches.push(end);
            end.word += stretch.words.len();
            end.full_value += stretch.full_values;
            end.other_value += stretch.other_values;
        }
        stretches.push(end);
        let mut words = vec![0; end.word];
        concat_into(made.iter().map(|stretch| &stretch.words[..]), &mut words);
        drop(made);
        let full_values = vec![S::ZERO; end.full_value + lanes::<S>()];
        let aligned = full_values.as_ptr().align_offset(64).min(lanes::<S>());
        let mut chunks = DiagonalChunks {
            rows: a.rows(),
            cols: a.cols(),
            words,
            full_values,
            other_values: vec![S::ZERO; end.other_value],
            aligned,
            stretches,
        };
        chunks.set_values(a);
        Ok(chunks)
    }

    /// New numbers in the pattern that it was made of, in one pass over them. `a` has the pattern that it was made of.
    pub(crate) fn set_values(&mut self, a: CsrSlices<'_, S>) {
        let mut tasks = Vec::with_capacity(self.stretches().div_ceil(STRETCHES_PER_TASK));
        let (mut full_rest, mut other_rest) =
            (&mut self.full_values[self.aligned..], &mut self.other_values[..]);
        for first in (0..self.stretches.len() - 1).step_by(STRETCHES_PER_TASK) {
            let last = (first + STRETCHES_PER_TASK).min(self.stretches.len() - 1);
            let (from, to) = (self.stretches[first], self.stretches[last]);
            let (full, other);
            (full, full_rest) = full_rest.split_at_mut(to.full_value - from.full_value);
            (other, other_rest) = other_rest.split_at_mut(to.other_value - from.other_value);
            let rows = first_row::<S>(first, self.rows)..first_row::<S>(last, self.rows);
            let patterns = Patterns { rows_left: rows.len(), words: &self.words[from.word..to.word] };
            tasks.push((rows, patterns, full, other));
        }
        parallel::for_each(tasks, |(rows, patterns, full, other)| place(a, rows, patterns, full, other));
    }

    /// What part of the nonzeros would stand on diagonals, from 0 to 1: tells whether the format pays. Looks at about
    /// `sample` chunks, spread evenly.
    #[cfg(test)]
    pub(crate) fn share_on_diagonals(a: CsrSlices<'_, S>, sample: usize) -> f64 {
        let chunks = a.rows().div_ceil(lanes::<S>());
        let mut found = ChunkDiagonals::default();
        let (mut seen, mut on_diagonals) = (0, 0);
        for chunk in (0..chunks).step_by((chunks / sample.max(1)).max(1)) {
            let rows = chunk * lanes::<S>()..((chunk + 1) * lanes::<S>()).min(a.rows());
            let nonzeros = a.offsets()[rows.end] - a.offsets()[rows.start];
            seen += nonzeros;
            if found.find(a, rows) {
                on_diagonals += nonzeros;
            }
        }
        on_diagonals as f64 / seen.max(1) as f64
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
    /// Nonzeros before a stretch.
    pub(crate) fn nonzeros_before(&self, stretch: usize) -> usize {
        self.stretches[stretch].full_value + self.stretches[stretch].other_value
    }
    /// Its first row; of the one after the last, the number of rows.
    pub(crate) fn first_row(&self, stretch: usize) -> usize {
        first_row::<S>(stretch, self.rows)
    }

    /// The chunks of these stretches in order.
    #[inline(always)]
    pub(crate) fn chunks(&self, stretches: Range<usize>) -> Chunks<'_, S> {
        let (from, to) = (self.stretches[stretches.start], self.stretches[stretches.end]);
        let rows_left = self.first_row(stretches.end) - self.first_row(stretches.start);
        Chunks {
            patterns: Patterns { rows_left, words: &self.words[from.word..to.word] },
            full_values: &self.full_values[self.aligned..][from.full_value..to.full_value],
            other_values: &self.other_values[from.other_value..to.other_value],
        }
    }

    /// The matrix by rows, columns rising inside those that were on diagonals.
    #[cfg(test)]
    pub(crate) fn to_csr(&self) -> Csr<S> {
        let (mut offsets, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
        for chunk in self.chunks(0..self.stretches()) {
            for row in chunk.to_rows() {
                columns.extend(row.iter().map(|&(col, _)| col));
                values.extend(row.iter().map(|&(_, value)| value));
                offsets.push(columns.len());
            }
        }
        offsets.resize(self.rows + 1, columns.len()); // without the lanes that the last chunk does not need
        Csr::from_parts(self.rows, self.cols, offsets, columns, values).expect("the invariant")
    }
}

/// Of a matrix of so many rows: the first one of a stretch.
#[inline(always)]
fn first_row<S>(stretch: usize, rows: usize) -> usize {
    (stretch * lanes::<S>() * CHUNKS_PER_STRETCH).min(rows)
}

impl Stretch {
    fn new<S: Scalar>(found: &mut ChunkDiagonals, a: CsrSlices<'_, S>, rows: Range<usize>) -> Self {
        let mut stretch = Stretch::default();
        for first in rows.clone().step_by(lanes::<S>()) {
            stretch.push(found, a, first..(first + lanes::<S>()).min(rows.end));
        }
        stretch
    }

    /// Appends one chunk.
    fn push<S: Scalar>(&mut self, found: &mut ChunkDiagonals, a: CsrSlices<'_, S>, rows: Range<usize>) {
        let words = &mut self.words;
        let entries = a.offsets()[rows.start]..a.offsets()[rows.end];
        if found.find(a, rows.clone()) {
            words.push(found.full.len() as u32 | (found.partial.len() as u32) << 16);
            words.extend_from_slice(&found.full);
            words.extend_from_slice(&found.partial);
            let pair = |pair: &[u16]| u32::from(pair[0]) | u32::from(*pair.get(1).unwrap_or(&0)) << 16;
            words.extend(found.masks.chunks(2).map(pair));
            let on_full = found.full.len() * lanes::<S>();
            self.full_values += on_full;
            self.other_values += entries.len() - on_full;
        } else {
            words.push(AS_ROWS << 16);
            words.extend(rows.map(|row| a.range(row).len() as u32)); // `from_csr` has looked that it fits
            self.other_values += entries.len();
            words.extend_from_slice(&a.columns()[entries]);
        }
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

    /// Numbers of full diagonals, partial ones, and nonzeros in rows.
    fn kinds(a: &DiagonalChunks<f64>) -> (usize, usize, usize) {
        a.chunks(0..a.stretches()).fold((0, 0, 0), |(full, partial, in_rows), chunk| match chunk {
            Chunk::Diagonals { full: f, partial: p, .. } => (full + f.len(), partial + p.len(), in_rows),
            Chunk::Rows { columns, .. } => (full, partial, in_rows + columns.len()),
        })
    }

    #[test]
    fn a_tridiagonal_matrix_is_three_diagonals_per_chunk() {
        let near = |row: u32| row.saturating_sub(1)..(row + 2).min(24);
        let entries: Vec<_> = (0..24).flat_map(|row| near(row).map(move |col| (row, col))).collect();
        let a = csr(24, 24, &entries);
        let chunks = DiagonalChunks::from_csr(&a).unwrap();
        // 8 rows each: the first chunk lacks a lane of its lowest diagonal, the last one a lane of its highest.
        assert_eq!(kinds(&chunks), (2 + 3 + 2, 1 + 1, 0));
        assert_eq!(chunks.to_csr(), a);
        assert_eq!(DiagonalChunks::share_on_diagonals(a.view(), 10), 1.0);
    }

    #[test]
    fn duplicates_unsorted_and_scattered_rows_stay_rows() {
        let twice: Vec<_> = (0..8).flat_map(|row| [(row, row), (row, row)]).collect();
        let scattered: Vec<_> = (0..8).map(|row| (row, row * row % 41)).collect();
        for entries in [twice, scattered] {
            let a = csr(8, 50, &entries);
            let chunks = DiagonalChunks::from_csr(&a).unwrap();
            assert_eq!(kinds(&chunks), (0, 0, entries.len()));
            assert_eq!(chunks.to_csr(), a);
            assert_eq!(DiagonalChunks::share_on_diagonals(a.view(), 10), 0.0);
        }
        let falling =
            Csr::from_parts(8, 9, (0..=8).map(|r| 2 * r).collect(), [1, 0].repeat(8), vec![1.0; 16]);
        let chunks = DiagonalChunks::from_csr(&falling.clone().unwrap()).unwrap();
        assert_eq!((kinds(&chunks), chunks.to_csr()), ((0, 0, 16), falling.unwrap()));
    }
}
