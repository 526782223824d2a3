//! What every CPU variant shares: a kernel over views, made into a [`Combination`] that owns its operands.

use crate::Scalar;
use crate::machine::Machine;
use crate::matrix::{DenseView, DenseViewMut};
use crate::op::RunError;
use crate::op::on_host::{self, HostOp};
use crate::tall_skinny::combine::contract::{Combination, Combine, Shape};
use crate::tall_skinny::combine::operands::shapes;

/// The heart of a CPU variant. Shapes have been checked.
pub(crate) trait HostKernel<S: Scalar>: Send {
    /// Y = XC.
    fn combine(&mut self, x: DenseView<'_, S>, c: DenseView<'_, S>, y: DenseViewMut<'_, S>);
}

/// A kernel with its operands.
pub(crate) type OnHost<S> = on_host::OnHost<Combine<S>, 2>;

impl<S: Scalar> OnHost<S> {
    pub(crate) fn boxed(
        machine: &Machine,
        kernel: impl HostKernel<S> + 'static,
        shape: Shape,
    ) -> Box<dyn Combination<S>> {
        Box::new(OnHost::new(machine, Box::new(kernel), shapes(shape)))
    }
}

impl<S: Scalar> HostOp<2> for Combine<S> {
    type HostKernel = dyn HostKernel<S>;

    fn run_on_host(
        kernel: &mut Self::HostKernel,
        _: (),
        [x, c]: [DenseView<'_, S>; 2],
        y: DenseViewMut<'_, S>,
    ) {
        kernel.combine(x, c, y);
    }
}

impl<S: Scalar> Combination<S> for OnHost<S> {
    fn apply(
        &mut self,
        x: DenseView<'_, S>,
        c: DenseView<'_, S>,
        y: DenseViewMut<'_, S>,
    ) -> Result<(), RunError> {
        self.apply((), [x, c], y)
    }
}
