//! The recurrence: residuals and directions as blocks, and the small matrices that tie them together.

use super::curvature::{check_symmetry, solved_where_positive, symmetric};
use crate::Scalar;
use crate::solve::blocks::{Block, Columns};
use crate::solve::error::SolveError;
use crate::solve::operator::{Operator, Preconditioner};
use crate::solve::preconditioned::Prepared;
use crate::solve::shared::Rows;
use crate::solve::small::{
    Small, cholesky, column_norms, columns, inverse_of_lower, norms, solved, stacked, symmetric_eigen,
};
use crate::solve::workspace::Workspace;

/// Least pivot of the Cholesky factor of R̂ᵀR̂, as a part of its diagonal: below, the error of the Gram matrix would show in Q.
const LEAST_PIVOT: f64 = 1e-8;
/// What may be dropped of all residuals together, in parts of what is allowed.
const DROPPED: f64 = 0.1;

/// R = R̂·W·C, and what the next directions need.
struct Coefficients {
    /// Columns of R̂.
    stored: usize,
    /// Q = R̂·W is orthonormal.
    w: Small,
    /// A column for each right-hand side.
    c: Small,
    /// QᵀMQ, which is PᵀQ: the unit matrix without a preconditioner M.
    g: Small,
    /// What the last directions become part of the next by: P ← M·Q + P·β.
    beta: Small,
    /// Norms of what was left out of C since the beginning, at most.
    dropped: Vec<f64>,
}

