//! The small matrix PᵀAP: is A symmetric and positive along P, and how long may a step be?

use crate::Scalar;
use crate::solve::error::SolveError;
use crate::solve::small::{Small, norms, symmetric_eigen};

pub(super) fn symmetric(a: &Small) -> Small {
    (a + a.transpose()) * 0.5
}

/// `h` is PᵀAP; an element cannot be larger than the lengths of both columns of P and the size of A allow.
pub(super) fn check_symmetry<S: Scalar>(
    h: &Small,
    lengths: &[f64],
    size_of_a: f64,
) -> Result<(), SolveError> {
    let part = |i: usize, j: usize| (h[(i, j)] - h[(j, i)]).abs() / (lengths[i] * lengths[j] * size_of_a);
    let worst = (0..h.nrows()).flat_map(|i| (0..i).map(move |j| part(i, j))).fold(0.0, f64::max);
    if worst <= S::EPSILON.sqrt() {
        return Ok(());
    }
    Err(SolveError::Unsuited(format!(
        "conjugate gradients need a symmetric matrix: p·Aq and q·Ap differ by {worst:.1e} of what they could be"
    )))
}

/// H⁻¹·G where H is positive, 0 where it is 0 but for rounding; an error where it is negative. H is PᵀAP, `gram` PᵀP, and what is
/// `least` times as long is rounding.
pub(super) fn solved_where_positive(
    h: &Small,
    g: &Small,
    gram: &Small,
    least: f64,
) -> Result<Small, SolveError> {
    let lengths = norms(gram);
    let n = h.nrows();
    let scale = Small::diagonal(
        &lengths.iter().map(|length| if *length > 0.0 { 1.0 / length } else { 0.0 }).collect::<Vec<_>>(),
    );
    let eigen = symmetric_eigen(&(&scale * h * &scale), "PᵀAP")?;
    if let Some(value) = eigen.values.first().filter(|value| **value < -least * n as f64) {
        return Err(SolveError::Unsuited(format!(
            "conjugate gradients need a positive definite matrix: there is a direction p with p·Ap = {value:.1e}·p·p"
        )));
    }
    let inverse: Vec<f64> =
        eigen.values.iter().map(|value| if *value > least { 1.0 / value } else { 0.0 }).collect();
    Ok(&scale * &eigen.vectors * Small::diagonal(&inverse) * eigen.vectors.transpose() * &scale * g)
}
