//! Eigenpairs of one end by block Lanczos with thick restarts: a basis of a block Krylov space, from which the best Ritz vectors are kept
//! when it is full (Wu and Simon).
//!
//! Of an eigenvalue that is there more often a block finds as many copies as it has columns. Where it found so many, random columns beside what
//! was found show whether there are more.

use crate::Scalar;
use crate::solve::blocks::Block;
use crate::solve::control::Control;
use crate::solve::eigenpairs::{Eigenpairs, Which};
use crate::solve::error::SolveError;
use crate::solve::history::{History, Step, Stopped};
use crate::solve::krylov::{Krylov, Product, Sizes, residuals_of};
use crate::solve::operator::Operator;
use crate::solve::scaled::at_any_scale;
use crate::solve::shared::Rows;
use crate::solve::small::{check_scale, columns, symmetric_eigen};
use crate::solve::together::{agreed_on, check_square, telling};
use crate::solve::vectors::Source;
use crate::solve::workspace::Workspace;

/// Rows up to which all eigenpairs are found at once: a basis would hold most of them anyway.
pub(crate) const DENSE: usize = 64;
/// Restarts without a smaller residual, after which nothing more is expected.
const PATIENCE: usize = 40;

/// What to look for, and how.
pub struct Lanczos<'a, S: Scalar> {
    /// How many eigenpairs.
    pub count: usize,
    /// Of which end.
    pub which: Which,
    /// Starting vectors: as many as the block has columns, or fewer. Random ones if there are none.
    pub start: Option<Source<'a, S>>,
    /// Columns of a block. More make fewer, cheaper products, and find multiple eigenvalues sooner; fewer make a better basis of the same size.
    pub block: Option<usize>,
    /// Columns of the basis: all of it is kept in memory.
    pub subspace: Option<usize>,
    /// When to stop, whom to tell. Iterations are restarts.
    pub control: Control<'a>,
}

impl<S: Scalar> Default for Lanczos<'_, S> {
    fn default() -> Self {
        Lanczos {
            count: 1,
            which: Which::Largest,
            start: None,
            block: None,
            subspace: None,
            control: Control::default(),
        }
    }
}

/// Eigenpairs of a symmetric operator, those of one end of its spectrum, to high accuracy and without a preconditioner.
///
/// ```
/// use ordito::solve::{Lanczos, Which, eigsh};
/// use ordito::spmm::Plan;
/// // diag(1, …, 200)
/// let a = ordito::Coo::new(200, 200, (0..200).collect(), (0..200).collect(), (1..=200).map(f64::from).collect())?;
/// let a = ordito::Csr::from_coo(&a, ordito::Duplicates::Sum);
/// let plan = Plan::new(a, &ordito::Machine::all_cores()?)?;
/// let found = eigsh(&plan, Lanczos { count: 3, which: Which::Largest, ..Default::default() })?;
/// assert!(found.history.converged() && (found.values[2] - 198.0).abs() < 1e-9);
/// # Ok::<(), ordito::Error>(())
/// ```
pub fn eigsh<'a, S: Scalar>(
    a: &'a dyn Operator<S>,
    options: Lanczos<'a, S>,
) -> Result<Eigenpairs<S>, SolveError> {
    let Lanczos { count, which, start, block, subspace, control } = options;
    let solve = |a: &dyn Operator<S>, control: Control<'_>| {
        solve(a, Lanczos { count, which, start, block, subspace, control })
    };
    telling(a, at_any_scale(a, control, solve))
}

fn solve<S: Scalar>(a: &dyn Operator<S>, options: Lanczos<'_, S>) -> Result<Eigenpairs<S>, SolveError> {
    let n = Rows::of(a);
    agreed_on(a, check_square("eigenvectors need a square matrix", a))?;
    let work = Workspace::of(a, options.control.time_parts)?;
    let mut product = |work: &mut Workspace<S>, x, y| work.apply(a, x, y);
    let tolerance = options.control.tolerance_of::<S>();
    let keep_on_device = options.control.keep_on_device;
    let (mut krylov, x) =
        ritz_pairs(work, &mut product, n, options, &|value, largest| tolerance.of::<S>(value, largest))?;
    let count = krylov.values.len();
    let (vectors, vectors_on_device) = krylov.work.give_back(x.first(count), n, keep_on_device)?;
    Ok(Eigenpairs {
        values: krylov.values,
        vectors,
        vectors_on_device,
        residuals: krylov.residuals,
        history: History {
            steps: krylov.steps,
            products: krylov.work.products,
            times: krylov.work.times()?,
            stopped: krylov.stopped,
        },
    })
}

