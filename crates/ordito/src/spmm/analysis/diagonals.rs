//! How well nonzeros lie on diagonals, of a sample: whether A can be stored by them on a device.

use crate::Scalar;
use crate::matrix::Csr;

/// Of slices of neighbouring rows.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct OnDiagonals {
    /// Of the places on diagonals that rows of a slice touch, those that hold a nonzero.
    pub(crate) filled: f64,
    /// Neighbouring diagonals that can be multiplied at a time.
    pub(crate) run: f64,
}

/// Rows of a slice: a warp's.
pub(crate) const SLICE: usize = 32;
/// Neighbouring diagonals that are multiplied at a time, at most: of a stencil three are neighbours, and the kernel would spill with four.
pub(crate) const RUN: usize = 3;

/// Slices that are looked at, nonzeros of each, and of all together, about: sorting so many takes a millisecond.
const SLICES: usize = 64;
const LEAST_SLICES: usize = 4;
const NONZEROS_OF_SLICE: usize = 1 << 13;
const NONZEROS: usize = 1 << 15;

impl OnDiagonals {
    pub(crate) fn of<S: Scalar>(a: &Csr<S>) -> Self {
        let slices = a.rows().div_ceil(SLICE);
        let mean = (a.nnz() / slices.max(1)).clamp(1, NONZEROS_OF_SLICE);
        let looked_at = (NONZEROS / mean).clamp(LEAST_SLICES, SLICES).min(slices);
        let (mut nonzeros, mut diagonals, mut runs, mut of_slice) = (0.0, 0.0, 0.0, Vec::new());
        for sample in 0..looked_at {
            let first = sample * slices / looked_at * SLICE;
            let Listed { alone, part } = list(a, first..a.rows().min(first + SLICE), &mut of_slice);
            nonzeros += (of_slice.len() + alone) as f64 / part;
            of_slice.sort_unstable();
            of_slice.dedup();
            diagonals += (of_slice.len() + alone) as f64 / part;
            runs += (count_runs(&of_slice) + alone) as f64 / part;
        }
        OnDiagonals { filled: nonzeros / (diagonals * SLICE as f64).max(1.0), run: diagonals / runs.max(1.0) }
    }
}

/// What a list of diagonals leaves out.
struct Listed {
    /// Nonzeros that have a diagonal each to themselves.
    alone: usize,
    /// How much of the longest row was looked at: what is behind that is taken to be like it.
    part: f64,
}

/// The diagonal of every nonzero of these rows, of long ones the first. Nonzeros of rows that do not rise, or have a column twice, have one
/// each to themselves, as they are stored: those are counted.
fn list<S: Scalar>(a: &Csr<S>, rows: std::ops::Range<usize>, diagonals: &mut Vec<i64>) -> Listed {
    diagonals.clear();
    let (pattern, mut alone, mut part) = (a.pattern(), 0, 1.0_f64);
    for row in rows {
        let columns = &pattern.columns()[pattern.range(row)];
        let (all, most) = (columns.len(), NONZEROS_OF_SLICE / SLICE);
        let columns = &columns[..all.min(most)];
        if all > most {
            part = part.min(most as f64 / all as f64);
        }
        if columns.is_sorted_by(|before, after| before < after) {
            diagonals.extend(columns.iter().map(|&column| i64::from(column) - row as i64));
        } else {
            alone += columns.len();
        }
    }
    Listed { alone, part }
}

/// Of diagonals that follow each other.
fn count_runs(diagonals: &[i64]) -> usize {
    let neighbours = diagonals.chunk_by(|before, after| before + 1 == *after);
    neighbours.map(|neighbours| neighbours.len().div_ceil(RUN)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io;
    use crate::matrix::Duplicates;

    fn on_diagonals(name: &str) -> OnDiagonals {
        let coo = io::load::<f64>(name, &Default::default()).unwrap().coo;
        OnDiagonals::of(&Csr::from_coo(&coo, Duplicates::Sum))
    }

    #[test]
    fn stencils_and_bands_lie_on_diagonals() {
        let cube = on_diagonals("stencil27:40");
        assert!(cube.filled > 0.9 && cube.run == 3.0, "{cube:?}");
        let band = on_diagonals("band:3000x20");
        assert!(band.filled > 0.95 && (band.run - 20.0 / 7.0).abs() < 0.1, "{band:?}");
        let square = on_diagonals("stencil5:70");
        assert!(square.filled > 0.9 && (square.run - 5.0 / 3.0).abs() < 0.1, "{square:?}");
        let uniform = on_diagonals("uniform:3000x16");
        assert!(uniform.filled < 0.1 && uniform.run < 1.5, "{uniform:?}");
        assert_eq!(on_diagonals("empty:0x0"), OnDiagonals::default());
        assert_eq!(on_diagonals("empty:5x5"), OnDiagonals::default());
    }

    #[test]
    fn wide_bands_are_full() {
        let band = on_diagonals("band:3000x700");
        assert!(band.filled > 0.8, "{band:?}");
    }

    #[test]
    fn empty_rows_beside_a_long_one_are_holes() {
        let mut offsets = vec![300; 33];
        offsets[0] = 0;
        let a = Csr::from_parts(32, 300, offsets, (0..300).collect(), vec![1.0f32; 300]).unwrap();
        let found = OnDiagonals::of(&a);
        assert!((found.filled - 1.0 / 32.0).abs() < 1e-12 && found.run > 2.9, "{found:?}");
    }

    #[test]
    fn columns_that_fall_or_stand_twice_fill_nothing() {
        let offsets: Vec<usize> = (0..=64).map(|row| 2 * row).collect();
        let of = |columns: [u32; 2]| {
            let columns = (0..64).flat_map(|row| columns.map(|column| column + row)).collect();
            OnDiagonals::of(&Csr::from_parts(64, 70, offsets.clone(), columns, vec![1.0f64; 128]).unwrap())
        };
        assert_eq!(of([0, 1]), OnDiagonals { filled: 1.0, run: 2.0 });
        let apart = OnDiagonals { filled: 1.0 / 32.0, run: 1.0 };
        assert_eq!((of([1, 0]), of([1, 1])), (apart, apart));
    }

    #[test]
    fn a_long_row_is_most_of_its_slice() {
        let (rows, columns) =
            (0..20_000).map(|column| (0, column)).chain((1..3000).map(|row| (row, row))).unzip();
        let coo = crate::Coo::new(3000, 20_000, rows, columns, vec![1.0f64; 22_999]).unwrap();
        let arrow = OnDiagonals::of(&Csr::from_coo(&coo, Duplicates::Sum));
        assert!(arrow.filled < 0.1, "{arrow:?}");
    }
}
