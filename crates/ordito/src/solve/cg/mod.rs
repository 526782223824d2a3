//! Right-hand sides of a symmetric positive definite matrix, many at once, by conjugate gradients in blocks (O'Leary; Dubrulle's BCGrQ).
//!
//! All right-hand sides share one space of directions: fewer iterations than each on its own, and one product for all. The residuals are
//! kept as R = Q·C with orthonormal Q: right-hand sides that depend on each other, or have converged, only make Q narrower, and
//! norms of residuals are those of the columns of C, which cost nothing. Q itself is never stored: what is, is R̂ with Q = R̂·W, and W
//! goes into the next combination. An iteration passes over memory so: directions P; A·P; PᵀAP; X; R̂; R̂ᵀR̂.
//!
//! What the recurrence says is believed only after a fresh product; where rounding has led it astray, it begins anew from there.

use crate::Scalar;
use crate::device::DeviceDense;
use crate::matrix::{Dense, DenseView};
use crate::solve::blocks::{Block, Columns};
use crate::solve::control::Control;
use crate::solve::error::SolveError;
use crate::solve::history::{History, Step, Stopped};
use crate::solve::operator::{Operator, Preconditioner};
use crate::solve::small::{
    cholesky, column_norms, columns, diagonal, inverse_of_lower, norms, solved, stacked, symmetric_eigen,
};
use crate::solve::vectors::Source;
use crate::solve::workspace::Workspace;
use nalgebra::DMatrix;

/// Least pivot of the Cholesky factor of R̂ᵀR̂, as a part of its diagonal: below, the error of the Gram matrix would show in Q.
const LEAST_PIVOT: f64 = 1e-8;
/// Iterations without a smaller residual after which a fresh product shows what became of it. Residuals of ill-conditioned matrices
/// do stay where they are for long: only the error becomes smaller all the time.
const PATIENCE: usize = 500;
/// What may be dropped of all residuals together, in parts of what is allowed.
const DROPPED: f64 = 0.1;

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
    check(a, b, &options)?;
    Solver::new(a, b, &options)?.iterate(options)
}

fn check<S: Scalar>(a: &dyn Operator<S>, b: Source<'_, S>, options: &Cg<'_, S>) -> Result<(), SolveError> {
    let asked = |sentence: String| Err(SolveError::Asked(sentence));
    let n = a.rows();
    if a.cols() != n {
        return asked(format!("conjugate gradients need a square matrix; this one is {n}×{}", a.cols()));
    }
    if b.rows() != n {
        return asked(format!("the right-hand sides have {} rows, {n} expected", b.rows()));
    }
    if let Some(start) = options.start.filter(|start| (start.rows(), start.cols()) != (n, b.cols())) {
        let (rows, cols, k) = (start.rows(), start.cols(), b.cols());
        return asked(format!("the starting block is {rows}×{cols}, {n}×{k} expected"));
    }
    if let Some(preconditioner) = &options.preconditioner {
        preconditioner.check(n)?;
    }
    if !options.control.tolerance_of::<S>().is_valid() {
        return asked("the tolerance must be a number of 0 or more".into());
    }
    Ok(())
}

/// R = R̂·W·C, and what the next directions need.
struct Recurrence {
    /// Columns of R̂.
    stored: usize,
    /// Q = R̂·W is orthonormal.
    w: DMatrix<f64>,
    /// A column for each right-hand side.
    c: DMatrix<f64>,
    /// QᵀMQ, which is PᵀQ: the unit matrix without a preconditioner M.
    g: DMatrix<f64>,
    /// What the last directions become part of the next by: P ← M·Q + P·β.
    beta: DMatrix<f64>,
    /// Norms of what was left out of C since the beginning, at most.
    dropped: Vec<f64>,
}

