//! Mean and variance in one pass, by Welford's recurrence: no sum of squares whose digits cancel.

/// Running count, mean, variance (n − 1), minimum and maximum.
///
/// ```
/// use ordito_bench::sample::Welford;
/// let times: Welford = [2.0, 4.0, 9.0].into_iter().collect();
/// assert_eq!((times.mean(), times.variance()), (Some(5.0), Some(13.0)));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Welford {
    count: u64,
    mean: f64,
    /// Sum of squared distances from the mean.
    squares: f64,
    min: f64,
    max: f64,
}

impl Welford {
    /// Nothing seen yet.
    pub fn new() -> Self {
        Welford::default()
    }

    /// Takes one value.
    pub fn push(&mut self, value: f64) {
        self.count += 1;
        let distance = value - self.mean;
        self.mean += distance / self.count as f64;
        self.squares += distance * (value - self.mean);
        (self.min, self.max) =
            if self.count == 1 { (value, value) } else { (self.min.min(value), self.max.max(value)) };
    }

    /// As if every value of `other` had been pushed too (Chan, Golub and LeVeque).
    pub fn merge(&mut self, other: &Welford) {
        if other.count == 0 {
            return;
        }
        if self.count == 0 {
            *self = *other;
            return;
        }
        let (ours, theirs) = (self.count as f64, other.count as f64);
        let distance = other.mean - self.mean;
        self.count += other.count;
        self.mean += distance * (theirs / (ours + theirs));
        self.squares += other.squares + distance * distance * (ours * theirs / (ours + theirs));
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }

    /// How many values were seen.
    pub fn count(&self) -> u64 {
        self.count
    }
    /// Their mean; `None` before the first.
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then_some(self.mean)
    }
    /// Smallest value.
    pub fn min(&self) -> Option<f64> {
        (self.count > 0).then_some(self.min)
    }
    /// Largest value.
    pub fn max(&self) -> Option<f64> {
        (self.count > 0).then_some(self.max)
    }
    /// Unbiased variance; `None` before the second value.
    pub fn variance(&self) -> Option<f64> {
        (self.count > 1).then(|| self.squares / (self.count - 1) as f64)
    }
    /// Square root of the variance.
    pub fn stddev(&self) -> Option<f64> {
        self.variance().map(f64::sqrt)
    }
    /// Standard error of the mean: how far the mean of so many values strays.
    pub fn standard_error(&self) -> Option<f64> {
        self.stddev().map(|stddev| stddev / (self.count as f64).sqrt())
    }
    /// Standard error over the mean; `None` where the mean is not positive, since it then says nothing.
    pub fn relative_error(&self) -> Option<f64> {
        let error = self.standard_error()?;
        (self.mean > 0.0).then(|| error / self.mean)
    }
}

impl Extend<f64> for Welford {
    fn extend<I: IntoIterator<Item = f64>>(&mut self, values: I) {
        values.into_iter().for_each(|value| self.push(value));
    }
}

impl FromIterator<f64> for Welford {
    fn from_iter<I: IntoIterator<Item = f64>>(values: I) -> Self {
        let mut seen = Welford::new();
        seen.extend(values);
        seen
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arbtest::arbitrary::{Result, Unstructured};
    use arbtest::arbtest;

    fn two_pass(values: &[f64]) -> (f64, f64) {
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let squares: f64 = values.iter().map(|v| (v - mean) * (v - mean)).sum();
        (mean, squares / (values.len() - 1) as f64)
    }

    #[test]
    fn a_large_offset_costs_no_digits() {
        // The textbook's Σx² − (Σx)²/n has no correct digit here: 1e9² leaves 0.03 as the last digit's worth.
        let values: Vec<f64> = (0..1000).map(|i| 1e9 + f64::from(i % 7) * 0.125).collect();
        let seen: Welford = values.iter().copied().collect();
        let (mean, variance) = two_pass(&values);
        assert!((seen.mean().unwrap() - mean).abs() <= 1e-15 * mean);
        assert!((seen.variance().unwrap() - variance).abs() <= 1e-6 * variance, "{seen:?} {variance}");
        assert_eq!((seen.min(), seen.max()), (Some(1e9), Some(1e9 + 0.75)));
    }

    #[test]
    fn little_data_gives_little() {
        let mut seen = Welford::new();
        assert_eq!((seen.mean(), seen.min(), seen.max(), seen.variance()), (None, None, None, None));
        seen.push(-3.0);
        assert_eq!((seen.mean(), seen.min(), seen.max()), (Some(-3.0), Some(-3.0), Some(-3.0)));
        assert_eq!((seen.stddev(), seen.relative_error()), (None, None));
        seen.push(-3.0);
        assert_eq!((seen.stddev(), seen.relative_error()), (Some(0.0), None));
    }

    #[test]
    fn standard_error_falls_with_the_root_of_the_count() {
        let seen: Welford = [9.0, 11.0, 9.0, 11.0].into_iter().collect();
        assert!((seen.standard_error().unwrap() - (4.0f64 / 3.0).sqrt() / 2.0).abs() < 1e-15);
        assert!((seen.relative_error().unwrap() - seen.standard_error().unwrap() / 10.0).abs() < 1e-15);
    }

    /// A few numbers between -1e6 and 1e6.
    fn values(u: &mut Unstructured<'_>) -> Result<Vec<f64>> {
        let count = u.int_in_range(0..=29)?;
        (0..count).map(|_| Ok(u.arbitrary::<i64>()? as f64 / i64::MAX as f64 * 1e6)).collect()
    }

    #[test]
    fn merging_is_pushing() {
        arbtest(|u| {
            let (left, right) = (values(u)?, values(u)?);
            let mut merged: Welford = left.iter().copied().collect();
            merged.merge(&right.iter().copied().collect());
            let pushed: Welford = left.iter().chain(&right).copied().collect();
            assert_eq!(merged.count(), pushed.count());
            assert_eq!((merged.min(), merged.max()), (pushed.min(), pushed.max()));
            let close = |a: Option<f64>, b: Option<f64>, scale: f64| match (a, b) {
                (Some(a), Some(b)) => (a - b).abs() <= 1e-11 * scale,
                (None, None) => true,
                _ => false,
            };
            assert!(close(merged.mean(), pushed.mean(), 1e6), "{left:?} {right:?}");
            assert!(close(merged.variance(), pushed.variance(), 1e12), "{left:?} {right:?}");
            Ok(())
        })
        // The longest case takes 466 bytes; behind the last, all draws are zero.
        .size_min(512)
        .size_max(512);
    }
}
