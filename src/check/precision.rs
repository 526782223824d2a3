//! What rounding may do to a result.

use crate::Scalar;

/// The facts about a number type that error bounds need.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Precision {
    /// u, the largest relative error of one operation.
    pub unit_roundoff: f64,
    /// ε = 2u, the unit in which errors are shown.
    pub epsilon: f64,
    /// The most one underflowing operation loses.
    pub smallest: f64,
    /// Largest finite number.
    pub max: f64,
}

impl Precision {
    /// Of a scalar type.
    pub fn of<S: Scalar>() -> Self {
        Precision { unit_roundoff: S::UNIT_ROUNDOFF, epsilon: S::EPSILON, smallest: S::SMALLEST, max: S::MAX }
    }

    /// How far a sum may be from the oracle's, or `None` where rounding theory promises nothing: a sum so long
    /// that n·u reaches 1, or terms so large that a partial sum may overflow.
    ///
    /// γₙ(u) for the result and γₙ(u of f64) for the oracle, times the magnitude; a product that underflows loses
    /// up to one smallest number more, which a scaling by α may enlarge afterwards.
    pub fn bound(&self, sum: Sum, error_factor: f64) -> Option<f64> {
        if sum.magnitude == 0.0 {
            return Some(0.0); // no term is anything but 0: nothing rounds
        }
        let result = gamma(sum.terms, self.unit_roundoff)? * error_factor;
        let rounding = result + gamma(sum.oracle_terms, f64::UNIT_ROUNDOFF)?;
        let underflow = sum.terms as f64 * self.smallest * (1.0 + sum.amplification);
        // The magnitude is itself a computed sum: (1 + γ) covers its error.
        let bound = rounding * sum.magnitude * (1.0 + rounding) + underflow;
        (sum.magnitude <= self.max).then_some(bound)
    }
}

/// What an error bound depends on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sum {
    /// Rounded operations behind the result.
    pub terms: u64,
    /// Rounded f64 operations behind the oracle's answer.
    pub oracle_terms: u64,
    /// Σ|a||x|.
    pub magnitude: f64,
    /// By what a term may be multiplied after it underflowed: |α|.
    pub amplification: f64,
}

/// γₙ = n·u / (1 − n·u); `None` where n·u reaches 1.
fn gamma(terms: u64, unit_roundoff: f64) -> Option<f64> {
    let nu = terms as f64 * unit_roundoff;
    (nu < 1.0).then(|| nu / (1.0 - nu))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bound(precision: Precision, terms: u64, magnitude: f64, error_factor: f64) -> Option<f64> {
        let sum = Sum { terms, oracle_terms: terms, magnitude, amplification: 1.0 };
        precision.bound(sum, error_factor)
    }

    #[test]
    fn bounds_grow_with_the_row_and_with_the_unit() {
        let (single, double) = (Precision::of::<f32>(), Precision::of::<f64>());
        assert!(bound(double, 1, 1.0, 1.0).unwrap() >= f64::EPSILON);
        assert!(bound(double, 100, 1.0, 1.0).unwrap() > 99.0 * bound(double, 1, 1.0, 1.0).unwrap());
        assert!(bound(single, 10, 1.0, 1.0).unwrap() > 1e7 * bound(double, 10, 1.0, 1.0).unwrap());
        assert!(bound(single, 10, 1.0, 3.0).unwrap() > 2.9 * bound(single, 10, 1.0, 1.0).unwrap());
        assert_eq!(bound(single, 5, 0.0, 1.0), Some(0.0));
    }

    #[test]
    fn where_theory_ends_there_is_no_bound() {
        let single = Precision::of::<f32>();
        assert_eq!(bound(single, 5, 1e39, 1.0), None);
        assert_eq!(bound(single, 1 << 24, 1.0, 1.0), None);
    }

    #[test]
    fn underflow_is_allowed_for() {
        // 1e-25 · 1e-25 is 0 in f32: the error is the whole product, also after it was scaled by α = 1e30.
        let single = Precision::of::<f32>();
        assert!(bound(single, 1, 1e-50, 1.0).unwrap() > 1e-50);
        let scaled = Sum { terms: 2, oracle_terms: 2, magnitude: 1e-20, amplification: 1e30 };
        assert!(single.bound(scaled, 1.0).unwrap() > 1e-20);
    }
}
