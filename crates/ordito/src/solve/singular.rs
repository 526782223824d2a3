//! Singular values and their vectors.

use crate::Scalar;
use crate::device::DeviceDense;
use crate::matrix::Dense;
use crate::solve::blocks::{Block, Columns};
use crate::solve::error::SolveError;
use crate::solve::history::History;
use crate::solve::operator::Operator;
use crate::solve::shared::Rows;
use crate::solve::small::{Small, check_scale, norms, small_svd, stacked};
use crate::solve::workspace::Workspace;

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
        // Where squares are too small, U is any basis and R is not 0, but its singular values would be.
        check_scale::<S>(r.amax())?;
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
        let c = stacked(&[&-Small::diagonal(&pairs.values[..count]), &Small::identity(count, count)]);
        let (u, v) = (pairs.left.first(count), pairs.right.first(count));
        let left_over = self.add("Aᵀ·U − V·Σ", Rows::of_cols(a), count)?.all();
        self.apply_transposed(a, u, left_over)?;
        self.combine(&[v, left_over], &c, &[left_over])?;
        Ok(norms(&self.gram(&[left_over], &[left_over])?))
    }
}
