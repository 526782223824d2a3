//! A matrix of a device, times a number: what is left of a product whose α is 0.

use crate::Scalar;
use crate::device::{Argument, Device, DeviceViewMut, Kernel, KernelSource, LaunchPlan};
use crate::op::RunError;
use crate::refusal::Refusal;
use std::marker::PhantomData;

/// Rows and columns of a tile, as in `scale_rows.cu`.
const TILE: u64 = 32;
/// Threads of a block: a row of the tile, and eight rows at a time.
const BLOCK: [u32; 3] = [32, 8, 1];

/// The kernel, for matrices of one shape.
pub(crate) struct ScaleRows<S> {
    kernel: Kernel,
    plan: LaunchPlan,
    element: PhantomData<S>,
}

impl<S: Scalar> ScaleRows<S> {
    pub(crate) fn new(device: &Device, rows: usize, cols: usize) -> Result<Self, Refusal> {
        let limits = device.limits();
        let across = (cols as u64).div_ceil(TILE).min(u64::from(limits.grid[1]));
        let plan = LaunchPlan::new(limits, [(rows as u64).div_ceil(TILE), across, 1], BLOCK, 0)?;
        Ok(ScaleRows { kernel: device.kernel(&Self::source())?, plan, element: PhantomData })
    }

    /// The kernel.
    pub(crate) fn source() -> KernelSource {
        KernelSource::new("scale_rows", "scale_rows.cu", include_str!("scale_rows.cu"))
            .define("SCALAR", S::CUDA_NAME)
    }

    /// Y = βY of a matrix of its shape, by the rules of BLAS: with β = 0, Y is not read. Only enqueues.
    pub(crate) fn scale(&self, beta: S, y: DeviceViewMut<'_, S>) -> Result<(), RunError> {
        if beta == S::ONE {
            return Ok(());
        }
        let [rows, cols] = [y.rows(), y.cols()].map(|side| Argument::of(side as u64));
        let [y, distance] = y.arguments();
        // SAFETY: as the kernel declares them; the view has the shape that the launch was planned for.
        Ok(unsafe { self.kernel.launch(&self.plan, &[rows, cols, y, distance, Argument::of(beta)]) }?)
    }
}
