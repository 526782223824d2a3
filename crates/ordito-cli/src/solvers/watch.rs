//! Shows how far a solver has come, and stops it at Ctrl-C.

use crate::console::{Busy, Console};
use crate::interrupt;
use ordito::solve::Step;
use ordito::units;
use std::ops::ControlFlow;

/// A bar that fills with what has converged.
pub(crate) struct Watch {
    bar: Busy,
    count: usize,
}

impl Watch {
    /// From now on a first Ctrl-C only ends the iterations.
    pub(crate) fn begin(console: &Console, count: usize) -> Self {
        interrupt::keep_going();
        Watch { bar: console.progress(count), count }
    }

    /// Tells of an iteration; the last one where Ctrl-C was pressed.
    pub(crate) fn step(&self, step: &Step) -> ControlFlow<()> {
        let worst = step.residuals.iter().copied().fold(0.0, f64::max);
        self.bar.at(step.converged);
        self.bar.say(format!(
            "of {} converged, iteration {}, worst residual {}",
            self.count,
            step.iteration,
            units::error(worst)
        ));
        if interrupt::interrupted() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}
