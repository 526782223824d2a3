//! Where the time of a product went, on one rank.

use std::time::{Duration, Instant};

/// Parts of one product, one after the other.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Times {
    /// Packing rows for others, and starting messages.
    pub pack: Duration,
    /// What multiplies X of this rank, or of all of its computer where they show or share it, moving messages on between pieces.
    pub own: Duration,
    /// Waiting for rows of X that had not come yet.
    pub wait: Duration,
    /// Waiting for others of this computer to read an X that ranks share.
    pub release: Duration,
    /// What multiplies X of others.
    pub outer: Duration,
    /// Adding up Y in a team, waiting for it included.
    pub reduce: Duration,
}

impl Times {
    /// All of it.
    pub fn total(&self) -> Duration {
        self.pack + self.own + self.wait + self.release + self.outer + self.reduce
    }
}

/// Laps.
pub(super) struct Stopwatch(Instant);

impl Stopwatch {
    pub(super) fn start() -> Self {
        Stopwatch(Instant::now())
    }
    /// Since the last time.
    pub(super) fn lap(&mut self) -> Duration {
        let now = Instant::now();
        now - std::mem::replace(&mut self.0, now)
    }
}
