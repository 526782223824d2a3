//! Jacobi's preconditioner.

use ordito::Scalar;
use ordito::matrix::Csr;

/// 1/aᵢᵢ, all of which must be positive.
pub(crate) fn inverse_diagonal<S: Scalar>(a: &Csr<S>, name: &str) -> anyhow::Result<Vec<S>> {
    let inverse = |row: usize| {
        let entry = a.row(row).find(|&(col, _)| col == row).map_or(0.0, |(_, value)| value.to_f64());
        let number = row + 1;
        anyhow::ensure!(
            entry > 0.0 && entry.is_finite(),
            "{name}: --jacobi needs a positive diagonal, and entry ({number}, {number}), counted from 1, is {entry}"
        );
        Ok(S::from_f64(1.0 / entry))
    };
    (0..a.rows()).map(inverse).collect()
}