impl Recurrence {
    /// Columns of Q.
    fn width(&self) -> usize {
        self.w.ncols()
    }
    fn residuals(&self) -> Vec<f64> {
        column_norms(&self.c).iter().zip(&self.dropped).map(|(norm, dropped)| norm + dropped).collect()
    }
    /// Leaves out of Q what no right-hand side has more than a little of, in parts of its target.
    fn drop_what_is_small(&mut self, targets: &[f64], columns_at_first: usize) -> Result<(), SolveError> {
        let parts = DMatrix::from_fn(self.width(), targets.len(), |row, col| {
            if targets[col] > 0.0 { self.c[(row, col)] / targets[col] } else { 0.0 }
        });
        let eigen = symmetric_eigen(&(&parts * parts.transpose()), "a residual")?;
        let least = (DROPPED / columns_at_first.max(1) as f64).powi(2);
        let (small, kept): (Vec<usize>, Vec<usize>) =
            (0..self.width()).partition(|&i| eigen.values[i] <= least);
        if small.is_empty() {
            return Ok(());
        }
        let left_out = columns(&eigen.vectors, &small).transpose() * &self.c;
        for (sum, norm) in self.dropped.iter_mut().zip(column_norms(&left_out)) {
            *sum += norm;
        }
        let turn = columns(&eigen.vectors, &kept);
        self.w *= &turn;
        self.c = turn.transpose() * &self.c;
        self.g = turn.transpose() * &self.g * &turn;
        self.beta *= &turn;
        Ok(())
    }
}

/// How an iteration ended.
#[derive(PartialEq)]
enum Went {
    Well,
    /// Some directions have no curvature left but rounding.
    Badly,
    /// None of them has any.
    Nowhere,
}

struct Solver<'a, S: Scalar> {
    a: &'a dyn Operator<S>,
    n: usize,
    k: usize,
    work: Workspace<S>,
    b: Block,
    x: Block,
    /// The best of all X that were looked at with fresh products, column by column; and its residuals.
    best: Block,
    best_residuals: Vec<f64>,
    /// R̂.
    r: Block,
    p: Block,
    /// A·P.
    t: Block,
    /// M·R̂.
    z: Option<Block>,
    factors: Option<Block>,
    /// Right-hand sides are divided by these powers of two: their squares neither overflow nor vanish.
    units: Vec<f64>,
    /// What residuals may be.
    limits: Vec<f64>,
    /// The same, but not less than what rounding of X allows: beyond it the recurrence tells nothing of X.
    targets: Vec<f64>,
    recurrence: Recurrence,
    /// Columns of P.
    p_count: usize,
    /// About ‖A‖, not more.
    size_of_a: f64,
}

