//! When to stop sampling: a rule over plain numbers, so that it is tested without running anything.

use crate::sample::welford::Welford;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::time::Duration;

/// Why a series ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StopReason {
    /// As many samples as were asked for.
    Samples,
    /// The mean is known well enough.
    Precise,
    /// The time was up.
    Time,
    /// The time was up before the first sample: checking has used it. The runs of the check are the samples.
    Checked,
    /// More samples would not help: the machine is too noisy for the precision asked for.
    MaxSamples,
    /// The user interrupted; what was taken so far counts.
    Interrupted,
}

impl StopReason {
    /// The name in records: `samples`, `precise`, `time`, `checked`, `max-samples`, `interrupted`.
    pub fn name(self) -> &'static str {
        match self {
            StopReason::Samples => "samples",
            StopReason::Precise => "precise",
            StopReason::Time => "time",
            StopReason::Checked => "checked",
            StopReason::MaxSamples => "max-samples",
            StopReason::Interrupted => "interrupted",
        }
    }
}

impl fmt::Display for StopReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// How many samples to take. After every sample the first of these that holds ends the series:
///
/// 1. `samples`: a fixed count was asked for and is reached;
/// 2. `precise` (no fixed count, at least `min_samples`): standard error of the mean ≤ target · mean;
/// 3. `max-samples` (no fixed count): `max_samples` are reached;
/// 4. `time`: the time cap is passed. It counts all that happens in a series, warm-up, resets and cache flushes included, and
///    goes before `min_samples`: a run of a minute is not repeated ten times by surprise. What a check ran before counts too.
///
/// Precision stands before time because a series that was precise at the last moment was not cut short.
/// At least one sample is always taken.
///
/// ```
/// use ordito_bench::sample::{StopReason, StopRule, Welford};
/// let rule = StopRule::fixed(2);
/// let seen: Welford = [10.0, 30.0].into_iter().collect();
/// assert_eq!(rule.check(&seen, u64::MAX), Some(StopReason::Samples));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct StopRule {
    /// Runs before the first sample; fewer if they use up a quarter of the time, but at least one if any.
    pub warm_up: usize,
    /// `precise` needs at least so many.
    pub min_samples: usize,
    /// No more than this without a fixed count.
    pub max_samples: usize,
    /// Exactly so many, whatever the precision.
    pub fixed: Option<usize>,
    /// Standard error of the mean over the mean.
    pub target_relative_error: f64,
    /// Stop after this time; `None` means never.
    pub time_cap_ns: Option<u64>,
}

impl Default for StopRule {
    /// Until the mean is known to half a percent: 10 to 1000 samples, at most half a second.
    fn default() -> Self {
        StopRule {
            warm_up: 3,
            min_samples: 10,
            max_samples: 1000,
            fixed: None,
            target_relative_error: 0.005,
            time_cap_ns: Some(500_000_000),
        }
    }
}

impl StopRule {
    /// For suites of thousands of series on a device whose times differ by a percent: 10 to 30 samples, at most a
    /// twentieth of a second.
    pub fn brief() -> Self {
        StopRule { warm_up: 2, max_samples: 30, time_cap_ns: Some(50_000_000), ..StopRule::default() }
    }

    /// Exactly `samples`, however long they take.
    pub fn fixed(samples: usize) -> Self {
        StopRule { fixed: Some(samples), time_cap_ns: None, ..StopRule::default() }
    }

