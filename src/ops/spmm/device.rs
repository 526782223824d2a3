//! What every CUDA variant shares: operands on a device, and a kernel over them made into a [`Product`].

use super::{Inputs, Product, Spmm, check_shapes};
use crate::Scalar;
use crate::machine::{Argument, Buffer, Device, KernelSource, LaunchReport, Machine, Refusal};
use crate::matrix::{Csr, Dense, DenseView, DenseViewMut};
use crate::ops::{Phases, Prepared, RunError};
use std::time::Instant;

/// The heart of a CUDA variant. Shapes have been checked.
pub(super) trait DeviceKernel<S: Scalar>: Send {
    /// Rearranges X into device memory of its own; `false` where the kernel reads X as it is.
    fn repack(&mut self, _x: &DeviceDense<S>) -> Result<bool, RunError> {
        Ok(false)
    }
    /// Told, untimed, where X and Y lie before they are multiplied: what is to be known of that is found out here.
    fn bind(&mut self, _x: &DeviceDense<S>, _y: &DeviceDense<S>) -> Result<(), RunError> {
        Ok(())
    }
    /// Y = αAX + βY, X having been repacked. Only enqueues.
    fn multiply(
        &mut self,
        alpha: S,
        x: &DeviceDense<S>,
        beta: S,
        y: &mut DeviceDense<S>,
    ) -> Result<(), RunError>;
    /// What it launches, for those who study kernels.
    fn launches(&self) -> Vec<LaunchReport>;
}

/// X or Y on a device, row-major, with the leading dimension it has on the host.
#[derive(Debug)]
pub(super) struct DeviceDense<S> {
    pub(super) buffer: Buffer<S>,
    pub(super) rows: usize,
    pub(super) cols: usize,
    pub(super) leading_dimension: usize,
}

impl<S: Scalar> DeviceDense<S> {
    /// Room for a matrix that lies like `like`.
    fn like(device: &Device, what: &str, like: &DenseView<'_, S>) -> Result<Self, Refusal> {
        Ok(DeviceDense {
            buffer: device.allocate(what, like.data().len())?,
            rows: like.rows(),
            cols: like.cols(),
            leading_dimension: like.leading_dimension(),
        })
    }

    fn lies_like(&self, view: &DenseView<'_, S>) -> bool {
        (self.buffer.len(), self.rows, self.cols, self.leading_dimension)
            == (view.data().len(), view.rows(), view.cols(), view.leading_dimension())
    }

    /// Pointer and leading dimension, as every kernel takes them: `const SCALAR* x, u64 x_distance`.
    pub(super) fn arguments(&self) -> [Argument; 2] {
        [Argument::from(&self.buffer), Argument::of(self.leading_dimension as u64)]
    }
}

/// CSR on a device: row starts in 32 bits where they fit, 32-bit columns.
#[derive(Debug)]
pub(super) struct DeviceCsr<S> {
    row_starts: RowStarts,
    columns: Buffer<u32>,
    values: Buffer<S>,
}

#[derive(Debug)]
enum RowStarts {
    Narrow(Buffer<u32>),
    Wide(Buffer<u64>),
}

/// Types of row starts that kernels are compiled for.
pub(super) const OFFSETS: [&str; 2] = ["u32", "u64"];

/// The type of row starts on a device, as kernels are told by the definition `OFFSET`.
pub(super) fn offset_type(machine: &Machine, nonzeros: usize) -> &'static str {
    if nonzeros as u64 <= machine.limits().narrow_offsets { OFFSETS[0] } else { OFFSETS[1] }
}

impl<S: Scalar> DeviceCsr<S> {
    pub(super) fn upload(machine: &Machine, device: &Device, a: &Csr<S>) -> Result<Self, Refusal> {
        let starts = a.view().offsets();
        let row_starts = if offset_type(machine, a.nonzeros()) == OFFSETS[0] {
            let narrow: Vec<u32> = starts.iter().map(|&start| start as u32).collect();
            RowStarts::Narrow(device.upload("row starts of A", &narrow)?)
        } else {
            let wide: Vec<u64> = starts.iter().map(|&start| start as u64).collect();
            RowStarts::Wide(device.upload("row starts of A", &wide)?)
        };
        let columns = device.upload("columns of A", a.view().columns())?;
        let values = device.upload("values of A", a.view().values())?;
        Ok(DeviceCsr { row_starts, columns, values })
    }

    /// The arrays, where row starts take 32 bits.
    pub(super) fn narrow_parts(&self) -> Option<(&Buffer<u32>, &Buffer<u32>, &Buffer<S>)> {
        match &self.row_starts {
            RowStarts::Narrow(starts) => Some((starts, &self.columns, &self.values)),
            RowStarts::Wide(_) => None,
        }
    }

    /// `const OFFSET* row_starts, const u32* columns, const SCALAR* values`
    pub(super) fn arguments(&self) -> [Argument; 3] {
        let row_starts = match &self.row_starts {
            RowStarts::Narrow(starts) => Argument::from(starts),
            RowStarts::Wide(starts) => Argument::from(starts),
        };
        [row_starts, Argument::from(&self.columns), Argument::from(&self.values)]
    }
}

/// `kernel` for scalars S and each type of row starts: every set of definitions that a CSR kernel is asked for.
pub(super) fn for_all_offsets<S: Scalar>(kernel: &KernelSource) -> Vec<KernelSource> {
    OFFSETS.iter().map(|offset| with_types::<S>(kernel, offset)).collect()
}

/// `kernel` for scalars S and this type of row starts.
pub(super) fn with_types<S: Scalar>(kernel: &KernelSource, offset: &str) -> KernelSource {
    kernel.clone().define("SCALAR", S::CUDA_NAME).define("OFFSET", offset)
}

