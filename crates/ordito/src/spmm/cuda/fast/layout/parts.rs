//! Rows that were too long for one group of lanes: their parts, and the kernel that adds them up.

use crate::Scalar;
use crate::device::{
    Argument, Buffer, Device, DeviceViewMut, Kernel, KernelSource, LaunchPlan, LaunchReport,
};
use crate::op::RunError;
use crate::refusal::Refusal;

/// Threads of a block of `add_parts`, and of a warp.
const THREADS: u32 = 512;
const WARP: u32 = 32;
/// Parts that a warp adds up; a row of more has a block.
const PARTS_OF_WARP: u32 = 32;

/// A row and its parts, as `add_parts.cu` reads them: row, first part, end of the parts, and nothing.
pub(crate) type PartsOfRow = [u32; 4];

/// Room for the parts, K numbers each, and who adds them up.
pub(crate) struct Parts<S> {
    kernel: Kernel,
    plan: LaunchPlan,
    k: usize,
    /// From one part of a row to its next.
    step: u32,
    /// Those of many parts, which come first.
    long_rows: u64,
    rows: Buffer<PartsOfRow>,
    parts: Buffer<S>,
}

impl<S: Scalar> Parts<S> {
    /// The kernel.
    pub(crate) fn source() -> KernelSource {
        KernelSource::new("add_parts", "add_parts.cu", include_str!("add_parts.cu"))
            .define("SCALAR", S::CUDA_NAME)
    }

    /// Room for `count` parts; `None` where no row has any. Kernels take an address all the same: see [`Self::address`].
    pub(crate) fn new(
        device: &Device,
        rows: &[PartsOfRow],
        (count, step): (usize, u32),
        k: usize,
    ) -> Result<Option<Self>, Refusal> {
        if rows.is_empty() || k == 0 {
            return Ok(None);
        }
        let is_long = |row: &PartsOfRow| (row[2] - row[1]).div_ceil(step) > PARTS_OF_WARP;
        let (mut rows, short): (Vec<PartsOfRow>, Vec<PartsOfRow>) =
            rows.iter().partition(|&row| is_long(row));
        let (long_rows, short_rows) = (rows.len() as u64, short.len() as u64);
        rows.extend(short);
        let tiles = |threads: u32| (k as u64).div_ceil((k as u64).min(threads.into()).next_power_of_two());
        let warps = short_rows.saturating_mul(tiles(WARP)).div_ceil((THREADS / WARP).into());
        let blocks = long_rows.saturating_mul(tiles(THREADS)).saturating_add(warps);
        Ok(Some(Parts {
            kernel: device.kernel(&Self::source())?,
            plan: LaunchPlan::new(device.limits(), [blocks, 1, 1], [THREADS, 1, 1], 0)?,
            k,
            step,
            long_rows,
            rows: device.upload("rows that are added up from parts", &rows)?,
            parts: device.allocate("parts of rows", count.saturating_mul(k))?,
        }))
    }

    /// Where the parts lie; 0 where there are none, and the kernel then never looks.
    pub(crate) fn address(parts: &Option<Self>) -> Argument {
        Argument::of(parts.as_ref().map_or(0, |parts| parts.parts.address()))
    }

    pub(crate) fn add_up(&self, alpha: S, beta: S, y: &mut DeviceViewMut<'_, S>) -> Result<(), RunError> {
        let [y, y_distance] = y.arguments();
        let arguments = [
            Argument::of(self.k as u64),
            Argument::of(self.step),
            Argument::of(self.rows.len() as u64),
            Argument::of(self.long_rows),
            Argument::from(&self.rows),
            Argument::from(&self.parts),
            y,
            y_distance,
            Argument::of(alpha),
            Argument::of(beta),
        ];
        // SAFETY: as the kernel declares them; rows and parts are buffers of this struct, made for this launch, and Y is a view of a
        // matrix with the rows of A and `k` columns.
        Ok(unsafe { self.kernel.launch(&self.plan, &arguments) }?)
    }

    pub(crate) fn report(&self) -> LaunchReport {
        self.kernel.report(&self.plan)
    }
}
