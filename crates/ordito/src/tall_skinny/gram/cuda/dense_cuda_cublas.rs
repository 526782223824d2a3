//! cuBLAS, the peer in the same table: a dense product with a transposed operand, in the precision of the data (no TF32); sums of f32
//! are f32, and are widened by a second launch.
//! Who does which work is NVIDIA's secret. Loses where our own kernels win.

use crate::Scalar;
use crate::device::gpu::Library;
use crate::device::gpu::cublas::Cublas;
use crate::device::{
    Argument, Device, DeviceDense, DeviceView, DeviceViewMut, Kernel, KernelSource, LaunchPlan, LaunchReport,
};
use crate::machine::Machine;
use crate::op::{Description, Place, RunError, Variant, gpu_for_library};
use crate::refusal::Refusal;
use crate::source_file;
use crate::tall_skinny::gram::contract::{Gram, InnerProducts, Shape};
use crate::tall_skinny::gram::cuda::device::{DeviceKernel, OnDevice};
use std::sync::Arc;

pub(crate) struct DenseCudaCublas;

/// The library, and what makes f64 of results in f32.
struct Launches<S> {
    cublas: Cublas,
    widened: Option<Widened<S>>,
}

struct Widened<S> {
    narrow: DeviceDense<S>,
    kernel: Kernel,
    plan: LaunchPlan,
}

impl<S: Scalar> Widened<S> {
    fn new(device: &Device, shape: Shape) -> Result<Self, Refusal> {
        let elements = (shape.x_cols as u64).checked_mul(shape.y_cols as u64);
        Ok(Widened {
            narrow: DeviceDense::new(device, "G in the precision of the data", shape.x_cols, shape.y_cols)?,
            kernel: device.kernel(&widen::<S>())?,
            plan: LaunchPlan::linear(device.limits(), elements, 256)?,
        })
    }
}

fn widen<S: Scalar>() -> KernelSource {
    KernelSource::new("widen", "widen.cu", include_str!("widen.cu")).define("SCALAR", S::CUDA_NAME)
}

impl<S: Scalar> DeviceKernel<S> for Launches<S> {
    fn reduce(
        &mut self,
        x: DeviceView<'_, S>,
        y: DeviceView<'_, S>,
        g: DeviceViewMut<'_, f64>,
    ) -> Result<(), RunError> {
        let (rows, cols) = (g.rows(), g.cols());
        let Some(Widened { narrow, kernel, plan }) = &mut self.widened else {
            // SAFETY: S is f64, and G nobody else's until it is used again.
            let g = unsafe { DeviceViewMut::<S>::from_raw(g.address(), rows, cols, g.leading_dimension()) };
            return Ok(self.cublas.transposed_gemm_on_views(x, y, g.map_err(Refusal::from)?)?);
        };
        self.cublas.transposed_gemm_on_views(x, y, narrow.view_mut())?;
        let [rows, cols] = [rows, cols].map(|side| Argument::of(side as u64));
        let ([from, from_distance], [to, to_distance]) = (narrow.view().arguments(), g.arguments());
        // SAFETY: as the kernel declares them; both matrices have the shape of G.
        Ok(unsafe { kernel.launch(plan, &[rows, cols, from, from_distance, to, to_distance]) }?)
    }

    fn launches(&self) -> Vec<LaunchReport> {
        self.widened.iter().map(|widened| widened.kernel.report(&widened.plan)).collect()
    }
}

pub(crate) const DESCRIPTION: Description = Description::new(
    "dense-cuda-cublas",
    "NVIDIA's cuBLAS in full precision; sums of f32 in f32",
    Place::Cuda,
    source_file!("tall_skinny/gram/cuda/dense_cuda_cublas.rs"),
)
.peer()
.adds_as_data();

impl<S: Scalar> Variant<Gram<S>> for DenseCudaCublas {
    fn describe(&self) -> &Description {
        &DESCRIPTION
    }
    fn kernels(&self) -> Vec<KernelSource> {
        vec![widen::<f32>()]
    }
    fn available(&self, machine: &Machine) -> Result<(), Refusal> {
        gpu_for_library(machine, "cuBLAS")?;
        Library::Cublas.find().map(drop)
    }
    fn prepare(&self, machine: &Arc<Machine>, shape: &Shape) -> Result<Box<dyn InnerProducts<S>>, Refusal> {
        let gpu = gpu_for_library(machine, "cuBLAS")?;
        let (cublas, device) = (Cublas::open(&gpu)?, Device::Cuda(gpu));
        let widened = (S::NAME != f64::NAME).then(|| Widened::new(&device, *shape)).transpose()?;
        Ok(OnDevice::boxed(Launches { cublas, widened }, device, *shape))
    }
}
