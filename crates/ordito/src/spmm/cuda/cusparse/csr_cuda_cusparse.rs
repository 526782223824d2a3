//! cuSPARSE, the peer in the same table: `cusparseSpMM` on row-major X and Y, one variant for each of its algorithms.
//! Who does which work is NVIDIA's secret; it looks at A once, in `prepare`, where the algorithm can (preprocess).
//! Loses where our own kernels win; refuses empty operands and what 31 bits do not count.

use crate::Scalar;
use crate::device::gpu::Library;
use crate::device::gpu::cusparse::{Algorithm, CsrOperand, Cusparse, CusparseSpmm, DenseOperand, Layout};
use crate::device::{Device, DeviceView, DeviceViewMut, LaunchReport};
use crate::machine::Machine;
use crate::matrix::Csr;
use crate::op::{Description, Place, RunError, Variant, gpu_for_library};
use crate::refusal::Refusal;
use crate::source_file;
use crate::spmm::cuda::device::{DeviceKernel, OnDevice};
use crate::spmm::cuda::device_csr::DeviceCsr;
use crate::spmm::product::{Product, Spmm, Subject};
use std::sync::Arc;

pub(crate) struct CsrCudaCusparse {
    algorithm: Algorithm,
    description: Description,
}

/// What it takes by itself.
pub(crate) const DEFAULT: CsrCudaCusparse = CsrCudaCusparse::new(
    Algorithm::Default,
    "csr-cuda-cusparse-default",
    "default",
    "CSR, NVIDIA's cuSPARSE, the algorithm it takes by itself, preprocessed where it can be",
);
/// CSR_ALG1.
pub(crate) const ALG_1: CsrCudaCusparse = CsrCudaCusparse::new(
    Algorithm::Csr1,
    "csr-cuda-cusparse-alg1",
    "alg1",
    "CSR, NVIDIA's cuSPARSE, CSR_ALG1, preprocessed where it can be",
);
/// CSR_ALG2.
pub(crate) const ALG_2: CsrCudaCusparse = CsrCudaCusparse::new(
    Algorithm::Csr2,
    "csr-cuda-cusparse-alg2",
    "alg2",
    "CSR, NVIDIA's cuSPARSE, CSR_ALG2, preprocessed where it can be",
);
/// CSR_ALG3.
pub(crate) const ALG_3: CsrCudaCusparse = CsrCudaCusparse::new(
    Algorithm::Csr3,
    "csr-cuda-cusparse-alg3",
    "alg3",
    "CSR, NVIDIA's cuSPARSE, CSR_ALG3, preprocessed where it can be",
);

impl CsrCudaCusparse {
    const fn new(algorithm: Algorithm, name: &'static str, short: &'static str, about: &'static str) -> Self {
        let file = source_file!("spmm/cuda/cusparse/csr_cuda_cusparse.rs");
        let description = Description::new(name, about, Place::Cuda, file).peer().short(short);
        CsrCudaCusparse { algorithm, description }
    }
}

struct Ready<S> {
    product: CusparseSpmm<S>,
    /// What `product` reads: must outlive it.
    _a: DeviceCsr<S>,
}

/// The GPU, the library in its stream, and A.
pub(crate) fn open<S: Scalar>(
    machine: &Machine,
    a: &Csr<S>,
) -> Result<(Device, Arc<Cusparse>, DeviceCsr<S>), Refusal> {
    let gpu = gpu_for_library(machine, "cuSPARSE")?;
    let (library, device) = (Cusparse::open(&gpu)?, Device::Cuda(gpu));
    let on_device = DeviceCsr::upload(machine, &device, a)?;
    Ok((device, library, on_device))
}

/// A as cuSPARSE takes it.
pub(crate) fn operand_of<'a, S: Scalar>(
    on_device: &'a DeviceCsr<S>,
    a: &Csr<S>,
) -> Result<CsrOperand<'a, S>, Refusal> {
    match on_device.narrow_parts() {
        Some((row_starts, columns, values)) => {
            Ok(CsrOperand { rows: a.rows(), cols: a.cols(), row_starts, columns, values })
        }
        None => Err(Refusal::Unsupported("cuSPARSE is called with 32-bit row starts; these take 64".into())),
    }
}

/// Could cuSPARSE be called on this machine?
pub(crate) fn available(machine: &Machine) -> Result<(), Refusal> {
    gpu_for_library(machine, "cuSPARSE")?;
    Library::Cusparse.find().map(drop)
}

fn operand<S: Scalar>(dense: DeviceView<'_, S>) -> DenseOperand {
    DenseOperand { address: dense.address(), leading_dimension: dense.leading_dimension() }
}

impl<S: Scalar> DeviceKernel<S> for Ready<S> {
    fn bind(&mut self, x: DeviceView<'_, S>, y: DeviceView<'_, S>) -> Result<(), RunError> {
        // SAFETY: A lies in buffers of this struct; X and Y are views of matrices of the shapes that were checked by who multiplies,
        // and are bound anew for every product.
        Ok(unsafe { self.product.bind(operand(x), operand(y)) }?)
    }
    fn multiply(
        &mut self,
        alpha: S,
        x: DeviceView<'_, S>,
        beta: S,
        y: DeviceViewMut<'_, S>,
    ) -> Result<(), RunError> {
        // SAFETY: as above. Nothing happens, unless others were multiplied in between.
        unsafe { self.product.bind(operand(x), operand(y.as_view())) }?;
        Ok(self.product.run(alpha, beta)?)
    }
    fn launches(&self) -> Vec<LaunchReport> {
        Vec::new()
    }
}

impl<S: Scalar> Variant<Spmm<S>> for CsrCudaCusparse {
    fn describe(&self) -> &Description {
        &self.description
    }
    fn available(&self, machine: &Machine) -> Result<(), Refusal> {
        available(machine)
    }

    fn prepare(&self, machine: &Arc<Machine>, subject: &Subject<S>) -> Result<Box<dyn Product<S>>, Refusal> {
        let (a, k) = (&subject.a, subject.k);
        let (device, library, on_device) = open(machine, a)?;
        let mut product =
            CusparseSpmm::new(&library, &operand_of(&on_device, a)?, k, self.algorithm, Layout::Rows)?;
        {
            // A look at A asks for an X and a Y: these stand in until the real ones, which lie alike, are bound.
            let x = device.allocate::<S>("X", a.cols().saturating_mul(k))?;
            let y = device.allocate::<S>("Y", a.rows().saturating_mul(k))?;
            let dense = |address| DenseOperand { address, leading_dimension: k };
            // SAFETY: both are there until the look is over; others are bound before the first product.
            unsafe { product.bind(dense(x.address()), dense(y.address())) }?;
            device.synchronize().map_err(|error| Refusal::Device(error.to_string()))?;
        }
        Ok(OnDevice::boxed(Ready { product, _a: on_device }, device, (a.rows(), a.cols()), k))
    }
}
