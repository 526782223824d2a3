//! Right-hand sides of a symmetric positive definite matrix, many at once, by conjugate gradients in blocks (O'Leary; Dubrulle's BCGrQ).
//!
//! All right-hand sides share one space of directions: fewer iterations than each on its own, and one product for all. The residuals are
//! kept as R = Q·C with orthonormal Q: right-hand sides that depend on each other, or have converged, only make Q narrower, and
//! norms of residuals are those of the columns of C, which cost nothing. Q itself is never stored: what is, is R̂ with Q = R̂·W, and W
//! goes into the next combination. An iteration passes over memory so: directions P; A·P; PᵀAP; X; R̂; R̂ᵀR̂.
//!
//! What the recurrence says is believed only after a fresh product; where rounding has led it astray, it begins anew from there.

mod curvature;
mod recurrence;
mod units;

use crate::Scalar;
use crate::device::DeviceDense;
use crate::matrix::Dense;
use crate::solve::blocks::Block;
use crate::solve::control::Control;
use crate::solve::error::SolveError;
use crate::solve::history::{History, Step, Stopped};
use crate::solve::operator::{Operator, Preconditioner};
use crate::solve::shared::Rows;
use crate::solve::small::{Small, norms, stacked};
use crate::solve::together::{agreed_on, check_square, telling};
use crate::solve::vectors::Source;
use crate::solve::workspace::Workspace;
use recurrence::{Recurrence, Went};
use units::{most_of, units, units_of};

/// Iterations without a smaller residual after which a fresh product shows what became of it. Residuals of ill-conditioned matrices
/// do stay where they are for long: only the error becomes smaller all the time.
const PATIENCE: usize = 500;

/// How to solve.
pub struct Cg<'a, S: Scalar> {
    /// X to begin with; none: 0.
    pub start: Option<Source<'a, S>>,
    /// Something like A⁻¹, symmetric and positive definite.
    pub preconditioner: Option<Preconditioner<'a, S>>,
    /// When to stop, whom to tell. A relative tolerance is one of ‖b‖, for each right-hand side.
    pub control: Control<'a>,
}

impl<S: Scalar> Default for Cg<'_, S> {
    fn default() -> Self {
        Cg { start: None, preconditioner: None, control: Control::default() }
    }
}

/// Solutions, and how well they fit.
#[derive(Debug)]
#[non_exhaustive]
pub struct Solution<S> {
    /// A column for each right-hand side; none where they were [kept](crate::solve::Control::keep_on_device) on the device.
    pub x: Dense<S>,
    /// Where that was asked for, and blocks lie on a device.
    pub x_on_device: Option<DeviceDense<S>>,
    /// ‖b − Ax‖ of each, computed with fresh products.
    pub residuals: Vec<f64>,
    /// How they were found.
    pub history: History,
}

/// X of A·X = B, for a symmetric positive definite A; singular will do, where there is a solution.
///
/// Work between products grows with the square of the columns: many more than 32 are better solved for in groups.
///
/// ```
/// use ordito::solve::{Cg, cg};
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
/// let b = ordito::matrix::random_dense(100, 4, 1)?;
/// let found = cg(&plan, b.view(), Cg::default())?;
/// assert!(found.history.converged() && found.residuals.iter().all(|r| *r < 1e-6));
/// # Ok::<(), ordito::Error>(())
/// ```
pub fn cg<'a, S: Scalar>(
    a: &'a dyn Operator<S>,
    b: impl Into<Source<'a, S>>,
    options: Cg<'a, S>,
) -> Result<Solution<S>, SolveError> {
    let b = b.into();
    let solved =
        agreed_on(a, check(a, b, &options)).and_then(|()| Solver::new(a, b, &options)?.iterate(options));
    telling(a, solved)
}

fn check<S: Scalar>(a: &dyn Operator<S>, b: Source<'_, S>, options: &Cg<'_, S>) -> Result<(), SolveError> {
    let asked = |sentence: String| Err(SolveError::Asked(sentence));
    let n = a.rows();
    check_square("conjugate gradients need a square matrix", a)?;
    if b.rows() != n {
        return asked(format!("the right-hand sides have {} rows, {n} expected", b.rows()));
    }
    if let Some(start) = options.start.filter(|start| (start.rows(), start.cols()) != (n, b.cols())) {
        let (rows, cols, k) = (start.rows(), start.cols(), b.cols());
        return asked(format!("the starting block is {rows}×{cols}, {n}×{k} expected"));
    }
    if let Some(preconditioner) = &options.preconditioner {
        preconditioner.check(Rows::of(a))?;
    }
    if !options.control.tolerance_of::<S>().is_valid() {
        return asked("the tolerance must be a number of 0 or more".into());
    }
    Ok(())
}