impl<'a, S: Scalar> Solver<'a, S> {
    fn new(a: &'a dyn Operator<S>, right: Source<'_, S>, options: &Cg<'_, S>) -> Result<Self, SolveError> {
        let (n, k) = (right.rows(), right.cols());
        let mut work = Workspace::of(a, options.control.time_parts)?;
        let [b, x, best, r, p, t] = ["B", "X", "the best X", "residuals", "P", "A·P"];
        let [b, x, best, r, p, t] = [
            work.add(b, n, k)?,
            work.add(x, n, k)?,
            work.add(best, n, k)?,
            work.add(r, n, k)?,
            work.add(p, n, k)?,
            work.add(t, n, k)?,
        ];
        work.write_source(b.all(), right)?;
        let units = match right {
            Source::Host(right) => units(right)?,
            Source::Device(_) => units_of(norms(&work.gram(&[b.all()], &[b.all()])?), most_of::<S>())?,
        };
        let scale = diagonal(&units.iter().map(|unit| 1.0 / unit).collect::<Vec<_>>());
        work.combine(&[b.all()], &scale, &[b.all()])?;
        let norms_of_b = norms(&work.gram(&[b.all()], &[b.all()])?);
        if let Some(start) = options.start {
            // What belongs to a right-hand side of 0 is 0.
            let there = DMatrix::from_fn(k, k, |i, j| if norms_of_b[j] > 0.0 { scale[(i, j)] } else { 0.0 });
            work.write_source(x.all(), start)?;
            work.combine(&[x.all()], &there, &[x.all()])?;
            work.copy(x.all(), best.all())?;
        }
        let z = match &options.preconditioner {
            Some(_) => Some(work.add("preconditioned residuals", n, k)?),
            None => None,
        };
        let factors = match &options.preconditioner {
            Some(Preconditioner::Diagonal(numbers)) => {
                let block = work.add("the preconditioner", n, 1)?;
                work.write(block.all(), DenseView::new(numbers, n, 1, 1)?)?;
                Some(block)
            }
            _ => None,
        };
        let tolerance = options.control.tolerance_of::<S>();
        let limits =
            norms_of_b.iter().zip(&units).map(|(norm, unit)| tolerance.of::<S>(norm * unit, 0.0) / unit);
        let limits: Vec<f64> = limits.collect();
        let at_rounding = norms_of_b.iter().map(|norm| 0.1 * S::EPSILON * norm);
        let targets = limits.iter().zip(at_rounding).map(|(limit, least)| limit.max(least)).collect();
        let none = DMatrix::zeros(0, 0);
        let recurrence = Recurrence {
            stored: 0,
            w: none.clone(),
            c: DMatrix::zeros(0, k),
            g: none.clone(),
            beta: none,
            dropped: vec![0.0; k],
        };
        let best_residuals = vec![f64::INFINITY; k];
        Ok(Solver {
            a,
            n,
            k,
            work,
            b,
            x,
            best,
            best_residuals,
            r,
            p,
            t,
            z,
            factors,
            units,
            limits,
            targets,
            recurrence,
            p_count: 0,
            size_of_a: 0.0,
        })
    }

