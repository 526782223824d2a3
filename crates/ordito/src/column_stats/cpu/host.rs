//! What every CPU variant shares: a kernel over a view, made into a [`Reduction`] that owns its operands.

use crate::Scalar;
use crate::column_stats::operands::{shapes, statistics_of};
use crate::column_stats::reduction::{Columns, Reduction, Shape};
use crate::column_stats::statistics::{ALL_STATISTICS, Statistics};
use crate::machine::Machine;
use crate::matrix::{DenseView, DenseViewMut};
use crate::op::RunError;
use crate::op::on_host::{self, HostOp};

/// The heart of a CPU variant. The shape has been checked.
pub(crate) trait HostKernel<S: Scalar>: Send {
    /// Writes all means, then all variances, all least and all greatest elements.
    fn reduce(&mut self, data: DenseView<'_, S>, results: &mut [f64]);
}

/// A kernel with its operands.
pub(crate) type OnHost<S> = on_host::OnHost<Columns<S>, 1>;

impl<S: Scalar> OnHost<S> {
    pub(crate) fn boxed(
        machine: &Machine,
        kernel: impl HostKernel<S> + 'static,
        shape: Shape,
    ) -> Box<dyn Reduction<S>> {
        Box::new(OnHost::new(machine, Box::new(kernel), shapes(shape, ALL_STATISTICS)))
    }
}

impl<S: Scalar> HostOp<1> for Columns<S> {
    type HostKernel = dyn HostKernel<S>;

    fn run_on_host(
        kernel: &mut Self::HostKernel,
        _: (),
        [data]: [DenseView<'_, S>; 1],
        results: DenseViewMut<'_, f64>,
    ) {
        kernel.reduce(data, results.into_data()); // memory of the harness, without gaps
    }
}

impl<S: Scalar> Reduction<S> for OnHost<S> {
    fn apply(&mut self, data: DenseView<'_, S>) -> Result<Statistics, RunError> {
        Ok(statistics_of(data.rows(), self.compute((), [data])?))
    }
}
