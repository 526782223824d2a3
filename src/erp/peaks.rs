//! The peaks of waves: where, when, how large.

use serde::Serialize;

/// Of which wave.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Wave {
    /// The mean of [`Analysis::conditions`](super::Analysis::conditions) with this index.
    Condition(usize),
    /// The difference wave.
    Difference,
}

/// A local extremum over time.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Peak {
    /// Of which wave.
    pub of: Wave,
    /// Which sensor; `None`: the global field power of that wave.
    pub sensor: Option<usize>,
    /// Which sample.
    pub sample: usize,
    /// When that was.
    pub time_s: f64,
    /// In the unit of the recording; negative for a trough.
    pub amplitude: f64,
}
