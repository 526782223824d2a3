//! The other way round.

use crate::Scalar;
use crate::device::{Device, DeviceView, DeviceViewMut};
use crate::machine::Machine;
use crate::matrix::{DenseView, DenseViewMut};
use crate::op::RunError;
use crate::solve::operator::Operator;
use crate::solve::shared::Shared;
use std::sync::Arc;

/// Aᵀ, of an A that has a transposed product.
pub(crate) struct Transposed<'a, S: Scalar>(pub(crate) &'a dyn Operator<S>);

impl<S: Scalar> Operator<S> for Transposed<'_, S> {
    fn rows(&self) -> usize {
        self.0.cols()
    }
    fn cols(&self) -> usize {
        self.0.rows()
    }
    fn apply(&self, x: DenseView<'_, S>, y: DenseViewMut<'_, S>) -> Result<(), RunError> {
        self.0.apply_transposed(x, y)
    }
    fn apply_transposed(&self, x: DenseView<'_, S>, y: DenseViewMut<'_, S>) -> Result<(), RunError> {
        self.0.apply(x, y)
    }
    fn device(&self) -> Option<&Device> {
        self.0.device()
    }
    fn apply_on_device(&self, x: DeviceView<'_, S>, y: DeviceViewMut<'_, S>) -> Result<(), RunError> {
        self.0.apply_transposed_on_device(x, y)
    }
    fn apply_transposed_on_device(
        &self,
        x: DeviceView<'_, S>,
        y: DeviceViewMut<'_, S>,
    ) -> Result<(), RunError> {
        self.0.apply_on_device(x, y)
    }
    fn machine(&self) -> Option<Arc<Machine>> {
        self.0.machine()
    }
    fn shared(&self) -> Option<Shared> {
        self.0.shared().map(|shared| Shared { rows: shared.cols, cols: shared.rows, ..shared })
    }
    fn factor(&self) -> f64 {
        self.0.factor()
    }
}
