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
        self.bar.at(step.converged);
        // Not every method knows residuals on its way.
        let worst = step.residuals.iter().copied().reduce(f64::max);
        let worst = worst.map(|worst| format!("worst residual {}, ", units::error(worst)));
        let (worst, iteration) = (worst.unwrap_or_default(), step.iteration);
        self.bar.say(format!("{worst}{} of {} converged, iteration {iteration}", step.converged, self.count));
        if interrupt::interrupted() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}
