//! Eigenvectors of a symmetric matrix by LOBPCG (Knyazev): the best combination of the approximations X, their residuals W and the last
//! directions P, iteration after iteration.
//!
//! The basis [X P W] is kept well-conditioned: P is chosen orthonormal to X among the coefficients (Hetmaniuk and Lehoucq), which costs nothing; W is
//! the residuals, made orthonormal by their Gram matrix where they are not nearly so. What is left is measured, and taken into account by the small
//! problem. An iteration passes over X, P, W and their images a fixed number of times: residuals; A·W; [X P W]ᵀ[W AW]; [X P] and
//! its image. With a preconditioner, and where W is made orthonormal, [X P W]ᵀW and W come before A·W. Columns that have converged
//! get no W and no P (soft locking), but still take part.

mod basis;
mod ritz;
mod step;

use crate::Scalar;
use crate::solve::control::Control;
use crate::solve::eigenpairs::{Eigenpairs, Which};
use crate::solve::error::SolveError;
use crate::solve::history::{History, Step, Stopped};
use crate::solve::operator::{Operator, Preconditioner};
use crate::solve::scaled::at_any_scale;
use crate::solve::shared::Rows;
use crate::solve::together::{agreed_on, check_fits, check_square, telling};
use crate::solve::vectors::Source;
use basis::Basis;

/// Iterations after which images are computed anew: each one adds a rounding error to A·X.
const REFRESH: usize = 64;
/// Iterations without a smaller residual or a better value, after which nothing more is expected.
const PATIENCE: usize = 100;

/// What to look for, and how.
pub struct Lobpcg<'a, S: Scalar> {
    /// How many eigenpairs.
    pub count: usize,
    /// Of which end.
    pub which: Which,
    /// Starting vectors, at least `count`: as many columns are iterated with. Random ones if there are none, and some more than `count`,
    /// which makes the last ones converge faster.
    pub start: Option<Source<'a, S>>,
    /// B of A·x = λ·B·x, symmetric and positive definite; none: the unit matrix.
    pub b: Option<&'a dyn Operator<S>>,
    /// Something like A⁻¹, symmetric and positive definite.
    pub preconditioner: Option<Preconditioner<'a, S>>,
    /// Vectors that all results are to be orthogonal to (in the inner product of B): known eigenvectors, say.
    pub constraints: Option<Source<'a, S>>,
    /// When to stop, whom to tell.
    pub control: Control<'a>,
}

impl<S: Scalar> Default for Lobpcg<'_, S> {
    fn default() -> Self {
        Lobpcg {
            count: 1,
            which: Which::Largest,
            start: None,
            b: None,
            preconditioner: None,
            constraints: None,
            control: Control::default(),
        }
    }
}

/// Eigenpairs of a symmetric operator, those of one end of its spectrum.
///
/// ```
/// use ordito::solve::{Lobpcg, Which, lobpcg};
/// use ordito::{Coo, Csr, Duplicates};
/// // 2 on the diagonal, −1 beside it.
/// let (mut rows, mut cols, mut values) = (vec![], vec![], vec![]);
/// for i in 0..100_u32 {
///     for j in i.saturating_sub(1)..(i + 2).min(100) {
///         rows.push(i);
///         cols.push(j);
///         values.push(if i == j { 2.0 } else { -1.0 });
///     }
/// }
/// let a = Csr::from_coo(&Coo::new(100, 100, rows, cols, values)?, Duplicates::Sum);
/// let plan = ordito::spmm::Plan::new(a, &ordito::Machine::all_cores()?)?;
/// let found = lobpcg(&plan, Lobpcg { count: 3, which: Which::Smallest, ..Default::default() })?;
/// assert!(found.history.converged() && found.residuals.iter().all(|r| *r < 1e-6));
/// # Ok::<(), ordito::Error>(())
/// ```
pub fn lobpcg<'a, S: Scalar>(
    a: &'a dyn Operator<S>,
    options: Lobpcg<'a, S>,
) -> Result<Eigenpairs<S>, SolveError> {
    let Lobpcg { count, which, start, b, preconditioner, constraints, control } = options;
    let solve = |a: &dyn Operator<S>, control: Control<'_>| {
        solve(a, Lobpcg { count, which, start, b, preconditioner, constraints, control })
    };
    telling(a, at_any_scale(a, control, solve))
}

fn solve<S: Scalar>(a: &dyn Operator<S>, options: Lobpcg<'_, S>) -> Result<Eigenpairs<S>, SolveError> {
    let n = Rows::of(a);
    let constraints = options.constraints.map_or(0, |y| y.cols());
    agreed_on(a, check(a, &options, n, constraints))?;
    let mut basis = Basis::new(a, &options, n)?;
    if let Some(y) = options.constraints {
        basis.constrain(y)?;
    }
    basis.start(options.start, options.control.seed)?;
    iterate(basis, options)
}