/// What was found, with the memory that it lies in.
pub(crate) struct Found<S: Scalar> {
    pub(crate) work: Workspace<S>,
    pub(crate) values: Vec<f64>,
    pub(crate) residuals: Vec<f64>,
    pub(crate) steps: Vec<Step>,
    pub(crate) stopped: Stopped,
}

/// Ritz pairs of a symmetric product of `n` rows, and the block whose first columns they are. `limit`: how large the residual of a
/// value may be, the largest one given too.
pub(crate) fn ritz_pairs<S: Scalar>(
    work: Workspace<S>,
    product: &mut Product<'_, S>,
    n: Rows,
    options: Lanczos<'_, S>,
    limit: &dyn Fn(f64, f64) -> f64,
) -> Result<(Found<S>, Block), SolveError> {
    let start = options.start.map(|start| (start.rows(), start.cols()));
    let sizes = Sizes::new((n, options.count), (options.block, options.subspace), start);
    let sizes = work.agreed(sizes)?;
    let Lanczos { count, which, start, mut control, .. } = options;
    if !control.tolerance_of::<S>().is_valid() {
        return Err(SolveError::Asked("the tolerance must be a number of 0 or more".into()));
    }
    if n.total <= DENSE {
        return all_of_a_few_rows(work, product, n, (count, which), limit, control);
    }
    let mut krylov = Krylov::new(work, n, sizes, which, control.seed)?;
    krylov.start(start)?;
    let result = krylov.work.add("Ritz vectors", n, count)?;
    let images = krylov.work.add("their images", n, count)?;
    let best_result = krylov.work.add("the best Ritz vectors", n, count)?;
    let mut kept: Option<(f64, Vec<f64>, Vec<f64>)> = None;
    let mut steps: Vec<Step> = Vec::new();
    let (mut best, mut since_best) = (f64::INFINITY, 0);
    // Estimates are of the projected problem; how much smaller than the truth they turned out to be.
    let mut optimism = 1.0_f64;
    // Values that another block of random columns is to confirm.
    let (mut unconfirmed, mut confirming): (Option<Vec<f64>>, bool) = (None, false);
    let (stopped, values, residuals) = loop {
        // A full basis is not waited for where fewer columns will do.
        let excess = |values: &[f64], estimates: &[f64], largest: f64| {
            let of = |i: usize| (estimates[i] * optimism, limit(values[i], largest));
            let worst = (0..count).map(of).map(|(estimate, limit)| match estimate <= limit {
                true => 0.0,
                false => estimate / limit,
            });
            if confirming { f64::INFINITY } else { worst.fold(0.0, f64::max) }
        };
        let ritz = krylov.fill(product, &excess)?;
        confirming = false;
        if ritz.values.len() < count {
            return Err(SolveError::Unsuited(format!(
                "no {count} independent vectors of {n} rows were found"
            )));
        }
        let values = ritz.values[..count].to_vec();
        let estimates = krylov.estimates(&ritz);
        let limits: Vec<f64> = values.iter().map(|value| limit(*value, krylov.size())).collect();
        let within = |residuals: &[f64]| (0..count).filter(|&i| residuals[i] <= limits[i]).count();
        let scaled: Vec<f64> = estimates[..count].iter().map(|estimate| estimate * optimism).collect();
        let step = Step {
            iteration: steps.len(),
            seconds: krylov.work.elapsed().as_secs_f64(),
            values: values.clone(),
            residuals: scaled.clone(),
            converged: within(&scaled),
        };
        let cancelled = krylov.work.tell(&mut control, &step);
        let promising = step.converged == count || krylov.is_complete();
        steps.push(step);
        let worst: f64 = (0..count).filter(|&i| scaled[i] > limits[i]).map(|i| scaled[i]).sum();
        (best, since_best) = if worst < 0.99 * best { (worst, 0) } else { (best, since_best + 1) };
        let at_rounding = worst <= 1e3 * count as f64 * S::EPSILON * krylov.size();
        let ending = if cancelled {
            Some(Stopped::Cancelled)
        } else if steps.len() > control.max_iterations {
            Some(Stopped::Limit)
        } else if since_best >= PATIENCE || (at_rounding && since_best >= 3) || krylov.is_complete() {
            Some(Stopped::Stagnated)
        } else {
            None
        };
        if promising || ending.is_some() {
            // What is claimed is what fresh products show.
            let residuals = krylov.residuals(product, &ritz, result, images)?;
            if within(&residuals) == count {
                // Of a value that is there more often a block finds as many copies as it has columns. Where it found so many, or the
                // product gave out before, there may be more: random columns beside what was found would show them.
                let may_be_more = krylov.gave_out || has_cluster(&values, sizes.block, krylov.size());
                let is_confirmed = unconfirmed.as_ref().is_some_and(|before| {
                    before
                        .iter()
                        .zip(&values)
                        .zip(&limits)
                        .all(|((x, y), limit)| (x - y).abs() <= 10.0 * limit)
                });
                if !may_be_more || is_confirmed || krylov.is_complete() || ending.is_some() {
                    break (Stopped::Converged, values, residuals);
                }
                (unconfirmed, confirming) = (Some(values), true);
                krylov.look_elsewhere(&ritz)?;
                continue;
            }
            let sum: f64 = residuals.iter().sum();
            if kept.as_ref().is_none_or(|(least, ..)| sum < *least) {
                krylov.work.copy(result.all(), best_result.all())?;
                kept = Some((sum, values.clone(), residuals.clone()));
            }
            if let Some(ending) = ending {
                // The best that was checked, whatever became of it since.
                let (_, values, residuals) = kept.unwrap_or((sum, values, residuals));
                krylov.work.copy(best_result.all(), result.all())?;
                break (ending, values, residuals);
            }
            // Below rounding an estimate says nothing.
            let rounding = 10.0 * S::EPSILON * krylov.size();
            let ratios = residuals.iter().zip(&estimates).filter(|(_, estimate)| **estimate > rounding);
            optimism =
                ratios.map(|(residual, estimate)| residual / estimate).fold(optimism, f64::max).min(1e3);
        }
        krylov.restart(&ritz)?;
    };
    Ok((Found { work: krylov.work, values, residuals, steps, stopped }, result))
}

