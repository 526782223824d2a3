//! CSR_Scalar v3: one thread per element of Y; the row's bounds are read once, the sum is kept in a register.
//! Touches A's row in every one of the row's K threads and one element of X per product.
//! Loses on long rows: one thread walks them alone while its warp waits.

use super::device::{
    DeviceCsr, DeviceDense, DeviceKernel, OnDevice, for_all_offsets, offset_type, with_types,
};
use super::{Product, Spmm, Subject};
use crate::Scalar;
use crate::machine::{Argument, Kernel, KernelSource, LaunchPlan, LaunchReport, Machine, Refusal};
use crate::ops::{Place, RunError, Variant};
use std::sync::Arc;

pub(super) struct CsrCudaThread;

struct Ready<S> {
    a: DeviceCsr<S>,
    kernel: Kernel,
    plan: LaunchPlan,
}

fn source() -> KernelSource {
    KernelSource::new("csr_thread", "csr_cuda_thread.cu", include_str!("csr_cuda_thread.cu"))
}

impl<S: Scalar> DeviceKernel<S> for Ready<S> {
    fn multiply(
        &mut self,
        alpha: S,
        x: &DeviceDense<S>,
        beta: S,
        y: &mut DeviceDense<S>,
    ) -> Result<(), RunError> {
        let [row_starts, columns, values] = self.a.arguments();
        let [x, x_distance] = x.arguments();
        let (rows, k) = (Argument::of(y.rows as u64), Argument::of(y.cols as u64));
        let [y, y_distance] = y.arguments();
        let (alpha, beta) = (Argument::of(alpha), Argument::of(beta));
        let arguments = [rows, k, row_starts, columns, values, x, x_distance, y, y_distance, alpha, beta];
        Ok(self.kernel.launch(&self.plan, &arguments)?)
    }
    fn launches(&self) -> Vec<LaunchReport> {
        vec![self.kernel.report(&self.plan)]
    }
}

impl<S: Scalar> Variant<Spmm<S>> for CsrCudaThread {
    fn name(&self) -> &'static str {
        "csr-cuda-thread-per-element"
    }
    fn about(&self) -> &'static str {
        "CSR, one thread per element of Y, sum in a register, row bounds read once (CSR_Scalar v3)"
    }
    fn place(&self) -> Place {
        Place::Cuda
    }
    fn source(&self) -> &'static str {
        include_str!("csr_cuda_thread.cu")
    }
    fn kernels(&self) -> Vec<KernelSource> {
        for_all_offsets::<S>(&source())
    }
    fn prepare(&self, machine: &Arc<Machine>, subject: &Subject<S>) -> Result<Box<dyn Product<S>>, Refusal> {
        let device = machine.device()?;
        let a = &subject.a;
        let elements = (a.rows() as u64).checked_mul(subject.k as u64);
        let plan = LaunchPlan::linear(device.limits(), elements, 512)?;
        let kernel = device.kernel(&with_types::<S>(&source(), offset_type(machine, a.nonzeros())))?;
        let ready = Ready { a: DeviceCsr::upload(machine, &device, a)?, kernel, plan };
        Ok(OnDevice::boxed(ready, device, (a.rows(), a.cols()), subject.k))
    }
}
