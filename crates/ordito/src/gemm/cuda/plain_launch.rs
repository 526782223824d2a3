//! One launch for one product, nothing copied and nothing added up afterwards.

use crate::Scalar;
use crate::device::{Argument, DeviceView, DeviceViewMut, Kernel, LaunchPlan, LaunchReport};
use crate::gemm::cuda::device::DeviceKernel;
use crate::op::RunError;

/// A kernel that takes sides, operands as they lie, α and β.
pub(super) struct PlainLaunch {
    pub(super) kernel: Kernel,
    pub(super) plan: LaunchPlan,
}

impl<S: Scalar> DeviceKernel<S> for PlainLaunch {
    fn multiply(
        &mut self,
        terms: usize,
        alpha: S,
        a: DeviceView<'_, S>,
        b: DeviceView<'_, S>,
        beta: S,
        c: DeviceViewMut<'_, S>,
    ) -> Result<(), RunError> {
        let mut arguments = [c.rows(), terms, c.cols()].map(|side| Argument::of(side as u64)).to_vec();
        arguments.extend(a.arguments().into_iter().chain(b.arguments()).chain(c.arguments()));
        arguments.extend([Argument::of(alpha), Argument::of(beta)]);
        // SAFETY: as the kernel declares them; the operands have the shape that the launch was planned for.
        Ok(unsafe { self.kernel.launch(&self.plan, &arguments) }?)
    }

    fn launches(&self) -> Vec<LaunchReport> {
        vec![self.kernel.report(&self.plan)]
    }
}
