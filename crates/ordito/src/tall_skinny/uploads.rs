//! Small matrices on their way to a device, without waiting for it.

use crate::device::{Buffer, Device, PinnedDense};
use crate::matrix::DenseView;
use crate::op::RunError;

/// How many may be on their way. A step of a solver sends a few, and waits for one result at least.
const SLOTS: usize = 16;
/// Numbers of a slot at least: pinned memory is taken and given back in tenths of milliseconds, so it should not have to grow.
const LEAST_SLOT: usize = 1 << 11;

/// Memory of the host that copies are read from while the host goes on, and of the device that they are written to.
pub(crate) struct Uploads {
    device: Device,
    /// Numbers of a slot.
    slot: usize,
    room: Option<(PinnedDense<f64>, Buffer<f64>)>,
    /// Slots that copies may still be read from.
    used: usize,
}

impl Uploads {
    pub(crate) fn new(device: &Device) -> Self {
        Uploads { device: device.clone(), slot: 0, room: None, used: 0 }
    }

    /// The device is done with everything: all slots are free again.
    pub(crate) fn all_done(&mut self) {
        self.used = 0;
    }

    /// Puts a copy of the matrix into the device's stream; where it will stand, row after row. What is launched later in the stream reads it
    /// there, until as many more have been sent as there are slots.
    pub(crate) fn send(&mut self, matrix: DenseView<'_, f64>) -> Result<u64, RunError> {
        let (rows, cols) = matrix.shape();
        let len = rows * cols;
        if self.used == SLOTS || self.slot < len {
            self.device.synchronize()?; // nothing is read any more
            self.used = 0;
        }
        if self.slot < len || self.room.is_none() {
            self.slot = len.next_power_of_two().max(LEAST_SLOT);
            let pinned = PinnedDense::new(Some(&self.device), SLOTS, self.slot)?;
            self.room = Some((pinned, self.device.allocate("small matrices", SLOTS * self.slot)?));
        }
        let Some((pinned, buffer)) = &mut self.room else { return Err(RunError::NotLoaded) };
        let first = self.used * self.slot;
        let from = &mut pinned.data_mut()[first..first + len];
        for (row, to) in from.chunks_exact_mut(cols.max(1)).enumerate() {
            to.copy_from_slice(matrix.row(row));
        }
        let first_byte = buffer.check_range(first, len)?;
        self.used += 1;
        // SAFETY: within the buffer, which is of this device; the bytes of a slot are neither changed nor given back before the device has
        // been waited for.
        unsafe {
            self.device.backend().enqueue_upload(bytemuck::cast_slice(from), &**buffer.memory(), first_byte)
        }?;
        Ok(buffer.address() + first_byte as u64)
    }
}

impl Drop for Uploads {
    fn drop(&mut self) {
        // Copies may still be read from this memory. There is nobody to tell about errors here.
        if self.used > 0 {
            let _ = self.device.synchronize();
        }
    }
}
