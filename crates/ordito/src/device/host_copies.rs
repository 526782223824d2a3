//! Copies between host and device that are under way together, and over when their scope ends.

use crate::device::backend::DeviceError;
use crate::device::buffer::Buffer;
use crate::device::handle::Device;
use crate::device::spent::Spent;
use crate::refusal::Refusal;
use bytemuck::Pod;
use std::cell::RefCell;
use std::marker::PhantomData;

/// Copies that are under way. They read and write memory of the host that is borrowed for `'host`, which is longer than
/// the scope: as with [`std::thread::scope`], nothing of it can be touched before the copies have been waited for.
pub(crate) struct HostCopies<'host> {
    /// Devices whose queues have copies in them.
    under_way: RefCell<Vec<Device>>,
    /// Neither longer nor shorter: a shorter borrow would be free while the copy is under way.
    host: PhantomData<fn(&'host ()) -> &'host ()>,
}

/// Runs `work`, and waits for all copies that it asked for, also where it fails.
pub(crate) fn with_host_copies<'host, R, E: From<DeviceError>>(
    work: impl FnOnce(&HostCopies<'host>) -> Result<R, E>,
) -> Result<R, E> {
    let copies = HostCopies { under_way: RefCell::default(), host: PhantomData };
    let result = work(&copies)?; // dropping `copies` waits
    copies.wait()?;
    Ok(result)
}

impl Device {
    /// A copy of `data` on the device.
    pub fn upload<T: Pod>(&self, what: impl Into<String>, data: &[T]) -> Result<Buffer<T>, Refusal> {
        Spent::uploading(|| {
            let mut buffer = self.allocate(what, data.len())?;
            with_host_copies(|copies| copies.upload(self, data, &mut buffer, 0))
                .map_err(|error: DeviceError| Refusal::Device(error.to_string()))?;
            Ok(buffer)
        })
    }

    /// Host to device as quickly as it goes: memory that is not pinned takes the way through pinned chunks. The lengths must be equal.
    pub fn write_into<T: Pod>(&self, from: &[T], to: &mut Buffer<T>) -> Result<(), DeviceError> {
        to.check_length(from.len())?;
        with_host_copies(|copies| copies.upload(self, from, to, 0))
    }

    /// Device to host, the same way.
    pub fn read_into<T: Pod>(&self, from: &Buffer<T>, into: &mut [T]) -> Result<(), DeviceError> {
        from.check_length(into.len())?;
        with_host_copies(|copies| copies.download(self, from, 0, into))
    }

    /// Is this memory copied while the host goes on? Pinned memory is; in the emulator there is no difference.
    pub(crate) fn copies_by_itself<T: Pod>(&self, memory: &[T]) -> bool {
        self.backend().copies_by_itself(bytemuck::cast_slice(memory))
    }
}

impl<'host> HostCopies<'host> {
    /// Puts a copy to the buffer, from its element `first` on, into the device's queue.
    pub(crate) fn upload<T: Pod>(
        &self,
        device: &Device,
        from: &'host [T],
        to: &mut Buffer<T>,
        first: usize,
    ) -> Result<(), DeviceError> {
        let (memory, first_byte) = (&**to.memory(), to.check_range(first, from.len())?);
        self.note(device, to)?;
        // SAFETY: the range is within the buffer, which is of this device and given back only after what is in its queue;
        // `from` is borrowed until that has been waited for.
        unsafe { device.backend().enqueue_upload(bytemuck::cast_slice(from), memory, first_byte) }
    }

    /// Puts a copy of the buffer, from its element `first` on, into the device's queue.
    pub(crate) fn download<T: Pod>(
        &self,
        device: &Device,
        from: &Buffer<T>,
        first: usize,
        into: &'host mut [T],
    ) -> Result<(), DeviceError> {
        let (memory, first_byte) = (&**from.memory(), from.check_range(first, into.len())?);
        self.note(device, from)?;
        // SAFETY: as above; `into` is borrowed exclusively until the queue has been waited for.
        unsafe { device.backend().enqueue_download(memory, first_byte, bytemuck::cast_slice_mut(into)) }
    }

    /// Before the copy is asked for: where that fails half-way, it is waited for as well.
    fn note<T: Pod>(&self, device: &Device, buffer: &Buffer<T>) -> Result<(), DeviceError> {
        if !device.backend().owns(&**buffer.memory()) {
            return Err(DeviceError::Elsewhere { what: "what is copied" });
        }
        let mut under_way = self.under_way.borrow_mut();
        if !under_way.iter().any(|known| std::ptr::addr_eq(known.backend(), device.backend())) {
            under_way.push(device.clone());
        }
        Ok(())
    }

    fn wait(&self) -> Result<(), DeviceError> {
        // All of them, whatever becomes of the first.
        let waited = self.under_way.take().into_iter().map(|device| device.synchronize());
        waited.fold(Ok(()), Result::and)
    }
}

impl Drop for HostCopies<'_> {
    fn drop(&mut self) {
        let _ = self.wait(); // an error is on its way already, or there is nothing to wait for
    }
}
