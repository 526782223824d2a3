//! The largest singular triplets by block Lanczos on AᵀA, or on AAᵀ where that is smaller. The last step works with A itself: values and
//! vectors are as accurate as the subspace, not as its square.

use crate::Scalar;
use crate::solve::blocks::{Block, Columns};
use crate::solve::control::{Control, Progress};
use crate::solve::eigenpairs::Which;
use crate::solve::error::SolveError;
use crate::solve::history::{History, Step, Stopped};
use crate::solve::lanczos::{DENSE, Lanczos, ritz_pairs};
use crate::solve::operator::Operator;
use crate::solve::scaled::at_any_scale;
use crate::solve::shared::Rows;
use crate::solve::singular::{Pairs, SingularTriplets};
use crate::solve::small::check_scale;
use crate::solve::together::telling;
use crate::solve::transposed::Transposed;
use crate::solve::vectors::Source;
use crate::solve::workspace::Workspace;

/// What to look for, and how.
pub struct Svds<'a, S: Scalar> {
    /// How many singular triplets, the largest ones.
    pub count: usize,
    /// Starting vectors: of as many rows as A has rows or columns, whichever are fewer.
    pub start: Option<Source<'a, S>>,
    /// Columns of a block, as in [`Lanczos`].
    pub block: Option<usize>,
    /// Columns of the basis, as in [`Lanczos`].
    pub subspace: Option<usize>,
    /// When to stop, whom to tell. A tolerance is that of the triplets' residuals, relative to σ.
    pub control: Control<'a>,
}

impl<S: Scalar> Default for Svds<'_, S> {
    fn default() -> Self {
        Svds { count: 6, start: None, block: None, subspace: None, control: Control::default() }
    }
}

/// The largest singular triplets of an operator that has a transposed product.
///
/// ```
/// use ordito::solve::{Svds, svds};
/// use ordito::spmm::Plan;
/// let plan = Plan::new(ordito::io::read_csr::<f64>("uniform:300x5")?, &ordito::Machine::all_cores()?)?;
/// let found = svds(&plan, Svds { count: 3, ..Default::default() })?;
/// assert!(found.history.converged() && found.values.is_sorted_by(|a, b| a >= b));
/// assert!(found.residuals.iter().zip(&found.values).all(|(residual, value)| *residual < 1e-7 * value));
/// # Ok::<(), ordito::Error>(())
/// ```
pub fn svds<'a, S: Scalar>(
    a: &'a dyn Operator<S>,
    options: Svds<'a, S>,
) -> Result<SingularTriplets<S>, SolveError> {
    let Svds { count, start, block, subspace, control } = options;
    telling(
        a,
        at_any_scale(a, control, |a, control| solve(a, Svds { count, start, block, subspace, control })),
    )
}

fn solve<S: Scalar>(a: &dyn Operator<S>, options: Svds<'_, S>) -> Result<SingularTriplets<S>, SolveError> {
    let (rows, cols) = (Rows::of(a), Rows::of_cols(a));
    let least = rows.total.min(cols.total);
    let Svds { count, start, block, subspace, control } = options;
    if count == 0 || count > least {
        let sentence =
            format!("{count} singular values of a {rows}×{cols} matrix: between 1 and {least} can be found");
        return Err(SolveError::Asked(sentence));
    }
    if rows.total >= cols.total {
        return of_tall(a, count, start, (block, subspace), control);
    }
    let turned = Transposed(a);
    let found = of_tall(&turned, count, start, (block, subspace), control)?;
    let on_device = found.on_device.map(|(left, right)| (right, left));
    Ok(SingularTriplets { left: found.right, right: found.left, on_device, ..found })
}

