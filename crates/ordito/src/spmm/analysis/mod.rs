//! What is known of the rows of a matrix: what a choice of variants can be based on, cheaper than a product.

#[cfg(any(feature = "cuda", feature = "emulator"))]
pub(crate) mod gathered;
pub(crate) mod neighbours;
pub(crate) mod reuse;
pub(crate) mod shape;
pub(crate) mod x_fetches;

use crate::Scalar;
use crate::matrix::Csr;

/// What a choice of variants can be based on, by name: cheaper than a product. For those who fit a rule to measurements.
pub fn statistics<S: Scalar>(a: &Csr<S>) -> Vec<(&'static str, f64)> {
    let (shape, like) = (shape::Shape::of(a), neighbours::Neighbours::of(a));
    vec![
        ("rows", a.rows() as f64),
        ("cols", a.cols() as f64),
        ("nonzeros", a.nnz() as f64),
        ("mean_length", shape.mean),
        ("longest", shape.longest as f64),
        ("padded", shape.padded),
        ("reuse", shape.reuse),
        ("same_columns", like.same_columns),
        ("length_changes", like.length_changes),
        ("diagonals_of_8", like.diagonals_of_8),
        ("diagonals_of_16", like.diagonals_of_16),
        ("span", like.span),
    ]
}
