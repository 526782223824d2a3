//! What is known of the rows of a matrix: what a choice of variants can be based on, cheaper than a product.

#[cfg(any(feature = "cuda", feature = "emulator"))]
pub(crate) mod diagonals;
#[cfg(any(feature = "cuda", feature = "emulator"))]
pub(crate) mod gathered;
pub(crate) mod neighbours;
pub(crate) mod reuse;
pub(crate) mod row_work;
#[cfg(any(feature = "cuda", feature = "emulator"))]
pub(crate) mod shape;
#[cfg(any(feature = "cuda", feature = "emulator"))]
pub(crate) mod together;
pub(crate) mod x_fetches;

use crate::Scalar;
use crate::matrix::Csr;

/// What a choice of variants on the CPU can be based on, by name: cheaper than a product. For those who fit a rule to measurements.
pub fn statistics<S: Scalar>(a: &Csr<S>) -> Vec<(&'static str, f64)> {
    let (work, like) = (row_work::RowWork::of(a.pattern().offsets()), neighbours::Neighbours::of(a));
    let (rows, nonzeros) = (a.rows() as f64, a.nnz() as f64);
    vec![
        ("rows", rows),
        ("cols", a.cols() as f64),
        ("nonzeros", nonzeros),
        ("mean_length", nonzeros / rows.max(1.0)),
        ("longest", work.longest as f64),
        ("padded", work.padded_to(8) / nonzeros.max(1.0)),
        ("reuse", reuse::reuse(a)),
        ("same_columns", like.same_columns),
        ("length_changes", like.length_changes),
        ("diagonals_of_8", like.diagonals_of_8),
        ("diagonals_of_16", like.diagonals_of_16),
        ("span", like.span),
    ]
}
