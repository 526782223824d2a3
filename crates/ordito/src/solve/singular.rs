//! Singular values and their vectors.

use crate::Scalar;
use crate::device::DeviceDense;
use crate::matrix::Dense;
use crate::solve::blocks::{Block, Columns};
use crate::solve::error::SolveError;
use crate::solve::history::History;
use crate::solve::operator::Operator;
use crate::solve::shared::Rows;
use crate::solve::small::{diagonal, norms, stacked};
use crate::solve::workspace::Workspace;
use nalgebra::DMatrix;

/// Singular values, their vectors, and how well they fit.
#[derive(Debug)]
#[non_exhaustive]
pub struct SingularTriplets<S> {
    /// U: a column for each, orthonormal.
    pub left: Dense<S>,
    /// σ, falling.
    pub values: Vec<f64>,
    /// V: a column for each, orthonormal.
    pub right: Dense<S>,
    /// The larger of ‖Av − σu‖ and ‖Aᵀu − σv‖ of each, by a fresh product (the other one is rounding): a singular value lies within that
    /// distance of σ.
    pub residuals: Vec<f64>,
    /// U and V, where they were [kept](crate::solve::Control::keep_on_device) on the device; `left` and `right` then have no columns.
    pub on_device: Option<(DeviceDense<S>, DeviceDense<S>)>,
    /// How they were found.
    pub history: History,
}

/// Vectors of both sides that belong together.
pub(crate) struct Pairs {
    pub(crate) left: Block,
    pub(crate) right: Block,
    pub(crate) values: Vec<f64>,
}

impl<S: Scalar> Workspace<S> {
    /// Makes columns orthonormal; what is dependent is replaced by random columns.
    pub(crate) fn orthonormal_basis(&mut self, x: Columns, rows: Rows, seed: u64) -> Result<(), SolveError> {
        let rank = self.orthonormalize(x, None)?.rank;
        if self.fill_up(x, rank, &[], (rows, seed))? == x.count {
            return Ok(());
        }
        Err(SolveError::Unsuited(format!("no {} orthonormal vectors of {rows} rows were found", x.count)))
    }

    /// The best singular triplets whose right vectors lie in the span of V, which is orthonormal.
    pub(crate) fn triplets_of(
        &mut self,
        a: &dyn Operator<S>,
        right: Block,
        seed: u64,
    ) -> Result<Pairs, SolveError> {
        let (rows, k) = (Rows::of(a), right.cols);
        let image = self.add("A·V", rows, k)?;
        let left = self.add("U", rows, k)?;
        self.apply(a, right.all(), image.all())?;
        self.copy(image.all(), left.all())?;
        self.orthonormal_basis(left.all(), rows, seed)?;
        // A·V = U·R: R is small.
        let r = self.gram(&[left.all()], &[image.all()])?;
        let (u, values, v) = self.small(|| small_svd(&r))?;
        self.combine(&[left.all()], &u, &[left.all()])?;
        self.combine(&[right.all()], &v, &[right.all()])?;
        Ok(Pairs { left, right, values })
    }

    /// The first `count` of them, where the caller wants them.
    pub(crate) fn triplets(
        &mut self,
        (rows, cols): (Rows, Rows),
        pairs: &Pairs,
        count: usize,
        keep_on_device: bool,
        (residuals, history): (Vec<f64>, History),
    ) -> Result<SingularTriplets<S>, SolveError> {
        let (left, left_kept) = self.give_back(pairs.left.first(count), rows, keep_on_device)?;
        let (right, right_kept) = self.give_back(pairs.right.first(count), cols, keep_on_device)?;
        let values = pairs.values[..count].to_vec();
        Ok(SingularTriplets { left, values, right, residuals, on_device: left_kept.zip(right_kept), history })
    }

    /// ‖Aᵀu − σv‖ of the first `count`. ‖Av − σu‖ is rounding: [`triplets_of`](Self::triplets_of) made U of A·V.
    pub(crate) fn residuals_of(
        &mut self,
        a: &dyn Operator<S>,
        pairs: &Pairs,
        count: usize,
    ) -> Result<Vec<f64>, SolveError> {
        let c = stacked(&[&-diagonal(&pairs.values[..count]), &DMatrix::identity(count, count)]);
        let (u, v) = (pairs.left.first(count), pairs.right.first(count));
        let left_over = self.add("Aᵀ·U − V·Σ", Rows::of_cols(a), count)?.all();
        self.apply_transposed(a, u, left_over)?;
        self.combine(&[v, left_over], &c, &[left_over])?;
        Ok(norms(&self.gram(&[left_over], &[left_over])?))
    }
}

/// Rotations of all pairs of columns after which they are as orthogonal as arithmetic gives; five or six are usual.
const MOST_SWEEPS: usize = 60;

