//! What every CUDA variant shares: operands on a device, and a kernel over them made into a [`Product`].

use super::{Gemm, Inputs, Product, Shape, check_shapes};
use crate::Scalar;
use crate::machine::{Argument, Buffer, Device, DeviceError, LaunchReport, Refusal};
use crate::matrix::{Dense, DenseView, DenseViewMut};
use crate::ops::{Phases, Prepared, RunError};
use std::time::Instant;

/// The heart of a CUDA variant. Shapes have been checked.
pub(super) trait DeviceKernel<S: Scalar>: Send {
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

/// A row of a matrix on a device starts at a multiple of so many bytes: the widest load of a thread.
const ROW_ALIGNMENT: usize = 16;

/// Most bytes of the host that copying rows with other gaps takes.
const STAGED_BYTES: usize = 16 << 20;

/// A matrix on a device, row-major, without the gaps it has on the host: rows lie as close as loads of 16 bytes allow.
/// What fills them up is no part of the matrix and mostly NaN. Kernels may read it where it cannot reach an element of C,
/// and write it in memory of their own, never in C.
#[derive(Debug)]
pub(super) struct DeviceDense<S> {
    pub(super) buffer: Buffer<S>,
    pub(super) rows: usize,
    pub(super) cols: usize,
    pub(super) leading_dimension: usize,
}

impl<S: Scalar> DeviceDense<S> {
    pub(super) fn new(device: &Device, what: &str, rows: usize, cols: usize) -> Result<Self, Refusal> {
        let leading_dimension =
            cols.checked_next_multiple_of(ROW_ALIGNMENT / size_of::<S>()).unwrap_or(usize::MAX);
        let buffer = device.allocate(what, rows.saturating_mul(leading_dimension))?;
        Ok(DeviceDense { buffer, rows, cols, leading_dimension })
    }

    /// Host to device: at once where rows lie alike, else some rows at a time through a copy without their gaps.
    pub(super) fn write(&mut self, view: DenseView<'_, S>) -> Result<(), DeviceError> {
        let (len, distance) = (self.buffer.len(), self.leading_dimension);
        if view.leading_dimension() == distance && view.data().len() >= len {
            return self.buffer.write(&view.data()[..len]);
        }
        let mut staged = vec![S::POISON; self.rows_at_once() * distance];
        for first in (0..self.rows).step_by(self.rows_at_once()) {
            let rows = first..self.rows.min(first + self.rows_at_once());
            for (row, to) in rows.clone().zip(staged.chunks_exact_mut(distance.max(1))) {
                to[..self.cols].copy_from_slice(view.row(row));
            }
            self.buffer.write_from(first * distance, &staged[..rows.len() * distance])?;
        }
        Ok(())
    }

    /// Device to host, gaps there left as they are.
    fn read(&self, mut view: DenseViewMut<'_, S>) -> Result<(), DeviceError> {
        let (len, distance) = (self.buffer.len(), self.leading_dimension);
        if self.cols == view.leading_dimension() && self.cols == distance {
            return self.buffer.read(&mut view.data_mut()[..len]);
        }
        let mut staged = vec![S::POISON; self.rows_at_once() * distance];
        for first in (0..self.rows).step_by(self.rows_at_once()) {
            let rows = first..self.rows.min(first + self.rows_at_once());
            self.buffer.read_from(first * distance, &mut staged[..rows.len() * distance])?;
            for (row, from) in rows.zip(staged.chunks_exact(distance.max(1))) {
                view.row_mut(row).copy_from_slice(&from[..self.cols]);
            }
        }
        Ok(())
    }

    /// Rows that are copied at a time: at least one.
    fn rows_at_once(&self) -> usize {
        let row_bytes = self.leading_dimension.saturating_mul(size_of::<S>()).max(1);
        (STAGED_BYTES / row_bytes).clamp(1, self.rows.max(1))
    }

    /// Pointer and leading dimension, as every kernel takes them: `const SCALAR* a, u64 a_distance`.
    pub(super) fn arguments(&self) -> [Argument; 2] {
        [Argument::from(&self.buffer), Argument::of(self.leading_dimension as u64)]
    }
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
pub(super) struct OnDevice<S, K> {
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
    pub(super) fn boxed(kernel: K, device: Device, shape: Shape) -> Box<dyn Product<S>> {
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
