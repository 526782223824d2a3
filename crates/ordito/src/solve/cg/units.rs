//! Units of right-hand sides: with them, squares neither overflow nor vanish.

use crate::Scalar;
use crate::matrix::DenseView;
use crate::solve::error::SolveError;
use crate::solve::shared::{BetweenRanks, largest};

/// Of each column the power of two below its largest number; 1 where all are 0.
pub(super) fn units<S: Scalar>(
    b: DenseView<'_, S>,
    ranks: Option<&dyn BetweenRanks>,
) -> Result<Vec<f64>, SolveError> {
    let mut sizes = vec![0.0_f64; b.cols()];
    for row in 0..b.rows() {
        for (largest, b) in sizes.iter_mut().zip(b.row(row)) {
            // A NaN must not be lost.
            let size = b.to_f64().abs();
            *largest = if size <= *largest { *largest } else { size };
        }
    }
    if let Some(ranks) = ranks {
        largest(ranks, &mut sizes)?;
    }
    units_of(sizes, most_of::<S>())
}

/// The largest power of two that is, as 1 divided by it, a normal number of S.
pub(super) fn most_of<S: Scalar>() -> i32 {
    if S::EPSILON > 1e-10 { 120 } else { 1000 }
}

pub(super) fn units_of(sizes: Vec<f64>, most: i32) -> Result<Vec<f64>, SolveError> {
    if sizes.iter().any(|size| !size.is_finite()) {
        return Err(SolveError::NotFinite("the right-hand side"));
    }
    let power = |size: f64| 2f64.powi((size.log2().floor() as i32).clamp(-most, most));
    Ok(sizes.into_iter().map(|size| if size > 0.0 { power(size) } else { 1.0 }).collect())
}
