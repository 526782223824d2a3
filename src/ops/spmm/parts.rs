//! Rows that were too long for one group of lanes: their parts, and the kernel that adds them up.

use crate::Scalar;
use crate::machine::{
    Argument, Buffer, Device, DeviceViewMut, Kernel, KernelSource, LaunchPlan, LaunchReport, Refusal,
};
use crate::ops::RunError;

/// Threads of a block of `add_parts`.
const THREADS: u32 = 512;

/// A row and its parts, as `add_parts.cu` reads them: row, first part, end of the parts, and nothing.
pub(super) type PartsOfRow = [u32; 4];

/// Room for the parts, K numbers each, and who adds them up.
pub(super) struct Parts<S> {
    kernel: Kernel,
    plan: LaunchPlan,
    k: usize,
    /// From one part of a row to its next.
    step: u32,
    rows: Buffer<PartsOfRow>,
    parts: Buffer<S>,
}

impl<S: Scalar> Parts<S> {
    /// The kernel.
    pub(super) fn source() -> KernelSource {
        KernelSource::new("add_parts", "add_parts.cu", include_str!("add_parts.cu"))
            .define("SCALAR", S::CUDA_NAME)
    }

    /// Room for `count` parts; `None` where no row has any. Kernels take an address all the same: see [`Self::address`].
    pub(super) fn new(
        device: &Device,
        rows: &[PartsOfRow],
        (count, step): (usize, u32),
        k: usize,
    ) -> Result<Option<Self>, Refusal> {
        if rows.is_empty() || k == 0 {
            return Ok(None);
        }
        let columns = (k as u64).min(THREADS.into()).next_power_of_two();
        let blocks = (rows.len() as u64).saturating_mul((k as u64).div_ceil(columns));
        Ok(Some(Parts {
            kernel: device.kernel(&Self::source())?,
            plan: LaunchPlan::new(device.limits(), [blocks, 1, 1], [THREADS, 1, 1], 0)?,
            k,
            step,
            rows: device.upload("rows that are added up from parts", rows)?,
            parts: device.allocate("parts of rows", count.saturating_mul(k))?,
        }))
    }

    /// Where the parts lie; 0 where there are none, and the kernel then never looks.
    pub(super) fn address(parts: &Option<Self>) -> Argument {
        Argument::of(parts.as_ref().map_or(0, |parts| parts.parts.address()))
    }

    pub(super) fn add_up(&self, alpha: S, beta: S, y: &mut DeviceViewMut<'_, S>) -> Result<(), RunError> {
        let [y, y_distance] = y.arguments();
        let arguments = [
            Argument::of(self.k as u64),
            Argument::of(self.step),
            Argument::from(&self.rows),
            Argument::from(&self.parts),
            y,
            y_distance,
            Argument::of(alpha),
            Argument::of(beta),
        ];
        Ok(self.kernel.launch(&self.plan, &arguments)?)
    }

    pub(super) fn report(&self) -> LaunchReport {
        self.kernel.report(&self.plan)
    }
}