impl Coefficients {
    /// Columns of Q.
    fn width(&self) -> usize {
        self.w.ncols()
    }
    fn residuals(&self) -> Vec<f64> {
        column_norms(&self.c).iter().zip(&self.dropped).map(|(norm, dropped)| norm + dropped).collect()
    }
    /// Leaves out of Q what no right-hand side has more than a little of, in parts of its target.
    fn drop_what_is_small(&mut self, targets: &[f64]) -> Result<(), SolveError> {
        let parts = Small::from_fn(self.width(), targets.len(), |row, col| {
            if targets[col] > 0.0 { self.c[(row, col)] / targets[col] } else { 0.0 }
        });
        let eigen = symmetric_eigen(&(&parts * parts.transpose()), "a residual")?;
        let least = (DROPPED / targets.len().max(1) as f64).powi(2);
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
pub(super) enum Went {
    Well,
    /// Some directions have no curvature left but rounding.
    Badly,
    /// None of them has any.
    Nowhere,
}

pub(super) struct Recurrence<'a, S: Scalar> {
    a: &'a dyn Operator<S>,
    /// M, and M·R̂.
    preconditioner: Option<(Prepared<'a, S>, Block)>,
    /// R̂.
    r: Block,
    p: Block,
    /// A·P; at the beginning fresh residuals.
    pub(super) t: Block,
    coefficients: Coefficients,
    /// Columns of P.
    p_count: usize,
    /// About ‖A‖, not more.
    size_of_a: f64,
}

impl<'a, S: Scalar> Recurrence<'a, S> {
    /// Of k right-hand sides.
    pub(super) fn new(
        work: &mut Workspace<S>,
        a: &'a dyn Operator<S>,
        k: usize,
        preconditioner: &Option<Preconditioner<'a, S>>,
    ) -> Result<Self, SolveError> {
        let n = Rows::of(a);
        let (r, p, t) = (work.add("residuals", n, k)?, work.add("P", n, k)?, work.add("A·P", n, k)?);
        let preconditioner = match work.prepared(preconditioner, n)? {
            Some(m) => Some((m, work.add("preconditioned residuals", n, k)?)),
            None => None,
        };
        let none = Small::zeros(0, 0);
        let coefficients = Coefficients {
            stored: 0,
            w: none.clone(),
            c: Small::zeros(0, k),
            g: none.clone(),
            beta: none,
            dropped: vec![0.0; k],
        };
        Ok(Recurrence { a, preconditioner, r, p, t, coefficients, p_count: 0, size_of_a: 0.0 })
    }

    pub(super) fn residuals(&self) -> Vec<f64> {
        self.coefficients.residuals()
    }

    /// Forgets all directions. Q spans the active ones of the fresh residuals, which lie where A·P will.
    pub(super) fn begin(&mut self, work: &mut Workspace<S>, active: &[usize]) -> Result<(), SolveError> {
        let k = self.t.cols;
        let q = self.r.first(active.len());
        work.combine(&[self.t.all()], &columns(&Small::identity(k, k), active), &[q])?;
        let rank = work.orthonormalize(q, None)?.rank;
        let q = self.r.first(rank);
        let mut c = work.gram(&[q], &[self.t.all()])?;
        for column in (0..k).filter(|column| !active.contains(column)) {
            c.column_mut(column).fill(0.0);
        }
        let g = match self.precondition(work, q)? {
            Some(z) => symmetric(&work.gram(&[q], &[z])?),
            None => Small::identity(rank, rank),
        };
        self.p_count = 0;
        let (w, beta) = (Small::identity(rank, rank), Small::zeros(0, rank));
        self.coefficients = Coefficients { stored: rank, w, c, g, beta, dropped: vec![0.0; k] };
        Ok(())
    }

    /// M·R̂, where there is an M.
    fn precondition(&self, work: &mut Workspace<S>, r: Columns) -> Result<Option<Columns>, SolveError> {
        let Some((m, block)) = &self.preconditioner else { return Ok(None) };
        let z = block.first(r.count);
        work.precondition(m, r, z)?;
        Ok(Some(z))
    }

    /// The next directions, the best X that they allow, and its residuals.
    pub(super) fn advance(&mut self, work: &mut Workspace<S>, x: Columns) -> Result<Went, SolveError> {
        let Coefficients { stored, w, c, g, beta, .. } = &self.coefficients;
        let (stored, width) = (*stored, w.ncols());
        let source = self.preconditioner.as_ref().map_or(self.r, |(_, z)| *z).first(stored);
        let (p, t) = (self.p.first(width), self.t.first(width));
        work.combine(&[source, self.p.first(self.p_count)], &stacked(&[w, beta]), &[p])?;
        self.p_count = width;
        work.apply(self.a, p, t)?;
        let h = if beta.nrows() > 0 {
            work.gram(&[p], &[t])?
        } else {
            // At the beginning it is seen how large A is, and whether it is symmetric.
            let all = work.gram(&[p, t], &[p, t])?;
            let (h, lengths) = (all.part((0, width), (width, width)), norms(&all));
            let ratios = (0..width).filter(|&i| lengths[i] > 0.0).map(|i| lengths[width + i] / lengths[i]);
            self.size_of_a = ratios.fold(self.size_of_a, f64::max);
            check_symmetry::<S>(&h, &lengths, self.size_of_a)?;
            h
        };
        if !h.is_finite() {
            return Err(SolveError::NotFinite("A·P"));
        }
        let h = symmetric(&h);
        // A step that is longer than rounding of A allows goes along what A makes nothing of.
        let longest = g.amax() / (1e3 * S::EPSILON * self.size_of_a);
        let step = cholesky(&h, 4.0 * S::EPSILON).map(|l| work.small(|| solved(&l, g)));
        let (alpha, went) = match step.filter(|alpha| alpha.amax() <= longest) {
            Some(alpha) => (alpha, Went::Well),
            None => {
                let gram = work.gram(&[p], &[p])?;
                let least = 1e3 * S::EPSILON * self.size_of_a;
                (work.small(|| solved_where_positive(&h, g, &gram, least))?, Went::Badly)
            }
        };
        if alpha.iter().all(|number| *number == 0.0) {
            return Ok(Went::Nowhere);
        }
        let step = stacked(&[&Small::identity(x.count, x.count), &(&alpha * c)]);
        work.combine(&[x, p], &step, &[x])?;
        let r = self.r.first(width);
        work.combine(&[self.r.first(stored), t], &stacked(&[w, &-alpha]), &[r])?;
        self.coefficients.stored = width;
        if went == Went::Well {
            self.orthonormal_residuals(work)?;
        }
        Ok(went)
    }

    /// The next Q, C and β, of an R̂ that is new.
    fn orthonormal_residuals(&mut self, work: &mut Workspace<S>) -> Result<(), SolveError> {
        let r = self.r.first(self.coefficients.stored);
        let z = self.precondition(work, r)?;
        let grams = match z {
            Some(z) => work.gram(&[r, z], &[r])?,
            None => work.gram(&[r], &[r])?,
        };
        if !grams.is_finite() {
            return Err(SolveError::NotFinite("a residual"));
        }
        let gram = grams.rows_from(0, r.count);
        // Q = R̂·W; C; R̂ᵀMQ of the R̂ that was stored before; QᵀMQ.
        let (stored, w, c, across, g);
        match cholesky(&gram, LEAST_PIVOT) {
            Some(l) => {
                (stored, w) = (r.count, inverse_of_lower(&l).transpose());
                c = l.transpose() * &self.coefficients.c;
                (across, g) = match z {
                    Some(_) => {
                        let across = symmetric(&grams.rows_from(r.count, r.count)) * &w;
                        let g = symmetric(&(w.transpose() * &across));
                        (across, g)
                    }
                    None => (l, Small::identity(stored, stored)),
                };
            }
            None => {
                // Some directions are much smaller than others: in passes, each at its own scale. A·P is no longer needed.
                let old = self.t.first(r.count);
                work.copy(r, old)?;
                stored = work.orthonormalize(r, None)?.rank;
                w = Small::identity(stored, stored);
                let q = self.r.first(stored);
                let overlap = work.gram(&[q], &[old])?;
                c = &overlap * &self.coefficients.c;
                (across, g) = match self.precondition(work, q)? {
                    Some(z) => {
                        let both = work.gram(&[old, q], &[z])?;
                        let g = symmetric(&both.rows_from(r.count, stored));
                        (both.rows_from(0, r.count), g)
                    }
                    None => (overlap.transpose(), Small::identity(stored, stored)),
                };
            }
        }
        let beta = match z {
            Some(_) => solved(&cholesky(&self.coefficients.g, 0.0).ok_or_else(not_positive)?, &across),
            None => across,
        };
        let dropped = std::mem::take(&mut self.coefficients.dropped);
        self.coefficients = Coefficients { stored, w, c, g, beta, dropped };
        Ok(())
    }

    /// Leaves out of Q what no right-hand side has more than a little of, in parts of its target.
    pub(super) fn narrow(&mut self, work: &mut Workspace<S>, targets: &[f64]) -> Result<(), SolveError> {
        work.small(|| self.coefficients.drop_what_is_small(targets))
    }
}

fn not_positive() -> SolveError {
    SolveError::Unsuited("the preconditioner is not positive definite".into())
}
