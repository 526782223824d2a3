//! Single samples, for those who want more than their mean.

use crate::sample::Samples;
use serde::{Deserialize, Serialize};

/// One run that was timed.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct OneRun {
    /// When it began, in nanoseconds since 1970; absent for runs of the check.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub start_ns: Option<u64>,
    /// How long it took.
    pub time_ns: f64,
}

impl OneRun {
    /// Those of a series, in the order in which they were taken.
    pub fn all(samples: &Samples) -> Vec<OneRun> {
        let start = |run: usize| samples.starts_ns.get(run).copied();
        let run = |(run, &time_ns): (usize, &f64)| OneRun { start_ns: start(run), time_ns };
        samples.times_ns.iter().enumerate().map(run).collect()
    }
}
