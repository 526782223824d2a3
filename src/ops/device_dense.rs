//! A dense matrix on a device, as the kernels of `gemm` and `columns` read and write it.

use crate::Scalar;
use crate::machine::{Argument, Buffer, Device, DeviceError, Refusal};
use crate::matrix::{DenseView, DenseViewMut};

/// A row of a matrix on a device starts at a multiple of so many bytes: the widest load of a thread.
const ROW_ALIGNMENT: usize = 16;

/// Most bytes of the host that copying rows with other gaps takes.
const STAGED_BYTES: usize = 16 << 20;

/// A matrix on a device, row-major, without the gaps it has on the host: rows lie as close as loads of 16 bytes allow.
/// What fills them up is no part of the matrix and mostly NaN. Kernels may read it where it cannot reach an element of C,
/// and write it in memory of their own, never in C.
#[derive(Debug)]
pub(in crate::ops) struct DeviceDense<S> {
    pub(in crate::ops) buffer: Buffer<S>,
    pub(in crate::ops) rows: usize,
    pub(in crate::ops) cols: usize,
    pub(in crate::ops) leading_dimension: usize,
}

impl<S: Scalar> DeviceDense<S> {
    pub(in crate::ops) fn new(
        device: &Device,
        what: &str,
        rows: usize,
        cols: usize,
    ) -> Result<Self, Refusal> {
        let leading_dimension =
            cols.checked_next_multiple_of(ROW_ALIGNMENT / size_of::<S>()).unwrap_or(usize::MAX);
        let buffer = device.allocate(what, rows.saturating_mul(leading_dimension))?;
        Ok(DeviceDense { buffer, rows, cols, leading_dimension })
    }

    /// Host to device: at once where rows lie alike, else some rows at a time through a copy without their gaps.
    pub(in crate::ops) fn write(&mut self, view: DenseView<'_, S>) -> Result<(), DeviceError> {
        let (len, distance) = (self.buffer.len(), self.leading_dimension);
        if view.leading_dimension() == distance && view.data().len() >= len {
            return self.buffer.write(&view.data()[..len]);
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

    /// Device to host, gaps there left as they are.
    pub(in crate::ops) fn read(&self, mut view: DenseViewMut<'_, S>) -> Result<(), DeviceError> {
        let (len, distance) = (self.buffer.len(), self.leading_dimension);
        if self.cols == view.leading_dimension() && self.cols == distance {
            return self.buffer.read(&mut view.data_mut()[..len]);
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

    /// Rows that are copied at a time: at least one.
    fn rows_at_once(&self) -> usize {
        let row_bytes = self.leading_dimension.saturating_mul(size_of::<S>()).max(1);
        (STAGED_BYTES / row_bytes).clamp(1, self.rows.max(1))
    }

    /// Pointer and leading dimension, as every kernel takes them: `const SCALAR* a, u64 a_distance`.
    pub(in crate::ops) fn arguments(&self) -> [Argument; 2] {
        [Argument::from(&self.buffer), Argument::of(self.leading_dimension as u64)]
    }
}