/// Every eigenpair of a matrix of few rows, and of them the wanted ones: A itself is a small matrix then.
fn all_of_a_few_rows<S: Scalar>(
    mut work: Workspace<S>,
    product: &mut Product<'_, S>,
    n: Rows,
    (count, which): (usize, Which),
    limit: &dyn Fn(f64, f64) -> f64,
    mut control: Control<'_>,
) -> Result<(Found<S>, Block), SolveError> {
    let (unit, image) = (work.unit_block(n)?, work.add("A", n, n.total)?);
    product(&mut work, unit.all(), image.all())?;
    let a = work.gram(&[unit.all()], &[image.all()])?;
    let eigen = work.small(|| symmetric_eigen(&a, "A·V"))?;
    check_scale::<S>(a.amax())?;
    let order = which.order(&eigen.values);
    let values: Vec<f64> = order[..count].iter().map(|&i| eigen.values[i]).collect();
    let result = work.add("eigenvectors", n, count)?;
    work.combine(&[unit.all()], &columns(&eigen.vectors, &order[..count]), &[result.all()])?;
    let images = work.add("their images", n, count)?;
    let residuals = residuals_of(&mut work, product, &values, result, images)?;
    let is_within = |i: &usize| residuals[*i] <= limit(values[*i], a.norm());
    let converged = (0..count).filter(is_within).count();
    let seconds = work.elapsed().as_secs_f64();
    let step =
        Step { iteration: 0, seconds, values: values.clone(), residuals: residuals.clone(), converged };
    let stopped = match work.tell(&mut control, &step) {
        _ if converged == count => Stopped::Converged,
        true => Stopped::Cancelled,
        false => Stopped::Stagnated,
    };
    Ok((Found { work, values, residuals, steps: vec![step], stopped }, result))
}

/// Are as many of the values the same, but for what rounding and slow convergence leave?
fn has_cluster(values: &[f64], size: usize, largest: f64) -> bool {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.windows(size).any(|run| run[size - 1] - run[0] <= 1e-6 * run[0].abs().max(1e-6 * largest))
}
