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

    /// How far a sum of `terms` products, of total size `magnitude`, may be from the oracle's.
    ///
    /// γₙ(u) for the result and γₙ(u of f64) for the oracle, times the magnitude; a product that underflows loses
    /// up to one smallest number more. Where sums of that size pass the largest finite number, any number may come
    /// out, infinities included.
    pub fn bound(&self, terms: u64, magnitude: f64, error_factor: f64) -> f64 {
        if magnitude == 0.0 {
            return 0.0; // no term is anything but 0: nothing rounds
        }
        if magnitude > self.max {
            return f64::INFINITY;
        }
        let rounding = gamma(terms, self.unit_roundoff) * error_factor + gamma(terms, f64::UNIT_ROUNDOFF);
        // The magnitude is itself a computed sum: (1 + γ) covers its error.
        rounding * magnitude * (1.0 + rounding) + terms as f64 * self.smallest
    }
}

/// γₙ = n·u / (1 − n·u), infinite where n·u reaches 1 and the theory promises nothing.
fn gamma(terms: u64, unit_roundoff: f64) -> f64 {
    let nu = terms as f64 * unit_roundoff;
    if nu < 1.0 { nu / (1.0 - nu) } else { f64::INFINITY }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_grow_with_the_row_and_with_the_unit() {
        let (single, double) = (Precision::of::<f32>(), Precision::of::<f64>());
        assert!(double.bound(1, 1.0, 1.0) >= 2.0 * f64::EPSILON / 2.0);
        assert!(double.bound(100, 1.0, 1.0) > 99.0 * double.bound(1, 1.0, 1.0));
        assert!(single.bound(10, 1.0, 1.0) > 1e7 * double.bound(10, 1.0, 1.0));
        assert!(single.bound(10, 1.0, 3.0) > 2.9 * single.bound(10, 1.0, 1.0));
        assert_eq!(single.bound(5, 0.0, 1.0), 0.0);
        assert_eq!(single.bound(5, 1e39, 1.0), f64::INFINITY);
        assert_eq!(single.bound(1 << 24, 1.0, 1.0), f64::INFINITY);
    }

    #[test]
    fn underflow_is_allowed_for() {
        // 1e-30 · 1e-30 is 0 in f32: the error is the whole product.
        assert!(Precision::of::<f32>().bound(1, 1e-60, 1.0) > 1e-60);
    }
}
