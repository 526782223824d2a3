//! Target less nontarget, and whether that is more than chance.

use crate::condition::Condition;
use crate::field_power;
use crate::recording::Recording;
use crate::significance::PermutationTest;
use ordito::column_stats::student_t;

/// The difference wave of two conditions whose epochs are independent and may differ in number and variance. All waves are
/// sensor-major, sensors × samples.
#[derive(Debug, Clone, PartialEq)]
pub struct Difference {
    /// Mean of the first condition less that of the second.
    pub mean: Vec<f64>,
    /// Its standard error: √(SEM₁² + SEM₂²).
    pub sem: Vec<f64>,
    /// Half of its 95 % band: its standard error times Student's quantile.
    pub half_width: Vec<f64>,
    /// Welch's t: mean / standard error. NaN where both conditions do not vary at all.
    pub t: Vec<f64>,
    /// Welch and Satterthwaite's degrees of freedom.
    pub degrees: Vec<f64>,
    /// Global field power of the difference wave.
    pub field_power: Vec<f64>,
    /// The permutation test, if one was asked for.
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
        let least = n1.min(n2) - 1.0;
        let welch_satterthwaite = |(&a, &b): (&f64, &f64)| {
            // Of the share that the first has in the whole, from their ratio: the powers of small numbers would vanish.
            let share = match (a > 0.0, b > 0.0) {
                (true, _) => 1.0 / (1.0 + (b / a) * (b / a)),
                (false, true) => 0.0,
                (false, false) => f64::NAN,
            };
            let degrees = 1.0 / (share * share / (n1 - 1.0) + (1.0 - share) * (1.0 - share) / (n2 - 1.0));
            // Never less than the smaller condition has, but for rounding. What is no number stays none.
            if degrees < least { least } else { degrees }
        };
        let degrees: Vec<f64> = first.sem.iter().zip(&second.sem).map(welch_satterthwaite).collect();
        let half_width = sem.iter().zip(&degrees).map(|(sem, &degrees)| sem * student_t(degrees)).collect();
        let field_power = field_power(recording, &mean);
        Difference { mean, sem, half_width, t, degrees, field_power, permutations: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ordito::column_stats::Statistics;

    fn condition(recording: &Recording, epochs: &[[f64; 2]]) -> Condition {
        let mut statistics = Statistics::empty(2);
        for epoch in epochs {
            let (mean, variance) = (epoch.to_vec(), vec![f64::NAN; 2]);
            let one = Statistics { count: 1, mean: mean.clone(), variance, min: mean.clone(), max: mean };
            statistics.merge(&one);
        }
        Condition::new("c", recording, &[0, 1], &statistics, epochs.len(), Vec::new())
    }

    fn close(found: &[f64], expected: [f64; 2]) {
        let near = found.iter().zip(expected).all(|(a, b)| (a - b).abs() <= 1e-13 * b.abs());
        assert!(near, "{found:?}, {expected:?} expected");
    }

    #[test]
    fn means_errors_and_t_are_numpys() {
        let sensors = vec!["A".to_string()];
        let recording = Recording { sensors, samples: 2, rate_hz: 1.0, start_s: 0.0, unit: String::new() };
        let a = condition(&recording, &[[1.0, 2.0], [2.0, 4.0], [4.0, 9.5]]);
        let b = condition(&recording, &[[0.5, 3.0], [1.5, 3.5], [2.0, 1.0], [3.25, 8.0]]);
        // a.std(axis=0, ddof=1) / numpy.sqrt(len(a))
        close(&a.sem, [0.8819171036881969, 2.242270674512285]);
        close(&b.sem, [0.5716842805838435, 1.4772581584363196]);
        let difference = Difference::new(&recording, &a, &b);
        // With va = a.var(axis=0, ddof=1) / 3 and vb = b.var(axis=0, ddof=1) / 4:
        // (a.mean(axis=0) - b.mean(axis=0)) / numpy.sqrt(va + vb), (va + vb)**2 / (va**2 / 2 + vb**2 / 3)
        close(&difference.t, [0.49555985287345544, 0.4810394876544752]);
        close(&difference.degrees, [3.609104358267838, 3.6540416275872656]);
        assert!((difference.half_width[0] / difference.sem[0] - student_t(3.609104358267838)).abs() < 1e-12);
        assert!((a.half_width[0] / a.sem[0] - 4.302653).abs() < 1e-5);
    }

    #[test]
    fn two_epochs_have_a_band() {
        let sensors = vec!["A".to_string()];
        let recording = Recording { sensors, samples: 2, rate_hz: 1.0, start_s: 0.0, unit: String::new() };
        // All of the variance, or all but a rounding error, is that of two epochs: one degree of freedom.
        let two = condition(&recording, &[[0.0, 0.1], [1.0, 0.7]]);
        let many = condition(&recording, &[[2.0, 2.0], [2.0, 2.0 + 1e-9], [2.0, 2.0]]);
        let difference = Difference::new(&recording, &two, &many);
        assert!(difference.degrees.iter().all(|degrees| *degrees >= 1.0), "{:?}", difference.degrees);
        assert!(difference.half_width.iter().all(|half| half.is_finite()), "{:?}", difference.half_width);
    }

    #[test]
    fn what_does_not_vary_has_no_t() {
        let sensors = vec!["A".to_string()];
        let recording = Recording { sensors, samples: 2, rate_hz: 1.0, start_s: 0.0, unit: String::new() };
        let same = condition(&recording, &[[1.0, 1.0], [1.0, 2.0]]);
        let difference = Difference::new(&recording, &same, &same);
        assert!(difference.t[0].is_nan() && difference.t[1] == 0.0, "{:?}", difference.t);
    }
}