fn check<S: Scalar>(
    a: &dyn Operator<S>,
    options: &Lobpcg<'_, S>,
    n: Rows,
    constraints: usize,
) -> Result<(), SolveError> {
    let asked = |sentence: String| Err(SolveError::Asked(sentence));
    if options.which == Which::LargestMagnitude {
        return asked("LOBPCG finds one end of the spectrum; both ends are found by Lanczos".into());
    }
    check_square("eigenvectors need a square matrix", a)?;
    if let Some(b) = options.b {
        check_fits("B", b, n)?;
    }
    if let Some(preconditioner) = &options.preconditioner {
        preconditioner.check(n)?;
    }
    for (what, view) in [("the starting block", options.start), ("the constraints", options.constraints)] {
        if let Some(view) = view.filter(|view| view.rows() != n.local) {
            return asked(format!("{what} has {} rows, {} expected", view.rows(), n.local));
        }
    }
    if let Some(start) = options.start.filter(|start| start.cols() < options.count) {
        return asked(format!(
            "{} eigenpairs of a starting block of {} columns",
            options.count,
            start.cols()
        ));
    }
    let block = options.start.map_or(options.count, |start| start.cols());
    if block.saturating_add(constraints) > n.total {
        let beside =
            if constraints > 0 { format!(" orthogonal to {constraints} others") } else { String::new() };
        return asked(format!("{block} eigenpairs{beside} of a matrix of {n} rows: there are only {n}"));
    }
    if !options.control.tolerance_of::<S>().is_valid() {
        return asked("the tolerance must be a number of 0 or more".into());
    }
    Ok(())
}

fn iterate<S: Scalar>(mut basis: Basis<'_, S>, options: Lobpcg<'_, S>) -> Result<Eigenpairs<S>, SolveError> {
    let Lobpcg { count, mut control, .. } = options;
    let keep_on_device = control.keep_on_device;
    let tolerance = control.tolerance_of::<S>();
    let mut steps: Vec<Step> = Vec::new();
    let (mut best, mut best_sum, mut since_best) = (f64::INFINITY, f64::INFINITY, 0);
    // Are the images fresh, so that residuals are those of X and not of what rounding made of them?
    let mut fresh = true;
    let mut refreshed_at = 0;
    let stopped = loop {
        let iteration = steps.len();
        let (r, residuals) = basis.residuals(true)?;
        let sizes = basis.sizes_under_b()?;
        let limit = |(value, size): (&f64, &f64)| tolerance.of::<S>(value * size, basis.largest * size);
        let limits: Vec<f64> = basis.values.iter().zip(&sizes).map(limit).collect();
        let is_within = |column: usize| residuals[column] <= limits[column];
        let converged = (0..count).filter(|&column| is_within(column)).count();
        if converged == count && !fresh {
            basis.refresh()?;
            (fresh, refreshed_at) = (true, iteration);
            continue;
        }
        let step = Step {
            iteration,
            seconds: basis.work.elapsed().as_secs_f64(),
            values: basis.values[..count].to_vec(),
            residuals: residuals[..count].to_vec(),
            converged,
        };
        let cancelled = basis.work.tell(&mut control, &step);
        steps.push(step);
        if converged == count {
            break Stopped::Converged;
        }
        if cancelled {
            break Stopped::Cancelled;
        }
        if iteration >= control.max_iterations {
            break Stopped::Limit;
        }
        // Values go on to better ones while residuals of what is not found yet stand still.
        let sum: f64 = basis.values[..count].iter().sum();
        let better = (sum - best_sum).abs() > 1e-9 * sum.abs().max(S::EPSILON * basis.largest);
        best_sum = if better { sum } else { best_sum };
        let worst: f64 =
            (0..count).filter(|&column| !is_within(column)).map(|column| residuals[column]).sum();
        since_best = if worst < 0.99 * best || better { 0 } else { since_best + 1 };
        best = best.min(worst);
        let at_rounding = worst <= 8.0 * S::EPSILON * basis.largest * (basis.n.total as f64).sqrt();
        if since_best >= PATIENCE || (at_rounding && since_best >= 10) {
            break Stopped::Stagnated;
        }
        if iteration - refreshed_at >= REFRESH {
            basis.refresh()?;
            refreshed_at = iteration;
            basis.residuals(true)?;
        }
        // What follows changes X, and its images by combination only.
        fresh = false;
        let active: Vec<usize> =
            (0..basis.k).filter(|&column| column >= count || !is_within(column)).collect();
        let directions = basis.directions(r, &active)?;
        if directions == 0 || !basis.improve(directions, &active)? {
            // Nothing is left to go to, or what is left is rounding.
            if basis.p_count == 0 && since_best > 0 {
                break Stopped::Stagnated;
            }
            basis.p_count = 0;
            basis.refresh()?;
            (fresh, refreshed_at) = (true, iteration);
        }
    };
    result(basis, count, steps, stopped, keep_on_device)
}

fn result<S: Scalar>(
    mut basis: Basis<'_, S>,
    count: usize,
    steps: Vec<Step>,
    stopped: Stopped,
    keep_on_device: bool,
) -> Result<Eigenpairs<S>, SolveError> {
    if stopped != Stopped::Converged {
        // What is claimed is what fresh products show.
        basis.refresh()?;
    }
    let (_, residuals) = basis.residuals(false)?;
    let (vectors, vectors_on_device) =
        basis.work.give_back(basis.x.own.first(count), basis.n, keep_on_device)?;
    let (products, times) = (basis.work.products, basis.work.times()?);
    Ok(Eigenpairs {
        values: basis.values[..count].to_vec(),
        vectors,
        vectors_on_device,
        residuals: residuals[..count].to_vec(),
        history: History { steps, products, times, stopped },
    })
}
