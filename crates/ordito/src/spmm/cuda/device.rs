//! What every CUDA variant shares: a kernel over operands on a device, made into a [`Product`].

use crate::Scalar;
use crate::device::{Device, DeviceView, DeviceViewMut, LaunchReport};
use crate::matrix::{DenseView, DenseViewMut};
use crate::op::RunError;
use crate::op::on_device::{self, DeviceOp};
use crate::op::scale_rows::ScaleRows;
use crate::spmm::operands::shapes;
use crate::spmm::product::{Product, Shared, Spmm};
use std::sync::Mutex;

/// The heart of a CUDA variant. Shapes have been checked, and operands begin at multiples of 16 bytes.
pub(crate) trait DeviceKernel<S: Scalar>: Send {
    /// Rearranges X into device memory of its own; `false` where the kernel reads X as it is.
    fn repack(&mut self, _x: DeviceView<'_, S>) -> Result<bool, RunError> {
        Ok(false)
    }
    /// Told, untimed, where X and Y lie before they are multiplied: what is to be known of that is found out here.
    fn bind(&mut self, _x: DeviceView<'_, S>, _y: DeviceView<'_, S>) -> Result<(), RunError> {
        Ok(())
    }
    /// Y = αAX + βY, α not being 0 and X having been repacked. Only enqueues.
    fn multiply(
        &mut self,
        alpha: S,
        x: DeviceView<'_, S>,
        beta: S,
        y: DeviceViewMut<'_, S>,
    ) -> Result<(), RunError>;
    /// What it launches, for those who study kernels.
    fn launches(&self) -> Vec<LaunchReport>;
}

/// A kernel, and what is done in its place where α is 0: by the rules of BLAS neither A nor X is read then.
pub(crate) struct KernelOrScale<S> {
    kernel: Box<dyn DeviceKernel<S>>,
    device: Device,
    /// Compiled when it is first wanted, which is hardly ever.
    scale: Option<ScaleRows<S>>,
}

/// A kernel with its operands.
pub(crate) type OnDevice<S> = on_device::OnDevice<Spmm<S>, 1>;

impl<S: Scalar> OnDevice<S> {
    /// For a matrix of shape `a_shape` and `k` columns of X.
    pub(crate) fn boxed(
        kernel: impl DeviceKernel<S> + 'static,
        device: Device,
        a_shape: (usize, usize),
        k: usize,
    ) -> Box<dyn Product<S>> {
        let kernel = KernelOrScale { kernel: Box::new(kernel), device: device.clone(), scale: None };
        Box::new(OnDevice::new(Box::new(kernel), device, shapes(a_shape, k)))
    }
}

impl<S: Scalar> DeviceOp<1> for Spmm<S> {
    type DeviceKernel = KernelOrScale<S>;
    const PADDED_ROWS: bool = false;

    fn bind(
        kernel: &mut Self::DeviceKernel,
        (alpha, _): (S, S),
        [x]: [DeviceView<'_, S>; 1],
        y: DeviceView<'_, S>,
    ) -> Result<(), RunError> {
        if alpha == S::ZERO && kernel.scale.is_none() {
            kernel.scale = Some(ScaleRows::new(&kernel.device, y.rows(), y.cols())?);
        }
        kernel.kernel.bind(x, y)
    }
    fn repack(kernel: &mut Self::DeviceKernel, [x]: [DeviceView<'_, S>; 1]) -> Result<bool, RunError> {
        kernel.kernel.repack(x)
    }
    fn run(
        kernel: &mut Self::DeviceKernel,
        (alpha, beta): (S, S),
        [x]: [DeviceView<'_, S>; 1],
        y: DeviceViewMut<'_, S>,
    ) -> Result<(), RunError> {
        if let (true, Some(scale)) = (alpha == S::ZERO, &kernel.scale) {
            return scale.scale(beta, y);
        }
        kernel.kernel.repack(x)?;
        kernel.kernel.multiply(alpha, x, beta, y)
    }
    fn launches(kernel: &Self::DeviceKernel) -> Vec<LaunchReport> {
        kernel.kernel.launches()
    }
}

impl<S: Scalar> Product<S> for OnDevice<S> {
    fn apply(
        &mut self,
        alpha: S,
        x: DenseView<'_, S>,
        beta: S,
        y: DenseViewMut<'_, S>,
    ) -> Result<(), RunError> {
        self.apply((alpha, beta), [x], y)
    }

    fn into_shared(self: Box<Self>) -> Shared<S> {
        Shared::OnDevice(Mutex::new(self))
    }

    fn get_ready(&mut self, alpha: S, x: DeviceView<'_, S>, y: DeviceView<'_, S>) -> Result<(), RunError> {
        self.get_ready((alpha, S::ZERO), [x], y)
    }

    fn apply_on_device(
        &mut self,
        alpha: S,
        x: DeviceView<'_, S>,
        beta: S,
        y: DeviceViewMut<'_, S>,
    ) -> Result<(), RunError> {
        self.apply_on_device((alpha, beta), [x], y)
    }
}
