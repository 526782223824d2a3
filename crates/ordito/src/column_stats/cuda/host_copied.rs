//! A kernel that wants the matrix column after column, from a copy that the host makes before it is uploaded: more travels where
//! columns are padded, and the host's loop is paid for; the device transposes nothing.

use crate::Scalar;
use crate::column_stats::cuda::device::{DeviceKernel, OnDevice};
use crate::column_stats::operands::statistics_of;
use crate::column_stats::reduction::{Columns, Reduction, Shape};
use crate::column_stats::statistics::Statistics;
use crate::device::{Device, DeviceView, DeviceViewMut, LaunchReport};
use crate::matrix::{Dense, DenseView};
use crate::op::operands::Shapes;
use crate::op::{Phases, Prepared, RunError, check_shape};
use crate::refusal::Refusal;
use std::sync::Arc;
use std::time::Instant;

/// The kernel, which takes the copy for its matrix.
pub(crate) struct HostCopied<S: Scalar> {
    of_copies: OnDevice<S>,
    shape: Shape,
    padded_rows: usize,
    copy_ns: Option<f64>,
}

impl<S: Scalar> HostCopied<S> {
    pub(crate) fn boxed(
        kernel: impl DeviceKernel<S> + 'static,
        device: Device,
        shape: Shape,
        padded_rows: usize,
    ) -> Box<dyn Reduction<S>> {
        let shapes = Shapes { read: [(shape.cols, padded_rows)], written: (kernel.statistics(), shape.cols) };
        let of_copies = OnDevice::new(Box::new(kernel), device, shapes);
        Box::new(HostCopied { of_copies, shape, padded_rows, copy_ns: None })
    }

    /// The plain loop over columns and rows, timed.
    fn copy(&mut self, data: DenseView<'_, S>) -> Result<Dense<S>, RunError> {
        let Shape { rows, cols } = self.shape;
        check_shape("the matrix", (data.rows(), data.cols()), (rows, cols))?;
        let mut copy = Dense::zeros(cols, self.padded_rows).map_err(Refusal::from)?;
        let start = Instant::now();
        for (col, column) in copy.data_mut().chunks_exact_mut(self.padded_rows).enumerate() {
            for (row, to) in column[..rows].iter_mut().enumerate() {
                *to = data.row(row)[col];
            }
        }
        self.copy_ns = Some(start.elapsed().as_nanos() as f64);
        Ok(copy)
    }
}

impl<S: Scalar> Prepared<Columns<S>> for HostCopied<S> {
    fn load(&mut self, data: &Arc<Dense<S>>) -> Result<(), RunError> {
        let copy = self.copy(data.view())?;
        self.of_copies.load(&Arc::new(copy))
    }
    fn reset(&mut self) -> Result<(), RunError> {
        self.of_copies.reset()
    }
    fn run(&mut self) -> Result<(), RunError> {
        self.of_copies.run()
    }
    fn fetch(&mut self) -> Result<Statistics, RunError> {
        let found = self.of_copies.fetch()?;
        Ok(Statistics { count: self.shape.rows as u64, ..found })
    }
    fn device(&self) -> Option<&Device> {
        self.of_copies.device()
    }
    fn phases(&self) -> Phases {
        Phases { host_copy_ns: self.copy_ns, ..self.of_copies.phases() }
    }
    fn launches(&self) -> Vec<LaunchReport> {
        self.of_copies.launches()
    }
}

impl<S: Scalar> Reduction<S> for HostCopied<S> {
    fn apply(&mut self, data: DenseView<'_, S>) -> Result<Statistics, RunError> {
        let copy = self.copy(data)?;
        Ok(statistics_of(self.shape.rows, self.of_copies.compute((), [copy.view()])?))
    }

    fn apply_on_device(&mut self, _: DeviceView<'_, S>, _: DeviceViewMut<'_, f64>) -> Result<(), RunError> {
        let why = "the host makes the copy that this kernel reads: its matrix cannot lie on the device";
        Err(Refusal::Unsupported(why.into()).into())
    }
}
