//! Jacobi's preconditioner.

use ordito::Scalar;
use ordito::matrix::Csr;

/// 1/aᵢᵢ, all of which must be positive.
pub(crate) fn inverse_diagonal<S: Scalar>(a: &Csr<S>, name: &str) -> anyhow::Result<Vec<S>> {
    let entry = |row: usize| a.row(row).find(|&(col, _)| col == row).map(|(_, value)| value);
    (0..a.rows()).map(|row| inverse(entry(row), row as u64, name)).collect()
}

/// 1 over the diagonal entry of this row, if it has one.
pub(crate) fn inverse<S: Scalar>(entry: Option<S>, row: u64, name: &str) -> anyhow::Result<S> {
    let (entry, number) = (entry.map_or(0.0, S::to_f64), row + 1);
    anyhow::ensure!(
        entry > 0.0 && entry.is_finite(),
        "{name}: --jacobi needs a positive diagonal, and entry ({number}, {number}), counted from 1, is {entry}"
    );
    Ok(S::from_f64(1.0 / entry))
}
