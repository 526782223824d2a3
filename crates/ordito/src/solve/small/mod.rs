//! Problems of as many rows as a block has columns, on the host.

mod eigen;
mod matrix;
mod svd;

pub(crate) use eigen::{ends_of_eigenvectors, symmetric_eigen};
pub(crate) use matrix::{Small, dot, norm};
pub(crate) use svd::small_svd;

use crate::Scalar;
use crate::solve::error::SolveError;

/// Refuses numbers whose squares, norms of residuals, would be 0 or infinite. In f32, where squares of numbers are summed in f64: numbers the rounding of
/// which could not be divided by.
pub(crate) fn check_scale<S: Scalar>(largest: f64) -> Result<(), SolveError> {
    let usual = if size_of::<S>() == size_of::<f32>() { 1e-30..1e30 } else { 1e-130..1e130 };
    if largest == 0.0 || usual.contains(&largest) {
        return Ok(());
    }
    Err(SolveError::OutOfScale(largest))
}

/// L of LLᵀ = A; `None` where a pivot is not larger than `least` times its diagonal: A is not positive definite enough.
pub(crate) fn cholesky(a: &Small, least: f64) -> Option<Small> {
    let n = a.nrows();
    let mut l = Small::from_fn(n, n, |row, col| if row >= col { a[(row, col)] } else { 0.0 });
    for col in 0..n {
        let pivot = l[(col, col)];
        if !(pivot.is_finite() && pivot > 0.0 && pivot > least * a[(col, col)].abs()) {
            return None;
        }
        let below = &mut l.column_mut(col)[col..];
        below.iter_mut().for_each(|x| *x /= pivot.sqrt());
        for other in col + 1..n {
            let (done, left) = l.two_columns_mut(col, other);
            let factor = done[other];
            for (x, y) in left[other..].iter_mut().zip(&done[other..]) {
                *x -= factor * y;
            }
        }
    }
    Some(l)
}

/// L⁻¹ of a lower triangle without zeros on its diagonal.
pub(crate) fn inverse_of_lower(l: &Small) -> Small {
    let n = l.nrows();
    let mut inverse = Small::identity(n, n);
    for first in 0..n {
        let x = inverse.column_mut(first);
        for col in first..n {
            x[col] /= l[(col, col)];
            let solved = x[col];
            for (x, l) in x[col + 1..].iter_mut().zip(&l.column(col)[col + 1..]) {
                *x -= solved * l;
            }
        }
    }
    inverse
}

/// X of AX = B, for A = LLᵀ.
pub(crate) fn solved(l: &Small, b: &Small) -> Small {
    let inverse = inverse_of_lower(l);
    inverse.transpose() * (inverse * b)
}

/// Takes out of a column what it has of orthonormal ones; twice, for what rounding leaves.
pub(crate) fn without(orthonormal: &Small, column: &mut [f64]) {
    for _ in 0..2 {
        let overlaps: Vec<f64> = orthonormal.columns().map(|known| dot(known, column)).collect();
        for (known, overlap) in orthonormal.columns().zip(overlaps) {
            column.iter_mut().zip(known).for_each(|(x, known)| *x -= overlap * known);
        }
    }
}

/// Norms of columns.
pub(crate) fn column_norms(a: &Small) -> Vec<f64> {
    a.columns().map(norm).collect()
}

/// Square roots of the diagonal: norms of columns, of their Gram matrix.
pub(crate) fn norms(gram: &Small) -> Vec<f64> {
    (0..gram.nrows().min(gram.ncols())).map(|i| gram[(i, i)].max(0.0).sqrt()).collect()
}

/// Blocks of rows above each other.
pub(crate) fn stacked(parts: &[&Small]) -> Small {
    let cols = parts.first().map_or(0, |part| part.ncols());
    let mut all = Small::zeros(parts.iter().map(|part| part.nrows()).sum(), cols);
    let mut row = 0;
    for part in parts {
        all.put((row, 0), part);
        row += part.nrows();
    }
    all
}

/// Columns side by side.
pub(crate) fn beside(parts: &[&Small]) -> Small {
    let rows = parts.first().map_or(0, |part| part.nrows());
    let mut all = Small::zeros(rows, 0);
    for column in parts.iter().flat_map(|part| part.columns()) {
        all.push_column(column);
    }
    all
}

/// Some columns of a matrix.
pub(crate) fn columns(a: &Small, which: &[usize]) -> Small {
    let mut some = Small::zeros(a.nrows(), 0);
    for &col in which {
        some.push_column(a.column(col));
    }
    some
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_give_the_matrix_back() {
        let x =
            Small::from_fn(9, 9, |i, j| ((i * 7 + j * 3) % 11) as f64 - 5.0 + if i == j { 9.0 } else { 0.0 });
        let a = &x * x.transpose();
        let l = cholesky(&a, 1e-14).unwrap();
        assert!((&l * l.transpose() - &a).norm() < 1e-12 * a.norm());
        assert!((inverse_of_lower(&l) * &l - Small::identity(9, 9)).norm() < 1e-10);
        assert!((&a * solved(&l, &x) - &x).amax() < 1e-10 * x.amax());
        assert!(cholesky(&Small::filled(2, 2, 1.0), 1e-14).is_none());
        assert!(cholesky(&Small::filled(1, 1, f64::NAN), 0.0).is_none());
        assert!(cholesky(&Small::filled(1, 1, f64::INFINITY), 0.0).is_none());
    }

    #[test]
    fn blocks_are_put_together() {
        let (a, b) = (Small::from_rows(1, 2, &[1.0, 2.0]), Small::from_rows(2, 2, &[3.0, 4.0, 5.0, 6.0]));
        assert_eq!(stacked(&[&a, &b]), Small::from_rows(3, 2, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]));
        assert_eq!(beside(&[&b, &b]), Small::from_rows(2, 4, &[3.0, 4.0, 3.0, 4.0, 5.0, 6.0, 5.0, 6.0]));
        assert_eq!(columns(&b, &[1]), Small::from_rows(2, 1, &[4.0, 6.0]));
        assert_eq!(norms(&Small::from_rows(2, 2, &[4.0, 1.0, 1.0, 9.0])), [2.0, 3.0]);
    }
}
