//! How much of their time the lanes of a GPU would work, if rows were dealt out to them in this way or that: from the lengths of all
//! rows, in one pass.

use crate::cpu::parallel;

/// Groups of 1, 2, 4 … 32 rows; parts of 1, 2, 4 … 512 nonzeros.
pub(crate) const GROUPS: usize = 6;
pub(crate) const PARTS: usize = 10;

/// Lengths of 1, 2, 4 … 4096 nonzeros.
const LENGTHS: usize = 13;

/// Rows that a thread looks at by itself: a multiple of every group.
const ROWS_AT_ONCE: usize = 1 << 15;

/// Of all rows.
#[cfg_attr(not(any(feature = "cuda", feature = "emulator")), allow(dead_code))] // most of it is for a choice on a device
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct RowWork {
    pub(crate) empty: usize,
    /// Parts of 1, 2, 4 … 512 nonzeros that rows have, the last one of a row with fewer: steps of as many lanes that share out a row,
    /// and pieces of long rows.
    pub(crate) parts: [u64; PARTS],
    /// Entries, if 1, 2, 4 … 32 neighbouring rows are as long as the longest of them.
    pub(crate) padded: [u64; GROUPS],
    pub(crate) longest: usize,
    /// Nonzeros of the 8 neighbouring rows that have most.
    pub(crate) longest_of_8: usize,
    pub(crate) at_least: AtLeast,
}

/// How many rows have at least 1, 2, 4 … 4096 nonzeros.
#[cfg_attr(not(any(feature = "cuda", feature = "emulator")), allow(dead_code))]
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct AtLeast([usize; LENGTHS]);

#[cfg_attr(not(any(feature = "cuda", feature = "emulator")), allow(dead_code))]
impl AtLeast {
    pub(crate) fn of(offsets: &[usize]) -> Self {
        let rows = offsets.len().saturating_sub(1);
        let chunks = parallel::map_index(rows.div_ceil(ROWS_AT_ONCE), |chunk| {
            let mut of_chunk = AtLeast::default();
            let ends = &offsets[chunk * ROWS_AT_ONCE..=rows.min((chunk + 1) * ROWS_AT_ONCE)];
            ends.windows(2).for_each(|ends| of_chunk.count(ends[1] - ends[0]));
            of_chunk
        });
        chunks.into_iter().fold(AtLeast::default(), AtLeast::with)
    }

    fn count(&mut self, length: usize) {
        let powers = length.checked_ilog2().map_or(0, |power| power as usize + 1);
        self.0.iter_mut().take(powers).for_each(|rows| *rows += 1);
    }

    fn with(self, other: AtLeast) -> AtLeast {
        AtLeast(std::array::from_fn(|power| self.0[power] + other.0[power]))
    }

    /// Each length with how many rows have at least that.
    pub(crate) fn lengths(&self) -> impl Iterator<Item = (usize, usize)> {
        self.0.into_iter().enumerate().map(|(power, rows)| (1 << power, rows))
    }
}

#[cfg_attr(not(any(feature = "cuda", feature = "emulator")), allow(dead_code))]
impl RowWork {
    pub(crate) fn of(offsets: &[usize]) -> Self {
        let rows = offsets.len() - 1;
        let chunks = parallel::map_index(rows.div_ceil(ROWS_AT_ONCE), |chunk| {
            RowWork::of_chunk(&offsets[chunk * ROWS_AT_ONCE..=rows.min((chunk + 1) * ROWS_AT_ONCE)])
        });
        chunks.into_iter().fold(RowWork::default(), RowWork::with)
    }

    /// Of both, which follow each other; no group of rows lies in both.
    fn with(self, other: RowWork) -> RowWork {
        RowWork {
            empty: self.empty + other.empty,
            parts: std::array::from_fn(|part| self.parts[part] + other.parts[part]),
            padded: std::array::from_fn(|group| self.padded[group] + other.padded[group]),
            longest: self.longest.max(other.longest),
            longest_of_8: self.longest_of_8.max(other.longest_of_8),
            at_least: self.at_least.with(other.at_least),
        }
    }

