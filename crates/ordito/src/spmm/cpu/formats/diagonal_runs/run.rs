//! A run as it is stored, and the walk over the runs of a matrix.

use crate::Scalar;
use crate::matrix::lanes;
#[cfg(test)]
use crate::spmm::cpu::formats::diagonal_runs::find::every_lane;
use std::ops::Range;

/// Consecutive rows of the matrix, as they are stored.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Run<'a, S> {
    /// Chunks of as many rows as a vector has lanes, all on the same diagonals.
    Diagonals {
        chunks: usize,
        /// Column in the run's first row, rising; a negative one as its two's complement.
        diagonals: &'a [u32],
        /// For every chunk and diagonal which lanes hold a nonzero; nothing where all do.
        masks: &'a [u16],
        /// For every chunk and diagonal all lanes, zero where there is no nonzero.
        values: &'a [S],
    },
    /// One chunk of rows, one after the other.
    Rows {
        /// Length of every row.
        lengths: &'a [u32],
        /// Columns.
        columns: &'a [u32],
        /// Values.
        values: &'a [S],
    },
}

impl<S: Scalar> Run<'_, S> {
    /// The chunks all lanes of whose diagonals lie in a matrix of so many columns, also those without a nonzero. The first chunks and the
    /// last ones may not.
    #[inline(always)]
    pub(crate) fn chunks_inside(&self, cols: usize) -> Range<usize> {
        match *self {
            Run::Rows { .. } => 0..1,
            Run::Diagonals { chunks, diagonals: [], .. } => 0..chunks,
            Run::Diagonals { chunks, diagonals, .. } => {
                let (first, last) = (diagonals[0] as i32, diagonals[diagonals.len() - 1] as i32);
                let before = i64::from(first).min(0).unsigned_abs() as usize;
                let behind = (cols as i64 - i64::from(last)).max(0) as usize;
                let start = before.div_ceil(lanes::<S>()).min(chunks);
                start..(behind / lanes::<S>()).clamp(start, chunks)
            }
        }
    }
}

/// Walks the runs of some stretches.
#[derive(Debug, Clone)]
pub(crate) struct Runs<'a, S> {
    pub(crate) patterns: Patterns<'a>,
    pub(crate) on_diagonals: &'a [S],
    pub(crate) in_rows: &'a [S],
}

impl<'a, S: Scalar> Iterator for Runs<'a, S> {
    type Item = Run<'a, S>;

    #[inline(always)]
    fn next(&mut self) -> Option<Run<'a, S>> {
        match self.patterns.next::<S>()? {
            Pattern::Diagonals { chunks, diagonals, masks } => {
                let (values, after) = self.on_diagonals.split_at(chunks * diagonals.len() * lanes::<S>());
                self.on_diagonals = after;
                Some(Run::Diagonals { chunks, diagonals, masks, values })
            }
            Pattern::Rows { lengths, columns } => {
                let (values, after) = self.in_rows.split_at(columns.len());
                self.in_rows = after;
                Some(Run::Rows { lengths, columns, values })
            }
        }
    }
}

/// What a run begins with: how many chunks and diagonals it has, and whether there are masks. 0: a chunk of rows.
#[derive(Clone, Copy)]
pub(crate) struct Header(pub(crate) u32);

impl Header {
    /// Diagonals that a run may have.
    pub(crate) const MOST_DIAGONALS: usize = 0xffff;
    pub(crate) const ROWS: Header = Header(0);

    pub(crate) fn of_diagonals(chunks: usize, diagonals: usize, has_masks: bool) -> Self {
        Header(u32::from(has_masks) << 24 | (chunks as u32) << 16 | diagonals as u32)
    }
    #[inline(always)]
    fn diagonals(self) -> usize {
        (self.0 & 0xffff) as usize
    }
    #[inline(always)]
    fn chunks(self) -> usize {
        (self.0 >> 16 & 0xff) as usize
    }
    #[inline(always)]
    fn has_masks(self) -> bool {
        self.0 >> 24 != 0
    }
}

/// A [`Run`] without its values.
pub(crate) enum Pattern<'a> {
    Diagonals { chunks: usize, diagonals: &'a [u32], masks: &'a [u16] },
    Rows { lengths: &'a [u32], columns: &'a [u32] },
}

/// Walks the words that describe the runs of so many rows.
#[derive(Debug, Clone)]
pub(crate) struct Patterns<'a> {
    pub(crate) rows_left: usize,
    pub(crate) words: &'a [u32],
}

impl<'a> Patterns<'a> {
    /// The next one, of a matrix of `S`.
    #[inline(always)]
    pub(crate) fn next<S: Scalar>(&mut self) -> Option<Pattern<'a>> {
        let (&header, words) = self.words.split_first()?;
        let header = Header(header);
        let chunks = header.chunks();
        let rows = self.rows_left.min(chunks.max(1) * lanes::<S>());
        self.rows_left -= rows;
        if chunks == 0 {
            let (lengths, words) = words.split_at(rows);
            let nonzeros = lengths.iter().map(|&length| length as usize).sum();
            let (columns, words) = words.split_at(nonzeros);
            self.words = words;
            return Some(Pattern::Rows { lengths, columns });
        }
        let (diagonals, words) = words.split_at(header.diagonals());
        let mask_count = if header.has_masks() { chunks * diagonals.len() } else { 0 };
        let (masks, words) = words.split_at(mask_count.div_ceil(2));
        let masks: &[u16] = &bytemuck::cast_slice(masks)[..mask_count];
        self.words = words;
        Some(Pattern::Diagonals { chunks, diagonals, masks })
    }
}

#[cfg(test)]
impl<S: Scalar> Run<'_, S> {
    /// Columns and values of every row: of a chunk of rows as they were, of diagonals with rising columns.
    pub(crate) fn to_rows(self) -> Vec<Vec<(u32, S)>> {
        match self {
            Run::Rows { lengths, columns, values } => {
                let mut entries = columns.iter().copied().zip(values.iter().copied());
                lengths.iter().map(|&length| entries.by_ref().take(length as usize).collect()).collect()
            }
            Run::Diagonals { chunks, diagonals, masks, values } => {
                let mut rows = vec![Vec::new(); chunks * lanes::<S>()];
                for place in 0..chunks * diagonals.len() {
                    let (chunk, diagonal) =
                        (place / diagonals.len(), diagonals[place % diagonals.len()] as i32);
                    let mask = masks.get(place).copied().unwrap_or(every_lane::<S>());
                    for lane in (0..lanes::<S>()).filter(|lane| mask >> lane & 1 == 1) {
                        let row = chunk * lanes::<S>() + lane;
                        rows[row].push(((diagonal + row as i32) as u32, values[place * lanes::<S>() + lane]));
                    }
                }
                rows
            }
        }
    }
}
