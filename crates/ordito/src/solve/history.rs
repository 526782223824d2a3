//! How a solver got to its result, and why it stopped.

use std::time::Duration;

/// Why there are no more iterations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
#[non_exhaustive]
pub enum Stopped {
    /// Residuals that were computed anew are within the tolerance.
    Converged,
    /// Residuals no longer become smaller: rounding allows no more, or the method is stuck.
    Stagnated,
    /// As many iterations as were allowed.
    Limit,
    /// The caller's progress said so.
    Cancelled,
}

impl std::fmt::Display for Stopped {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Stopped::Converged => "converged",
            Stopped::Stagnated => "stagnated",
            Stopped::Limit => "limit of iterations",
            Stopped::Cancelled => "cancelled",
        })
    }
}

/// One iteration.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Step {
    /// Counted from 0.
    pub iteration: usize,
    /// Since the beginning.
    pub seconds: f64,
    /// Approximations; empty where there are none.
    pub values: Vec<f64>,
    /// Norms of the residuals: of eigenpairs ‖Ax − λBx‖, of right-hand sides ‖b − Ax‖.
    pub residuals: Vec<f64>,
    /// How many of them are within the tolerance.
    pub converged: usize,
}

/// Where the time went. On a device parts overlap with the host and are only known where
/// [`time_parts`](crate::solve::Control::time_parts) was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Times {
    /// Products with the operator, and with B.
    pub product: Duration,
    /// The preconditioner.
    pub precondition: Duration,
    /// Inner products.
    pub gram: Duration,
    /// Combinations of columns.
    pub combine: Duration,
    /// Small problems on the host.
    pub small: Duration,
    /// All of it.
    pub total: Duration,
}

/// How a solver got to its result.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct History {
    /// Iteration after iteration.
    pub steps: Vec<Step>,
    /// Vectors that the operator was applied to.
    pub products: usize,
    /// Where the time went.
    pub times: Times,
    /// Why it ended.
    pub stopped: Stopped,
}

impl History {
    /// How many iterations there were; the first step is where they began.
    pub fn iterations(&self) -> usize {
        self.steps.last().map_or(0, |step| step.iteration)
    }
    /// Is everything that was asked for within the tolerance?
    pub fn converged(&self) -> bool {
        self.stopped == Stopped::Converged
    }
}
