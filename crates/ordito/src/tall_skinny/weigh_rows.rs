//! Rows of a block on a device, each times its own factor.

use crate::Scalar;
use crate::device::{Argument, Device, Kernel, KernelSource, LaunchPlan};
use crate::op::RunError;
use crate::refusal::Refusal;
use crate::tall_skinny::device_part::DevicePart;
use std::marker::PhantomData;

pub(crate) struct WeighRows<S> {
    device: Device,
    kernel: Kernel,
    element: PhantomData<S>,
}

impl<S: Scalar> WeighRows<S> {
    pub(crate) fn new(device: &Device) -> Result<Self, Refusal> {
        let kernel = device.kernel(&Self::source())?;
        Ok(WeighRows { device: device.clone(), kernel, element: PhantomData })
    }

    pub(crate) fn source() -> KernelSource {
        KernelSource::new("weigh_rows", "weigh_rows.cu", include_str!("weigh_rows.cu"))
            .define("SCALAR", S::CUDA_NAME)
    }

    /// X[r][c] = d[r]·X[r][c]. Only enqueues.
    ///
    /// # Safety
    /// Both are memory of this device and have so many rows, and do not overlap; until the device is done they are there, and nobody else
    /// uses X, or writes the factors, other than in the same stream.
    pub(crate) unsafe fn enqueue(
        &self,
        rows: usize,
        factors: DevicePart<S>,
        x: DevicePart<S>,
    ) -> Result<(), RunError> {
        let plan = LaunchPlan::over_rows(self.device.limits(), rows, x.cols)?;
        let [rows, cols, factors_distance, x_distance] =
            [rows, x.cols, factors.distance, x.distance].map(|number| Argument::of(number as u64));
        let [factors, x] = [factors.address, x.address].map(Argument::of);
        // SAFETY: as the kernel declares them. The rest is the caller's promise.
        Ok(unsafe { self.kernel.launch(&plan, &[rows, cols, factors, factors_distance, x, x_distance]) }?)
    }
}
