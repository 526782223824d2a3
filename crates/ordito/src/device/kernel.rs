//! A compiled kernel of a device.

use crate::device::argument::Argument;
use crate::device::backend::{DeviceError, Function};
use crate::device::launch::{LaunchPlan, LaunchReport};

/// A kernel on a device.
#[derive(Debug)]
pub struct Kernel {
    name: &'static str,
    function: Box<dyn Function>,
    threads_per_multiprocessor: u32,
}

impl Kernel {
    /// Of the kernel `name`, on a device whose multiprocessors hold so many threads.
    pub(crate) fn new(
        name: &'static str,
        function: Box<dyn Function>,
        threads_per_multiprocessor: u32,
    ) -> Self {
        Kernel { name, function, threads_per_multiprocessor }
    }

    /// Starts it; on a GPU it is only put into the stream. An empty plan does nothing.
    ///
    /// # Safety
    /// The arguments have the number, order and types of the kernel's parameters. What they point to is memory of this
    /// device, as large as the kernel reads and writes there in such a launch; until the device is done with it, that memory
    /// is not given back, and nobody else writes what it reads, or reads what it writes, other than in the same stream.
    pub unsafe fn launch(&self, plan: &LaunchPlan, arguments: &[Argument]) -> Result<(), DeviceError> {
        if plan.is_empty() {
            return Ok(());
        }
        // SAFETY: the caller's promise.
        unsafe { self.function.launch(plan, arguments) }
    }

    /// What such a launch takes.
    pub fn report(&self, plan: &LaunchPlan) -> LaunchReport {
        let blocks_per_multiprocessor = self.function.blocks_per_multiprocessor(plan);
        let occupancy = |blocks: u32| {
            100.0 * f64::from(blocks * plan.threads_per_block()) / f64::from(self.threads_per_multiprocessor)
        };
        LaunchReport {
            kernel: self.name.into(),
            plan: *plan,
            attributes: self.function.attributes(),
            blocks_per_multiprocessor,
            occupancy_percent: blocks_per_multiprocessor.map(occupancy),
        }
    }
}
