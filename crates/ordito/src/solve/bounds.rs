//! Both ends of a spectrum, before anything else is known of it.

use crate::Scalar;
use crate::solve::error::SolveError;
use crate::solve::operator::Operator;
use crate::solve::shared::Rows;
use crate::solve::small::{Small, norms, symmetric_eigen};
use crate::solve::workspace::Workspace;

/// Steps of Lanczos' method: their largest Ritz value and the last residual together are beyond the spectrum.
const BOUND_STEPS: usize = 12;

impl<S: Scalar> Workspace<S> {
    /// Both ends of the spectrum, from a few steps of Lanczos' method: safe, as the last residual is added.
    pub(crate) fn bounds_of_spectrum(
        &mut self,
        a: &dyn Operator<S>,
        seed: u64,
    ) -> Result<(f64, f64), SolveError> {
        let n = Rows::of(a);
        if n.total == 0 {
            return Ok((0.0, 0.0));
        }
        let mut of = |what| Ok::<_, SolveError>(self.add(what, n, 1)?.all());
        let (mut v, mut before, mut w) = (of("v")?, of("v before")?, of("A·v")?);
        self.randomize(v, n, seed.wrapping_add(0x5eed))?;
        let length = norms(&self.gram(&[v], &[v])?)[0];
        self.combine(&[v], &Small::filled(1, 1, 1.0 / length), &[v])?;
        let (mut diagonal, mut beside): (Vec<f64>, Vec<f64>) = (Vec::new(), Vec::new());
        for step in 0..BOUND_STEPS.min(n.total) {
            let left = beside.last().copied().unwrap_or(0.0);
            self.apply(a, v, w)?;
            let inner = self.gram(&[v], &[w])?[(0, 0)];
            self.combine(&[w, v, before], &Small::from_rows(3, 1, &[1.0, -inner, -left]), &[w])?;
            let length = norms(&self.gram(&[w], &[w])?)[0];
            if !(inner.is_finite() && length.is_finite()) {
                return Err(SolveError::NotFinite("A·v"));
            }
            diagonal.push(inner);
            beside.push(length);
            if step + 1 == n.total || length <= 4.0 * S::EPSILON * inner.abs() || length == 0.0 {
                break;
            }
            self.combine(&[w], &Small::filled(1, 1, 1.0 / length), &[w])?;
            (before, v, w) = (v, w, before);
        }
        let m = diagonal.len();
        let t = Small::from_fn(m, m, |i, j| match i.abs_diff(j) {
            0 => diagonal[i],
            1 => beside[i.min(j)],
            _ => 0.0,
        });
        let values = self.small(|| symmetric_eigen(&t, "A·v"))?.values;
        let rest = beside.last().copied().unwrap_or(0.0);
        Ok((values[0] - rest, values[m - 1] + rest))
    }
}
