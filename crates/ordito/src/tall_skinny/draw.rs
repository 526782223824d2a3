//! Random numbers where they are needed: on the device, and the same as on the host.

use crate::Scalar;
use crate::device::{Argument, Device, Kernel, KernelSource, LaunchPlan};
use crate::matrix::Random;
use crate::op::RunError;
use crate::refusal::Refusal;
use crate::tall_skinny::device_part::DevicePart;
use std::marker::PhantomData;

pub(crate) struct Draw<S> {
    device: Device,
    kernel: Kernel,
    element: PhantomData<S>,
}

impl<S: Scalar> Draw<S> {
    pub(crate) fn new(device: &Device) -> Result<Self, Refusal> {
        let kernel = device.kernel(&Self::source())?;
        Ok(Draw { device: device.clone(), kernel, element: PhantomData })
    }

    pub(crate) fn source() -> KernelSource {
        KernelSource::new("draw", "draw.cu", include_str!("draw.cu")).define("SCALAR", S::CUDA_NAME)
    }

    /// Rows from `first_row` on of what [`random_rows`](crate::matrix::random_rows) draws. Only enqueues.
    ///
    /// # Safety
    /// X is memory of this device and has so many rows; until the device is done it is there, and nobody else uses it other than in the same
    /// stream.
    pub(crate) unsafe fn enqueue(
        &self,
        (rows, first_row): (usize, u64),
        seed: u64,
        x: DevicePart<S>,
    ) -> Result<(), RunError> {
        let plan = LaunchPlan::over_rows(self.device.limits(), rows, x.cols)?;
        let numbers = [
            rows as u64,
            x.cols as u64,
            Random::new(seed, 0).start(),
            first_row,
            x.address,
            x.distance as u64,
        ];
        // SAFETY: as the kernel declares them. The rest is the caller's promise.
        Ok(unsafe { self.kernel.launch(&plan, &numbers.map(Argument::of)) }?)
    }
}
