//! A dense matrix that lives on a device.

use crate::Scalar;
use crate::device::argument::Argument;
use crate::device::backend::DeviceError;
use crate::device::buffer::Buffer;
use crate::device::handle::Device;
use crate::device::host_copies::with_host_copies;
use crate::device::view::{DeviceView, DeviceViewMut};
use crate::matrix::{DenseView, DenseViewMut};
use crate::refusal::Refusal;

/// A row of a matrix on a device starts at a multiple of so many bytes: the widest load of a thread.
const ROW_ALIGNMENT: usize = 16;

/// Most bytes of the host that copying rows with other gaps takes.
const STAGED_BYTES: usize = 16 << 20;

/// A matrix on a device, row-major, without the gaps it has on the host: rows lie as close as loads of 16 bytes allow.
/// What fills them up is no part of the matrix and mostly NaN. Kernels may read it where it cannot reach an element of C,
/// and write it in memory of their own, never in C.
///
/// ```
/// use ordito::machine::{Accelerator, Machine};
/// use ordito::matrix::{Coo, Csr, Dense, Duplicates};
/// use ordito::device::DeviceDense;
/// use ordito::spmm::Plan;
///
/// let machine = Machine::whole()?.with_accelerator(Accelerator::Emulator); // or Accelerator::Cuda(0)
/// # if machine.device().is_err() { return Ok(()); }
/// let a = Coo::new(2, 2, vec![0, 1], vec![1, 0], vec![2.0, 3.0])?;
/// let mut plan = Plan::new(Csr::from_coo(&a, Duplicates::Sum), 1, &machine)?;
///
/// let device = machine.device()?;
/// let mut x = DeviceDense::new(&device, "X", 2, 1)?;
/// let mut y = DeviceDense::new(&device, "Y", 2, 1)?;
/// x.write(Dense::from_rows(2, 1, vec![1.0, 10.0])?.view())?;
/// plan.apply_on_device(1.0, x.view(), 0.0, y.view_mut())?; // only enqueues; nothing is copied
/// plan.apply_on_device(1.0, y.view(), 1.0, x.view_mut())?; // X = A·(A·X) + X
/// let mut found = Dense::filled(2, 1, 0.0)?;
/// x.read(found.view_mut())?; // waits
/// assert_eq!(found.data(), &[7.0, 70.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct DeviceDense<S> {
    device: Device,
    pub(crate) buffer: Buffer<S>,
    pub(crate) rows: usize,
    pub(crate) cols: usize,
    pub(crate) leading_dimension: usize,
}

impl<S: Scalar> DeviceDense<S> {
    /// Room for a matrix, NaN at first; `what` names it in messages. What is done to it goes into the device's stream.
    pub fn new(device: &Device, what: &str, rows: usize, cols: usize) -> Result<Self, Refusal> {
        let leading_dimension =
            cols.checked_next_multiple_of(ROW_ALIGNMENT / size_of::<S>()).unwrap_or(usize::MAX);
        let buffer = device.allocate(what, rows.saturating_mul(leading_dimension))?;
        Ok(DeviceDense { device: device.clone(), buffer, rows, cols, leading_dimension })
    }

    /// Host to device, waited for: at once where rows lie alike, else some rows at a time through a copy without their gaps.
    /// A matrix of another shape is an error.
    pub fn write(&mut self, view: DenseView<'_, S>) -> Result<(), DeviceError> {
        self.check_shape("the matrix to be copied", (view.rows(), view.cols()))?;
        self.write_rows(view)
    }

    fn write_rows(&mut self, view: DenseView<'_, S>) -> Result<(), DeviceError> {
        let (len, distance) = (self.buffer.len(), self.leading_dimension);
        if view.leading_dimension() == distance && view.data().len() >= len {
            let from = &view.data()[..len];
            return with_host_copies(|copies| copies.upload(&self.device, from, &mut self.buffer, 0));
        }
        let mut staged = vec![S::POISON; self.rows_at_once() * distance];
        for first in (0..self.rows).step_by(self.rows_at_once()) {
            let rows = first..self.rows.min(first + self.rows_at_once());
            for (row, to) in rows.clone().zip(staged.chunks_exact_mut(distance.max(1))) {
                to[..self.cols].copy_from_slice(view.row(row));
            }
            self.buffer.write_from(first * distance, &staged[..rows.len() * distance])?;
        }
        Ok(())
    }

    /// Device to host, after all that was done to it, gaps there left as they are. A matrix of another shape is an error.
    pub fn read(&self, view: DenseViewMut<'_, S>) -> Result<(), DeviceError> {
        self.check_shape("the matrix to be filled", (view.rows(), view.cols()))?;
        self.read_rows(view)
    }

    fn read_rows(&self, mut view: DenseViewMut<'_, S>) -> Result<(), DeviceError> {
        let (len, distance) = (self.buffer.len(), self.leading_dimension);
        if self.cols == view.leading_dimension() && self.cols == distance {
            let into = &mut view.data_mut()[..len];
            return with_host_copies(|copies| copies.download(&self.device, &self.buffer, 0, into));
        }
        let mut staged = vec![S::POISON; self.rows_at_once() * distance];
        for first in (0..self.rows).step_by(self.rows_at_once()) {
            let rows = first..self.rows.min(first + self.rows_at_once());
            self.buffer.read_from(first * distance, &mut staged[..rows.len() * distance])?;
            for (row, from) in rows.zip(staged.chunks_exact(distance.max(1))) {
                view.row_mut(row).copy_from_slice(&from[..self.cols]);
            }
        }
        Ok(())
    }

    fn check_shape(&self, what: &'static str, found: (usize, usize)) -> Result<(), DeviceError> {
        let expected = (self.rows, self.cols);
        if found == expected { Ok(()) } else { Err(DeviceError::Shape { what, found, expected }) }
    }

    /// Rows that are copied at a time: at least one.
    fn rows_at_once(&self) -> usize {
        let row_bytes = self.leading_dimension.saturating_mul(size_of::<S>()).max(1);
        (STAGED_BYTES / row_bytes).clamp(1, self.rows.max(1))
    }

    /// To read on the device.
    pub fn view(&self) -> DeviceView<'_, S> {
        DeviceView::whole(&self.buffer, self.rows, self.cols, self.leading_dimension)
    }
    /// To write on the device.
    pub fn view_mut(&mut self) -> DeviceViewMut<'_, S> {
        DeviceViewMut::whole(&mut self.buffer, self.rows, self.cols, self.leading_dimension)
    }
    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }
    /// Number of columns.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// Pointer and leading dimension, as every kernel takes them: `const SCALAR* a, u64 a_distance`.
    pub(crate) fn arguments(&self) -> [Argument; 2] {
        [Argument::from(&self.buffer), Argument::of(self.leading_dimension as u64)]
    }
}
