//! Epochs that are left out: one sensor moved farther than a brain can.

/// An epoch that was left out.
#[derive(Debug, Clone, PartialEq)]
pub struct Rejected {
    /// Its row in the condition's files, counted from 1 through all of them.
    pub epoch: usize,
    /// The sensor that moved farthest, as [`Recording::sensors`](crate::recording::Recording::sensors) counts them.
    pub sensor: usize,
    /// How far: the largest sample less the smallest.
    pub peak_to_peak: f64,
}
