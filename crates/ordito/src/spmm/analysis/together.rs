//! Elements of X that lanes read at the same time and from the same line of a cache, of a sample: a line is looked up once for all of
//! them.

use crate::Scalar;
use crate::matrix::Csr;

/// Lines of 1, 2, 4 … 32 columns.
const WIDTHS: usize = 6;
/// Elements for every line, by the columns of a line: a power of two.
pub(crate) type PerLine = [f64; WIDTHS];

/// Windows of rows, steps of each, and parts of rows that are looked at.
const WINDOWS: usize = 64;
const STEPS: usize = 64;
const PARTS: usize = 2048;
/// For every row of a window, rows that are looked through for one that is as long.
const LOOKED_THROUGH: usize = 256;

/// Which rows lanes next to each other have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rows {
    Neighbours,
    /// Those that come next to each other where rows are sorted by their lengths.
    OfOneLength,
}

/// Of as many lanes as rows, each with a row of its own: their first nonzeros, then their second ones, and so on.
pub(crate) fn across<S: Scalar>(a: &Csr<S>, rows: usize, which: Rows) -> PerLine {
    let pattern = a.pattern();
    let windows = a.rows().div_ceil(rows);
    let looked_at = windows.min(WINDOWS);
    let (mut lines, mut columns, mut ranges) = (Lines::default(), Vec::new(), Vec::new());
    for sample in 0..looked_at {
        let first = sample * windows / looked_at * rows;
        let near = |count: usize| (first..a.rows().min(first + count)).map(|row| pattern.range(row));
        ranges.clear();
        match which {
            Rows::Neighbours => ranges.extend(near(rows)),
            Rows::OfOneLength => {
                let length = pattern.range(first).len();
                ranges.extend(near(LOOKED_THROUGH * rows).filter(|range| range.len() == length).take(rows));
            }
        }
        let longest = ranges.iter().map(|range| range.len()).max().unwrap_or(0);
        for step in (0..longest).step_by(longest.div_ceil(STEPS).max(1)) {
            let there = ranges.iter().filter(|range| range.len() > step);
            columns.extend(there.map(|range| pattern.columns()[range.start + step]));
            lines.read(&mut columns);
        }
    }
    lines.per_line()
}

/// Of so many lanes that have nonzeros of a row which follow each other.
pub(crate) fn along<S: Scalar>(a: &Csr<S>, lanes: usize) -> PerLine {
    let pattern = a.pattern();
    let (parts, mut row) = (a.nnz().div_ceil(lanes), 0);
    let looked_at = parts.min(PARTS);
    let (mut lines, mut columns) = (Lines::default(), Vec::new());
    for sample in 0..looked_at {
        let nonzero = sample * parts / looked_at * lanes;
        row += pattern.offsets()[row + 1..].partition_point(|&end| end <= nonzero);
        let range = pattern.range(row);
        let first = range.start + (nonzero - range.start) / lanes * lanes;
        columns.extend(&pattern.columns()[first..range.end.min(first + lanes)]);
        lines.read(&mut columns);
    }
    lines.per_line()
}

/// What was read, and from how many lines.
#[derive(Default)]
struct Lines {
    elements: usize,
    lines: [usize; WIDTHS],
}

impl Lines {
    /// At once; empties the list.
    fn read(&mut self, columns: &mut Vec<u32>) {
        columns.sort_unstable();
        self.elements += columns.len();
        for (shift, lines) in self.lines.iter_mut().enumerate() {
            let others = columns.windows(2).filter(|two| two[0] >> shift != two[1] >> shift).count();
            *lines += others + usize::from(!columns.is_empty());
        }
        columns.clear();
    }

    fn per_line(&self) -> PerLine {
        self.lines.map(|lines| self.elements.max(1) as f64 / lines.max(1) as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::{Coo, Duplicates};

    fn csr(rows: usize, entries: impl Iterator<Item = (u32, u32)>) -> Csr<f64> {
        let (of_rows, columns): (Vec<u32>, Vec<u32>) = entries.unzip();
        let values = vec![1.0; columns.len()];
        Csr::from_coo(&Coo::new(rows, 10_000, of_rows, columns, values).unwrap(), Duplicates::Sum)
    }

    #[test]
    fn a_diagonal_is_read_side_by_side() {
        let diagonal = csr(320, (0..320).map(|row| (row, row)));
        assert_eq!(across(&diagonal, 32, Rows::Neighbours), [1.0, 2.0, 4.0, 8.0, 16.0, 32.0]);
        assert_eq!(across(&diagonal, 32, Rows::OfOneLength), [1.0, 2.0, 4.0, 8.0, 16.0, 32.0]);
        assert_eq!(along(&diagonal, 8), [1.0; WIDTHS]);
    }

    #[test]
    fn a_row_is_read_along() {
        // Columns 0 to 15 in every row, the same for all.
        let dense = csr(64, (0..64).flat_map(|row| (0..16).map(move |column| (row, column))));
        assert_eq!(along(&dense, 8), [1.0, 2.0, 4.0, 8.0, 8.0, 8.0]);
        assert_eq!(across(&dense, 32, Rows::Neighbours), [32.0; WIDTHS]);
    }

    #[test]
    fn rows_of_one_length_are_looked_for() {
        // Even rows have one nonzero, each far from the next; odd ones two, the first of which all share.
        let entries = (0..128).flat_map(|row| match row % 2 {
            0 => vec![(row, 70 * row)],
            _ => vec![(row, 35), (row, 70 * row)],
        });
        let a = csr(128, entries);
        let [neighbours, equals] = [Rows::Neighbours, Rows::OfOneLength].map(|which| across(&a, 32, which));
        // The samples begin at rows of one nonzero.
        assert_eq!(equals, [1.0; WIDTHS]);
        assert!(neighbours[0] > 1.4, "{neighbours:?}");
        assert_eq!(across(&csr(0, std::iter::empty()), 32, Rows::OfOneLength), [1.0; WIDTHS]);
        assert_eq!(along(&csr(5, std::iter::empty()), 8), [1.0; WIDTHS]);
    }
}
