//! What can be said of a sparse matrix before it is multiplied.

use crate::Scalar;
use crate::cpu::parallel;
use crate::matrix::csr::Csr;
use crate::matrix::symmetry::Symmetry;
use crate::precision::compiled_here;
use std::ops::Range;

/// Shape and structure of a matrix.
///
/// ```
/// use ordito::matrix::{Statistics, Symmetry};
/// use ordito::{Coo, Csr, Duplicates};
/// let a = Coo::new(2, 2, vec![0, 1, 1], vec![1, 0, 1], vec![5.0, 5.0, 0.0])?;
/// let facts = Statistics::of(&Csr::from_coo(&a, Duplicates::Sum));
/// assert_eq!(facts.symmetry, Symmetry::Symmetric);
/// assert_eq!((facts.lower_bandwidth, facts.explicit_zeros, facts.longest_row), (1, 1, 2));
/// # Ok::<(), ordito::FormatError>(())
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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
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
        type Look<S> = fn(&Csr<S>) -> Statistics;
        compiled_here!(S, statistics, Look)(a)
    }
}

fn statistics<S: Scalar>(a: &Csr<S>) -> Statistics {
    let blocks = parallel::map_index(a.rows().div_ceil(ROWS_PER_TASK), |block| {
        let first = block * ROWS_PER_TASK;
        Seen::of(a, first..(first + ROWS_PER_TASK).min(a.rows()))
    });
    let (seen, symmetry) = (blocks.into_iter().fold(Seen::default(), Seen::and), Symmetry::of(a));
    Statistics {
        explicit_zeros: seen.explicit_zeros,
        duplicates: seen.duplicates,
        diagonal_entries: seen.diagonal,
        empty_rows: seen.rows_by_bin[0],
        shortest_row: seen.shortest.unwrap_or(0),
        longest_row: seen.longest,
        mean_row: a.nnz() as f64 / a.rows().max(1) as f64,
        row_stddev: row_stddev(a.rows(), a.nnz(), seen.squared_lengths),
        row_lengths: histogram(&seen.rows_by_bin),
        lower_bandwidth: seen.lower,
        upper_bandwidth: seen.upper,
        symmetry,
    }
}

/// From integers, which add up to the same in any order.
fn row_stddev(rows: usize, nonzeros: usize, squared_lengths: u128) -> f64 {
    let (rows, nonzeros) = (rows.max(1) as u128, nonzeros as u128);
    let spread = (rows * squared_lengths).saturating_sub(nonzeros * nonzeros);
    (spread as f64).sqrt() / rows as f64
}

/// Lengths 0, 1, 2–3, 4–7, 8–15 …
const BINS: usize = usize::BITS as usize + 1;

/// From the first to the last bin that is not empty.
fn histogram(rows_by_bin: &[usize; BINS]) -> Vec<LengthBin> {
    let last = rows_by_bin.iter().rposition(|&rows| rows > 0).map_or(0, |last| last + 1);
    let bins = rows_by_bin[..last].iter().enumerate().map(|(bin, &rows)| match bin {
        0 => LengthBin { from: 0, to: 0, rows },
        _ => LengthBin { from: 1 << (bin - 1), to: usize::MAX >> (BINS - 1 - bin), rows },
    });
    bins.skip_while(|bin| bin.rows == 0).collect()
}

/// Rows that one thread looks through at a time.
const ROWS_PER_TASK: usize = 1 << 12;

/// What there is to see in some rows.
struct Seen {
    lower: usize,
    upper: usize,
    diagonal: usize,
    duplicates: usize,
    explicit_zeros: usize,
    shortest: Option<usize>,
    longest: usize,
    squared_lengths: u128,
    rows_by_bin: [usize; BINS],
}

impl Default for Seen {
    fn default() -> Self {
        Seen {
            lower: 0,
            upper: 0,
            diagonal: 0,
            duplicates: 0,
            explicit_zeros: 0,
            shortest: None,
            longest: 0,
            squared_lengths: 0,
            rows_by_bin: [0; BINS],
        }
    }
}

impl Seen {
    fn of<S: Scalar>(a: &Csr<S>, rows: Range<usize>) -> Self {
        let view = a.view();
        let entries = view.offsets()[rows.start]..view.offsets()[rows.end];
        let zeros = view.values()[entries].iter().filter(|&&value| value == S::ZERO).count();
        let mut seen = Seen { explicit_zeros: zeros, ..Seen::default() };
        for row in rows {
            let columns = &view.columns()[view.range(row)];
            seen.add_length(columns.len());
            let (mut least, mut most) = (row as u32, row as u32);
            for &column in columns {
                (least, most) = (least.min(column), most.max(column));
                seen.diagonal += usize::from(column == row as u32);
            }
            seen.lower = seen.lower.max(row - least as usize);
            seen.upper = seen.upper.max(most as usize - row);
            let neighbours = columns.iter().zip(columns.iter().skip(1));
            seen.duplicates += neighbours.filter(|(column, next)| column == next).count();
        }
        seen
    }

    fn add_length(&mut self, length: usize) {
        self.shortest = Some(self.shortest.map_or(length, |shortest| shortest.min(length)));
        self.longest = self.longest.max(length);
        self.squared_lengths += (length as u128) * (length as u128);
        self.rows_by_bin[(usize::BITS - length.leading_zeros()) as usize] += 1;
    }

    fn and(mut self, other: Seen) -> Seen {
        for (rows, more) in self.rows_by_bin.iter_mut().zip(other.rows_by_bin) {
            *rows += more;
        }
        Seen {
            lower: self.lower.max(other.lower),
            upper: self.upper.max(other.upper),
            diagonal: self.diagonal + other.diagonal,
            duplicates: self.duplicates + other.duplicates,
            explicit_zeros: self.explicit_zeros + other.explicit_zeros,
            shortest: [self.shortest, other.shortest].into_iter().flatten().min(),
            longest: self.longest.max(other.longest),
            squared_lengths: self.squared_lengths + other.squared_lengths,
            rows_by_bin: self.rows_by_bin,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::coo::{Coo, Duplicates};

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
        assert_eq!((facts.mean_row, facts.row_stddev), (1.75, (16.75_f64 / 4.0).sqrt()));
        assert!(of(0, 0, &[]).row_lengths.is_empty());
    }
}
