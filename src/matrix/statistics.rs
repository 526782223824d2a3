//! What can be said of a sparse matrix before it is multiplied.

use super::Csr;
use crate::Scalar;

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

/// What a matrix has in common with its transpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Symmetry {
    /// Not square: the question does not arise.
    NotSquare,
    /// A = Aᵀ.
    Symmetric,
    /// A = −Aᵀ, and not both 0.
    SkewSymmetric,
    /// Entries at the same places, with other values.
    PatternSymmetric,
    /// None of it.
    Unsymmetric,
}

impl Symmetry {
    /// For people.
    pub fn name(self) -> &'static str {
        match self {
            Symmetry::NotSquare => "not square",
            Symmetry::Symmetric => "symmetric",
            Symmetry::SkewSymmetric => "skew-symmetric",
            Symmetry::PatternSymmetric => "symmetric pattern, unsymmetric values",
            Symmetry::Unsymmetric => "unsymmetric",
        }
    }
}

impl Statistics {
    /// Looks at every entry once, and at the transpose of a square matrix. Rows must have sorted columns, as
    /// [`Csr::from_coo`] leaves them, for duplicates and symmetry to be seen.
    pub fn of<S: Scalar>(a: &Csr<S>) -> Self {
        let lengths = || a.row_lengths();
        let mean_row = a.nonzeros() as f64 / a.rows().max(1) as f64;
        let spread = lengths().map(|length| (length as f64 - mean_row).powi(2)).sum::<f64>();
        let (mut lower, mut upper, mut diagonal, mut duplicates) = (0, 0, 0, 0);
        for row in 0..a.rows() {
            let mut before = None;
            for (col, _) in a.view().row(row) {
                lower = lower.max(row.saturating_sub(col));
                upper = upper.max(col.saturating_sub(row));
                diagonal += usize::from(row == col);
                duplicates += usize::from(before == Some(col));
                before = Some(col);
            }
        }
        Statistics {
            explicit_zeros: a.view().values().iter().filter(|&&value| value == S::ZERO).count(),
            duplicates,
            diagonal_entries: diagonal,
            empty_rows: lengths().filter(|&length| length == 0).count(),
            shortest_row: lengths().min().unwrap_or(0),
            longest_row: a.longest_row(),
            mean_row,
            row_stddev: (spread / a.rows().max(1) as f64).sqrt(),
            row_lengths: histogram(lengths()),
            lower_bandwidth: lower,
            upper_bandwidth: upper,
            symmetry: symmetry(a),
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

fn symmetry<S: Scalar>(a: &Csr<S>) -> Symmetry {
    if a.rows() != a.cols() {
        return Symmetry::NotSquare;
    }
    let transposed = a.transpose();
    let (a, t) = (a.view(), transposed.view());
    if a.offsets() != t.offsets() || a.columns() != t.columns() {
        return Symmetry::Unsymmetric;
    }
    let pairs = || a.values().iter().zip(t.values());
    if pairs().all(|(a, t)| a == t) {
        Symmetry::Symmetric
    } else if pairs().all(|(&a, &t)| a == -t) {
        Symmetry::SkewSymmetric
    } else {
        Symmetry::PatternSymmetric
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
    fn symmetry_is_told_apart() {
        assert_eq!(of(1, 2, &[(0, 1, 1.0)]).symmetry, Symmetry::NotSquare);
        assert_eq!(of(2, 2, &[(0, 1, 1.0), (1, 0, 1.0)]).symmetry, Symmetry::Symmetric);
        assert_eq!(of(2, 2, &[(0, 1, 1.0), (1, 0, -1.0)]).symmetry, Symmetry::SkewSymmetric);
        assert_eq!(of(2, 2, &[(0, 1, 1.0), (1, 0, 2.0)]).symmetry, Symmetry::PatternSymmetric);
        assert_eq!(of(2, 2, &[(0, 1, 1.0)]).symmetry, Symmetry::Unsymmetric);
        assert_eq!(of(0, 0, &[]).symmetry, Symmetry::Symmetric);
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
