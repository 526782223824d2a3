//! What every solver can be told.

use crate::solve::history::Step;
use std::ops::ControlFlow;

/// When a residual is small enough.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Tolerance {
    /// ‖r‖ ≤ t.
    Absolute(f64),
    /// ‖r‖ ≤ t·|λ|, t·σ or t·‖b‖: in relation to what was found or given. Of an eigenvalue near 0 no more is asked than rounding allows.
    Relative(f64),
}

impl Tolerance {
    /// For a value or right-hand side of this size.
    pub(crate) fn of(self, size: f64) -> f64 {
        match self {
            Tolerance::Absolute(t) => t,
            Tolerance::Relative(t) => t * size.abs(),
        }
    }
    /// For an eigenvalue of a matrix whose largest is about so large. A relative tolerance of an eigenvalue near 0 would ask for less
    /// than rounding of A·x leaves.
    pub(crate) fn of_eigenvalue<S: crate::Scalar>(self, value: f64, largest: f64) -> f64 {
        match self {
            Tolerance::Absolute(t) => t,
            Tolerance::Relative(_) => self.of(value).max(16.0 * S::EPSILON * largest),
        }
    }
    pub(crate) fn is_valid(self) -> bool {
        let (Tolerance::Absolute(t) | Tolerance::Relative(t)) = self;
        t >= 0.0 && t.is_finite()
    }
}

/// When to stop, whom to tell, where to start.
pub struct Control<'a> {
    /// Relative, 10⁻⁸ if nothing else is said; 10⁻⁴ in f32.
    pub tolerance: Option<Tolerance>,
    /// 1000 if nothing else is said.
    pub max_iterations: usize,
    /// Of random starting vectors.
    pub seed: u64,
    /// Is told every iteration, and may end it: the best so far is then the result.
    #[allow(clippy::type_complexity)]
    pub progress: Option<&'a mut dyn FnMut(&Step) -> ControlFlow<()>>,
    /// On a device: wait after every part, so that [`Times`](crate::solve::Times) tell where the time went. Costs some of it.
    pub time_parts: bool,
}

impl Default for Control<'_> {
    fn default() -> Self {
        Control { tolerance: None, max_iterations: 1000, seed: 1, progress: None, time_parts: false }
    }
}

impl Control<'_> {
    /// What was asked for, or what suits data of this precision.
    pub(crate) fn tolerance_of<S: crate::Scalar>(&self) -> Tolerance {
        self.tolerance.unwrap_or(Tolerance::Relative(if S::EPSILON > 1e-10 { 1e-4 } else { 1e-8 }))
    }
}
