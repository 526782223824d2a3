//! How many steps one column of X takes, a gather each: rows side by side in slices, or one row after the other. Of a sample, from the lengths of rows.

use crate::Scalar;
use crate::matrix::{CsrSlices, lanes};
use crate::spmm::cpu::formats::row_windows::row_windows;
use crate::spmm::cpu::formats::sell::longest_in_slices;
use std::cmp::Reverse;

/// Windows that are looked at.
const WINDOWS: usize = 32;
/// A step in which not all lanes have an entry waits for the one before it: that says where its entries are. And what the end of a row
/// costs. Both are rough, and taken from times of four real matrices; of 84 generated ones four were said to take fewer steps row by row,
/// and did so in 0.79 to 0.84 of the time, but for one (1.09).
const PARTLY_FILLED: f64 = 1.5;
const END_OF_ROW: f64 = 1.0;

/// Steps of a product with one column, in gathers.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Steps {
    pub(crate) in_slices: f64,
    pub(crate) by_rows: f64,
}

impl Steps {
    /// Of some windows at even distances.
    pub(crate) fn of_sample<S: Scalar>(a: CsrSlices<'_, S>) -> Self {
        let (longest, windows) = (longest_in_slices(a), row_windows(a.offsets()));
        let (all, lanes) = (windows.len() - 1, lanes::<S>());
        let (mut steps, mut lengths) = (Steps::default(), Vec::new());
        for sample in 0..WINDOWS.min(all) {
            let window = sample * all / WINDOWS.min(all);
            lengths.clear();
            for row in windows[window]..windows[window + 1] {
                let (length, gathers) = (a.range(row).len(), a.range(row).len().div_ceil(lanes) as f64);
                steps.by_rows += gathers + END_OF_ROW;
                if length > longest {
                    steps.in_slices += gathers;
                } else {
                    lengths.push(length);
                }
            }
            lengths.sort_unstable_by_key(|&length| Reverse(length));
            for slice in lengths.chunks(lanes) {
                let (most, least) = (slice[0], slice.get(lanes - 1).map_or(0, |&least| least));
                steps.in_slices += least as f64 + PARTLY_FILLED * (most - least) as f64;
            }
        }
        steps
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::Csr;

    fn steps(lengths: &[usize]) -> Steps {
        let offsets: Vec<usize> = std::iter::once(0)
            .chain(lengths.iter().scan(0, |end, length| {
                *end += length;
                Some(*end)
            }))
            .collect();
        let nonzeros = offsets[lengths.len()];
        let columns = lengths.iter().flat_map(|&length| 0..length as u32).collect();
        let a = Csr::from_parts(lengths.len(), 1000, offsets, columns, vec![1.0f64; nonzeros]).unwrap();
        Steps::of_sample(a.view())
    }

    #[test]
    fn rows_of_one_length_fill_their_slices() {
        assert_eq!(steps(&[3; 64]), Steps { in_slices: 8.0 * 3.0, by_rows: 64.0 * 2.0 });
        assert_eq!(steps(&[]), Steps::default());
    }

    #[test]
    fn a_slice_takes_as_long_as_its_longest_row() {
        // One lane has 80 entries, the others 2.
        let found = steps(&[80, 2, 2, 2, 2, 2, 2, 2]);
        assert_eq!(found, Steps { in_slices: 2.0 + 1.5 * 78.0, by_rows: 10.0 + 7.0 + 8.0 });
        // A row that does not stand in a slice takes as many gathers as alone.
        let mut lengths = [1; 64];
        lengths[9] = 800;
        assert_eq!(steps(&lengths), Steps { in_slices: 100.0 + 7.0 + 1.5, by_rows: 100.0 + 63.0 + 64.0 });
    }
}
