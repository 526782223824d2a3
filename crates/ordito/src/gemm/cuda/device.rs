//! What every CUDA variant shares: operands on a device, and a kernel over them made into a [`Product`].

use crate::Scalar;
pub(crate) use crate::device::DeviceDense;
use crate::device::{Device, LaunchReport};
use crate::gemm::product::{Gemm, Inputs, Product, Shape, check_shapes};
use crate::matrix::{Dense, DenseView, DenseViewMut};
use crate::op::{Phases, Prepared, RunError};
use crate::refusal::Refusal;
use std::time::Instant;

/// The heart of a CUDA variant. Shapes have been checked.
pub(crate) trait DeviceKernel<S: Scalar>: Send {
    /// Rearranges A and B into device memory of its own; `false` where the kernel reads them as they are.
    fn repack(&mut self, _a: &DeviceDense<S>, _b: &DeviceDense<S>) -> Result<bool, RunError> {
        Ok(false)
    }
    /// C = αAB + βC of the first `terms` columns of A and rows of B, which have been repacked: all of them, or, where α
    /// is 0, none (BLAS then reads neither). Only enqueues.
    fn multiply(
        &mut self,
        terms: usize,
        alpha: S,
        a: &DeviceDense<S>,
        b: &DeviceDense<S>,
        beta: S,
        c: &mut DeviceDense<S>,
    ) -> Result<(), RunError>;
    /// What it launches, for those who study kernels.
    fn launches(&self) -> Vec<LaunchReport>;
}

/// A, B and C on a device.
struct Operands<S> {
    a: DeviceDense<S>,
    b: DeviceDense<S>,
    c: DeviceDense<S>,
}

impl<S: Scalar> Operands<S> {
    fn new(device: &Device, shape: Shape) -> Result<Self, Refusal> {
        let Shape { n, m, p } = shape;
        Ok(Operands {
            a: DeviceDense::new(device, "A", n, m)?,
            b: DeviceDense::new(device, "B", m, p)?,
            c: DeviceDense::new(device, "C", n, p)?,
        })
    }
}

impl<S: Scalar> Operands<S> {
    /// C = αAB + βC through `kernel`. Without terms, by α = 0 or for want of columns of A, only βC is left.
    fn multiply(
        &mut self,
        kernel: &mut dyn DeviceKernel<S>,
        shape: Shape,
        alpha: S,
        beta: S,
    ) -> Result<(), RunError> {
        let Operands { a, b, c } = self;
        if alpha == S::ZERO || shape.m == 0 {
            return kernel.multiply(0, S::ZERO, a, b, beta, c);
        }
        kernel.repack(a, b)?;
        kernel.multiply(shape.m, alpha, a, b, beta, c)
    }
}

/// A kernel with its operands.
pub(crate) struct OnDevice<S, K> {
    kernel: K,
    device: Device,
    shape: Shape,
    loaded: Option<Loaded<S>>,
    /// Room for the operands of [`Product::apply`], kept between calls.
    room: Option<Operands<S>>,
    phases: Phases,
}

struct Loaded<S> {
    inputs: Inputs<S>,
    operands: Operands<S>,
    /// C before the run, where there is one.
    before: Option<DeviceDense<S>>,
}

impl<S: Scalar, K: DeviceKernel<S> + 'static> OnDevice<S, K> {
    pub(crate) fn boxed(kernel: K, device: Device, shape: Shape) -> Box<dyn Product<S>> {
        Box::new(OnDevice { kernel, device, shape, loaded: None, room: None, phases: Phases::default() })
    }
}