struct Solver<'a, S: Scalar> {
    a: &'a dyn Operator<S>,
    n: Rows,
    k: usize,
    work: Workspace<S>,
    b: Block,
    x: Block,
    /// The best of all X that were looked at with fresh products, column by column; and its residuals.
    best: Block,
    best_residuals: Vec<f64>,
    /// Right-hand sides are divided by these powers of two: their squares neither overflow nor vanish.
    units: Vec<f64>,
    /// What residuals may be.
    limits: Vec<f64>,
    /// The same, but not less than what rounding of X allows: beyond it the recurrence tells nothing of X.
    targets: Vec<f64>,
    recurrence: Recurrence<'a, S>,
}

impl<'a, S: Scalar> Solver<'a, S> {
    fn new(a: &'a dyn Operator<S>, right: Source<'_, S>, options: &Cg<'a, S>) -> Result<Self, SolveError> {
        let (n, k) = (Rows::of(a), right.cols());
        let mut work = Workspace::of(a, options.control.time_parts)?;
        let (b, x, best) = (work.add("B", n, k)?, work.add("X", n, k)?, work.add("the best X", n, k)?);
        work.write_source(b.all(), right)?;
        let units = match right {
            Source::Host(right) => units(right, work.ranks())?,
            Source::Device(_) => units_of(norms(&work.gram(&[b.all()], &[b.all()])?), most_of::<S>())?,
        };
        let scale = Small::diagonal(&units.iter().map(|unit| 1.0 / unit).collect::<Vec<_>>());
        work.combine(&[b.all()], &scale, &[b.all()])?;
        let norms_of_b = norms(&work.gram(&[b.all()], &[b.all()])?);
        if let Some(start) = options.start {
            // What belongs to a right-hand side of 0 is 0.
            let there = Small::from_fn(k, k, |i, j| if norms_of_b[j] > 0.0 { scale[(i, j)] } else { 0.0 });
            work.write_source(x.all(), start)?;
            work.combine(&[x.all()], &there, &[x.all()])?;
            work.copy(x.all(), best.all())?;
        }
        let tolerance = options.control.tolerance_of::<S>();
        let limits =
            norms_of_b.iter().zip(&units).map(|(norm, unit)| tolerance.of::<S>(norm * unit, 0.0) / unit);
        let limits: Vec<f64> = limits.collect();
        let at_rounding = norms_of_b.iter().map(|norm| 0.1 * S::EPSILON * norm);
        let targets = limits.iter().zip(at_rounding).map(|(limit, least)| limit.max(least)).collect();
        let recurrence = Recurrence::new(&mut work, a, k, &options.preconditioner)?;
        let best_residuals = vec![f64::INFINITY; k];
        Ok(Solver { a, n, k, work, b, x, best, best_residuals, units, limits, targets, recurrence })
    }

    fn iterate(mut self, options: Cg<'_, S>) -> Result<Solution<S>, SolveError> {
        let Cg { start, mut control, .. } = options;
        let mut steps: Vec<Step> = Vec::new();
        let mut residuals = self.fresh_residuals(start.is_none())?;
        let mut fresh = true;
        let mut at_last_beginning = f64::INFINITY;
        let (mut least, mut since_least) = (f64::INFINITY, 0);
        let stopped = loop {
            let iteration = steps.len();
            let is_within = |column: usize| residuals[column] <= self.limits[column];
            let converged = (0..self.k).filter(|&column| is_within(column)).count();
            if !fresh && (0..self.k).all(|column| residuals[column] <= self.targets[column]) {
                residuals = self.refreshed()?;
                fresh = true;
                continue;
            }
            let step = Step {
                iteration,
                seconds: self.work.elapsed().as_secs_f64(),
                values: Vec::new(),
                residuals: self.in_units(&residuals),
                converged,
            };
            let cancelled = self.work.tell(&mut control, &step);
            steps.push(step);
            if fresh && converged == self.k {
                break Stopped::Converged;
            }
            if cancelled {
                break Stopped::Cancelled;
            }
            if iteration >= control.max_iterations {
                break Stopped::Limit;
            }
            let left: f64 = (0..self.k).filter(|&column| !is_within(column)).map(|j| residuals[j]).sum();
            if fresh {
                if left > 0.5 * at_last_beginning {
                    break Stopped::Stagnated;
                }
                (at_last_beginning, least, since_least) = (left, left, 0);
                let active: Vec<usize> = (0..self.k).filter(|&column| !is_within(column)).collect();
                self.keep_best(&residuals)?;
                self.recurrence.begin(&mut self.work, &active)?;
            } else if left < least {
                (least, since_least) = (left, 0);
            } else {
                since_least += 1;
            }
            let went = match self.recurrence.advance(&mut self.work, self.x.all()) {
                // The first product was finite, and so is A: directions have grown too long.
                Err(SolveError::NotFinite(_)) if iteration > 0 => Went::Badly,
                went => went?,
            };
            if went == Went::Nowhere && fresh {
                break Stopped::Stagnated;
            }
            fresh = went != Went::Well || since_least >= PATIENCE;
            residuals = if fresh { self.refreshed()? } else { self.narrowed(converged)? };
        };
        self.result(steps, stopped, fresh.then_some(residuals), control.keep_on_device)
    }

