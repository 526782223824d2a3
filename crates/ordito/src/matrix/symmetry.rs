//! What a matrix and its transpose have in common.

use crate::Scalar;
use crate::cpu::parallel;
use crate::matrix::FormatError;
use crate::matrix::coo::{Coo, Duplicates};
use crate::matrix::csr::Csr;
use crate::matrix::room::check_room;
use crate::precision::compiled_here;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

/// Fewer entries are compared before a second thread has found out where to begin.
const FEWEST_ENTRIES: usize = 1 << 16;

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
    /// Of a matrix whose rows have sorted columns, on the threads of the current rayon pool. The transpose is never built:
    /// its row j begins where row j of the matrix does, and grows by one entry whenever a row of the matrix, from the
    /// first to the last, has one in column j.
    pub(super) fn of<S: Scalar>(a: &Csr<S>) -> Self {
        if a.rows() != a.cols() {
            return Symmetry::NotSquare;
        }
        let threads = parallel::threads().clamp(1, a.nnz() / FEWEST_ENTRIES + 1);
        let rows_of = |part: usize| a.rows() * part / threads..a.rows() * (part + 1) / threads;
        let stop = AtomicBool::new(false);
        let parts = parallel::map_index(threads, |part| compare(a, rows_of(part), &stop));
        let found = parts.into_iter().try_fold(Same { equal: true, negated: true }, |all, part| {
            let part = part?;
            Some(Same { equal: all.equal && part.equal, negated: all.negated && part.negated })
        });
        match found {
            None => Symmetry::Unsymmetric,
            Some(Same { equal: true, .. }) => Symmetry::Symmetric,
            Some(Same { negated: true, .. }) => Symmetry::SkewSymmetric,
            Some(_) => Symmetry::PatternSymmetric,
        }
    }

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

impl<S: Scalar> Csr<S> {
    /// What A and Aᵀ have in common, of a matrix whose rows have sorted columns, on the threads of the current rayon pool. A place without an
    /// entry and one that holds 0 are not the same here.
    ///
    /// ```
    /// use ordito::matrix::Symmetry;
    /// use ordito::{Coo, Csr, Duplicates};
    /// let a = Csr::from_coo(&Coo::new(2, 2, vec![0, 1], vec![1, 0], vec![3.0, 1.0])?, Duplicates::Sum);
    /// assert_eq!(a.symmetry(), Symmetry::PatternSymmetric);
    /// let half = a.symmetrized()?;
    /// assert_eq!((half.symmetry(), half.values()), (Symmetry::Symmetric, &[2.0, 2.0][..]));
    /// # Ok::<(), ordito::FormatError>(())
    /// ```
    pub fn symmetry(&self) -> Symmetry {
        type Look<S> = fn(&Csr<S>) -> Symmetry;
        compiled_here!(S, look, Look)(self)
    }

    /// (A + Aᵀ)/2 of a square matrix: exactly symmetric, and A itself where that was, unless places repeat or halves underflow. On the threads of the current rayon pool.
    pub fn symmetrized(&self) -> Result<Self, FormatError> {
        type Add<S> = fn(&Csr<S>) -> Result<Csr<S>, FormatError>;
        compiled_here!(S, half_sum, Add)(self)
    }
}

fn look<S: Scalar>(a: &Csr<S>) -> Symmetry {
    Symmetry::of(a)
}

fn half_sum<S: Scalar>(a: &Csr<S>) -> Result<Csr<S>, FormatError> {
    if a.rows() != a.cols() {
        return Err(FormatError::NotSquare { rows: a.rows(), cols: a.cols() });
    }
    // As triplets: what becomes of them asks for its own.
    let bytes = (a.nnz() as u64).checked_mul(2 * (2 * size_of::<u32>() + size_of::<S>()) as u64);
    check_room("A + Aᵀ", bytes)?;
    let room = 2 * a.nnz();
    let (mut rows, mut cols) = (Vec::with_capacity(room), Vec::with_capacity(room));
    let mut values = Vec::with_capacity(room);
    let half = S::from_f64(0.5);
    for row in 0..a.rows() {
        for (col, value) in a.row(row) {
            rows.extend([row as u32, col as u32]);
            cols.extend([col as u32, row as u32]);
            values.extend([half * value; 2]);
        }
    }
    let both = Coo::new(a.rows(), a.cols(), rows, cols, values)?;
    Csr::try_from_owned_coo(both, Duplicates::Sum)
}

/// What the values of A and Aᵀ, which have the same places, are to each other.
struct Same {
    equal: bool,
    negated: bool,
}

/// Compares these rows of A, read as columns of Aᵀ, with A. `None`: they have other places.
fn compare<S: Scalar>(a: &Csr<S>, rows: Range<usize>, stop: &AtomicBool) -> Option<Same> {
    let view = a.view();
    let (columns, values) = (view.columns(), view.values());
    // Where the next entry of every row of A belongs: behind those of columns before these.
    let mut next: Vec<usize> = (0..a.rows())
        .map(|row| {
            let range = view.range(row);
            range.start + columns[range].partition_point(|&col| (col as usize) < rows.start)
        })
        .collect();
    let mut same = Same { equal: true, negated: true };
    for row in rows {
        if stop.load(Ordering::Relaxed) {
            return None;
        }
        for entry in view.range(row) {
            let col = columns[entry] as usize;
            let mirrored = &mut next[col];
            if *mirrored == view.offsets()[col + 1] || columns[*mirrored] as usize != row {
                stop.store(true, Ordering::Relaxed);
                return None;
            }
            let (value, other) = (values[entry], values[*mirrored]);
            same.equal &= value == other;
            same.negated &= value == -other;
            *mirrored += 1;
        }
    }
    Some(same)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::statistics::Statistics;

    fn of(rows: usize, cols: usize, entries: &[(u32, u32, f64)]) -> Statistics {
        let (r, (c, v)) = entries.iter().map(|&(r, c, v)| (r, (c, v))).unzip();
        Statistics::of(&Csr::from_coo(&Coo::new(rows, cols, r, c, v).unwrap(), Duplicates::Keep))
    }

    #[test]
    fn what_is_not_square_has_no_symmetric_half() {
        let a = Csr::from_coo(&Coo::new(2, 3, vec![0], vec![1], vec![1.0]).unwrap(), Duplicates::Keep);
        let error = a.symmetrized().unwrap_err();
        assert_eq!(error.to_string(), "a square matrix is needed, this one is 2 × 3");
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
}