/// U, falling σ, and V of a small square matrix, by one-sided Jacobi rotations: accurate also where singular values are close. (The one that
/// nalgebra has took 3.825 and 3.811 for converged when 10⁻³ was left between their vectors.)
#[allow(clippy::type_complexity)]
pub(crate) fn small_svd(r: &DMatrix<f64>) -> Result<(DMatrix<f64>, Vec<f64>, DMatrix<f64>), SolveError> {
    if r.iter().any(|x| !x.is_finite()) {
        return Err(SolveError::NotFinite("A·V"));
    }
    let n = r.ncols();
    let (mut u, mut v) = (r.clone(), DMatrix::<f64>::identity(n, n));
    for _ in 0..MOST_SWEEPS {
        let mut rotated = false;
        for p in 0..n {
            for q in p + 1..n {
                let (a, b, c) =
                    (u.column(p).norm_squared(), u.column(q).norm_squared(), u.column(p).dot(&u.column(q)));
                if c.abs() <= f64::EPSILON * (a * b).sqrt() {
                    continue;
                }
                rotated = true;
                let zeta = (b - a) / (2.0 * c);
                let t = zeta.signum() / (zeta.abs() + (1.0 + zeta * zeta).sqrt());
                let cos = 1.0 / (1.0 + t * t).sqrt();
                for matrix in [&mut u, &mut v] {
                    rotate(matrix, p, q, cos, cos * t);
                }
            }
        }
        if !rotated {
            break;
        }
    }
    let sizes: Vec<f64> = u.column_iter().map(|column| column.norm()).collect();
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&i, &j| sizes[j].total_cmp(&sizes[i]));
    let values: Vec<f64> = order.iter().map(|&i| sizes[i]).collect();
    let v = DMatrix::from_fn(n, n, |row, col| v[(row, order[col])]);
    Ok((left_vectors(&u, &order, &values), values, v))
}

/// Columns p and q become c·p − s·q and s·p + c·q.
fn rotate(matrix: &mut DMatrix<f64>, p: usize, q: usize, c: f64, s: f64) {
    for row in 0..matrix.nrows() {
        let (x, y) = (matrix[(row, p)], matrix[(row, q)]);
        matrix[(row, p)] = c * x - s * y;
        matrix[(row, q)] = s * x + c * y;
    }
}

/// Columns of so many lengths made unit vectors; those of length 0 become any that are orthonormal to the others.
fn left_vectors(u: &DMatrix<f64>, order: &[usize], values: &[f64]) -> DMatrix<f64> {
    let n = u.nrows();
    let mut unit = DMatrix::zeros(n, order.len());
    let least = values.first().copied().unwrap_or(0.0) * f64::EPSILON;
    for (col, (&from, &size)) in order.iter().zip(values).enumerate() {
        if size > least {
            unit.set_column(col, &(u.column(from) / size));
            continue;
        }
        // The unit vector that has most left when the others are taken away.
        let left = |axis: usize| {
            let mut vector = nalgebra::DVector::zeros(n);
            vector[axis] = 1.0;
            for _ in 0..2 {
                let before = unit.columns(0, col);
                vector -= before * (before.transpose() * &vector);
            }
            vector
        };
        let most = (0..n).map(left).max_by(|x, y| x.norm().total_cmp(&y.norm()));
        if let Some(vector) = most {
            unit.set_column(col, &(&vector / vector.norm()));
        }
    }
    unit
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_problems_are_solved_to_the_last_digits() {
        let close =
            DMatrix::from_fn(
                4,
                4,
                |i, j| if i == j { 3.8 + 0.015 * i as f64 } else { 1e-3 * (i + 2 * j) as f64 },
            );
        let of_rank_two = DMatrix::from_fn(5, 5, |i, j| {
            (i + 1) as f64 * (j + 2) as f64 + if i == j && i < 1 { 1.0 } else { 0.0 }
        });
        for a in [close, of_rank_two, DMatrix::zeros(3, 3), DMatrix::identity(1, 1), DMatrix::zeros(0, 0)] {
            let (u, values, v) = small_svd(&a).unwrap();
            let n = a.nrows();
            let size = a.amax().max(1.0);
            assert!((&a * &v - &u * diagonal(&values)).amax() <= 1e-14 * size);
            assert!((a.transpose() * &u - &v * diagonal(&values)).amax() <= 1e-14 * size);
            let unit = DMatrix::identity(n, n);
            assert!(
                (u.transpose() * &u - &unit).amax() < 1e-14 && (v.transpose() * &v - &unit).amax() < 1e-14
            );
            assert!(values.is_sorted_by(|x, y| x >= y));
        }
        assert!(small_svd(&DMatrix::from_element(2, 2, f64::INFINITY)).is_err());
    }
}