    fn iterate(mut self, options: Cg<'_, S>) -> Result<Solution<S>, SolveError> {
        let Cg { start, preconditioner, mut control } = options;
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
                residuals = self.fresh_residuals(false)?;
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
            let flow = control.progress.as_mut().map(|progress| progress(&step));
            steps.push(step);
            if fresh && converged == self.k {
                break Stopped::Converged;
            }
            if flow.is_some_and(|flow| flow.is_break()) {
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
                self.keep_best(&residuals)?;
                self.begin(&residuals, &preconditioner)?;
            } else if left < least {
                (least, since_least) = (left, 0);
            } else {
                since_least += 1;
            }
            let went = self.advance(&preconditioner)?;
            if went == Went::Nowhere && fresh {
                break Stopped::Stagnated;
            }
            fresh = went != Went::Well || since_least >= PATIENCE;
            residuals =
                if fresh { self.fresh_residuals(false)? } else { self.narrow(converged)?.residuals() };
        };
        self.result(steps, stopped, fresh.then_some(residuals), control.keep_on_device)
    }

    /// Norms of B − A·X, which is left in the block of A·P.
    fn fresh_residuals(&mut self, x_is_zero: bool) -> Result<Vec<f64>, SolveError> {
        let (b, x, t) = (self.b.all(), self.x.all(), self.t.all());
        if x_is_zero {
            self.work.copy(b, t)?;
        } else {
            self.work.apply(self.a, x, t)?;
            let unit = DMatrix::identity(self.k, self.k);
            self.work.combine(&[b, t], &stacked(&[&unit, &-&unit]), &[t])?;
        }
        let gram = self.work.gram(&[t], &[t])?;
        let residuals = norms(&gram);
        if gram.diagonal().iter().any(|square| !square.is_finite()) {
            return Err(SolveError::NotFinite("B − A·X"));
        }
        Ok(residuals)
    }

    /// Keeps those columns of X that are better than all before.
    fn keep_best(&mut self, residuals: &[f64]) -> Result<(), SolveError> {
        let is_better: Vec<bool> =
            residuals.iter().zip(&self.best_residuals).map(|(r, best)| r < best).collect();
        let chosen =
            |better: bool| diagonal(&is_better.iter().map(|&b| f64::from(b == better)).collect::<Vec<_>>());
        let c = stacked(&[&chosen(true), &chosen(false)]);
        self.work.combine(&[self.x.all(), self.best.all()], &c, &[self.best.all()])?;
        for (best, r) in self.best_residuals.iter_mut().zip(residuals) {
            *best = best.min(*r);
        }
        Ok(())
    }

    /// Forgets all directions. Q spans those fresh residuals that are not small enough.
    fn begin(
        &mut self,
        residuals: &[f64],
        preconditioner: &Option<Preconditioner<'_, S>>,
    ) -> Result<(), SolveError> {
        let k = self.k;
        let active: Vec<usize> = (0..k).filter(|&column| residuals[column] > self.limits[column]).collect();
        let q = self.r.first(active.len());
        self.work.combine(&[self.t.all()], &columns(&DMatrix::identity(k, k), &active), &[q])?;
        let rank = self.work.orthonormalize(q, None)?.rank;
        let q = self.r.first(rank);
        let mut c = self.work.gram(&[q], &[self.t.all()])?;
        for column in (0..k).filter(|column| !active.contains(column)) {
            c.column_mut(column).fill(0.0);
        }
        let g = match self.precondition(q, preconditioner)? {
            Some(z) => symmetric(&self.work.gram(&[q], &[z])?),
            None => DMatrix::identity(rank, rank),
        };
        self.p_count = 0;
        let (w, beta) = (DMatrix::identity(rank, rank), DMatrix::zeros(0, rank));
        self.recurrence = Recurrence { stored: rank, w, c, g, beta, dropped: vec![0.0; k] };
        Ok(())
    }

    /// M·R̂, where there is an M.
    fn precondition(
        &mut self,
        r: Columns,
        with: &Option<Preconditioner<'_, S>>,
    ) -> Result<Option<Columns>, SolveError> {
        let Some(block) = self.z else { return Ok(None) };
        let z = block.first(r.count);
        match with {
            Some(Preconditioner::Operator(m)) => self.work.precondition(*m, r, z)?,
            _ => {
                self.work.copy(r, z)?;
                if let Some(factors) = self.factors {
                    self.work.scale_rows(factors.all(), z)?;
                }
            }
        }
        Ok(Some(z))
    }

    /// The next directions, the best X that they allow, and its residuals.
    fn advance(&mut self, preconditioner: &Option<Preconditioner<'_, S>>) -> Result<Went, SolveError> {
        let Recurrence { stored, w, c, g, beta, .. } = &self.recurrence;
        let (stored, width) = (*stored, w.ncols());
        let source = self.z.unwrap_or(self.r).first(stored);
        let (p, t) = (self.p.first(width), self.t.first(width));
        self.work.combine(&[source, self.p.first(self.p_count)], &stacked(&[w, beta]), &[p])?;
        self.p_count = width;
        self.work.apply(self.a, p, t)?;
        let h = if beta.nrows() > 0 {
            self.work.gram(&[p], &[t])?
        } else {
            // At the beginning it is seen how large A is, and whether it is symmetric.
            let all = self.work.gram(&[p, t], &[p, t])?;
            let (h, lengths) = (all.view((0, width), (width, width)).into_owned(), norms(&all));
            let ratios = (0..width).filter(|&i| lengths[i] > 0.0).map(|i| lengths[width + i] / lengths[i]);
            self.size_of_a = ratios.fold(self.size_of_a, f64::max);
            check_symmetry::<S>(&h, &lengths, self.size_of_a)?;
            h
        };
        if h.iter().any(|number| !number.is_finite()) {
            return Err(SolveError::NotFinite("A·P"));
        }
        let h = symmetric(&h);
        // A step that is longer than rounding of A allows goes along what A makes nothing of.
        let longest = g.amax() / (1e3 * S::EPSILON * self.size_of_a);
        let step = cholesky(&h, 4.0 * S::EPSILON).map(|l| self.work.small(|| solved(&l, g)));
        let (alpha, went) = match step.filter(|alpha| alpha.amax() <= longest) {
            Some(alpha) => (alpha, Went::Well),
            None => {
                let gram = self.work.gram(&[p], &[p])?;
                let least = 1e3 * S::EPSILON * self.size_of_a;
                (self.work.small(|| solved_where_positive(&h, g, &gram, least))?, Went::Badly)
            }
        };
        if alpha.iter().all(|number| *number == 0.0) {
            return Ok(Went::Nowhere);
        }
        let step = stacked(&[&DMatrix::identity(self.k, self.k), &(&alpha * c)]);
        self.work.combine(&[self.x.all(), p], &step, &[self.x.all()])?;
        let r = self.r.first(width);
        self.work.combine(&[self.r.first(stored), t], &stacked(&[w, &-alpha]), &[r])?;
        self.recurrence.stored = width;
        if went == Went::Well {
            self.orthonormal_residuals(preconditioner)?;
        }
        Ok(went)
    }

    /// The next Q, C and β, of an R̂ that is new.
    fn orthonormal_residuals(
        &mut self,
        preconditioner: &Option<Preconditioner<'_, S>>,
    ) -> Result<(), SolveError> {
        let r = self.r.first(self.recurrence.stored);
        let z = self.precondition(r, preconditioner)?;
        let grams = match z {
            Some(z) => self.work.gram(&[r, z], &[r])?,
            None => self.work.gram(&[r], &[r])?,
        };
        if grams.iter().any(|number| !number.is_finite()) {
            return Err(SolveError::NotFinite("a residual"));
        }
        let gram = grams.rows(0, r.count).into_owned();
        // Q = R̂·W; C; R̂ᵀMQ of the R̂ that was stored before; QᵀMQ.
        let (stored, w, c, across, g);
        match cholesky(&gram, LEAST_PIVOT) {
            Some(l) => {
                (stored, w) = (r.count, inverse_of_lower(&l).transpose());
                c = l.transpose() * &self.recurrence.c;
                (across, g) = match z {
                    Some(_) => {
                        let across = symmetric(&grams.rows(r.count, r.count).into_owned()) * &w;
                        let g = symmetric(&(w.transpose() * &across));
                        (across, g)
                    }
                    None => (l, DMatrix::identity(stored, stored)),
                };
            }
            None => {
                // Some directions are much smaller than others: in passes, each at its own scale. A·P is no longer needed.
                let old = self.t.first(r.count);
                self.work.copy(r, old)?;
                stored = self.work.orthonormalize(r, None)?.rank;
                w = DMatrix::identity(stored, stored);
                let q = self.r.first(stored);
                let overlap = self.work.gram(&[q], &[old])?;
                c = &overlap * &self.recurrence.c;
                (across, g) = match self.precondition(q, preconditioner)? {
                    Some(z) => {
                        let both = self.work.gram(&[old, q], &[z])?;
                        let g = symmetric(&both.rows(r.count, stored).into_owned());
                        (both.rows(0, r.count).into_owned(), g)
                    }
                    None => (overlap.transpose(), DMatrix::identity(stored, stored)),
                };
            }
        }
        let beta = match z {
            Some(_) => solved(&cholesky(&self.recurrence.g, 0.0).ok_or_else(not_positive)?, &across),
            None => across,
        };
        let dropped = std::mem::take(&mut self.recurrence.dropped);
        self.recurrence = Recurrence { stored, w, c, g, beta, dropped };
        Ok(())
    }

    /// Where more right-hand sides have converged than had before, Q may become narrower.
    fn narrow(&mut self, converged: usize) -> Result<&Recurrence, SolveError> {
        let residuals = self.recurrence.residuals();
        let now = (0..self.k).filter(|&column| residuals[column] <= self.limits[column]).count();
        if now > converged && now < self.k {
            let (targets, k) = (&self.targets, self.k);
            let recurrence = &mut self.recurrence;
            self.work.small(|| recurrence.drop_what_is_small(targets, k))?;
        }
        Ok(&self.recurrence)
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
            None => self.fresh_residuals(false)?,
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
        self.work.combine(&[x.all()], &diagonal(&self.units), &[x.all()])?;
        let residuals = self.in_units(&residuals);
        let (x, x_on_device) = self.work.give_back(x.all(), self.n, keep_on_device)?;
        let (products, times) = (self.work.products, self.work.times()?);
        Ok(Solution { x, x_on_device, residuals, history: History { steps, products, times, stopped } })
    }
}