    /// What `--samples` and `--time` mean: a fixed count has a time cap only if one was given.
    pub fn from_options(samples: Option<usize>, time: Option<Duration>) -> Self {
        let mut rule = samples.map_or_else(StopRule::default, StopRule::fixed);
        if let Some(time) = time {
            rule.time_cap_ns = Some(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX));
        }
        rule
    }

    /// The most samples this rule takes.
    pub fn most_samples(&self) -> usize {
        self.fixed.unwrap_or(self.max_samples).max(1)
    }

    /// Should the series end, given the times so far and all the time that passed?
    pub fn check(&self, seen: &Welford, elapsed_ns: u64) -> Option<StopReason> {
        let count = usize::try_from(seen.count()).unwrap_or(usize::MAX);
        if count == 0 {
            return None;
        }
        match self.fixed {
            Some(fixed) if count >= fixed => return Some(StopReason::Samples),
            Some(_) => {}
            None => {
                let precise = seen.relative_error().is_some_and(|error| error <= self.target_relative_error);
                if precise && count >= self.min_samples {
                    return Some(StopReason::Precise);
                }
                if count >= self.max_samples {
                    return Some(StopReason::MaxSamples);
                }
            }
        }
        self.is_time_up(elapsed_ns).then_some(StopReason::Time)
    }

    /// Is the time cap passed?
    pub fn is_time_up(&self, elapsed_ns: u64) -> bool {
        self.time_cap_ns.is_some_and(|cap| elapsed_ns >= cap)
    }

    /// Should the warm-up end after `runs` runs that took `elapsed_ns` in all?
    pub fn is_warm(&self, runs: usize, elapsed_ns: u64) -> bool {
        let too_long = || self.time_cap_ns.is_some_and(|cap| elapsed_ns >= cap / 4);
        runs >= self.warm_up || (runs > 0 && too_long())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(times: impl IntoIterator<Item = f64>) -> Welford {
        times.into_iter().collect()
    }
    fn noisy(count: usize) -> Welford {
        seen((0..count).map(|i| if i % 2 == 0 { 1.0 } else { 100.0 }))
    }

    #[test]
    fn names_are_those_of_the_records() {
        for reason in [
            StopReason::Samples,
            StopReason::Precise,
            StopReason::Time,
            StopReason::Checked,
            StopReason::MaxSamples,
            StopReason::Interrupted,
        ] {
            assert_eq!(serde_json::to_string(&reason).unwrap(), format!("\"{reason}\""));
        }
    }

    #[test]
    fn equal_times_are_precise_once_there_are_enough() {
        let rule = StopRule::default();
        assert_eq!(rule.check(&seen(vec![5.0; 9]), 0), None);
        assert_eq!(rule.check(&seen(vec![5.0; 10]), 0), Some(StopReason::Precise));
    }

    #[test]
    fn noise_runs_to_the_limits() {
        let rule = StopRule { max_samples: 50, ..StopRule::default() };
        assert_eq!(rule.check(&noisy(49), 0), None);
        assert_eq!(rule.check(&noisy(50), 0), Some(StopReason::MaxSamples));
        assert_eq!(rule.check(&noisy(20), 499_999_999), None);
        assert_eq!(rule.check(&noisy(20), 500_000_000), Some(StopReason::Time));
    }

    #[test]
    fn time_goes_before_the_least_count_but_after_precision() {
        let rule = StopRule::default();
        assert_eq!(rule.check(&seen([6e10]), 60_000_000_000), Some(StopReason::Time));
        assert_eq!(rule.check(&seen(vec![5.0; 10]), u64::MAX), Some(StopReason::Precise));
        assert_eq!(rule.check(&Welford::new(), u64::MAX), None, "one sample at least");
    }

    #[test]
    fn a_fixed_count_ignores_precision_and_the_default_cap() {
        let rule = StopRule::from_options(Some(30), None);
        assert_eq!(rule.check(&seen(vec![5.0; 29]), u64::MAX), None);
        assert_eq!(rule.check(&seen(vec![5.0; 30]), 0), Some(StopReason::Samples));
        let rule = StopRule::from_options(Some(30), Some(Duration::from_secs(2)));
        assert_eq!(rule.check(&seen(vec![5.0; 29]), 2_000_000_000), Some(StopReason::Time));
        assert_eq!(StopRule::from_options(None, None), StopRule::default());
        assert_eq!(StopRule::fixed(0).check(&seen([1.0]), 0), Some(StopReason::Samples));
    }

    #[test]
    fn zero_times_are_never_precise() {
        // A clock too coarse for the run: 0 ± 0 is no knowledge.
        assert_eq!(StopRule::default().check(&seen(vec![0.0; 100]), 0), None);
    }

    #[test]
    fn long_runs_warm_up_once() {
        let rule = StopRule::default();
        assert!(!rule.is_warm(0, u64::MAX) && !rule.is_warm(2, 0) && rule.is_warm(3, 0));
        assert!(!rule.is_warm(1, 124_999_999) && rule.is_warm(1, 125_000_000));
        assert!(!StopRule::fixed(3).is_warm(1, u64::MAX));
        assert!(StopRule { warm_up: 0, ..rule }.is_warm(0, 0));
    }
}
