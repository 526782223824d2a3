//! cuBLAS, the peer in the same table: `cublasDgemm`, `cublasSgemm` in full precision (no TF32).
//! Who does which work is NVIDIA's secret. Loses where our own kernels win.

use crate::Scalar;
use crate::device::gpu::Library;
use crate::device::gpu::cublas::Cublas;
use crate::device::{Device, DeviceView, DeviceViewMut, LaunchReport};
use crate::gemm::cuda::device::{DeviceKernel, OnDevice};
use crate::gemm::product::{Gemm, Product, Shape};
use crate::machine::Machine;
use crate::op::{Description, Place, RunError, Variant, gpu_for_library};
use crate::refusal::Refusal;
use crate::source_file;
use std::sync::Arc;

pub(crate) struct DenseCudaCublas;

impl<S: Scalar> DeviceKernel<S> for Cublas {
    fn multiply(
        &mut self,
        terms: usize,
        alpha: S,
        a: DeviceView<'_, S>,
        b: DeviceView<'_, S>,
        beta: S,
        c: DeviceViewMut<'_, S>,
    ) -> Result<(), RunError> {
        Ok(self.gemm_on_views(terms, (alpha, beta), a, b, c)?)
    }
    fn launches(&self) -> Vec<LaunchReport> {
        Vec::new()
    }
}

pub(crate) const DESCRIPTION: Description = Description::new(
    "dense-cuda-cublas",
    "NVIDIA's cuBLAS in full precision",
    Place::Cuda,
    source_file!("gemm/cuda/dense_cuda_cublas.rs"),
)
.peer();

impl<S: Scalar> Variant<Gemm<S>> for DenseCudaCublas {
    fn describe(&self) -> &Description {
        &DESCRIPTION
    }
    fn available(&self, machine: &Machine) -> Result<(), Refusal> {
        gpu_for_library(machine, "cuBLAS")?;
        Library::Cublas.find().map(drop)
    }
    fn prepare(&self, machine: &Arc<Machine>, shape: &Shape) -> Result<Box<dyn Product<S>>, Refusal> {
        let gpu = gpu_for_library(machine, "cuBLAS")?;
        Ok(OnDevice::boxed(Cublas::open(&gpu)?, Device::Cuda(gpu), *shape))
    }
}
