//! What every CPU variant shares: a kernel over views, made into [`InnerProducts`] that own their operands.

use crate::Scalar;
use crate::machine::Machine;
use crate::matrix::{Dense, DenseView, DenseViewMut};
use crate::op::RunError;
use crate::op::on_host::{self, HostOp};
use crate::tall_skinny::gram::contract::{Gram, InnerProducts, Shape};
use crate::tall_skinny::gram::operands::shapes;

/// The heart of a CPU variant. Shapes have been checked.
pub(crate) trait HostKernel<S: Scalar>: Send {
    /// Writes XᵀY, row after row.
    fn reduce(&mut self, x: DenseView<'_, S>, y: DenseView<'_, S>, g: &mut [f64]);
}

/// A kernel with its operands.
pub(crate) type OnHost<S> = on_host::OnHost<Gram<S>, 2>;

impl<S: Scalar> OnHost<S> {
    pub(crate) fn boxed(
        machine: &Machine,
        kernel: impl HostKernel<S> + 'static,
        shape: Shape,
    ) -> Box<dyn InnerProducts<S>> {
        Box::new(OnHost::new(machine, Box::new(kernel), shapes(shape)))
    }
}

impl<S: Scalar> HostOp<2> for Gram<S> {
    type HostKernel = dyn HostKernel<S>;

    fn run_on_host(
        kernel: &mut Self::HostKernel,
        _: (),
        [x, y]: [DenseView<'_, S>; 2],
        g: DenseViewMut<'_, f64>,
    ) {
        kernel.reduce(x, y, g.into_data()); // memory of the harness, without gaps
    }
}

impl<S: Scalar> InnerProducts<S> for OnHost<S> {
    fn apply(&mut self, x: DenseView<'_, S>, y: DenseView<'_, S>) -> Result<Dense<f64>, RunError> {
        self.compute((), [x, y]).cloned()
    }
}
