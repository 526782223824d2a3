//! What rounding may do to a result.

use ordito::Scalar;

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

    /// How far a sum may be from the oracle's, or why rounding theory promises nothing.
    ///
    /// γₙ(u) for the result and γₙ(u of f64) for the oracle, times the magnitude; a product that underflows loses
    /// up to one smallest number more, which a scaling by α may enlarge afterwards.
    pub fn bound(&self, sum: Sum, error_factor: f64) -> Result<f64, NoBound> {
        if sum.magnitude == 0.0 {
            return Ok(0.0); // no term is anything but 0: nothing rounds
        }
        // A small α shrinks what may have overflowed before.
        let before_scaling =
            if sum.amplification > 0.0 { sum.magnitude / sum.amplification.min(1.0) } else { sum.magnitude };
        if before_scaling.is_nan() || before_scaling > self.max {
            return Err(NoBound::MayOverflow);
        }
        let result = gamma(sum.terms, self.unit_roundoff)? * error_factor;
        let rounding = result + gamma(sum.oracle_terms, f64::UNIT_ROUNDOFF)?;
        let operations = (sum.elements as f64) * (sum.terms as f64);
        let underflow = operations * self.smallest * (1.0 + sum.amplification);
        // The magnitude is itself a computed sum: (1 + γ) covers its error.
        Ok(rounding * sum.magnitude * (1.0 + rounding) + underflow)
    }
}

/// Why no bound holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoBound {
    /// n·u reaches 1: every digit may be lost.
    TooManyTerms,
    /// Terms so large that a partial sum may overflow, to an infinity or, from two of them, to NaN.
    MayOverflow,
}

/// What an error bound depends on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sum {
    /// Elements of the result that are added up: 1, or a row of them in a projection.
    pub elements: u64,
    /// Rounded operations behind each of them.
    pub terms: u64,
    /// Rounded f64 operations behind the oracle's answer.
    pub oracle_terms: u64,
    /// Σ|a||x|.
    pub magnitude: f64,
    /// By what a term may be multiplied after it underflowed: |α|.
    pub amplification: f64,
}

/// γₙ = n·u / (1 − n·u).
fn gamma(terms: u64, unit_roundoff: f64) -> Result<f64, NoBound> {
    let nu = terms as f64 * unit_roundoff;
    if nu < 1.0 { Ok(nu / (1.0 - nu)) } else { Err(NoBound::TooManyTerms) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bound(precision: Precision, terms: u64, magnitude: f64, error_factor: f64) -> Result<f64, NoBound> {
        let sum = Sum { elements: 1, terms, oracle_terms: terms, magnitude, amplification: 1.0 };
        precision.bound(sum, error_factor)
    }

    #[test]
    fn bounds_grow_with_the_row_and_with_the_unit() {
        let (single, double) = (Precision::of::<f32>(), Precision::of::<f64>());
        assert!(bound(double, 1, 1.0, 1.0).unwrap() >= f64::EPSILON);
        assert!(bound(double, 100, 1.0, 1.0).unwrap() > 99.0 * bound(double, 1, 1.0, 1.0).unwrap());
        assert!(bound(single, 10, 1.0, 1.0).unwrap() > 1e7 * bound(double, 10, 1.0, 1.0).unwrap());
        assert!(bound(single, 10, 1.0, 3.0).unwrap() > 2.9 * bound(single, 10, 1.0, 1.0).unwrap());
        assert_eq!(bound(single, 5, 0.0, 1.0), Ok(0.0));
    }

    #[test]
    fn where_theory_ends_there_is_no_bound() {
        let single = Precision::of::<f32>();
        assert_eq!(bound(single, 5, 1e39, 1.0), Err(NoBound::MayOverflow));
        assert_eq!(bound(single, 1 << 24, 1.0, 1.0), Err(NoBound::TooManyTerms));
        let shrunk = Sum { elements: 1, terms: 5, oracle_terms: 5, magnitude: 1e9, amplification: 1e-30 };
        assert_eq!(single.bound(shrunk, 1.0), Err(NoBound::MayOverflow));
    }

    #[test]
    fn underflow_is_allowed_for() {
        // 1e-25 · 1e-25 is 0 in f32: the error is the whole product, also after it was scaled by α = 1e30.
        let single = Precision::of::<f32>();
        assert!(bound(single, 1, 1e-50, 1.0).unwrap() > 1e-50);
        let scaled = Sum { elements: 1, terms: 2, oracle_terms: 2, magnitude: 1e-20, amplification: 1e30 };
        assert!(single.bound(scaled, 1.0).unwrap() > 1e-20);
        let row = Sum { elements: 1000, terms: 1, oracle_terms: 2003, magnitude: 1e-42, amplification: 1.0 };
        assert!(single.bound(row, 1.0).unwrap() >= 1000.0 * <f32 as Scalar>::SMALLEST);
    }
}
