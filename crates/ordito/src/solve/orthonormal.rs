//! Columns that are made orthonormal by their Gram matrix, pass after pass.
//!
//! A pass scales the columns, takes the eigenvectors of their Gram matrix, and divides by the roots of the eigenvalues. Directions whose
//! eigenvalue drowns in rounding are kept as they are: after the pass they stand apart from the large ones, and the next pass sees
//! them at their own scale. What is still nothing but rounding there is dropped. So two passes do for what is well-conditioned, as
//! CholeskyQR2 would, and a third for what is not, where others fall back to Householder's QR; the rank shows on the way.

use crate::Scalar;
use crate::solve::blocks::Columns;
use crate::solve::error::SolveError;
use crate::solve::shared::Rows;
use crate::solve::small::{Small, columns, norms, stacked, symmetric_eigen};
use crate::solve::workspace::Workspace;

/// Eigenvalues of a scaled Gram matrix below so much of the largest are mostly rounding: some digits above f64's.
const DROWNED: f64 = 1e-12;
const MOST_PASSES: usize = 6;
/// How often random columns are tried.
const MOST_FILLS: u64 = 8;

/// What became of the columns.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Orthonormal {
    /// How many are left: they come first, and are orthonormal; others are 0.
    pub rank: usize,
    /// Largest over least singular value of the scaled columns, as far as it could be seen; infinite where some were dropped.
    pub condition: f64,
}

impl<S: Scalar> Workspace<S> {
    /// Makes columns orthonormal in place, in the inner product of B where `image`, B times the columns, is given: it is changed alike.
    pub(crate) fn orthonormalize(
        &mut self,
        x: Columns,
        image: Option<Columns>,
    ) -> Result<Orthonormal, SolveError> {
        let all = x.count;
        let mut condition = 1.0_f64;
        let mut left = x;
        // Columns that are at their own scale for the first time in this pass, beside the large ones.
        let mut small_from = x.count;
        for pass in 0..MOST_PASSES {
            let of = |columns: Columns| Columns { count: left.count, ..columns };
            let right = image.map_or(left, of);
            let gram = self.gram(&[left], &[right])?;
            if !gram.is_finite() {
                return Err(SolveError::NotFinite("a block of vectors"));
            }
            let sizes = norms(&gram);
            // In the first pass any column counts that is not 0; later, what the large ones left of a small one is compared with what
            // rounding would leave.
            let least = |column: usize| match (pass, column >= small_from) {
                (0, _) => 0.0,
                (_, true) => S::EPSILON * 8.0 * (all as f64).sqrt(),
                (_, false) => 0.5,
            };
            let there: Vec<usize> = (0..left.count).filter(|&column| sizes[column] > least(column)).collect();
            if there.len() < left.count {
                condition = f64::INFINITY;
            }
            let n = there.len();
            let scaled = Small::from_fn(n, n, |i, j| {
                0.5 * (gram[(there[i], there[j])] + gram[(there[j], there[i])])
                    / (sizes[there[i]] * sizes[there[j]])
            });
            let is_done = pass > 0 && n == left.count && {
                let off = &scaled - Small::identity(n, n);
                let unit = sizes.iter().all(|size| (size - 1.0).abs() < 1e-3);
                unit && off.amax() <= 32.0 * S::EPSILON * (n as f64).sqrt()
            };
            if is_done {
                break;
            }
            let eigen = self.small(|| symmetric_eigen(&scaled, "a Gram matrix"))?;
            let largest = eigen.values.last().copied().unwrap_or(1.0);
            let (large, small): (Vec<usize>, Vec<usize>) =
                (0..n).rev().partition(|&i| eigen.values[i] > DROWNED * largest);
            if let Some(&least) = large.last() {
                condition = condition.max((largest / eigen.values[least]).sqrt());
            }
            if !small.is_empty() {
                condition = condition.max(1.0 / DROWNED.sqrt());
            }
            let order: Vec<usize> = large.iter().chain(&small).copied().collect();
            let turned = columns(&eigen.vectors, &order);
            let c = Small::from_fn(left.count, n, |row, col| match there.iter().position(|&i| i == row) {
                Some(i) => {
                    let size = if col < large.len() { eigen.values[order[col]].sqrt() } else { 1.0 };
                    turned[(i, col)] / (sizes[row] * size)
                }
                None => 0.0,
            });
            let kept = Columns { count: n, ..left };
            self.combine(&[left], &c, &[kept])?;
            if let Some(image) = image {
                self.combine(&[of(image)], &c, &[Columns { count: n, ..image }])?;
            }
            left = kept;
            small_from = large.len();
            if n == 0 {
                break;
            }
        }
        self.clear(Columns { first: x.first + left.count, count: all - left.count, ..x })?;
        Ok(Orthonormal { rank: left.count, condition })
    }

    /// X − V·(V̂)ᵀX, where V̂ is V, or B·V in the inner product of B; the coefficients.
    pub(crate) fn remove(
        &mut self,
        v: &[Columns],
        image: &[Columns],
        x: Columns,
    ) -> Result<Small, SolveError> {
        if v.iter().all(|part| part.count == 0) {
            return Ok(Small::zeros(0, x.count));
        }
        let overlap = self.gram(image, &[x])?;
        let c = stacked(&[&-&overlap, &Small::identity(x.count, x.count)]);
        let from: Vec<Columns> = v.iter().copied().chain([x]).collect();
        self.combine(&from, &c, &[x])?;
        Ok(overlap)
    }

    /// Puts random columns behind the first `good` ones of X, orthonormal to these and to what lies beside; how many there are then. Fewer than
    /// all only where no more are to be found.
    pub(crate) fn fill_up(
        &mut self,
        x: Columns,
        mut good: usize,
        beside: &[Columns],
        (rows, seed): (Rows, u64),
    ) -> Result<usize, SolveError> {
        for attempt in 0..MOST_FILLS {
            if good >= x.count {
                break;
            }
            let before: Vec<Columns> = beside.iter().copied().chain([Columns { count: good, ..x }]).collect();
            let mut fresh = Columns { first: x.first + good, count: x.count - good, ..x };
            self.randomize(fresh, rows, seed.wrapping_add(attempt))?;
            // What was small is scaled up, and its rounding with it.
            for _ in 0..3 {
                self.remove(&before, &before, fresh)?;
                fresh.count = self.orthonormalize(fresh, None)?.rank;
            }
            good += fresh.count;
        }
        Ok(good)
    }

    /// Zeros.
    fn clear(&mut self, x: Columns) -> Result<(), SolveError> {
        if x.count == 0 { Ok(()) } else { self.combine(&[x], &Small::zeros(x.count, x.count), &[x]) }
    }
}
