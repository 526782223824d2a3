//! What can be said of a sparse matrix before it is multiplied.

use super::Csr;
use super::Symmetry;
use crate::Scalar;
use rayon::prelude::*;
use std::ops::Range;

/// Shape and structure of a matrix.
///
/// ```
/// use ordito::matrix::{Coo, Csr, Duplicates, Statistics, Symmetry};
/// let a = Coo::new(2, 2, vec![0, 1, 1], vec![1, 0, 1], vec![5.0, 5.0, 0.0])?;
/// let facts = Statistics::of(&Csr::from_coo(&a, Duplicates::Sum));
/// assert_eq!(facts.symmetry, Symmetry::Symmetric);
/// assert_eq!((facts.lower_bandwidth, facts.explicit_zeros, facts.longest_row), (1, 1, 2));
/// # Ok::<(), ordito::matrix::FormatError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Statistics {
    /// Entries whose value is 0.
    pub explicit_zeros: usize,
    /// Entries at a place that another entry has too.
    pub duplicates: usize,
    /// Entries on the diagonal.
    pub diagonal_entries: usize,
    /// Rows without entries.
    pub empty_rows: usize,
    /// Entries of the shortest row.
    pub shortest_row: usize,
    /// Entries of the longest row.
    pub longest_row: usize,
    /// Entries per row on average.
    pub mean_row: f64,
    /// Standard deviation of the row lengths.
    pub row_stddev: f64,
    /// How many rows have how many entries.
    pub row_lengths: Vec<LengthBin>,
    /// Farthest entry below the diagonal.
    pub lower_bandwidth: usize,
    /// Farthest entry above the diagonal.
    pub upper_bandwidth: usize,
    /// What A and Aᵀ have in common.
    pub symmetry: Symmetry,
}

/// Rows with `from..=to` entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct LengthBin {
    /// Fewest entries.
    pub from: usize,
    /// Most entries.
    pub to: usize,
    /// How many rows.
    pub rows: usize,
}

/// `7`, or `8–15`.
impl std::fmt::Display for LengthBin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.from == self.to {
            true => write!(f, "{}", self.from),
            false => write!(f, "{}–{}", self.from, self.to),
        }
    }
}

impl Statistics {
    /// Looks at every entry, and at its mirror image in a square matrix, on the threads of the current rayon pool. Rows
    /// must have sorted columns, as [`Csr::from_coo`] leaves them, for duplicates and symmetry to be seen.
    pub fn of<S: Scalar>(a: &Csr<S>) -> Self {
        let lengths = || a.row_lengths();
        let mean_row = a.nonzeros() as f64 / a.rows().max(1) as f64;
        let spread = lengths().map(|length| (length as f64 - mean_row).powi(2)).sum::<f64>();
        let blocks = (0..a.rows())
            .into_par_iter()
            .step_by(ROWS_PER_TASK)
            .map(|first| Places::of(a, first..(first + ROWS_PER_TASK).min(a.rows())));
        let places = blocks.reduce(Places::default, Places::and);
        Statistics {
            explicit_zeros: places.explicit_zeros,
            duplicates: places.duplicates,
            diagonal_entries: places.diagonal,
            empty_rows: lengths().filter(|&length| length == 0).count(),
            shortest_row: lengths().min().unwrap_or(0),
            longest_row: a.longest_row(),
            mean_row,
            row_stddev: (spread / a.rows().max(1) as f64).sqrt(),
            row_lengths: histogram(lengths()),
            lower_bandwidth: places.lower,
            upper_bandwidth: places.upper,
            symmetry: Symmetry::of(a),
        }
    }
}

/// Bins 0, 1, 2–3, 4–7, 8–15 …, from the first to the last that is not empty.
fn histogram(lengths: impl Iterator<Item = usize>) -> Vec<LengthBin> {
    let mut counts: Vec<usize> = Vec::new();
    for length in lengths {
        let bin = (usize::BITS - length.leading_zeros()) as usize;
        if counts.len() <= bin {
            counts.resize(bin + 1, 0);
        }
        counts[bin] += 1;
    }
    let bins = counts.into_iter().enumerate().map(|(bin, rows)| match bin {
        0 => LengthBin { from: 0, to: 0, rows },
        _ => LengthBin { from: 1 << (bin - 1), to: (1 << bin) - 1, rows },
    });
    bins.skip_while(|bin| bin.rows == 0).collect()
}

/// Rows that one thread looks through at a time.
const ROWS_PER_TASK: usize = 1 << 12;

/// What there is to see in some rows.
#[derive(Default)]
struct Places {
    lower: usize,
    upper: usize,
    diagonal: usize,
    duplicates: usize,
    explicit_zeros: usize,
}

impl Places {
    fn of<S: Scalar>(a: &Csr<S>, rows: Range<usize>) -> Self {
        let view = a.view();
        let entries = view.offsets()[rows.start]..view.offsets()[rows.end];
        let zeros = view.values()[entries].iter().filter(|&&value| value == S::ZERO).count();
        let mut found = Places { explicit_zeros: zeros, ..Places::default() };
        for row in rows {
            let columns = &view.columns()[view.range(row)];
            for &col in columns {
                let col = col as usize;
                found.lower = found.lower.max(row.saturating_sub(col));
                found.upper = found.upper.max(col.saturating_sub(row));
                found.diagonal += usize::from(row == col);
            }
            found.duplicates += columns.windows(2).filter(|pair| pair[0] == pair[1]).count();
        }
        found
    }

    fn and(self, other: Places) -> Places {
        Places {
            lower: self.lower.max(other.lower),
            upper: self.upper.max(other.upper),
            diagonal: self.diagonal + other.diagonal,
            duplicates: self.duplicates + other.duplicates,
            explicit_zeros: self.explicit_zeros + other.explicit_zeros,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::{Coo, Duplicates};

    fn of(rows: usize, cols: usize, entries: &[(u32, u32, f64)]) -> Statistics {
        let (r, (c, v)) = entries.iter().map(|&(r, c, v)| (r, (c, v))).unzip();
        Statistics::of(&Csr::from_coo(&Coo::new(rows, cols, r, c, v).unwrap(), Duplicates::Keep))
    }

    #[test]
    fn rows_are_counted_in_bins_of_doubling_width() {
        let entries: Vec<_> = (0..5).map(|col| (1, col, 1.0)).chain([(2, 0, 1.0), (2, 0, 2.0)]).collect();
        let facts = of(4, 5, &entries);
        let bins: Vec<_> = facts.row_lengths.iter().map(|bin| (bin.from, bin.to, bin.rows)).collect();
        assert_eq!(bins, [(0, 0, 2), (1, 1, 0), (2, 3, 1), (4, 7, 1)]);
        assert_eq!((facts.empty_rows, facts.shortest_row, facts.longest_row), (2, 0, 5));
        assert_eq!((facts.duplicates, facts.lower_bandwidth, facts.upper_bandwidth), (1, 2, 3));
        assert_eq!(facts.mean_row, 1.75);
    }
}
