//! Copies between matrices of a device whose rows lie at different distances.

use crate::Scalar;
#[cfg(any(feature = "cuda", feature = "emulator"))]
use crate::device::LaunchReport;
use crate::device::{
    Argument, Device, DeviceDense, DeviceView, DeviceViewMut, Kernel, KernelSource, LaunchPlan,
};
use crate::op::{RunError, check_shape};
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
    #[cfg(any(feature = "cuda", feature = "emulator"))]
    pub(crate) fn report(&self) -> LaunchReport {
        self.kernel.report(&self.plan)
    }
}

impl Device {
    /// Copies a matrix into another of the same shape, both on this device: only enqueues, after all that was done to both, before all that
    /// is done to them later. Gaps are not touched.
    pub fn copy_rows<S: Scalar>(
        &self,
        from: DeviceView<'_, S>,
        into: DeviceViewMut<'_, S>,
    ) -> Result<(), RunError> {
        let (rows, cols) = (from.rows(), from.cols());
        check_shape("the matrix to be filled", (into.rows(), into.cols()), (rows, cols))?;
        let copy = CopyRows::new(self, rows, cols)?;
        let written = ("the matrix to be filled", into);
        self.in_order((["the matrix"], [from]), written, |[from], into| copy.copy(from, into))
    }
}

impl<S: Scalar> DeviceDense<S> {
    /// Copies it into a matrix of the same shape on the same device, as [`Device::copy_rows`] does.
    pub fn copy_into(&self, into: DeviceViewMut<'_, S>) -> Result<(), RunError> {
        self.device().copy_rows(self.view(), into)
    }
}