    /// Norms of B − A·X, which is left in the block of A·P.
    fn fresh_residuals(&mut self, x_is_zero: bool) -> Result<Vec<f64>, SolveError> {
        let (b, x, t) = (self.b.all(), self.x.all(), self.recurrence.t.all());
        if x_is_zero {
            self.work.copy(b, t)?;
        } else {
            self.work.apply(self.a, x, t)?;
            let unit = Small::identity(self.k, self.k);
            self.work.combine(&[b, t], &stacked(&[&unit, &-&unit]), &[t])?;
        }
        // X too, as A may have no element in a row of it that is not finite. (Its square could overflow without need.)
        let gram = self.work.gram(&[t], &[t, x])?;
        if !gram.is_finite() {
            return Err(SolveError::NotFinite("B − A·X"));
        }
        Ok(norms(&gram.first_columns(self.k)))
    }

    /// Fresh residuals of X. One that has grown beyond all numbers, along what A makes nothing of, is given up for the best before.
    fn refreshed(&mut self) -> Result<Vec<f64>, SolveError> {
        match self.fresh_residuals(false) {
            Err(SolveError::NotFinite(_)) => {
                self.work.copy(self.best.all(), self.x.all())?;
                self.fresh_residuals(false)
            }
            residuals => residuals,
        }
    }

    /// Keeps those columns of X that are better than all before.
    fn keep_best(&mut self, residuals: &[f64]) -> Result<(), SolveError> {
        let is_better: Vec<bool> =
            residuals.iter().zip(&self.best_residuals).map(|(r, best)| r < best).collect();
        let chosen = |better: bool| {
            Small::diagonal(&is_better.iter().map(|&b| f64::from(b == better)).collect::<Vec<_>>())
        };
        let c = stacked(&[&chosen(true), &chosen(false)]);
        self.work.combine(&[self.x.all(), self.best.all()], &c, &[self.best.all()])?;
        for (best, r) in self.best_residuals.iter_mut().zip(residuals) {
            *best = best.min(*r);
        }
        Ok(())
    }

    /// Norms of residuals as the recurrence has them. Where more right-hand sides have converged than had before, it may become narrower.
    fn narrowed(&mut self, converged: usize) -> Result<Vec<f64>, SolveError> {
        let residuals = self.recurrence.residuals();
        let now = (0..self.k).filter(|&column| residuals[column] <= self.limits[column]).count();
        if now > converged && now < self.k {
            self.recurrence.narrow(&mut self.work, &self.targets)?;
            return Ok(self.recurrence.residuals());
        }
        Ok(residuals)
    }

    fn in_units(&self, residuals: &[f64]) -> Vec<f64> {
        residuals.iter().zip(&self.units).map(|(residual, unit)| residual * unit).collect()
    }

    fn result(
        mut self,
        steps: Vec<Step>,
        mut stopped: Stopped,
        fresh: Option<Vec<f64>>,
        keep_on_device: bool,
    ) -> Result<Solution<S>, SolveError> {
        let residuals = match fresh {
            Some(residuals) => residuals,
            None => self.refreshed()?,
        };
        let (x, residuals) = if stopped == Stopped::Converged {
            (self.x, residuals)
        } else {
            self.keep_best(&residuals)?;
            (self.best, self.best_residuals.clone())
        };
        if stopped == Stopped::Limit && (0..self.k).all(|column| residuals[column] <= self.limits[column]) {
            stopped = Stopped::Converged;
        }
        self.work.combine(&[x.all()], &Small::diagonal(&self.units), &[x.all()])?;
        let residuals = self.in_units(&residuals);
        let (x, x_on_device) = self.work.give_back(x.all(), self.n, keep_on_device)?;
        let (products, times) = (self.work.products, self.work.times()?);
        Ok(Solution { x, x_on_device, residuals, history: History { steps, products, times, stopped } })
    }
}
