//! Matrices whose numbers are so large or small that squares of them overflow or vanish.
//!
//! A solver is tried on A as it is. Where it finds that numbers are out of scale, it is tried again on A times a power of two, which is exact,
//! and what it found is taken back: nobody pays for it but those who need it.

use crate::Scalar;
use crate::device::{Device, DeviceView, DeviceViewMut};
use crate::machine::Machine;
use crate::matrix::{DenseView, DenseViewMut};
use crate::op::RunError;
use crate::solve::control::{Control, Tolerance};
use crate::solve::eigenpairs::Eigenpairs;
use crate::solve::error::SolveError;
use crate::solve::history::Step;
use crate::solve::operator::Operator;
use crate::solve::shared::{Rows, Shared, largest};
use crate::solve::singular::SingularTriplets;
use crate::solve::workspace::Workspace;
use std::sync::Arc;

/// What grows with the matrix.
pub(crate) trait OfMatrix {
    /// All numbers in it that do, and residuals.
    fn numbers(&mut self) -> Vec<&mut f64>;
}

impl OfMatrix for Step {
    fn numbers(&mut self) -> Vec<&mut f64> {
        self.values.iter_mut().chain(&mut self.residuals).collect()
    }
}

impl<S> OfMatrix for Eigenpairs<S> {
    fn numbers(&mut self) -> Vec<&mut f64> {
        let steps = self.history.steps.iter_mut().flat_map(Step::numbers);
        self.values.iter_mut().chain(&mut self.residuals).chain(steps).collect()
    }
}

impl<S> OfMatrix for SingularTriplets<S> {
    fn numbers(&mut self) -> Vec<&mut f64> {
        let steps = self.history.steps.iter_mut().flat_map(Step::numbers);
        self.values.iter_mut().chain(&mut self.residuals).chain(steps).collect()
    }
}

/// Solves as A is, and where its numbers are out of scale, at a scale where they are not.
pub(crate) fn at_any_scale<S: Scalar, R: OfMatrix>(
    a: &dyn Operator<S>,
    mut control: Control<'_>,
    solve: impl Fn(&dyn Operator<S>, Control<'_>) -> Result<R, SolveError>,
) -> Result<R, SolveError> {
    let error = match solve(a, lent(&mut control, 1.0)) {
        Err(error @ (SolveError::NotFinite(_) | SolveError::OutOfScale(_))) => error,
        end => return end,
    };
    let Some(factor) = factor_of(a, control.seed)? else { return Err(error) };
    let mut found = solve(&Scaled { a, factor }, lent(&mut control, factor))?;
    found.numbers().into_iter().for_each(|number| *number /= factor);
    Ok(found)
}

/// The same for a matrix that is so many times as large; whoever watches is told of A as it is.
fn lent<'b>(control: &'b mut Control<'_>, factor: f64) -> Control<'b> {
    let tolerance = control.tolerance.map(|tolerance| match tolerance {
        Tolerance::Absolute(tolerance) => Tolerance::Absolute(tolerance * factor),
        relative => relative,
    });
    let Control { max_iterations, seed, time_parts, keep_on_device, .. } = *control;
    let progress = control.progress.as_mut().map(|progress| {
        let tell = move |step: &Step| {
            if factor == 1.0 {
                return progress(step);
            }
            let mut step = step.clone();
            step.numbers().into_iter().for_each(|number| *number /= factor);
            progress(&step)
        };
        Box::new(tell) as crate::solve::control::Progress<'b>
    });
    Control { tolerance, max_iterations, seed, progress, time_parts, keep_on_device }
}

/// The power of two that makes numbers of A·x about 1; none where they are not out of scale, or no numbers.
fn factor_of<S: Scalar>(a: &dyn Operator<S>, seed: u64) -> Result<Option<f64>, SolveError> {
    let (rows, cols) = (Rows::of(a), Rows::of_cols(a));
    let mut work = Workspace::of(a, false)?;
    let (x, y) = (work.add("x", cols, 1)?.all(), work.add("A·x", rows, 1)?.all());
    work.randomize(x, cols, seed)?;
    work.apply(a, x, y)?;
    let image = work.read(y, rows)?;
    let sizes = image.data().iter().map(|number| number.to_f64().abs());
    // A NaN must not be lost.
    let mut size =
        [sizes.fold(0.0, |size: f64, number| if size.is_nan() || number <= size { size } else { number })];
    if let Some(ranks) = work.ranks() {
        largest(ranks, &mut size)?;
    }
    let [size] = size;
    // Well inside of what solvers refuse; and powers of two that are numbers of S, and 1 divided by them.
    let (usual, most) = match size_of::<S>() == size_of::<f32>() {
        true => (1e-6..1e6, 120.0),
        false => (1e-60..1e60, 1000.0),
    };
    let is_out_of_scale = size > 0.0 && size.is_finite() && !usual.contains(&size);
    Ok(is_out_of_scale.then(|| (-size.log2().floor()).clamp(-most, most).exp2()))
}

/// A times a power of two.
struct Scaled<'a, S: Scalar> {
    a: &'a dyn Operator<S>,
    factor: f64,
}

impl<S: Scalar> Operator<S> for Scaled<'_, S> {
    fn rows(&self) -> usize {
        self.a.rows()
    }
    fn cols(&self) -> usize {
        self.a.cols()
    }
    fn apply(&self, x: DenseView<'_, S>, y: DenseViewMut<'_, S>) -> Result<(), RunError> {
        self.a.apply(x, y)
    }
    fn apply_transposed(&self, x: DenseView<'_, S>, y: DenseViewMut<'_, S>) -> Result<(), RunError> {
        self.a.apply_transposed(x, y)
    }
    fn device(&self) -> Option<&Device> {
        self.a.device()
    }
    fn apply_on_device(&self, x: DeviceView<'_, S>, y: DeviceViewMut<'_, S>) -> Result<(), RunError> {
        self.a.apply_on_device(x, y)
    }
    fn apply_transposed_on_device(
        &self,
        x: DeviceView<'_, S>,
        y: DeviceViewMut<'_, S>,
    ) -> Result<(), RunError> {
        self.a.apply_transposed_on_device(x, y)
    }
    fn machine(&self) -> Option<Arc<Machine>> {
        self.a.machine()
    }
    fn shared(&self) -> Option<Shared> {
        self.a.shared()
    }
    fn factor(&self) -> f64 {
        self.factor
    }
}