impl<S: Scalar, K: DeviceKernel<S>> Prepared<Gemm<S>> for OnDevice<S, K> {
    fn load(&mut self, inputs: &Inputs<S>) -> Result<(), RunError> {
        let Shape { n, p, .. } = self.shape;
        self.loaded = None; // its memory is free again
        self.phases = Phases::default();
        let device = &self.device;
        if inputs.c.is_none() && inputs.beta != S::ZERO {
            return Err(RunError::NothingToAddTo("C"));
        }
        let c_shape = inputs.c.as_ref().map_or((n, p), |c| (c.rows(), c.cols()));
        check_shapes(self.shape, &inputs.a.view(), &inputs.b.view(), c_shape)?;
        let mut operands = Operands::new(device, self.shape)?;
        let mut before = match &inputs.c {
            Some(_) => Some(DeviceDense::new(device, "C as it was", n, p)?),
            None => None,
        };
        device.synchronize()?;
        let start = Instant::now();
        operands.a.write(inputs.a.view())?;
        operands.b.write(inputs.b.view())?;
        if let (Some(before), Some(c)) = (&mut before, &inputs.c) {
            before.write(c.view())?;
        }
        device.synchronize()?;
        self.phases.upload_ns = Some(start.elapsed().as_nanos() as f64);
        self.loaded = Some(Loaded { inputs: inputs.clone(), operands, before });
        Ok(())
    }

    fn reset(&mut self) -> Result<(), RunError> {
        let Loaded { operands, before, .. } = self.loaded.as_mut().ok_or(RunError::NotLoaded)?;
        match before {
            Some(before) => operands.c.buffer.copy_from(&before.buffer)?,
            None => operands.c.buffer.fill_bytes(0xFF)?,
        }
        Ok(())
    }

    fn repack(&mut self) -> Result<bool, RunError> {
        let Loaded { operands, .. } = self.loaded.as_ref().ok_or(RunError::NotLoaded)?;
        self.kernel.repack(&operands.a, &operands.b)
    }

    fn run(&mut self) -> Result<(), RunError> {
        let Loaded { inputs, operands, .. } = self.loaded.as_mut().ok_or(RunError::NotLoaded)?;
        operands.multiply(&mut self.kernel, self.shape, inputs.alpha, inputs.beta)
    }

    fn fetch(&mut self) -> Result<Dense<S>, RunError> {
        let Loaded { inputs, operands, .. } = self.loaded.as_ref().ok_or(RunError::NotLoaded)?;
        let mut found = match &inputs.c {
            Some(c) => Dense::clone(c),
            None => Dense::filled(self.shape.n, self.shape.p, S::POISON)?,
        };
        self.device.synchronize()?;
        let start = Instant::now();
        operands.c.read(found.view_mut())?;
        self.phases.download_ns = Some(start.elapsed().as_nanos() as f64);
        Ok(found)
    }

    fn device(&self) -> Option<&Device> {
        Some(&self.device)
    }
    fn phases(&self) -> Phases {
        self.phases
    }
    fn launches(&self) -> Vec<LaunchReport> {
        self.kernel.launches()
    }
}

impl<S: Scalar, K: DeviceKernel<S>> Product<S> for OnDevice<S, K> {
    fn apply(
        &mut self,
        alpha: S,
        a: DenseView<'_, S>,
        b: DenseView<'_, S>,
        beta: S,
        c: DenseViewMut<'_, S>,
    ) -> Result<(), RunError> {
        check_shapes(self.shape, &a, &b, (c.rows(), c.cols()))?;
        let mut operands = match self.room.take() {
            Some(operands) => operands,
            None => Operands::new(&self.device, self.shape)?,
        };
        self.phases = Phases::default();
        self.device.synchronize()?; // the copy is timed, not what went before
        let start = Instant::now();
        operands.a.write(a)?;
        operands.b.write(b)?;
        if beta != S::ZERO {
            operands.c.write(c.as_view())?;
        }
        self.phases.upload_ns = Some(start.elapsed().as_nanos() as f64);
        let start = Instant::now();
        operands.multiply(&mut self.kernel, self.shape, alpha, beta)?;
        self.device.synchronize()?;
        self.phases.run_ns = Some(start.elapsed().as_nanos() as f64);
        let start = Instant::now();
        operands.c.read(c)?;
        self.phases.download_ns = Some(start.elapsed().as_nanos() as f64);
        self.room = Some(operands);
        Ok(())
    }
}
