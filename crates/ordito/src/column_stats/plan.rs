//! The library's calls.

use crate::Scalar;
use crate::column_stats::reduction::{Columns, Reduction, Shape};
use crate::column_stats::select::choose;
use crate::column_stats::statistics::Statistics;
use crate::device::{Device, DeviceView, DeviceViewMut, LaunchReport};
use crate::machine::Machine;
use crate::matrix::DenseView;
use crate::op::{Choice, Op, Phases, RunError};
use crate::refusal::Refusal;
use std::sync::Arc;

/// Made ready for matrices of one shape, on the CPU or on a device. Owns what it needs and can live in a struct of yours.
///
/// ```
/// use ordito::column_stats::{Plan, Shape};
/// use ordito::{Dense, Machine};
///
/// let mut plan = Plan::<f32>::new(Shape { rows: 3, cols: 2 }, &Machine::all_cores()?)?;
/// let epochs = Dense::from_rows(3, 2, vec![1.0, 30_001.0, 2.0, 30_002.0, 6.0, 30_006.0])?;
/// let statistics = plan.apply(epochs.view())?;
/// assert_eq!(statistics.mean, [3.0, 30_003.0]);
/// assert_eq!(statistics.variance, [7.0, 7.0]); // over n − 1; the offset costs no digits
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Plan<S: Scalar> {
    choice: Choice,
    reduction: Box<dyn Reduction<S>>,
}

impl<S: Scalar> Plan<S> {
    /// The variant that `auto` chooses for this shape and machine: on the CPU, or, where the machine has an accelerator
    /// ([`Machine::with_accelerator`]), on that.
    pub fn new(shape: Shape, machine: &Arc<Machine>) -> Result<Self, Refusal> {
        machine.check_accelerator()?;
        Plan::build(shape, choose::<S>(machine, shape), machine)
    }

    /// The variant of that name.
    pub fn with_variant(name: &str, shape: Shape, machine: &Arc<Machine>) -> Result<Self, Refusal> {
        let variant =
            Columns::<S>::variant(name).ok_or_else(|| Refusal::UnknownVariant { name: name.to_string() })?;
        let choice = Choice::new(variant.describe(), "asked for by name");
        Plan::build(shape, choice, machine)
    }

    fn build(shape: Shape, choice: Choice, machine: &Arc<Machine>) -> Result<Self, Refusal> {
        let name = choice.variant.to_string();
        let variant = Columns::<S>::variant(choice.variant).ok_or(Refusal::UnknownVariant { name })?;
        Ok(Plan { reduction: variant.prepare(machine, &shape)?, choice })
    }

    /// Which variant was taken, and why.
    pub fn choice(&self) -> &Choice {
        &self.choice
    }

    /// The statistics of a matrix of the plan's shape; gaps between its rows are never read.
    pub fn apply(&mut self, data: DenseView<'_, S>) -> Result<Statistics, RunError> {
        self.reduction.apply(data)
    }

    /// The statistics of a matrix that lies on the plan's device, into a matrix there: one row of means, then one of
    /// variances, of least and of greatest elements, as many columns as the data. Only enqueues, and waits for nothing; gaps
    /// of `results` are never touched.
    ///
    /// A variant that computes the mean only writes one row, and takes a matrix of one. Streams and memory of others are as
    /// in [`gemm::Plan::apply_on_device`](crate::gemm::Plan::apply_on_device). An error where the plan runs on the CPU.
    ///
    /// ```
    /// use ordito::column_stats::{Plan, Shape};
    /// use ordito::device::DeviceDense;
    /// use ordito::{Accelerator, Dense, Machine};
    ///
    /// let machine = Machine::all_cores()?.with_accelerator(Accelerator::Emulator); // or Accelerator::Cuda(0)
    /// # if machine.device().is_err() { return Ok(()); }
    /// let mut plan = Plan::<f32>::new(Shape { rows: 3, cols: 2 }, &machine)?;
    /// let device = machine.device()?;
    /// let mut epochs = DeviceDense::new(&device, "epochs", 3, 2)?;
    /// epochs.write(Dense::from_rows(3, 2, vec![1.0, 30_001.0, 2.0, 30_002.0, 6.0, 30_006.0])?.view())?;
    /// let mut results = DeviceDense::new(&device, "statistics", 4, 2)?;
    /// plan.apply_on_device(epochs.view(), results.view_mut())?;
    /// let mut found = Dense::filled(4, 2, 0.0)?;
    /// results.read(found.view_mut())?; // waits
    /// assert_eq!(found.data()[..4], [3.0, 30_003.0, 7.0, 7.0]); // means, variances
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn apply_on_device(
        &mut self,
        data: DeviceView<'_, S>,
        results: DeviceViewMut<'_, f64>,
    ) -> Result<(), RunError> {
        self.reduction.apply_on_device(data, results)
    }

    /// The device it runs on, with its stream; `None` on the CPU.
    pub fn device(&self) -> Option<&Device> {
        self.reduction.device()
    }

    /// How long the parts of the last [`apply`](Self::apply) took on a device; nothing on the CPU.
    pub fn phases(&self) -> Phases {
        self.reduction.phases()
    }

    /// What a reduction launches on a device; nothing on the CPU.
    #[doc(hidden)]
    pub fn launches(&self) -> Vec<LaunchReport> {
        self.reduction.launches()
    }
}

/// The statistics of one matrix.
///
/// ```
/// use ordito::{DenseView, Machine};
/// let data = [1.0, 2.0, f64::NAN, 3.0, 6.0]; // 2×2, rows 3 apart: the gap is not read
/// let found = ordito::column_stats::column_stats(DenseView::new(&data, 2, 2, 3)?, &Machine::all_cores()?)?;
/// assert_eq!((found.count, found.mean, found.variance), (2, vec![2.0, 4.0], vec![2.0, 8.0]));
/// assert_eq!((found.min, found.max), (vec![1.0, 2.0], vec![3.0, 6.0]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn column_stats<S: Scalar>(
    data: DenseView<'_, S>,
    machine: &Arc<Machine>,
) -> Result<Statistics, RunError> {
    Plan::new(Shape { rows: data.rows(), cols: data.cols() }, machine)?.apply(data)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::Dense;

    #[test]
    fn wrong_shapes_are_errors_that_name_them() {
        let machine = Machine::all_cores().unwrap();
        let mut plan = Plan::<f64>::new(Shape { rows: 3, cols: 2 }, &machine).unwrap();
        let error = plan.apply(Dense::filled(2, 3, 1.0).unwrap().view()).unwrap_err();
        assert_eq!(error.to_string(), "the matrix is 2×3, 3×2 expected");
        let unknown = Plan::<f64>::with_variant("dense-magic", Shape { rows: 1, cols: 1 }, &machine);
        assert!(unknown.err().unwrap().to_string().contains("no variant `dense-magic`"));
    }

    #[test]
    fn plans_can_move_between_threads_and_live_on() {
        fn movable<T: Send + 'static>() {}
        movable::<Plan<f32>>();
    }
}
