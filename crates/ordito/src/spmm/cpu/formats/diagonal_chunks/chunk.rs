//! A chunk as it is stored, and the walk over the chunks of a matrix.

use crate::Scalar;
use crate::matrix::lanes;
use crate::spmm::cpu::formats::diagonal_chunks::AS_ROWS;
#[cfg(test)]
use crate::spmm::cpu::formats::diagonal_chunks::find::every_lane;

/// Consecutive rows of the matrix, as they are stored.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Chunk<'a, S> {
    /// On diagonals: those with every lane first, then those that lack some, both in rising order.
    Diagonals {
        /// Column of lane 0 of every full diagonal.
        full: &'a [u32],
        /// All lanes of each.
        full_values: &'a [S],
        /// Column of lane 0 of every other diagonal; a negative one as its two's complement.
        partial: &'a [u32],
        /// Bit `l` of such a diagonal's mask: it has lane `l`.
        masks: &'a [u16],
        /// Those lanes that each has.
        partial_values: &'a [S],
    },
    /// As rows one after the other.
    Rows {
        /// Length of every row.
        lengths: &'a [u32],
        /// Columns.
        columns: &'a [u32],
        /// Values.
        values: &'a [S],
    },
}

/// Walks the chunks of some stretches.
#[derive(Debug, Clone)]
pub(crate) struct Chunks<'a, S> {
    pub(crate) patterns: Patterns<'a>,
    pub(crate) full_values: &'a [S],
    pub(crate) other_values: &'a [S],
}

impl<'a, S: Scalar> Iterator for Chunks<'a, S> {
    type Item = Chunk<'a, S>;

    #[inline(always)]
    fn next(&mut self) -> Option<Chunk<'a, S>> {
        match self.patterns.next::<S>()? {
            Pattern::Diagonals { full, partial, masks } => {
                let in_partial = masks.iter().map(|mask| mask.count_ones() as usize).sum();
                let (full_values, after_full) = self.full_values.split_at(full.len() * lanes::<S>());
                let (partial_values, after) = self.other_values.split_at(in_partial);
                (self.full_values, self.other_values) = (after_full, after);
                Some(Chunk::Diagonals { full, full_values, partial, masks, partial_values })
            }
            Pattern::Rows { lengths, columns } => {
                let (values, after) = self.other_values.split_at(columns.len());
                self.other_values = after;
                Some(Chunk::Rows { lengths, columns, values })
            }
        }
    }
}

/// A [`Chunk`] without its values.
pub(crate) enum Pattern<'a> {
    Diagonals { full: &'a [u32], partial: &'a [u32], masks: &'a [u16] },
    Rows { lengths: &'a [u32], columns: &'a [u32] },
}

/// Walks the words that describe the chunks of so many rows.
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
        let rows = self.rows_left.min(lanes::<S>());
        self.rows_left -= rows;
        if header >> 16 == AS_ROWS {
            let (lengths, words) = words.split_at(rows);
            let nonzeros = lengths.iter().map(|&length| length as usize).sum();
            let (columns, words) = words.split_at(nonzeros);
            self.words = words;
            return Some(Pattern::Rows { lengths, columns });
        }
        let (full_count, partial_count) = ((header & 0xffff) as usize, (header >> 16) as usize);
        let (full, words) = words.split_at(full_count);
        let (partial, words) = words.split_at(partial_count);
        let (masks, words) = words.split_at(partial_count.div_ceil(2));
        let masks: &[u16] = &bytemuck::cast_slice(masks)[..partial_count];
        self.words = words;
        Some(Pattern::Diagonals { full, partial, masks })
    }
}

impl<S: Scalar> Chunk<'_, S> {
    /// Columns and values of every row: of a chunk of rows as they were, of one of diagonals with rising columns.
    #[cfg(test)]
    pub(crate) fn to_rows(self) -> Vec<Vec<(u32, S)>> {
        match self {
            Chunk::Rows { lengths, columns, values } => {
                let mut entries = columns.iter().copied().zip(values.iter().copied());
                lengths.iter().map(|&length| entries.by_ref().take(length as usize).collect()).collect()
            }
            Chunk::Diagonals { full, full_values, partial, masks, partial_values } => {
                let full = full.iter().map(|&diagonal| (diagonal, every_lane::<S>()));
                let partial = partial.iter().zip(masks).map(|(&diagonal, &mask)| (diagonal, mask));
                let mut rows = vec![Vec::new(); lanes::<S>()];
                let mut values = full_values.iter().chain(partial_values);
                for (diagonal, mask) in full.chain(partial) {
                    for lane in (0..lanes::<S>()).filter(|lane| mask >> lane & 1 == 1) {
                        let column = diagonal.wrapping_add(lane as u32);
                        rows[lane].extend(values.next().map(|&value| (column, value)));
                    }
                }
                rows.iter_mut().for_each(|row| row.sort_by_key(|&(column, _)| column));
                rows
            }
        }
    }
}
