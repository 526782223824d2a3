//! What a solver multiplies with.

use crate::Scalar;
use crate::device::{Device, DeviceView, DeviceViewMut};
use crate::machine::Machine;
use crate::matrix::{DenseView, DenseViewMut};
use crate::op::RunError;
use crate::refusal::Refusal;
use crate::solve::shared::{Rows, Shared};
use crate::spmm::{Plan, ViewPlan};
use std::sync::Arc;

/// A linear map of blocks of vectors: a [`Plan`], a closure ([`FromFn`]), anything that can be multiplied with.
///
/// A solver runs where its operator does: wholly on the device of an operator that has one, else on the CPU; and on all ranks that [share](Operator::shared) it. There every
/// rank calls the solver, with the same options: rows, columns and all blocks of vectors that are given or found are this rank's.
pub trait Operator<S: Scalar>: Sync {
    /// Rows of A.
    fn rows(&self) -> usize;
    /// Columns of A.
    fn cols(&self) -> usize;
    /// Y = A·X, of as many columns as X has. What was in Y before does not matter.
    fn apply(&self, x: DenseView<'_, S>, y: DenseViewMut<'_, S>) -> Result<(), RunError>;
    /// Y = Aᵀ·X: only singular vectors need it.
    fn apply_transposed(&self, _x: DenseView<'_, S>, _y: DenseViewMut<'_, S>) -> Result<(), RunError> {
        Err(Refusal::NoTransposed.into())
    }
    /// The device where blocks are to lie; none: in memory of the host.
    fn device(&self) -> Option<&Device> {
        None
    }
    /// Y = A·X of blocks on the device. Only enqueues.
    fn apply_on_device(&self, _x: DeviceView<'_, S>, _y: DeviceViewMut<'_, S>) -> Result<(), RunError> {
        Err(Refusal::NoDevice.into())
    }
    /// Y = Aᵀ·X of blocks on the device. Only enqueues.
    fn apply_transposed_on_device(
        &self,
        _x: DeviceView<'_, S>,
        _y: DeviceViewMut<'_, S>,
    ) -> Result<(), RunError> {
        Err(Refusal::NoDevice.into())
    }
    /// The threads that the rest of the work is done by; none: all cores.
    fn machine(&self) -> Option<Arc<Machine>> {
        None
    }
    /// How ranks share it; none: all of it is here.
    fn shared(&self) -> Option<Shared> {
        None
    }
    /// What a solver multiplies products by, so that they are of a size that it can square.
    #[doc(hidden)]
    fn factor(&self) -> f64 {
        1.0
    }
}

impl<S: Scalar> Operator<S> for Plan<S> {
    fn rows(&self) -> usize {
        self.matrix().rows()
    }
    fn cols(&self) -> usize {
        self.matrix().cols()
    }
    fn apply(&self, x: DenseView<'_, S>, y: DenseViewMut<'_, S>) -> Result<(), RunError> {
        Plan::apply(self, S::ONE, x, S::ZERO, y)
    }
    fn apply_transposed(&self, x: DenseView<'_, S>, y: DenseViewMut<'_, S>) -> Result<(), RunError> {
        Plan::apply(self.transposed()?, S::ONE, x, S::ZERO, y)
    }
    fn device(&self) -> Option<&Device> {
        Plan::device(self)
    }
    fn apply_on_device(&self, x: DeviceView<'_, S>, y: DeviceViewMut<'_, S>) -> Result<(), RunError> {
        Plan::apply_on_device(self, S::ONE, x, S::ZERO, y)
    }
    fn apply_transposed_on_device(
        &self,
        x: DeviceView<'_, S>,
        y: DeviceViewMut<'_, S>,
    ) -> Result<(), RunError> {
        Plan::apply_on_device(self.transposed()?, S::ONE, x, S::ZERO, y)
    }
    fn machine(&self) -> Option<Arc<Machine>> {
        Some(Plan::machine(self).clone())
    }
}

/// A plan over borrowed arrays.
impl<S: Scalar> Operator<S> for ViewPlan<'_, S> {
    fn rows(&self) -> usize {
        Operator::rows(&**self)
    }
    fn cols(&self) -> usize {
        Operator::cols(&**self)
    }
    fn apply(&self, x: DenseView<'_, S>, y: DenseViewMut<'_, S>) -> Result<(), RunError> {
        Operator::apply(&**self, x, y)
    }
    fn apply_transposed(&self, x: DenseView<'_, S>, y: DenseViewMut<'_, S>) -> Result<(), RunError> {
        Operator::apply_transposed(&**self, x, y)
    }
    fn device(&self) -> Option<&Device> {
        Operator::device(&**self)
    }
    fn apply_on_device(&self, x: DeviceView<'_, S>, y: DeviceViewMut<'_, S>) -> Result<(), RunError> {
        Operator::apply_on_device(&**self, x, y)
    }
    fn apply_transposed_on_device(
        &self,
        x: DeviceView<'_, S>,
        y: DeviceViewMut<'_, S>,
    ) -> Result<(), RunError> {
        Operator::apply_transposed_on_device(&**self, x, y)
    }
    fn machine(&self) -> Option<Arc<Machine>> {
        Operator::machine(&**self)
    }
}

/// A closure as an operator on the CPU.
///
/// ```
/// use ordito::solve::{FromFn, Lobpcg, lobpcg};
/// // diag(0, 1, …, 99), without a matrix
/// let a = FromFn::new(100, 100, |x: ordito::DenseView<'_, f64>, mut y: ordito::DenseViewMut<'_, f64>| {
///     for row in 0..x.rows() {
///         for (y, x) in y.row_mut(row).iter_mut().zip(x.row(row)) {
///             *y = row as f64 * x;
///         }
///     }
///     Ok(())
/// });
/// let found = lobpcg(&a, Lobpcg { count: 2, ..Default::default() })?;
/// assert!((found.values[0] - 99.0).abs() < 1e-6 && (found.values[1] - 98.0).abs() < 1e-6);
/// # Ok::<(), ordito::Error>(())
/// ```
pub struct FromFn<F> {
    rows: usize,
    cols: usize,
    apply: F,
}

impl<F> FromFn<F> {
    /// Of so many rows and columns.
    pub fn new(rows: usize, cols: usize, apply: F) -> Self {
        FromFn { rows, cols, apply }
    }
}

impl<S: Scalar, F> Operator<S> for FromFn<F>
where
    F: Fn(DenseView<'_, S>, DenseViewMut<'_, S>) -> Result<(), RunError> + Sync,
{
    fn rows(&self) -> usize {
        self.rows
    }
    fn cols(&self) -> usize {
        self.cols
    }
    fn apply(&self, x: DenseView<'_, S>, y: DenseViewMut<'_, S>) -> Result<(), RunError> {
        (self.apply)(x, y)
    }
}

impl Rows {
    /// Rows of A.
    pub(crate) fn of<S: Scalar>(a: &dyn Operator<S>) -> Self {
        Rows::new(a.rows(), a.shared().map(|shared| shared.rows))
    }
    /// Columns of A.
    pub(crate) fn of_cols<S: Scalar>(a: &dyn Operator<S>) -> Self {
        Rows::new(a.cols(), a.shared().map(|shared| shared.cols))
    }
}

/// What residuals are multiplied by, so that fewer iterations are needed: something like A⁻¹.
#[derive(Clone, Copy)]
pub enum Preconditioner<'a, S: Scalar> {
    /// Every row by its number: Jacobi's takes 1/aᵢᵢ.
    Diagonal(&'a [S]),
    /// Anything else; it lies where the operator does.
    Operator(&'a dyn Operator<S>),
}
