//! cuBLAS, the peer in the same table: `cublasDgemm`, `cublasSgemm` in full precision (no TF32).
//! Who does which work is NVIDIA's secret. Loses where our own kernels win.

use crate::Scalar;
use crate::device::DeviceDense;
use crate::device::gpu::Library;
use crate::device::gpu::cublas::{Cublas, GemmShape, Operand, OperandMut};
use crate::device::{Device, LaunchReport};
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
        a: &DeviceDense<S>,
        b: &DeviceDense<S>,
        beta: S,
        c: &mut DeviceDense<S>,
    ) -> Result<(), RunError> {
        let shape = GemmShape { n: c.rows, m: terms, p: c.cols };
        let a = Operand { buffer: &a.buffer, leading_dimension: a.leading_dimension };
        let b = Operand { buffer: &b.buffer, leading_dimension: b.leading_dimension };
        let c = OperandMut { buffer: &mut c.buffer, leading_dimension: c.leading_dimension };
        // SAFETY: the operands are those of the prepared product, which lives longer than its runs and uses them in its stream.
        Ok(unsafe { self.gemm(shape, alpha, a, b, beta, c) }?)
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
