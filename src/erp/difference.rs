//! Target less nontarget, and whether that is more than chance.

use super::{Condition, PermutationTest, Recording, field_power};
use crate::sample::student_t;
use serde::Serialize;

/// The difference wave of two conditions whose epochs are independent and may differ in number and variance. All waves are
/// sensor-major, sensors × samples.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Difference {
    /// Mean of the first condition less that of the second.
    #[serde(skip)]
    pub mean: Vec<f64>,
    /// Its standard error: √(SEM₁² + SEM₂²).
    #[serde(skip)]
    pub sem: Vec<f64>,
    /// Half of its 95 % band: its standard error times Student's quantile.
    #[serde(skip)]
    pub half_width: Vec<f64>,
    /// Welch's t: mean / standard error. NaN where both conditions do not vary at all.
    #[serde(skip)]
    pub t: Vec<f64>,
    /// Welch and Satterthwaite's degrees of freedom.
    #[serde(skip)]
    pub degrees: Vec<f64>,
    /// Global field power of the difference wave.
    #[serde(skip)]
    pub field_power: Vec<f64>,
    /// The permutation test, if one was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub permutations: Option<PermutationTest>,
}

impl Difference {
    /// `first` less `second`.
    pub fn new(recording: &Recording, first: &Condition, second: &Condition) -> Self {
        let pairs = |a: &'_ [f64], b: &'_ [f64], of: fn(f64, f64) -> f64| -> Vec<f64> {
            a.iter().zip(b).map(|(&a, &b)| of(a, b)).collect()
        };
        let mean = pairs(&first.mean, &second.mean, |a, b| a - b);
        let sem = pairs(&first.sem, &second.sem, f64::hypot);
        let t = pairs(&mean, &sem, |mean, sem| if sem > 0.0 { mean / sem } else { f64::NAN });
        let (n1, n2) = (first.kept as f64, second.kept as f64);
        let welch_satterthwaite = |(&a, &b): (&f64, &f64)| {
            // Of the share that the first has in the whole: the fourth powers of small numbers would vanish.
            let share = a * a / (a * a + b * b);
            1.0 / (share * share / (n1 - 1.0) + (1.0 - share) * (1.0 - share) / (n2 - 1.0))
        };
        let degrees: Vec<f64> = first.sem.iter().zip(&second.sem).map(welch_satterthwaite).collect();
        let half_width = sem.iter().zip(&degrees).map(|(sem, &degrees)| sem * student_t(degrees)).collect();
        let field_power = field_power(recording, &mean);
        Difference { mean, sem, half_width, t, degrees, field_power, permutations: None }
    }
}
