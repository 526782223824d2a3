//! cuSPARSE, the peer for K = 1: `cusparseSpMV`, one variant for each of its algorithms for CSR.
//! Who does which work is NVIDIA's secret; it looks at A once, in `prepare`, where the library can (preprocess).
//! Refuses every other K, empty operands and what 31 bits do not count.

use crate::Scalar;
use crate::device::gpu::cusparse::{CusparseSpmv, VectorAlgorithm};
use crate::device::{DeviceView, DeviceViewMut, LaunchReport};
use crate::machine::Machine;
use crate::op::{Description, Place, RunError, Variant};
use crate::refusal::Refusal;
use crate::source_file;
use crate::spmm::cuda::cusparse::csr_cuda_cusparse::{available, open, operand_of};
use crate::spmm::cuda::device::{DeviceKernel, OnDevice};
use crate::spmm::cuda::device_csr::DeviceCsr;
use crate::spmm::product::{Product, Spmm, Subject};
use std::sync::Arc;

pub(crate) struct CsrCudaCusparseSpmv {
    algorithm: VectorAlgorithm,
    description: Description,
}

/// What it takes by itself.
pub(crate) const DEFAULT: CsrCudaCusparseSpmv = CsrCudaCusparseSpmv::new(
    VectorAlgorithm::Default,
    "csr-cuda-cusparse-spmv-default",
    "spmv-default",
    "CSR, K = 1 alone, NVIDIA's cuSPARSE SpMV, the algorithm it takes by itself, preprocessed",
);
/// CSR_ALG1.
pub(crate) const ALG_1: CsrCudaCusparseSpmv = CsrCudaCusparseSpmv::new(
    VectorAlgorithm::Csr1,
    "csr-cuda-cusparse-spmv-alg1",
    "spmv-alg1",
    "CSR, K = 1 alone, NVIDIA's cuSPARSE SpMV, CSR_ALG1, preprocessed",
);
/// CSR_ALG2.
pub(crate) const ALG_2: CsrCudaCusparseSpmv = CsrCudaCusparseSpmv::new(
    VectorAlgorithm::Csr2,
    "csr-cuda-cusparse-spmv-alg2",
    "spmv-alg2",
    "CSR, K = 1 alone, NVIDIA's cuSPARSE SpMV, CSR_ALG2, preprocessed",
);

impl CsrCudaCusparseSpmv {
    const fn new(
        algorithm: VectorAlgorithm,
        name: &'static str,
        short: &'static str,
        about: &'static str,
    ) -> Self {
        let file = source_file!("spmm/cuda/cusparse/csr_cuda_cusparse_spmv.rs");
        let description = Description::new(name, about, Place::Cuda, file).peer().short(short).never_chosen();
        CsrCudaCusparseSpmv { algorithm, description }
    }
}

struct Ready<S> {
    product: CusparseSpmv<S>,
    /// What `product` reads: must outlive it.
    _a: DeviceCsr<S>,
}

impl<S: Scalar> Ready<S> {
    fn bind(&mut self, x: DeviceView<'_, S>, y: DeviceView<'_, S>) -> Result<(), RunError> {
        for distance in [x.leading_dimension(), y.leading_dimension()] {
            if distance != 1 {
                return Err(RunError::Refused(Refusal::Unsupported(format!(
                    "cuSPARSE takes a vector without gaps, not elements that lie {distance} apart"
                ))));
            }
        }
        // SAFETY: A lies in buffers of this struct; x and y are views of matrices of the shapes that were checked by who multiplies,
        // and are bound anew for every product.
        Ok(unsafe { self.product.bind(x.address(), y.address()) }?)
    }
}

impl<S: Scalar> DeviceKernel<S> for Ready<S> {
    fn bind(&mut self, x: DeviceView<'_, S>, y: DeviceView<'_, S>) -> Result<(), RunError> {
        Ready::bind(self, x, y)
    }
    fn multiply(
        &mut self,
        alpha: S,
        x: DeviceView<'_, S>,
        beta: S,
        y: DeviceViewMut<'_, S>,
    ) -> Result<(), RunError> {
        Ready::bind(self, x, y.as_view())?; // nothing, unless others were multiplied in between
        Ok(self.product.run(alpha, beta)?)
    }
    fn launches(&self) -> Vec<LaunchReport> {
        Vec::new()
    }
}

impl<S: Scalar> Variant<Spmm<S>> for CsrCudaCusparseSpmv {
    fn describe(&self) -> &Description {
        &self.description
    }
    fn available(&self, machine: &Machine) -> Result<(), Refusal> {
        available(machine)
    }

    fn prepare(&self, machine: &Arc<Machine>, subject: &Subject<S>) -> Result<Box<dyn Product<S>>, Refusal> {
        let (a, k) = (&subject.a, subject.k);
        available(machine)?;
        if k != 1 {
            return Err(Refusal::Unsupported(format!("cuSPARSE's SpMV multiplies one vector, not K = {k}")));
        }
        let (device, library, on_device) = open(machine, a)?;
        let mut product = CusparseSpmv::new(&library, &operand_of(&on_device, a)?, self.algorithm)?;
        {
            // A look at A asks for an x and a y: these stand in until the real ones are bound.
            let x = device.allocate::<S>("X", a.cols())?;
            let y = device.allocate::<S>("Y", a.rows())?;
            // SAFETY: both are there until the look is over; others are bound before the first product.
            unsafe { product.bind(x.address(), y.address()) }?;
            device.synchronize().map_err(|error| Refusal::Device(error.to_string()))?;
        }
        Ok(OnDevice::boxed(Ready { product, _a: on_device }, device, (a.rows(), a.cols()), k))
    }
}
