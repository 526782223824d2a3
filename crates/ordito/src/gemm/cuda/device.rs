//! What every CUDA variant shares: a kernel over operands on a device, made into a [`Product`].

use crate::Scalar;
use crate::device::{Device, DeviceView, DeviceViewMut, LaunchReport};
use crate::gemm::operands::shapes;
use crate::gemm::product::{Gemm, Product, Shape};
use crate::matrix::{DenseView, DenseViewMut};
use crate::op::RunError;
use crate::op::on_device::{self, DeviceOp};

/// The heart of a CUDA variant. Shapes have been checked, operands begin at multiples of 16 bytes, and their rows lie
/// anyhow: what a kernel cannot read so, it copies.
pub(crate) trait DeviceKernel<S: Scalar>: Send {
    /// Told, untimed, where A, B and C lie before they are multiplied: room for copies is made here.
    fn bind(
        &mut self,
        _a: DeviceView<'_, S>,
        _b: DeviceView<'_, S>,
        _c: DeviceView<'_, S>,
    ) -> Result<(), RunError> {
        Ok(())
    }
    /// Rearranges A and B into device memory of its own; `false` where the kernel reads them as they are.
    fn repack(&mut self, _a: DeviceView<'_, S>, _b: DeviceView<'_, S>) -> Result<bool, RunError> {
        Ok(false)
    }
    /// C = αAB + βC of the first `terms` columns of A and rows of B, which have been repacked: all of them, or, where α
    /// is 0, none (BLAS then reads neither). Only enqueues.
    fn multiply(
        &mut self,
        terms: usize,
        alpha: S,
        a: DeviceView<'_, S>,
        b: DeviceView<'_, S>,
        beta: S,
        c: DeviceViewMut<'_, S>,
    ) -> Result<(), RunError>;
    /// What it launches, for those who study kernels.
    fn launches(&self) -> Vec<LaunchReport>;
}

/// A kernel with its operands.
pub(crate) type OnDevice<S> = on_device::OnDevice<Gemm<S>, 2>;

impl<S: Scalar> OnDevice<S> {
    pub(crate) fn boxed(
        kernel: impl DeviceKernel<S> + 'static,
        device: Device,
        shape: Shape,
    ) -> Box<dyn Product<S>> {
        Box::new(OnDevice::new(Box::new(kernel), device, shapes(shape)))
    }
}

impl<S: Scalar> DeviceOp<2> for Gemm<S> {
    type DeviceKernel = dyn DeviceKernel<S>;
    const PADDED_ROWS: bool = true;

    fn bind(
        kernel: &mut Self::DeviceKernel,
        _: (S, S),
        [a, b]: [DeviceView<'_, S>; 2],
        c: DeviceView<'_, S>,
    ) -> Result<(), RunError> {
        kernel.bind(a, b, c)
    }
    fn repack(kernel: &mut Self::DeviceKernel, [a, b]: [DeviceView<'_, S>; 2]) -> Result<bool, RunError> {
        kernel.repack(a, b)
    }
    /// Without terms, by α = 0 or for want of columns of A, only βC is left.
    fn run(
        kernel: &mut Self::DeviceKernel,
        (alpha, beta): (S, S),
        [a, b]: [DeviceView<'_, S>; 2],
        c: DeviceViewMut<'_, S>,
    ) -> Result<(), RunError> {
        if alpha == S::ZERO || a.cols() == 0 {
            return kernel.multiply(0, S::ZERO, a, b, beta, c);
        }
        kernel.repack(a, b)?;
        kernel.multiply(a.cols(), alpha, a, b, beta, c)
    }
    fn launches(kernel: &Self::DeviceKernel) -> Vec<LaunchReport> {
        kernel.launches()
    }
}

impl<S: Scalar> Product<S> for OnDevice<S> {
    fn apply(
        &mut self,
        alpha: S,
        a: DenseView<'_, S>,
        b: DenseView<'_, S>,
        beta: S,
        c: DenseViewMut<'_, S>,
    ) -> Result<(), RunError> {
        self.apply((alpha, beta), [a, b], c)
    }

    fn apply_on_device(
        &mut self,
        alpha: S,
        a: DeviceView<'_, S>,
        b: DeviceView<'_, S>,
        beta: S,
        c: DeviceViewMut<'_, S>,
    ) -> Result<(), RunError> {
        self.apply_on_device((alpha, beta), [a, b], c)
    }
}
