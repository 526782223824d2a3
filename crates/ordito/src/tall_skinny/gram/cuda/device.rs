//! What every CUDA variant shares: a kernel over operands on a device, made into [`InnerProducts`].

use crate::Scalar;
use crate::device::{Device, DeviceView, DeviceViewMut, LaunchReport};
use crate::matrix::{Dense, DenseView};
use crate::op::RunError;
use crate::op::on_device::{self, DeviceOp};
use crate::tall_skinny::gram::contract::{Gram, InnerProducts, Shape};
use crate::tall_skinny::gram::operands::shapes;

/// The heart of a CUDA variant. Shapes have been checked; rows lie anyhow.
pub(crate) trait DeviceKernel<S: Scalar>: Send {
    /// G = XᵀY. Only enqueues.
    fn reduce(
        &mut self,
        x: DeviceView<'_, S>,
        y: DeviceView<'_, S>,
        g: DeviceViewMut<'_, f64>,
    ) -> Result<(), RunError>;
    /// What it launches, for those who study kernels.
    fn launches(&self) -> Vec<LaunchReport>;
}

/// A kernel with its operands.
pub(crate) type OnDevice<S> = on_device::OnDevice<Gram<S>, 2>;

impl<S: Scalar> OnDevice<S> {
    pub(crate) fn boxed(
        kernel: impl DeviceKernel<S> + 'static,
        device: Device,
        shape: Shape,
    ) -> Box<dyn InnerProducts<S>> {
        Box::new(OnDevice::new(Box::new(kernel), device, shapes(shape)))
    }
}

impl<S: Scalar> DeviceOp<2> for Gram<S> {
    type DeviceKernel = dyn DeviceKernel<S>;
    /// Of few columns, padding would be much of what is read.
    const PADDED_ROWS: bool = false;

    fn bind(
        _: &mut Self::DeviceKernel,
        _: (),
        _: [DeviceView<'_, S>; 2],
        _: DeviceView<'_, f64>,
    ) -> Result<(), RunError> {
        Ok(())
    }
    fn repack(_: &mut Self::DeviceKernel, _: [DeviceView<'_, S>; 2]) -> Result<bool, RunError> {
        Ok(false)
    }
    fn run(
        kernel: &mut Self::DeviceKernel,
        _: (),
        [x, y]: [DeviceView<'_, S>; 2],
        g: DeviceViewMut<'_, f64>,
    ) -> Result<(), RunError> {
        kernel.reduce(x, y, g)
    }
    fn launches(kernel: &Self::DeviceKernel) -> Vec<LaunchReport> {
        kernel.launches()
    }
}

impl<S: Scalar> InnerProducts<S> for OnDevice<S> {
    fn apply(&mut self, x: DenseView<'_, S>, y: DenseView<'_, S>) -> Result<Dense<f64>, RunError> {
        self.compute((), [x, y]).cloned()
    }

    fn apply_on_device(
        &mut self,
        x: DeviceView<'_, S>,
        y: DeviceView<'_, S>,
        g: DeviceViewMut<'_, f64>,
    ) -> Result<(), RunError> {
        self.apply_on_device((), [x, y], g)
    }
}
