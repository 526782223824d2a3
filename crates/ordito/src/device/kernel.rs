//! A compiled kernel of a device.

use crate::device::argument::Argument;
use crate::device::backend::{DeviceError, Function};
use crate::device::launch::{DeviceLimits, LaunchPlan, LaunchReport};

/// A kernel on a device.
#[derive(Debug)]
pub struct Kernel {
    name: &'static str,
    function: Box<dyn Function>,
    limits: DeviceLimits,
}

impl Kernel {
    /// Of the kernel `name`, on a device with these limits.
    pub(crate) fn new(name: &'static str, function: Box<dyn Function>, limits: DeviceLimits) -> Self {
        Kernel { name, function, limits }
    }

    /// Starts it; on a GPU it is only put into the stream. An empty plan does nothing; one that was made for a larger device, or
    /// read from a file, and is beyond the limits of this one, is an error.
    ///
    /// ```compile_fail,E0133
    /// # use ordito::device::{Argument, DeviceError, Kernel, LaunchPlan};
    /// fn unchecked(kernel: &Kernel, plan: &LaunchPlan, arguments: &[Argument]) -> Result<(), DeviceError> {
    ///     kernel.launch(plan, arguments)
    /// }
    /// ```
    ///
    /// # Safety
    /// The arguments have the number, order and types of the kernel's parameters. What they point to is memory of this
    /// device, as large as the kernel reads and writes there in such a launch; until the device is done with it, that memory
    /// is not given back, and nobody else writes what it reads, or reads what it writes, other than in the same stream.
    pub unsafe fn launch(&self, plan: &LaunchPlan, arguments: &[Argument]) -> Result<(), DeviceError> {
        if plan.is_empty() {
            return Ok(());
        }
        plan.check(&self.limits)
            .map_err(|why| DeviceError::Call { call: self.name, why: why.to_string() })?;
        // SAFETY: the caller's promise.
        unsafe { self.function.launch(plan, arguments) }
    }

    /// What such a launch takes.
    pub fn report(&self, plan: &LaunchPlan) -> LaunchReport {
        let blocks_per_multiprocessor = self.function.blocks_per_multiprocessor(plan);
        let occupancy = |blocks: u32| {
            100.0 * f64::from(blocks * plan.threads_per_block())
                / f64::from(self.limits.threads_per_multiprocessor)
        };
        LaunchReport {
            kernel: self.name.into(),
            plan: *plan,
            attributes: self.function.attributes(),
            blocks_per_multiprocessor,
            occupancy_percent: blocks_per_multiprocessor.map(occupancy),
            counted: Default::default(),
        }
    }
}
