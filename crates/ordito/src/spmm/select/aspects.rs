//! What is asked about a product beside its price: corrections go by it (`corrections`).

use crate::Scalar;
use crate::spmm::analysis::shape::Shape;
use crate::spmm::cuda::fast::work::{TERMS, Terms};

/// What [`aspects`] are called, behind the terms of a price other than the launch.
const OTHERS: [&str; 9] = [
    "columns of X",
    "bytes of an element",
    "bytes of a row of X",
    "rows",
    "mean row",
    "longest row over the mean",
    "share of empty rows",
    "shared by 64 neighbours",
    "shared by gathered rows",
];
pub(super) const COUNT: usize = TERMS.len() - 1 + OTHERS.len();
pub(super) type Aspects = [f64; COUNT];

/// Their names.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    TERMS.into_iter().skip(1).chain(OTHERS)
}

/// Next to nothing, of which there is a logarithm.
const LEAST: f64 = 1e-3;

/// Logarithms, but for shares and bytes of an element.
pub(super) fn aspects<S: Scalar>(terms: &Terms, shape: &Shape, k: usize) -> Aspects {
    let (k, scalar_bytes, rows) = (k.max(1) as f64, size_of::<S>() as f64, shape.rows as f64);
    let mean = shape.mean();
    let others: [f64; OTHERS.len()] = [
        k.log2(),
        scalar_bytes,
        (k * scalar_bytes).log2(),
        (rows + 1.0).log2(),
        (mean + 0.01).log2(),
        ((shape.work.longest as f64 + 1.0) / (mean + 0.1)).log2(),
        shape.work.empty as f64 / rows.max(1.0),
        shape.near,
        shape.gathered.shared,
    ];
    let mut all = [0.0; COUNT];
    let terms = terms.iter().skip(1).map(|term| term.max(LEAST).log2());
    all.iter_mut().zip(terms.chain(others)).for_each(|(aspect, value)| *aspect = value);
    all
}
