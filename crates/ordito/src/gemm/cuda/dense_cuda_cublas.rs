//! cuBLAS, the peer in the same table: `cublasDgemm`, `cublasSgemm` in full precision (no TF32).
//! Who does which work is NVIDIA's secret. Loses where our own kernels win.

use crate::Scalar;
use crate::device::gpu::Library;
use crate::device::gpu::cublas::Cublas;
use crate::device::{Device, DeviceView, DeviceViewMut, LaunchReport};
use crate::gemm::cuda::device::{DeviceKernel, OnDevice};
use crate::gemm::product::{Gemm, Product, Shape};
use crate::machine::Machine;
use crate::op::{Place, RunError, Variant, gpu_for_library};
use crate::refusal::Refusal;
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

impl<S: Scalar> Variant<Gemm<S>> for DenseCudaCublas {
    fn name(&self) -> &'static str {
        "dense-cuda-cublas"
    }
    fn about(&self) -> &'static str {
        "NVIDIA's cuBLAS in full precision"
    }
    fn place(&self) -> Place {
        Place::Cuda
    }
    fn source(&self) -> &'static str {
        include_str!("dense_cuda_cublas.rs")
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
