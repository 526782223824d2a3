//! What every CPU variant shares: a kernel over views, made into a [`Product`] that owns its operands.

use crate::Scalar;
use crate::machine::Machine;
use crate::matrix::{DenseView, DenseViewMut};
use crate::op::RunError;
use crate::op::on_host::{self, HostOp};
use crate::spmm::operands::shapes;
use crate::spmm::product::{Product, Spmm};

/// The heart of a CPU variant. Shapes have been checked.
pub(crate) trait HostKernel<S: Scalar>: Send {
    /// Rearranges X into memory of its own; `false` where the kernel reads X as it is.
    fn repack(&mut self, _x: DenseView<'_, S>) -> bool {
        false
    }
    /// Y = αAX + βY, α not being 0 and X having been repacked.
    fn multiply(&mut self, alpha: S, x: DenseView<'_, S>, beta: S, y: DenseViewMut<'_, S>);
    /// See [`Product::does_not_pay`].
    fn does_not_pay(&self) -> Option<&str> {
        None
    }
}

/// A kernel with its operands.
pub(crate) type OnHost<S> = on_host::OnHost<Spmm<S>, 1>;

impl<S: Scalar> OnHost<S> {
    /// Of a kernel made for `machine`, a matrix of shape `a_shape` and `k` columns of X.
    pub(crate) fn boxed(
        machine: &Machine,
        kernel: impl HostKernel<S> + 'static,
        a_shape: (usize, usize),
        k: usize,
    ) -> Box<dyn Product<S>> {
        Box::new(OnHost::new(machine, Box::new(kernel), shapes(a_shape, k)))
    }
}

impl<S: Scalar> HostOp<1> for Spmm<S> {
    type HostKernel = dyn HostKernel<S>;

    fn repack_on_host(kernel: &mut Self::HostKernel, [x]: [DenseView<'_, S>; 1]) -> bool {
        kernel.repack(x)
    }
    fn run_on_host(
        kernel: &mut Self::HostKernel,
        (alpha, beta): (S, S),
        [x]: [DenseView<'_, S>; 1],
        mut y: DenseViewMut<'_, S>,
    ) {
        if alpha == S::ZERO {
            return y.scale(beta); // by the rules of BLAS neither A nor X is read
        }
        kernel.repack(x);
        kernel.multiply(alpha, x, beta, y);
    }
}

impl<S: Scalar> Product<S> for OnHost<S> {
    fn apply(
        &mut self,
        alpha: S,
        x: DenseView<'_, S>,
        beta: S,
        y: DenseViewMut<'_, S>,
    ) -> Result<(), RunError> {
        self.apply((alpha, beta), [x], y)
    }

    fn does_not_pay(&self) -> Option<&str> {
        self.kernel().does_not_pay()
    }
}

/// X column after column, into memory that is kept between runs. Always `true`: something was repacked.
pub(crate) fn transpose<S: Scalar>(x: DenseView<'_, S>, columns: &mut Vec<S>) -> bool {
    columns.resize(x.rows() * x.cols(), S::ZERO);
    x.columns_into(columns);
    true
}
