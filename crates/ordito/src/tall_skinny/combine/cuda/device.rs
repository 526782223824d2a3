//! What every CUDA variant shares: a kernel over operands on a device, made into a [`Combination`].

use crate::Scalar;
use crate::device::{Device, DeviceView, DeviceViewMut, LaunchReport};
use crate::matrix::{DenseView, DenseViewMut};
use crate::op::RunError;
use crate::op::on_device::{self, DeviceOp};
use crate::tall_skinny::combine::contract::{Combination, Combine, Shape};
use crate::tall_skinny::combine::operands::shapes;

/// The heart of a CUDA variant. Shapes have been checked; rows lie anyhow.
pub(crate) trait DeviceKernel<S: Scalar>: Send {
    /// Y = XC. Only enqueues.
    fn combine(
        &mut self,
        x: DeviceView<'_, S>,
        c: DeviceView<'_, S>,
        y: DeviceViewMut<'_, S>,
    ) -> Result<(), RunError>;
    /// What it launches, for those who study kernels.
    fn launches(&self) -> Vec<LaunchReport>;
}

/// A kernel with its operands.
pub(crate) type OnDevice<S> = on_device::OnDevice<Combine<S>, 2>;

impl<S: Scalar> OnDevice<S> {
    pub(crate) fn boxed(
        kernel: impl DeviceKernel<S> + 'static,
        device: Device,
        shape: Shape,
    ) -> Box<dyn Combination<S>> {
        Box::new(OnDevice::new(Box::new(kernel), device, shapes(shape)))
    }
}

impl<S: Scalar> DeviceOp<2> for Combine<S> {
    type DeviceKernel = dyn DeviceKernel<S>;
    /// Of few columns, padding would be much of what is read.
    const PADDED_ROWS: bool = false;

    fn bind(
        _: &mut Self::DeviceKernel,
        _: (),
        _: [DeviceView<'_, S>; 2],
        _: DeviceView<'_, S>,
    ) -> Result<(), RunError> {
        Ok(())
    }
    fn repack(_: &mut Self::DeviceKernel, _: [DeviceView<'_, S>; 2]) -> Result<bool, RunError> {
        Ok(false)
    }
    fn run(
        kernel: &mut Self::DeviceKernel,
        _: (),
        [x, c]: [DeviceView<'_, S>; 2],
        y: DeviceViewMut<'_, S>,
    ) -> Result<(), RunError> {
        kernel.combine(x, c, y)
    }
    fn launches(kernel: &Self::DeviceKernel) -> Vec<LaunchReport> {
        kernel.launches()
    }
}

impl<S: Scalar> Combination<S> for OnDevice<S> {
    fn apply(
        &mut self,
        x: DenseView<'_, S>,
        c: DenseView<'_, S>,
        y: DenseViewMut<'_, S>,
    ) -> Result<(), RunError> {
        self.apply((), [x, c], y)
    }

    fn apply_on_device(
        &mut self,
        x: DeviceView<'_, S>,
        c: DeviceView<'_, S>,
        y: DeviceViewMut<'_, S>,
    ) -> Result<(), RunError> {
        self.apply_on_device((), [x, c], y)
    }
}
