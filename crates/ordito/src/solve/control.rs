//! What every solver can be told.

use crate::solve::history::Step;
use std::ops::ControlFlow;

/// When a residual is small enough.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Tolerance {
    /// ‖r‖ ≤ t.
    Absolute(f64),
    /// ‖r‖ ≤ t·|λ|, t·σ or t·‖b‖: in relation to what was found or given. Of values near 0 that would ask for more than arithmetic has: what
    /// rounding leaves of a product, 64ε‖A‖, is enough.
    Relative(f64),
}

impl Tolerance {
    /// For a value of this size, of an operator whose norm is at least `largest`.
    pub(crate) fn of<S: crate::Scalar>(self, size: f64, largest: f64) -> f64 {
        match self {
            Tolerance::Absolute(t) => t,
            Tolerance::Relative(t) => (t * size.abs()).max(64.0 * S::EPSILON * largest),
        }
    }
    pub(crate) fn is_valid(self) -> bool {
        let (Tolerance::Absolute(t) | Tolerance::Relative(t)) = self;
        t >= 0.0 && t.is_finite()
    }
}

/// Whoever is told of iterations. (A box, and no `&mut`: options then live as long as the shortest thing that they borrow.)
pub type Progress<'a> = Box<dyn FnMut(&Step) -> ControlFlow<()> + 'a>;

/// When to stop, whom to tell, where to start.
pub struct Control<'a> {
    /// Relative, 10⁻⁸ if nothing else is said; 10⁻⁴ in f32.
    pub tolerance: Option<Tolerance>,
    /// 1000 if nothing else is said.
    pub max_iterations: usize,
    /// Of random starting vectors.
    pub seed: u64,
    /// Is told every iteration, and may end it: the best so far is then the result. Iterations begin again at 0 where numbers turn out to be of a size
    /// that solvers have to scale.
    pub progress: Option<Progress<'a>>,
    /// On a device: wait after every part, so that [`Times`](crate::solve::Times) tell where the time went. Costs some of it.
    pub time_parts: bool,
    /// On a device: leave the vectors there.
    pub keep_on_device: bool,
}

impl Default for Control<'_> {
    fn default() -> Self {
        Control {
            tolerance: None,
            max_iterations: 1000,
            seed: 1,
            progress: None,
            time_parts: false,
            keep_on_device: false,
        }
    }
}

impl Control<'_> {
    /// What was asked for, or what suits data of this precision.
    pub(crate) fn tolerance_of<S: crate::Scalar>(&self) -> Tolerance {
        self.tolerance.unwrap_or(Tolerance::Relative(if S::EPSILON > 1e-10 { 1e-4 } else { 1e-8 }))
    }
}