/// Of each column the power of two below its largest number; 1 where all are 0.
fn units<S: Scalar>(b: DenseView<'_, S>) -> Result<Vec<f64>, SolveError> {
    let mut largest = vec![0.0_f64; b.cols()];
    for row in 0..b.rows() {
        for (largest, b) in largest.iter_mut().zip(b.row(row)) {
            // A NaN must not be lost.
            let size = b.to_f64().abs();
            *largest = if size <= *largest { *largest } else { size };
        }
    }
    units_of(largest, most_of::<S>())
}

/// The largest power of two that is, as 1 divided by it, a normal number of S.
fn most_of<S: Scalar>() -> i32 {
    if S::EPSILON > 1e-10 { 120 } else { 1000 }
}

fn units_of(sizes: Vec<f64>, most: i32) -> Result<Vec<f64>, SolveError> {
    if sizes.iter().any(|size| !size.is_finite()) {
        return Err(SolveError::NotFinite("the right-hand side"));
    }
    let power = |size: f64| 2f64.powi((size.log2().floor() as i32).clamp(-most, most));
    Ok(sizes.into_iter().map(|size| if size > 0.0 { power(size) } else { 1.0 }).collect())
}

fn symmetric(a: &DMatrix<f64>) -> DMatrix<f64> {
    (a + a.transpose()) * 0.5
}