fn of_tall<'a, S: Scalar>(
    a: &dyn Operator<S>,
    count: usize,
    start: Option<Source<'a, S>>,
    (block, subspace): (Option<usize>, Option<usize>),
    mut control: Control<'a>,
) -> Result<SingularTriplets<S>, SolveError> {
    let (rows, cols, seed) = (Rows::of(a), Rows::of_cols(a), control.seed);
    let keep_on_device = control.keep_on_device;
    let tolerance = control.tolerance_of::<S>();
    // With u = Av/σ all that is left is ‖Aᵀu − σv‖ = ‖AᵀAv − σ²v‖/σ.
    let limit = |square: f64, largest: f64| {
        let [value, largest] = [square, largest].map(|square| square.max(0.0).sqrt());
        tolerance.of::<S>(value, largest) * value.max(S::EPSILON * largest)
    };
    let mut work = Workspace::of(a, control.time_parts)?;
    if cols.total <= DENSE {
        // All of them, from A itself and not from its square.
        let right = work.unit_block(cols)?;
        let pairs = work.triplets_of(a, right, seed)?;
        let residuals = work.residuals_of(a, &pairs, count)?;
        let values = pairs.values[..count].to_vec();
        let largest = values.first().copied().unwrap_or(0.0);
        let is_within = |(residual, value): &(&f64, &f64)| **residual <= tolerance.of::<S>(**value, largest);
        let converged = residuals.iter().zip(&values).filter(is_within).count();
        let stopped = if converged == count { Stopped::Converged } else { Stopped::Stagnated };
        let seconds = work.elapsed().as_secs_f64();
        let step = Step { iteration: 0, seconds, values, residuals: residuals.clone(), converged };
        work.tell(&mut control, &step); // there is nothing left to end
        let history = History { steps: vec![step], products: work.products, times: work.times()?, stopped };
        return work.triplets((rows, cols), &pairs, count, keep_on_device, (residuals, history));
    }
    let mut room: Option<Block> = None;
    let mut product = |work: &mut Workspace<S>, x: Columns, y| {
        let between = match room {
            Some(block) if block.cols >= x.count => block,
            _ => *room.insert(work.add("A·V", rows, x.count)?),
        };
        work.apply(a, x, between.first(x.count))?;
        work.apply_transposed(a, between.first(x.count), y)
    };
    let control = Control { progress: control.progress.map(of_roots), ..control };
    let lanczos = Lanczos { count, which: Which::Largest, start, block, subspace, control };
    let (mut found, right) = ritz_pairs(work, &mut product, cols, lanczos, &limit)?;
    let pairs: Pairs = found.work.triplets_of(a, right, seed)?;
    let residuals = found.work.residuals_of(a, &pairs, count)?;
    let largest = pairs.values.first().copied().unwrap_or(0.0);
    // Where AᵀA was 0 and A is not, its eigenvectors are any.
    check_scale::<S>(largest * largest)?;
    let is_within = |(residual, value): (&f64, &f64)| *residual <= tolerance.of::<S>(*value, largest);
    let within = residuals.iter().zip(&pairs.values).all(is_within);
    // AᵀA converged, but A may not have: small values drown in the rounding of their squares.
    let stopped = match (within, found.stopped) {
        (true, _) => Stopped::Converged,
        (false, Stopped::Converged) => Stopped::Stagnated,
        (false, stopped) => stopped,
    };
    let steps = found.steps.iter().map(rooted).collect();
    let history = History { steps, products: found.work.products, times: found.work.times()?, stopped };
    found.work.triplets((rows, cols), &pairs, count, keep_on_device, (residuals, history))
}

/// Whoever watches is told of σ, and not of σ².
fn of_roots<'a>(mut progress: Progress<'a>) -> Progress<'a> {
    Box::new(move |step| progress(&rooted(step)))
}

/// A step of AᵀA as one of A: see `limit` above.
fn rooted(step: &Step) -> Step {
    let values: Vec<f64> = step.values.iter().map(|square| square.max(0.0).sqrt()).collect();
    let residual =
        |(residual, value): (&f64, &f64)| if *value > 0.0 { residual / value } else { residual.sqrt() };
    let residuals = step.residuals.iter().zip(&values).map(residual).collect();
    Step { values, residuals, ..*step }
}
