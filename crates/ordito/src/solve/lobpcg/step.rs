//! An iteration: residuals, the directions that become of them, and the best that all of the basis can do.
//!
//! Residuals of a symmetric matrix are orthogonal to X, and mostly well apart from P and each other. Where nothing is done to them first, they are W
//! as they are: A is applied before anybody has looked at them, and one pass measures all that the small problem needs. Only where their
//! inner products turn out badly are they made orthonormal first, and multiplied once more.

use super::basis::{Basis, Measured};
use crate::Scalar;
use crate::solve::blocks::Columns;
use crate::solve::directions::{beside, orthonormal_directions};
use crate::solve::error::SolveError;
use crate::solve::small::{Small, columns, norms, stacked};

/// Residuals whose least pivot is more than this are W as they are, if no more than this part of it lies in X and P. Both are taken for orthonormal: an error
/// of theirs goes on to the next ones by the root of that part, and has to become smaller on the way. (Residuals that are more than rounding are orthogonal
/// to X and P.)
const LEAST_PIVOT: f64 = 1e-3;
const MOST_INSIDE: f64 = 1e-2;

impl<S: Scalar> Basis<'_, S> {
    /// R = A·X − B·X·Λ, into the residuals' block (times some number, where they are W as they are); their norms. `goes_on`: R is to become W.
    pub(super) fn residuals(&mut self, goes_on: bool) -> Result<(Columns, Vec<f64>), SolveError> {
        let k = self.k;
        let into = self.r.unwrap_or(self.w.own).all();
        // W is what residuals become; where nothing becomes of them first, one pass measures both. A multiplies them before anybody has seen their
        // size: that of A is taken out of them here, by a power of two, for else its cube would stand in RᵀAR.
        let is_w = self.preconditioner.is_none() && self.b.is_none() && self.constraints.is_none();
        let unit = if is_w { power_of_two_below(self.largest) } else { 1.0 };
        let of_bx: Vec<f64> = self.values.iter().map(|value| -value / unit).collect();
        let c = stacked(&[&Small::diagonal(&vec![1.0 / unit; k]), &Small::diagonal(&of_bx)]);
        self.work.combine(&[self.x.a.all(), self.x.b.all()], &c, &[into])?;
        if !is_w {
            let gram = self.work.gram(&[into], &[into])?;
            self.measured = None;
            return Ok((into, finite_norms(&gram)?));
        }
        let basis = [self.x.own.all(), self.p.own.first(self.p_count), into];
        let before = k + self.p_count;
        // Where columns need no W any more, products of all of them would be too many.
        let measured = if goes_on && self.all_active {
            self.work.apply(self.a, into, self.w.a.all())?;
            let gram = self.work.gram(&basis, &[into, self.w.a.all()])?;
            let [own, images] = [0, k].map(|first| gram.part((0, first), (before + k, k)));
            Measured { own, images: Some(images) }
        } else {
            Measured { own: self.work.gram(&basis, &[into])?, images: None }
        };
        let norms = finite_norms(&measured.own.rows_from(before, k))?;
        self.measured = Some(measured);
        Ok((into, norms.into_iter().map(|norm| norm * unit).collect()))
    }

    /// W: the active residuals, preconditioned, orthonormal to X, P and each other, or else as they are, their inner products measured; how many are left.
    pub(super) fn directions(&mut self, r: Columns, active: &[usize]) -> Result<usize, SolveError> {
        let (x, p, w) = (self.x, self.p, self.w);
        if let Some(preconditioner) = &self.preconditioner {
            self.work.precondition(preconditioner, r, w.own.all())?;
            self.bring_into_scale(w.own.all())?;
        }
        self.project_out_constraints(w.own.all())?;
        let (k, p_count) = (self.k, self.p_count);
        self.all_active = active.len() == k;
        let (bx, bp) = (x.b.all(), p.b.first(p_count));
        if self.b.is_some() {
            // In two steps: the inner products of W need B·W.
            let overlap = self.work.gram(&[bx, bp], &[w.own.all()])?;
            let c = stacked(&[&Small::identity(k, k), &-overlap]);
            let c = columns(&c, active);
            self.work.combine(
                &[w.own.all(), x.own.all(), p.own.first(p_count)],
                &c,
                &[w.own.first(active.len())],
            )?;
            return self.orthonormalize(w, active.len());
        }
        let gram = match self.measured.take() {
            Some(Measured { own, images: Some(images) })
                if self.all_active && are_good(&own, k + p_count) =>
            {
                self.measured = Some(Measured { own, images: Some(images) });
                return Ok(k);
            }
            Some(measured) => measured.own,
            None => self.work.gram(&[x.own.all(), p.own.first(p_count), w.own.all()], &[w.own.all()])?,
        };
        if !gram.is_finite() {
            return Err(SolveError::NotFinite("the preconditioned residual"));
        }
        let chosen = self.work.small(|| orthonormal_directions(&gram, k + p_count, active))?;
        let Some((c, needs_more)) = chosen else { return Ok(0) };
        let count = c.ncols();
        self.work.combine(&[x.own.all(), p.own.first(p_count), w.own.all()], &c, &[w.own.first(count)])?;
        if !needs_more {
            return Ok(count);
        }
        // Most of W lay in X and P, or its columns were nearly dependent: what is left carries their rounding.
        let w_columns = w.own.first(count);
        let gram = self.work.gram(&[x.own.all(), p.own.first(p_count), w_columns], &[w_columns])?;
        let all: Vec<usize> = (0..count).collect();
        let chosen = self.work.small(|| orthonormal_directions(&gram, k + p_count, &all))?;
        let Some((c, _)) = chosen else { return Ok(0) };
        self.work.combine(&[x.own.all(), p.own.first(p_count), w_columns], &c, &[w.own.first(c.ncols())])?;
        Ok(c.ncols())
    }

    /// Where A is taken times a factor, its preconditioner is as it was given: if that is something like A⁻¹, what it makes of residuals is so many times
    /// too large.
    fn bring_into_scale(&mut self, w: Columns) -> Result<(), SolveError> {
        let factor = self.a.factor();
        if factor == 1.0 {
            return Ok(());
        }
        let gram = self.work.gram(&[w], &[w])?;
        let size = norms(&gram).into_iter().fold(0.0, f64::max);
        let usual = if size_of::<S>() == size_of::<f32>() { 1e-15..1e15 } else { 1e-100..1e100 };
        if gram.is_finite() && usual.contains(&size) {
            return Ok(());
        }
        self.work.combine(&[w], &Small::diagonal(&vec![1.0 / factor; w.count]), &[w])
    }

    /// The best of [X P W], and the next P; `false` where the basis has become too dependent.
    pub(super) fn improve(&mut self, directions: usize, active: &[usize]) -> Result<bool, SolveError> {
        let (k, p_count, count) = (self.k, self.p_count, directions);
        let (x, p, w) = (self.x, self.p, self.w);
        let old = k + p_count;
        let (own, images) = match self.measured.take() {
            Some(Measured { own, images: Some(images) }) => (own, images),
            _ => {
                self.work.apply(self.a, w.own.first(count), w.a.first(count))?;
                let basis = [x.own.all(), p.own.first(p_count), w.own.first(count)];
                let gram = self.work.gram(&basis, &[w.b.first(count), w.a.first(count)])?;
                let [own, images] = [0, count].map(|first| gram.part((0, first), (old + count, count)));
                (own, images)
            }
        };
        // Of X and P the inner products are known: they were chosen so.
        let q = bordered(&Small::identity(old, old), &own);
        let h = bordered(&self.projected, &images);
        let Some(ritz) = self.ritz(&h, &q, old)? else { return Ok(false) };
        let (both, of_p) = self.work.small(|| ritz.with_directions(k, active))?;
        let next_p = both.ncols() - k;
        // Between X and P there is nothing: P is orthonormal to eigenvectors of the projected matrix.
        self.projected = Small::zeros(k + next_p, k + next_p);
        self.projected.put((0, 0), &Small::diagonal(&ritz.values[..k]));
        self.projected.put((k, k), &of_p);
        self.values = ritz.values[..k].to_vec();
        self.combine(&[(x, k), (p, p_count), (w, count)], &both, &[(x, k), (p, next_p)])?;
        self.p_count = next_p;
        Ok(true)
    }
}

