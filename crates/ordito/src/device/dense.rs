//! A dense matrix that lives on a device.

use crate::Scalar;
use crate::device::backend::DeviceError;
use crate::device::buffer::Buffer;
use crate::device::handle::Device;
use crate::device::host_copies::{HostCopies, with_host_copies};
use crate::device::view::{CHUNK_BYTES, DeviceView, DeviceViewMut};
use crate::matrix::{DenseView, DenseViewMut, span};
use crate::refusal::Refusal;

/// Most bytes of the host that copying rows with other gaps takes.
const STAGED_BYTES: usize = 16 << 20;

/// A matrix on a device, row-major, without the gaps it has on the host: rows lie as close as loads of 16 bytes allow.
/// What fills them up is no part of the matrix and mostly NaN. Kernels may read it where it cannot reach an element of C,
/// and write it in memory of their own, never in C.
///
/// ```
/// use ordito::device::DeviceDense;
/// use ordito::spmm::Plan;
/// use ordito::{Accelerator, Coo, Csr, Dense, Duplicates, Machine};
///
/// let machine = Machine::all_cores()?.with_accelerator(Accelerator::Emulator); // or Accelerator::Cuda(0)
/// # if machine.device().is_err() { return Ok(()); }
/// let a = Coo::new(2, 2, vec![0, 1], vec![1, 0], vec![2.0, 3.0])?;
/// let plan = Plan::new(Csr::from_coo(&a, Duplicates::Sum), &machine)?;
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
            cols.checked_next_multiple_of(CHUNK_BYTES / size_of::<S>()).unwrap_or(usize::MAX);
        let buffer = device.allocate(what, rows.saturating_mul(leading_dimension))?;
        Ok(DeviceDense { device: device.clone(), buffer, rows, cols, leading_dimension })
    }

    /// Room for rows that lie so far apart; nothing behind the last one.
    pub(crate) fn with_leading_dimension(
        device: &Device,
        what: &str,
        (rows, cols): (usize, usize),
        leading_dimension: usize,
    ) -> Result<Self, Refusal> {
        let buffer = device.allocate(what, span(rows, cols, leading_dimension).unwrap_or(usize::MAX))?;
        Ok(DeviceDense { device: device.clone(), buffer, rows, cols, leading_dimension })
    }

    /// Room for a matrix that lies as on the host: one copy brings all of it. Where most of that would be gaps, they stay
    /// behind.
    pub(crate) fn like(device: &Device, what: &str, view: &DenseView<'_, S>) -> Result<Self, Refusal> {
        if is_mostly_gaps(view) {
            return DeviceDense::new(device, what, view.rows(), view.cols());
        }
        DeviceDense::with_leading_dimension(
            device,
            what,
            (view.rows(), view.cols()),
            view.leading_dimension(),
        )
    }

    /// Would [`like`](Self::like) lay out such a matrix as this one?
    pub(crate) fn is_like(&self, view: &DenseView<'_, S>) -> bool {
        let lies_so = is_mostly_gaps(view) || self.leading_dimension == view.leading_dimension();
        lies_so && (self.rows, self.cols) == (view.rows(), view.cols())
    }

    /// Does one copy bring the matrix, as it lies on the host?
    fn is_one_copy(&self, view: &DenseView<'_, S>) -> bool {
        self.leading_dimension == view.leading_dimension() && view.data().len() >= self.buffer.len()
    }

    /// Does that copy bring gaps too, which must then be brought here before they are brought back?
    pub(crate) fn brings_gaps(&self, view: &DenseView<'_, S>) -> bool {
        self.is_one_copy(view) && self.leading_dimension != self.cols
    }

    /// Host to device, waited for: at once where rows lie alike, else some rows at a time through a copy without their gaps.
    /// A matrix of another shape is an error.
    pub fn write(&mut self, view: DenseView<'_, S>) -> Result<(), DeviceError> {
        self.check_shape("the matrix to be copied", (view.rows(), view.cols()))?;
        with_host_copies(|copies| self.enqueue_write(copies, view))
    }

    /// Uploads a matrix of this shape; only enqueued where rows lie alike.
    pub(crate) fn enqueue_write<'host>(
        &mut self,
        copies: &HostCopies<'host>,
        view: DenseView<'host, S>,
    ) -> Result<(), DeviceError> {
        let (len, distance) = (self.buffer.len(), self.leading_dimension);
        if self.is_one_copy(&view) {
            return copies.upload(&self.device, &view.data()[..len], &mut self.buffer, 0);
        }
        let mut staged = vec![S::POISON; self.rows_at_once() * distance];
        for first in (0..self.rows).step_by(self.rows_at_once()) {
            let rows = first..self.rows.min(first + self.rows_at_once());
            for (row, to) in rows.clone().zip(staged.chunks_exact_mut(distance.max(1))) {
                to[..self.cols].copy_from_slice(view.row(row));
            }
            let start = first * distance;
            let len = (rows.len() * distance).min(len - start); // the last row may have nothing behind it
            self.buffer.write_from(start, &staged[..len])?;
        }
        Ok(())
    }

    /// Device to host, after all that was done to it, gaps there left as they are. A matrix of another shape is an error.
    pub fn read(&self, view: DenseViewMut<'_, S>) -> Result<(), DeviceError> {
        self.check_shape("the matrix to be filled", (view.rows(), view.cols()))?;
        if self.leading_dimension == self.cols {
            return with_host_copies(|copies| self.enqueue_read(copies, view));
        }
        self.read_rows(view)
    }

    /// Downloads into a matrix of this shape, only enqueued where rows lie alike; gaps are then [brought](Self::brings_gaps)
    /// too.
    pub(crate) fn enqueue_read<'host>(
        &self,
        copies: &HostCopies<'host>,
        view: DenseViewMut<'host, S>,
    ) -> Result<(), DeviceError> {
        if !self.is_one_copy(&view.as_view()) {
            return self.read_rows(view);
        }
        let into = view.into_data();
        copies.download(&self.device, &self.buffer, 0, &mut into[..self.buffer.len()])
    }

    /// Some rows at a time, without their gaps.
    fn read_rows(&self, mut view: DenseViewMut<'_, S>) -> Result<(), DeviceError> {
        let (all, distance) = (self.buffer.len(), self.leading_dimension);
        let mut staged = vec![S::POISON; self.rows_at_once() * distance];
        for first in (0..self.rows).step_by(self.rows_at_once()) {
            let rows = first..self.rows.min(first + self.rows_at_once());
            let len = (rows.len() * distance).min(all - first * distance);
            self.buffer.read_from(first * distance, &mut staged[..len])?;
            for (row, from) in rows.zip(staged.chunks(distance.max(1))) {
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

    /// The device that it lies on, with its stream.
    pub(crate) fn device(&self) -> &Device {
        &self.device
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
}

/// A part of a much wider matrix, say: copying its gaps too would take longer than leaving them out.
fn is_mostly_gaps<S: Scalar>(view: &DenseView<'_, S>) -> bool {
    view.leading_dimension() / 2 > view.cols()
}
