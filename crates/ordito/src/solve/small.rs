//! Problems of as many rows as a block has columns, on the host.

use crate::solve::error::SolveError;
use nalgebra::{Cholesky, DMatrix, DVector, SymmetricEigen};

/// Sweeps of the eigensolver for each row at most; it needs two or three.
const SWEEPS_PER_ROW: usize = 60;

/// Eigenvalues in rising order, and their vectors.
pub(crate) struct Eigen {
    pub(crate) values: Vec<f64>,
    pub(crate) vectors: DMatrix<f64>,
}

/// Of a symmetric matrix; only nearly so is made so.
pub(crate) fn symmetric_eigen(a: &DMatrix<f64>, what: &'static str) -> Result<Eigen, SolveError> {
    let n = a.nrows();
    if a.iter().any(|x| !x.is_finite()) {
        return Err(SolveError::NotFinite(what));
    }
    if n == 0 {
        return Ok(Eigen { values: Vec::new(), vectors: DMatrix::zeros(0, 0) });
    }
    // Numbers whose squares overflow are scaled, by a power of two.
    let size = a.iter().fold(0.0_f64, |size, x| size.max(x.abs()));
    let unit = if (1e-100..1e100).contains(&size) || size == 0.0 {
        1.0
    } else {
        2f64.powi(size.log2().floor() as i32)
    };
    let scaled = DMatrix::from_fn(n, n, |i, j| 0.5 * (a[(i, j)] / unit + a[(j, i)] / unit));
    let found = SymmetricEigen::try_new(scaled, f64::EPSILON, SWEEPS_PER_ROW * n.max(4))
        .ok_or_else(|| SolveError::Unsuited(format!("a dense eigenproblem of {n} rows did not converge")))?;
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&i, &j| found.eigenvalues[i].total_cmp(&found.eigenvalues[j]));
    let values = order.iter().map(|&i| found.eigenvalues[i] * unit).collect();
    let vectors = DMatrix::from_fn(n, n, |row, col| found.eigenvectors[(row, order[col])]);
    Ok(Eigen { values, vectors })
}

/// Refuses numbers whose squares, norms of residuals, would be 0 or infinite.
pub(crate) fn check_scale(largest: f64) -> Result<(), SolveError> {
    if largest == 0.0 || (1e-130..1e130).contains(&largest) {
        return Ok(());
    }
    Err(SolveError::Unsuited(format!(
        "numbers of about {largest:.0e}: norms of residuals could not be told from 0 or infinity; scale the matrix"
    )))
}

/// L of LLᵀ = A; `None` where a pivot is not larger than `least` times its diagonal: A is not positive definite enough.
pub(crate) fn cholesky(a: &DMatrix<f64>, least: f64) -> Option<DMatrix<f64>> {
    let l = Cholesky::new(a.clone())?.unpack();
    let is_good = |i: usize| l[(i, i)].is_finite() && l[(i, i)].powi(2) > least * a[(i, i)].abs();
    (0..a.nrows()).all(is_good).then_some(l)
}

/// L⁻¹ of a lower triangle without zeros on its diagonal.
pub(crate) fn inverse_of_lower(l: &DMatrix<f64>) -> DMatrix<f64> {
    let mut inverse = DMatrix::identity(l.nrows(), l.nrows());
    l.solve_lower_triangular_mut(&mut inverse);
    inverse
}

/// X of AX = B, for A = LLᵀ.
pub(crate) fn solved(l: &DMatrix<f64>, b: &DMatrix<f64>) -> DMatrix<f64> {
    let inverse = inverse_of_lower(l);
    inverse.transpose() * (inverse * b)
}

/// Norms of columns.
pub(crate) fn column_norms(a: &DMatrix<f64>) -> Vec<f64> {
    a.column_iter().map(|column| column.norm()).collect()
}

/// Square roots of the diagonal: norms of columns, of their Gram matrix.
pub(crate) fn norms(gram: &DMatrix<f64>) -> Vec<f64> {
    gram.diagonal().iter().map(|square| square.max(0.0).sqrt()).collect()
}

pub(crate) fn diagonal(numbers: &[f64]) -> DMatrix<f64> {
    DMatrix::from_diagonal(&DVector::from_column_slice(numbers))
}

/// Blocks of rows above each other.
pub(crate) fn stacked(parts: &[&DMatrix<f64>]) -> DMatrix<f64> {
    let cols = parts.first().map_or(0, |part| part.ncols());
    let mut all = DMatrix::zeros(parts.iter().map(|part| part.nrows()).sum(), cols);
    let mut row = 0;
    for part in parts {
        all.view_mut((row, 0), (part.nrows(), cols)).copy_from(part);
        row += part.nrows();
    }
    all
}

/// Columns side by side.
pub(crate) fn beside(parts: &[&DMatrix<f64>]) -> DMatrix<f64> {
    let rows = parts.first().map_or(0, |part| part.nrows());
    let mut all = DMatrix::zeros(rows, parts.iter().map(|part| part.ncols()).sum());
    let mut col = 0;
    for part in parts {
        all.view_mut((0, col), (rows, part.ncols())).copy_from(part);
        col += part.ncols();
    }
    all
}

/// Some columns of a matrix.
pub(crate) fn columns(a: &DMatrix<f64>, which: &[usize]) -> DMatrix<f64> {
    DMatrix::from_fn(a.nrows(), which.len(), |row, col| a[(row, which[col])])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example(n: usize) -> DMatrix<f64> {
        let x = DMatrix::from_fn(n, n, |i, j| {
            ((i * 7 + j * 3) % 11) as f64 - 5.0 + if i == j { 9.0 } else { 0.0 }
        });
        &x * x.transpose()
    }

    #[test]
    fn factors_give_the_matrix_back() {
        let a = example(9);
        let l = cholesky(&a, 1e-14).unwrap();
        assert!((&l * l.transpose() - &a).norm() < 1e-12 * a.norm());
        assert!((inverse_of_lower(&l) * &l - DMatrix::identity(9, 9)).norm() < 1e-10);
        assert!(cholesky(&DMatrix::from_row_slice(2, 2, &[1.0, 1.0, 1.0, 1.0]), 1e-14).is_none());
        assert!(cholesky(&DMatrix::from_row_slice(1, 1, &[f64::NAN]), 0.0).is_none());
    }

    #[test]
    fn eigenvalues_rise_and_vectors_belong_to_them() {
        for unit in [1.0, 1e200, 1e-200] {
            let a = example(12) * unit;
            let Eigen { values, vectors } = symmetric_eigen(&a, "A").unwrap();
            assert!(values.is_sorted());
            assert!((&a * &vectors - &vectors * diagonal(&values)).amax() < 1e-11 * a.amax());
        }
        assert!(symmetric_eigen(&DMatrix::zeros(0, 0), "A").unwrap().values.is_empty());
        let error = symmetric_eigen(&DMatrix::from_row_slice(1, 1, &[f64::NAN]), "A").err().unwrap();
        assert!(error.to_string().starts_with("A is not finite"));
    }
}
