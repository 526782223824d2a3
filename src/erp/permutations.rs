//! Is the difference more than chance? Labels permuted, the largest |t| anywhere compared.

use serde::Serialize;

/// A max-statistic permutation test of the difference.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PermutationTest {
    /// How often the labels were permuted.
    pub count: usize,
    /// The seed of the permutations.
    pub seed: u64,
    /// For every sensor and sample: the share of permutations whose largest |t| anywhere reached this |t|, the observed
    /// labels counted among them. Corrected for having looked everywhere.
    #[serde(skip)]
    pub p: Vec<f64>,
    /// |t| above this has p ≤ 0.05.
    pub critical_t: f64,
    /// Where p ≤ 0.05, sensor by sensor.
    pub intervals: Vec<Interval>,
}

/// Consecutive samples of one sensor with p ≤ 0.05.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Interval {
    /// Which sensor.
    pub sensor: usize,
    /// The first sample.
    pub from: usize,
    /// The last one.
    pub to: usize,
    /// The smallest p among them.
    pub p: f64,
}