/// A kernel with its operands.
pub(super) struct OnDevice<S, K> {
    kernel: K,
    device: Device,
    a_shape: (usize, usize),
    k: usize,
    loaded: Option<Loaded<S>>,
    /// Room for the operands of [`Product::apply`], kept between calls.
    room: Option<(DeviceDense<S>, DeviceDense<S>)>,
    phases: Phases,
}

struct Loaded<S> {
    inputs: Inputs<S>,
    x: DeviceDense<S>,
    y: DeviceDense<S>,
    /// Y before the run, where there is one.
    before: Option<Buffer<S>>,
}

impl<S: Scalar, K: DeviceKernel<S> + 'static> OnDevice<S, K> {
    /// For a matrix of shape `a_shape` and `k` columns of X.
    pub(super) fn boxed(kernel: K, device: Device, a_shape: (usize, usize), k: usize) -> Box<dyn Product<S>> {
        let phases = Phases::default();
        Box::new(OnDevice { kernel, device, a_shape, k, loaded: None, room: None, phases })
    }
}

impl<S: Scalar, K: DeviceKernel<S>> Prepared<Spmm<S>> for OnDevice<S, K> {
    fn load(&mut self, inputs: &Inputs<S>) -> Result<(), RunError> {
        let (rows, k) = (self.a_shape.0, self.k);
        self.loaded = None; // its memory is free again
        self.phases = Phases::default();
        let device = &self.device;
        let (y, before) = match &inputs.y {
            Some(y) => {
                check_shapes(self.a_shape, k, &inputs.x.view(), (y.rows(), y.cols()))?;
                let room = device.allocate("Y as it was", y.data().len())?;
                (DeviceDense::like(device, "Y", &y.view())?, Some(room))
            }
            None if inputs.beta == S::ZERO => {
                check_shapes(self.a_shape, k, &inputs.x.view(), (rows, k))?;
                let buffer = device.allocate("Y", rows.saturating_mul(k))?;
                (DeviceDense { buffer, rows, cols: k, leading_dimension: k }, None)
            }
            None => return Err(RunError::NothingToAddTo("Y")),
        };
        let x = DeviceDense::like(device, "X", &inputs.x.view())?;
        self.kernel.bind(&x, &y)?;
        let mut loaded = Loaded { inputs: inputs.clone(), x, y, before };
        device.synchronize()?;
        let start = Instant::now();
        loaded.x.buffer.write(inputs.x.data())?;
        if let (Some(before), Some(y)) = (&mut loaded.before, &inputs.y) {
            before.write(y.data())?;
        }
        device.synchronize()?;
        self.phases.upload_ns = Some(start.elapsed().as_nanos() as f64);
        self.loaded = Some(loaded);
        Ok(())
    }

    fn reset(&mut self) -> Result<(), RunError> {
        let loaded = self.loaded.as_mut().ok_or(RunError::NotLoaded)?;
        match &loaded.before {
            Some(before) => loaded.y.buffer.copy_from(before)?,
            None => loaded.y.buffer.fill_bytes(0xFF)?,
        }
        Ok(())
    }

    fn repack(&mut self) -> Result<bool, RunError> {
        let loaded = self.loaded.as_ref().ok_or(RunError::NotLoaded)?;
        self.kernel.repack(&loaded.x)
    }

    fn run(&mut self) -> Result<(), RunError> {
        let Loaded { inputs, x, y, .. } = self.loaded.as_mut().ok_or(RunError::NotLoaded)?;
        self.kernel.repack(x)?;
        self.kernel.multiply(inputs.alpha, x, inputs.beta, y)
    }

    fn fetch(&mut self) -> Result<Dense<S>, RunError> {
        let loaded = self.loaded.as_ref().ok_or(RunError::NotLoaded)?;
        let y = &loaded.y;
        let mut found = match &loaded.inputs.y {
            Some(before) => Dense::clone(before),
            None => Dense::filled(y.rows, y.cols, S::POISON)?,
        };
        self.device.synchronize()?;
        let start = Instant::now();
        y.buffer.read(found.data_mut())?;
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
        x: DenseView<'_, S>,
        beta: S,
        mut y: DenseViewMut<'_, S>,
    ) -> Result<(), RunError> {
        check_shapes(self.a_shape, self.k, &x, (y.rows(), y.cols()))?;
        let (mut on_x, mut on_y) = match self.room.take() {
            Some((on_x, on_y)) if on_x.lies_like(&x) && on_y.lies_like(&y.as_view()) => (on_x, on_y),
            _ => (
                DeviceDense::like(&self.device, "X", &x)?,
                DeviceDense::like(&self.device, "Y", &y.as_view())?,
            ),
        };
        self.phases = Phases::default();
        self.kernel.bind(&on_x, &on_y)?;
        self.device.synchronize()?; // the copy is timed, not what went before
        let start = Instant::now();
        on_x.buffer.write(x.data())?;
        // What lies between and behind the rows comes back as it went.
        if beta != S::ZERO || y.as_view().data().len() != y.rows() * y.cols() {
            on_y.buffer.write(y.as_view().data())?;
        }
        self.phases.upload_ns = Some(start.elapsed().as_nanos() as f64);
        let start = Instant::now();
        self.kernel.repack(&on_x)?;
        self.kernel.multiply(alpha, &on_x, beta, &mut on_y)?;
        self.device.synchronize()?;
        self.phases.run_ns = Some(start.elapsed().as_nanos() as f64);
        let start = Instant::now();
        on_y.buffer.read(y.data_mut())?;
        self.phases.download_ns = Some(start.elapsed().as_nanos() as f64);
        self.room = Some((on_x, on_y));
        Ok(())
    }
}