/// `h` is PᵀAP; an element cannot be larger than the lengths of both columns of P and the size of A allow.
fn check_symmetry<S: Scalar>(h: &DMatrix<f64>, lengths: &[f64], size_of_a: f64) -> Result<(), SolveError> {
    let part = |i: usize, j: usize| (h[(i, j)] - h[(j, i)]).abs() / (lengths[i] * lengths[j] * size_of_a);
    let worst = (0..h.nrows()).flat_map(|i| (0..i).map(move |j| part(i, j))).fold(0.0, f64::max);
    if worst <= S::EPSILON.sqrt() {
        return Ok(());
    }
    Err(SolveError::Unsuited(format!(
        "conjugate gradients need a symmetric matrix: p·Aq and q·Ap differ by {worst:.1e} of what they could be"
    )))
}

fn not_positive() -> SolveError {
    SolveError::Unsuited("the preconditioner is not positive definite".into())
}

/// H⁻¹·G where H is positive, 0 where it is 0 but for rounding; an error where it is negative. H is PᵀAP, `gram` PᵀP, and what is
/// `least` times as long is rounding.
fn solved_where_positive(
    h: &DMatrix<f64>,
    g: &DMatrix<f64>,
    gram: &DMatrix<f64>,
    least: f64,
) -> Result<DMatrix<f64>, SolveError> {
    let lengths = norms(gram);
    let n = h.nrows();
    let scale = diagonal(
        &lengths.iter().map(|length| if *length > 0.0 { 1.0 / length } else { 0.0 }).collect::<Vec<_>>(),
    );
    let eigen = symmetric_eigen(&(&scale * h * &scale), "PᵀAP")?;
    if let Some(value) = eigen.values.first().filter(|value| **value < -least * n as f64) {
        return Err(SolveError::Unsuited(format!(
            "conjugate gradients need a positive definite matrix: there is a direction p with p·Ap = {value:.1e}·p·p"
        )));
    }
    let inverse: Vec<f64> =
        eigen.values.iter().map(|value| if *value > least { 1.0 / value } else { 0.0 }).collect();
    Ok(&scale * &eigen.vectors * diagonal(&inverse) * eigen.vectors.transpose() * &scale * g)
}
