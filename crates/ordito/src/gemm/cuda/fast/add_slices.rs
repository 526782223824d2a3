//! Room for the partial sums of slices, and the kernel that adds them up.

use crate::Scalar;
use crate::device::DeviceDense;
use crate::device::{
    Argument, Device, DeviceLimits, DeviceViewMut, Kernel, KernelSource, LaunchPlan, LaunchReport,
};
use crate::gemm::cuda::fast::tiling::Slices;
use crate::gemm::product::Shape;
use crate::op::RunError;
use crate::refusal::Refusal;

const THREADS_PER_BLOCK: u32 = 256;
/// Above this a thread alone would wait too long for the loads of its element: eight threads share them.
const FEW: u32 = 12;
const THREADS_PER_ELEMENT_OF_MANY: u64 = 8;
/// The kernels count elements in 32 bits, up to the end of the last block. Far more than a C that is cut into slices has.
const MOST_ELEMENTS: u64 = i32::MAX as u64;

pub(crate) struct AddSlices<S> {
    kernel: Kernel,
    plan: LaunchPlan,
    count: u32,
    /// A matrix for every slice, one below the other. Rows of C lie at the same distance.
    partial: DeviceDense<S>,
}

impl<S: Scalar> AddSlices<S> {
    /// What adds up these slices of a product of this shape, if there are several.
    pub(crate) fn for_slices(device: &Device, shape: Shape, slices: Slices) -> Result<Option<Self>, Refusal> {
        (slices.count > 1).then(|| Self::new(device, shape, slices.count)).transpose()
    }

    fn new(device: &Device, shape: Shape, count: u32) -> Result<Self, Refusal> {
        let rows = shape.m.saturating_mul(count as usize);
        Ok(AddSlices {
            plan: plan(device.limits(), shape, count)?,
            kernel: device.kernel(&Self::source(count <= FEW))?,
            count,
            partial: DeviceDense::new(device, "partial sums of C", rows, shape.n)?,
        })
    }

    fn source(few: bool) -> KernelSource {
        let entry = if few { "add_few_slices" } else { "add_many_slices" };
        KernelSource::new(entry, "add_slices.cu", include_str!("add_slices.cu"))
            .define("SCALAR", S::CUDA_NAME)
    }

    /// Every kernel that may be used.
    pub(crate) fn sources() -> [KernelSource; 2] {
        [true, false].map(Self::source)
    }

    /// Where the slices go.
    pub(crate) fn partial(&self) -> Argument {
        Argument::from(&self.partial.buffer)
    }

    /// C = α · sum of the slices + βC. Only enqueues.
    pub(crate) fn add(&self, alpha: S, beta: S, c: &DeviceViewMut<'_, S>) -> Result<(), RunError> {
        let [to, distance] = c.arguments();
        let arguments = [
            Argument::of(c.rows() as u32),
            Argument::of(c.cols() as u32),
            self.partial(),
            Argument::of(self.count),
            to,
            distance,
            Argument::of(alpha),
            Argument::of(beta),
        ];
        // SAFETY: as the kernel declares them; the slices are a buffer of this struct, C has the shape that they were made for.
        Ok(unsafe { self.kernel.launch(&self.plan, &arguments) }?)
    }

    /// What its launch takes.
    pub(crate) fn report(&self) -> LaunchReport {
        self.kernel.report(&self.plan)
    }
}

/// A thread for every element, or several.
fn plan(limits: &DeviceLimits, shape: Shape, count: u32) -> Result<LaunchPlan, Refusal> {
    let elements = (shape.m as u64).saturating_mul(shape.n as u64);
    if elements > MOST_ELEMENTS {
        return Err(Refusal::Unsupported(format!(
            "adds up slices of at most {MOST_ELEMENTS} elements, C has {elements}"
        )));
    }
    let threads = if count <= FEW { 1 } else { THREADS_PER_ELEMENT_OF_MANY };
    LaunchPlan::linear(limits, Some(elements * threads), THREADS_PER_BLOCK)
}
