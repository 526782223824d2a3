//! Copies between host and device that are under way together, and over when their scope ends.

use crate::device::gpu::{Gpu, is_pinned};
use crate::device::handle::{Buffer, Device, DeviceError};
use bytemuck::Pod;
use std::cell::RefCell;
use std::marker::PhantomData;
use std::sync::Arc;

/// Copies that are under way. They read and write memory of the host that is borrowed for `'host`, which is longer than
/// the scope: as with [`std::thread::scope`], nothing of it can be touched before the copies have been waited for.
pub(crate) struct HostCopies<'host> {
    /// GPUs whose streams have copies in them.
    under_way: RefCell<Vec<Arc<Gpu>>>,
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
    /// Is this memory copied while the host goes on? Pinned memory is; in the emulator there is no difference.
    pub(crate) fn copies_by_itself<T: Pod>(&self, memory: &[T]) -> bool {
        match self {
            Device::Cuda(_) => is_pinned(bytemuck::cast_slice(memory)),
            Device::Emulator(_) => true,
        }
    }
}

impl<'host> HostCopies<'host> {
    /// Puts a copy to the buffer, from its element `first` on, into the device's stream.
    pub(crate) fn upload<T: Pod>(
        &self,
        device: &Device,
        from: &'host [T],
        to: &mut Buffer<T>,
        first: usize,
    ) -> Result<(), DeviceError> {
        let Device::Cuda(gpu) = device else { return to.write_from(first, from) };
        to.check_end(first, from.len())?;
        let to = to.address() + (first * size_of::<T>()) as u64;
        self.note(gpu);
        // SAFETY: the range is within the buffer, which is given back only after what is in its stream; `from` is borrowed
        // until the stream has been waited for.
        unsafe { gpu.enqueue_upload(to, bytemuck::cast_slice(from)) }
    }

    /// Puts a copy of the buffer, from its element `first` on, into the device's stream.
    pub(crate) fn download<T: Pod>(
        &self,
        device: &Device,
        from: &Buffer<T>,
        first: usize,
        into: &'host mut [T],
    ) -> Result<(), DeviceError> {
        let Device::Cuda(gpu) = device else { return from.read_from(first, into) };
        from.check_end(first, into.len())?;
        let from = from.address() + (first * size_of::<T>()) as u64;
        self.note(gpu);
        // SAFETY: as above; `into` is borrowed exclusively until the stream has been waited for.
        unsafe { gpu.enqueue_download(from, bytemuck::cast_slice_mut(into)) }
    }

    /// Before the copy is asked for: where that fails half-way, it is waited for as well.
    fn note(&self, gpu: &Arc<Gpu>) {
        let mut under_way = self.under_way.borrow_mut();
        if !under_way.iter().any(|known| Arc::ptr_eq(known.stream(), gpu.stream())) {
            under_way.push(gpu.clone());
        }
    }

    fn wait(&self) -> Result<(), DeviceError> {
        // All of them, whatever becomes of the first.
        let waited = self.under_way.take().into_iter().map(|gpu| gpu.stream().synchronize());
        waited.fold(Ok(()), Result::and)
    }
}

impl Drop for HostCopies<'_> {
    fn drop(&mut self) {
        let _ = self.wait(); // an error is on its way already, or there is nothing to wait for
    }
}
