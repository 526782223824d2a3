//! Copies between matrices of a device whose rows lie at different distances.

use crate::Scalar;
use crate::device::{
    Argument, Device, DeviceView, DeviceViewMut, Kernel, KernelSource, LaunchPlan, LaunchReport,
};
use crate::op::RunError;
use crate::refusal::Refusal;
use std::marker::PhantomData;

/// Rows and columns of a tile, as in `copy_rows.cu`.
const TILE: u64 = 32;
/// Threads of a block: a row of the tile, and eight rows at a time.
const BLOCK: [u32; 3] = [32, 8, 1];

/// The kernel, for matrices of one shape.
pub(crate) struct CopyRows<S> {
    kernel: Kernel,
    plan: LaunchPlan,
    element: PhantomData<S>,
}

impl<S: Scalar> CopyRows<S> {
    pub(crate) fn new(device: &Device, rows: usize, cols: usize) -> Result<Self, Refusal> {
        let limits = device.limits();
        let across = (cols as u64).div_ceil(TILE).min(u64::from(limits.grid[1]));
        let plan = LaunchPlan::new(limits, [(rows as u64).div_ceil(TILE), across, 1], BLOCK, 0)?;
        Ok(CopyRows { kernel: device.kernel(&Self::source())?, plan, element: PhantomData })
    }

    /// The kernel.
    pub(crate) fn source() -> KernelSource {
        KernelSource::new("copy_rows", "copy_rows.cu", include_str!("copy_rows.cu"))
            .define("SCALAR", S::CUDA_NAME)
    }

    /// Copies all elements; both matrices are of its shape. Only enqueues.
    pub(crate) fn copy(&self, from: DeviceView<'_, S>, to: DeviceViewMut<'_, S>) -> Result<(), RunError> {
        let sides = [from.rows(), from.cols()].map(|side| Argument::of(side as u64));
        let ([rows, cols], [from, from_distance]) = (sides, from.arguments());
        let [to, to_distance] = to.arguments();
        // SAFETY: as the kernel declares them; both views have the shape that the launch was planned for.
        Ok(unsafe { self.kernel.launch(&self.plan, &[rows, cols, from, from_distance, to, to_distance]) }?)
    }

    /// What its launch takes.
    pub(crate) fn report(&self) -> LaunchReport {
        self.kernel.report(&self.plan)
    }
}