/// Are residuals good directions as they are? `own` is [X P R]ᵀR.
fn are_good(own: &Small, old: usize) -> bool {
    beside(own, old).is_some_and(|of| of.pivot > LEAST_PIVOT && of.inside <= MOST_INSIDE * of.pivot)
}

/// 1 where there is none.
fn power_of_two_below(number: f64) -> f64 {
    if number.is_normal() { number.abs().log2().floor().exp2() } else { 1.0 }
}

fn finite_norms(gram: &Small) -> Result<Vec<f64>, SolveError> {
    if gram.is_finite() { Ok(norms(gram)) } else { Err(SolveError::NotFinite("A·X")) }
}

/// A symmetric matrix with more columns, and the same rows; what is symmetric but for rounding is made so.
fn bordered(corner: &Small, more: &Small) -> Small {
    let (old, all) = (corner.nrows(), more.nrows());
    let mut bordered = Small::zeros(all, all);
    bordered.put((0, 0), corner);
    for col in 0..all - old {
        for row in 0..old {
            bordered[(row, old + col)] = more[(row, col)];
            bordered[(old + col, row)] = more[(row, col)];
        }
        for row in 0..all - old {
            bordered[(old + row, old + col)] = 0.5 * (more[(old + row, col)] + more[(old + col, row)]);
        }
    }
    bordered
}
