//! cuBLAS, the peer in the same table: a dense product in full precision (no TF32).
//! Who does which work is NVIDIA's secret. Loses where our own kernels win.

use crate::Scalar;
use crate::device::gpu::Library;
use crate::device::gpu::cublas::Cublas;
use crate::device::{Device, DeviceView, DeviceViewMut, LaunchReport};
use crate::machine::Machine;
use crate::op::{Description, Place, RunError, Variant, gpu_for_library};
use crate::refusal::Refusal;
use crate::source_file;
use crate::tall_skinny::combine::contract::{Combination, Combine, Shape};
use crate::tall_skinny::combine::cuda::device::{DeviceKernel, OnDevice};
use std::sync::Arc;

pub(crate) struct DenseCudaCublas;

impl<S: Scalar> DeviceKernel<S> for Cublas {
    fn combine(
        &mut self,
        x: DeviceView<'_, S>,
        c: DeviceView<'_, S>,
        y: DeviceViewMut<'_, S>,
    ) -> Result<(), RunError> {
        Ok(self.gemm_on_views(x.cols(), (S::ONE, S::ZERO), x, c, y)?)
    }
    fn launches(&self) -> Vec<LaunchReport> {
        Vec::new()
    }
}

pub(crate) const DESCRIPTION: Description = Description::new(
    "dense-cuda-cublas",
    "NVIDIA's cuBLAS in full precision",
    Place::Cuda,
    source_file!("tall_skinny/combine/cuda/dense_cuda_cublas.rs"),
)
.peer();

impl<S: Scalar> Variant<Combine<S>> for DenseCudaCublas {
    fn describe(&self) -> &Description {
        &DESCRIPTION
    }
    fn available(&self, machine: &Machine) -> Result<(), Refusal> {
        gpu_for_library(machine, "cuBLAS")?;
        Library::Cublas.find().map(drop)
    }
    fn prepare(&self, machine: &Arc<Machine>, shape: &Shape) -> Result<Box<dyn Combination<S>>, Refusal> {
        let gpu = gpu_for_library(machine, "cuBLAS")?;
        Ok(OnDevice::boxed(Cublas::open(&gpu)?, Device::Cuda(gpu), *shape))
    }
}
