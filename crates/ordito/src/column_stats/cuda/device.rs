//! What every CUDA variant shares: the matrix on a device, and a kernel over it made into a [`Reduction`].

use crate::Scalar;
use crate::column_stats::reduction::{ALL_STATISTICS, Columns, Reduction, Shape, check_shape};
use crate::column_stats::statistics::Statistics;
use crate::device::DeviceDense;
use crate::device::{Buffer, Device, DeviceError, LaunchReport};
use crate::matrix::{Dense, DenseView};
use crate::op::{Phases, Prepared, RunError};
use crate::refusal::Refusal;
use std::sync::Arc;
use std::time::Instant;

/// The heart of a CUDA variant. The shape has been checked, and there is at least one row.
pub(crate) trait DeviceKernel<S: Scalar>: Send {
    /// Rows of its results.
    fn statistics(&self) -> usize {
        ALL_STATISTICS
    }
    /// Rearranges the matrix into device memory of its own; `false` where the kernel reads it as it is.
    fn repack(&mut self, _data: &DeviceDense<S>) -> Result<bool, RunError> {
        Ok(false)
    }
    /// Writes all means, then all variances, all least and all greatest elements, of a matrix that has been repacked.
    /// Only enqueues.
    fn reduce(&mut self, data: &DeviceDense<S>, results: &mut Buffer<f64>) -> Result<(), RunError>;
    /// What it launches, for those who study kernels.
    fn launches(&self) -> Vec<LaunchReport>;
}

/// The matrix and its statistics on a device.
struct Operands<S> {
    data: DeviceDense<S>,
    results: Buffer<f64>,
}

impl<S: Scalar> Operands<S> {
    fn new(device: &Device, shape: Shape, statistics: usize) -> Result<Self, Refusal> {
        Ok(Operands {
            data: DeviceDense::new(device, "the matrix", shape.rows, shape.cols)?,
            results: device.allocate("statistics", statistics.saturating_mul(shape.cols))?,
        })
    }

    fn reduce(&mut self, kernel: &mut dyn DeviceKernel<S>) -> Result<(), RunError> {
        if self.data.rows == 0 {
            return Ok(self.results.fill_bytes(0xFF)?); // statistics of nothing: NaN
        }
        kernel.repack(&self.data)?;
        kernel.reduce(&self.data, &mut self.results)
    }

    fn read(&self, statistics: usize) -> Result<Statistics, DeviceError> {
        let mut results = vec![f64::NAN; self.results.len()];
        self.results.read(&mut results)?;
        Ok(Statistics::from_rows(self.data.rows as u64, &results, statistics))
    }
}

/// A kernel with its operands.
pub(crate) struct OnDevice<S, K> {
    kernel: K,
    device: Device,
    shape: Shape,
    loaded: Option<Operands<S>>,
    /// Room for the operands of [`Reduction::apply`], kept between calls.
    room: Option<Operands<S>>,
    phases: Phases,
}

impl<S: Scalar, K: DeviceKernel<S> + 'static> OnDevice<S, K> {
    pub(crate) fn boxed(kernel: K, device: Device, shape: Shape) -> Box<dyn Reduction<S>> {
        Box::new(OnDevice { kernel, device, shape, loaded: None, room: None, phases: Phases::default() })
    }
}

impl<S: Scalar, K: DeviceKernel<S>> Prepared<Columns<S>> for OnDevice<S, K> {
    fn load(&mut self, data: &Arc<Dense<S>>) -> Result<(), RunError> {
        check_shape(self.shape, &data.view())?;
        self.loaded = None; // its memory is free again
        self.phases = Phases::default();
        let mut operands = Operands::new(&self.device, self.shape, self.kernel.statistics())?;
        self.device.synchronize()?;
        let start = Instant::now();
        operands.data.write(data.view())?;
        self.device.synchronize()?;
        self.phases.upload_ns = Some(start.elapsed().as_nanos() as f64);
        self.loaded = Some(operands);
        Ok(())
    }

    fn reset(&mut self) -> Result<(), RunError> {
        let operands = self.loaded.as_mut().ok_or(RunError::NotLoaded)?;
        Ok(operands.results.fill_bytes(0xFF)?)
    }

    fn repack(&mut self) -> Result<bool, RunError> {
        let operands = self.loaded.as_ref().ok_or(RunError::NotLoaded)?;
        self.kernel.repack(&operands.data)
    }

    fn run(&mut self) -> Result<(), RunError> {
        self.loaded.as_mut().ok_or(RunError::NotLoaded)?.reduce(&mut self.kernel)
    }

    fn fetch(&mut self) -> Result<Statistics, RunError> {
        let operands = self.loaded.as_ref().ok_or(RunError::NotLoaded)?;
        self.device.synchronize()?;
        let start = Instant::now();
        let found = operands.read(self.kernel.statistics())?;
        self.phases.download_ns = Some(start.elapsed().as_nanos() as f64);
        Ok(found)
    }

    fn device(&self) -> Option<&Device> {
        Some(&self.device)
    }
    fn phases(&self) -> Phases {
        self.phases
    }
    fn launches(&self) -> Vec<LaunchReport> {
        self.kernel.launches()
    }
}

impl<S: Scalar, K: DeviceKernel<S>> Reduction<S> for OnDevice<S, K> {
    fn apply(&mut self, data: DenseView<'_, S>) -> Result<Statistics, RunError> {
        check_shape(self.shape, &data)?;
        let mut operands = match self.room.take() {
            Some(operands) => operands,
            None => Operands::new(&self.device, self.shape, self.kernel.statistics())?,
        };
        self.phases = Phases::default();
        self.device.synchronize()?; // the copy is timed, not what went before
        let start = Instant::now();
        operands.data.write(data)?;
        self.device.synchronize()?;
        self.phases.upload_ns = Some(start.elapsed().as_nanos() as f64);
        let start = Instant::now();
        operands.reduce(&mut self.kernel)?;
        self.device.synchronize()?;
        self.phases.run_ns = Some(start.elapsed().as_nanos() as f64);
        let start = Instant::now();
        let found = operands.read(self.kernel.statistics())?;
        self.phases.download_ns = Some(start.elapsed().as_nanos() as f64);
        self.room = Some(operands);
        Ok(found)
    }
}
