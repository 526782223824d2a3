//! What every CUDA variant shares: a kernel over a matrix on a device, made into a [`Reduction`].

use crate::Scalar;
use crate::column_stats::operands::{shapes, statistics_of};
use crate::column_stats::reduction::{Columns, Reduction, Shape};
use crate::column_stats::statistics::{ALL_STATISTICS, Statistics};
use crate::device::{Device, DeviceDense, DeviceView, DeviceViewMut, LaunchReport};
use crate::matrix::DenseView;
use crate::op::RunError;
use crate::op::copy_rows::CopyRows;
use crate::op::on_device::{self, DeviceOp};

/// The heart of a CUDA variant. The shape has been checked, and there is at least one row; operands begin at multiples of 16
/// bytes, and their rows lie anyhow: what a kernel cannot read so, it copies.
pub(crate) trait DeviceKernel<S: Scalar>: Send {
    /// Rows of its results.
    fn statistics(&self) -> usize {
        ALL_STATISTICS
    }
    /// Told, untimed, where the matrix lies before it is read: room for a copy is made here.
    fn bind(&mut self, _data: DeviceView<'_, S>) -> Result<(), RunError> {
        Ok(())
    }
    /// Rearranges the matrix into device memory of its own; `false` where the kernel reads it as it is.
    fn repack(&mut self, _data: DeviceView<'_, S>) -> Result<bool, RunError> {
        Ok(false)
    }
    /// Writes a row of means, then one of variances, of least and of greatest elements, of a matrix that has been repacked.
    /// Only enqueues.
    fn reduce(&mut self, data: DeviceView<'_, S>, results: DeviceViewMut<'_, f64>) -> Result<(), RunError>;
    /// What it launches, for those who study kernels.
    fn launches(&self) -> Vec<LaunchReport>;
}

/// A kernel with its operands.
pub(crate) type OnDevice<S> = on_device::OnDevice<Columns<S>, 1>;

impl<S: Scalar> OnDevice<S> {
    pub(crate) fn boxed(
        kernel: impl DeviceKernel<S> + 'static,
        device: Device,
        shape: Shape,
    ) -> Box<dyn Reduction<S>> {
        let shapes = shapes(shape, kernel.statistics());
        if shape.rows > 0 {
            return Box::new(OnDevice::new(Box::new(kernel), device, shapes));
        }
        let of_nothing = OfNothing { kernel, device: device.clone(), nothing: None };
        Box::new(OnDevice::new(Box::new(of_nothing), device, shapes))
    }
}

/// A kernel that is not run, since there are no rows: all statistics are NaN.
struct OfNothing<K> {
    kernel: K,
    device: Device,
    /// Rows of NaN, and what copies them.
    nothing: Option<(DeviceDense<f64>, CopyRows<f64>)>,
}

impl<S: Scalar, K: DeviceKernel<S>> DeviceKernel<S> for OfNothing<K> {
    fn statistics(&self) -> usize {
        self.kernel.statistics()
    }
    fn reduce(&mut self, _: DeviceView<'_, S>, results: DeviceViewMut<'_, f64>) -> Result<(), RunError> {
        let (rows, cols) = (results.rows(), results.cols());
        let (nan, copy) = match &self.nothing {
            Some(nothing) => nothing,
            None => self.nothing.insert((
                DeviceDense::new(&self.device, "statistics of nothing", rows, cols)?,
                CopyRows::new(&self.device, rows, cols)?,
            )),
        };
        copy.copy(nan.view(), results)
    }
    fn launches(&self) -> Vec<LaunchReport> {
        self.kernel.launches()
    }
}

impl<S: Scalar> DeviceOp<1> for Columns<S> {
    type DeviceKernel = dyn DeviceKernel<S>;
    const PADDED_ROWS: bool = true;

    fn bind(
        kernel: &mut Self::DeviceKernel,
        _: (),
        [data]: [DeviceView<'_, S>; 1],
        _: DeviceView<'_, f64>,
    ) -> Result<(), RunError> {
        kernel.bind(data)
    }
    fn repack(kernel: &mut Self::DeviceKernel, [data]: [DeviceView<'_, S>; 1]) -> Result<bool, RunError> {
        kernel.repack(data)
    }
    fn run(
        kernel: &mut Self::DeviceKernel,
        _: (),
        [data]: [DeviceView<'_, S>; 1],
        results: DeviceViewMut<'_, f64>,
    ) -> Result<(), RunError> {
        kernel.repack(data)?;
        kernel.reduce(data, results)
    }
    fn launches(kernel: &Self::DeviceKernel) -> Vec<LaunchReport> {
        kernel.launches()
    }
}

impl<S: Scalar> Reduction<S> for OnDevice<S> {
    fn apply(&mut self, data: DenseView<'_, S>) -> Result<Statistics, RunError> {
        Ok(statistics_of(data.rows(), self.compute((), [data])?))
    }

    fn apply_on_device(
        &mut self,
        data: DeviceView<'_, S>,
        results: DeviceViewMut<'_, f64>,
    ) -> Result<(), RunError> {
        self.apply_on_device((), [data], results)
    }
}