    fn of_chunk(offsets: &[usize]) -> Self {
        let mut work = RowWork::default();
        let mut longest = [0_usize; GROUPS];
        let mut of_8 = 0;
        let rows = offsets.len() - 1;
        for (row, ends) in offsets.windows(2).enumerate() {
            let length = ends[1] - ends[0];
            work.empty += usize::from(length == 0);
            for (part, count) in work.parts.iter_mut().enumerate() {
                *count += (length as u64).div_ceil(1 << part);
            }
            work.longest = work.longest.max(length);
            work.at_least.count(length);
            of_8 = length + if row.is_multiple_of(8) { 0 } else { of_8 };
            work.longest_of_8 = work.longest_of_8.max(of_8);
            for (group, (padded, longest)) in work.padded.iter_mut().zip(&mut longest).enumerate() {
                *longest = length.max(*longest);
                if (row + 1).is_multiple_of(1 << group) || row + 1 == rows {
                    *padded += (*longest as u64) << group;
                    *longest = 0;
                }
            }
        }
        work
    }

    /// Parts of `length` nonzeros that rows have, about so many where that is no power of two; 512 stand for longer ones.
    pub(crate) fn parts_of(&self, length: f64) -> f64 {
        if self.parts[0] == 0 {
            return 0.0;
        }
        let power = length.max(1.0).log2().min((PARTS - 1) as f64);
        let (below, rest) = (power as usize, power.fract());
        let above = self.parts[(below + 1).min(PARTS - 1)] as f64;
        // Straight on a logarithmic scale.
        (self.parts[below] as f64).max(1.0).powf(1.0 - rest) * above.max(1.0).powf(rest)
    }

    /// Entries of rows in groups of so many, a power of two up to 32.
    pub(crate) fn padded_to(&self, rows: usize) -> f64 {
        self.padded[(rows.max(1).ilog2() as usize).min(GROUPS - 1)] as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_and_padding_are_counted() {
        let lengths = [3, 0, 1, 9, 2];
        let mut offsets = vec![0];
        lengths.iter().for_each(|length| offsets.push(offsets[offsets.len() - 1] + length));
        let work = RowWork::of(&offsets);
        assert_eq!((work.empty, work.longest, work.longest_of_8), (1, 9, 15));
        assert_eq!(work.parts[..5], [15, 2 + 1 + 5 + 1, 1 + 1 + 3 + 1, 1 + 1 + 2 + 1, 4]);
        assert_eq!(work.parts[9], 4);
        assert_eq!(work.padded, [15, 6 + 18 + 4, 36 + 8, 72, 144, 288]);
        assert_eq!((work.padded_to(1), work.padded_to(8), work.parts_of(2.0)), (15.0, 72.0, 9.0));
        let between = work.parts_of(3.0);
        assert!((6.0..9.0).contains(&between), "{between}");
        assert_eq!(work.parts_of(1e9), 4.0);
        assert_eq!(RowWork::of(&[0]), RowWork::default());
        assert_eq!(RowWork::default().parts_of(4.0), 0.0);
        // Rows 0 to 7 have 28 nonzeros, 8 to 15 92, 16 to 19 70.
        let rising: Vec<usize> = (0..=20).map(|row| row * (row.max(1) - 1) / 2).collect();
        assert_eq!(RowWork::of(&rising).longest_of_8, 92);
    }

    #[test]
    fn long_rows_are_counted() {
        let offsets = [0, 0, 1, 3, 6, 10, 9010];
        let counts: Vec<_> = AtLeast::of(&offsets).lengths().collect();
        assert_eq!(counts[..5], [(1, 5), (2, 4), (4, 2), (8, 1), (16, 1)]);
        assert_eq!(counts.last(), Some(&(4096, 1)));
        assert_eq!(RowWork::of(&offsets).at_least, AtLeast::of(&offsets));
        assert_eq!(AtLeast::of(&[]), AtLeast::default());
    }

    #[test]
    fn many_rows_are_counted_in_chunks() {
        let rows = 2 * ROWS_AT_ONCE + 77;
        let mut offsets = vec![0];
        (0..rows).for_each(|row| offsets.push(offsets[row] + row * row % 41));
        let whole = RowWork::of_chunk(&offsets);
        assert_eq!(RowWork::of(&offsets), whole);
        assert_eq!(whole.parts[0], offsets[rows] as u64);
    }
}
