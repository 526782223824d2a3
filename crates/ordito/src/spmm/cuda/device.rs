//! What every CUDA variant shares: a kernel over operands on a device, made into a [`Product`].

use crate::Scalar;
use crate::device::{Buffer, Device, DeviceView, DeviceViewMut, HostCopies, LaunchReport, with_host_copies};
use crate::matrix::{Dense, DenseView, DenseViewMut};
use crate::op::phase_clock::PhaseClock;
use crate::op::{Phases, Prepared, RunError, check_shape};
use crate::refusal::Refusal;
use crate::spmm::product::{Inputs, Product, Spmm, check_shapes};
use std::time::Instant;

/// The heart of a CUDA variant. Shapes have been checked, and operands begin at multiples of [`OPERAND_ALIGNMENT`].
pub(crate) trait DeviceKernel<S: Scalar>: Send {
    /// Rearranges X into device memory of its own; `false` where the kernel reads X as it is.
    fn repack(&mut self, _x: DeviceView<'_, S>) -> Result<bool, RunError> {
        Ok(false)
    }
    /// Told, untimed, where X and Y lie before they are multiplied: what is to be known of that is found out here.
    fn bind(&mut self, _x: DeviceView<'_, S>, _y: DeviceView<'_, S>) -> Result<(), RunError> {
        Ok(())
    }
    /// Y = αAX + βY, X having been repacked. Only enqueues.
    fn multiply(
        &mut self,
        alpha: S,
        x: DeviceView<'_, S>,
        beta: S,
        y: DeviceViewMut<'_, S>,
    ) -> Result<(), RunError>;
    /// What it launches, for those who study kernels.
    fn launches(&self) -> Vec<LaunchReport>;
}

/// Where operands begin, so that kernels may read them 16 bytes at a time where the leading dimension allows it too.
pub(crate) const OPERAND_ALIGNMENT: u64 = 16;

/// X or Y on a device, row-major, with the leading dimension it has on the host: one copy brings all of it.
#[derive(Debug)]
struct Resident<S> {
    buffer: Buffer<S>,
    rows: usize,
    cols: usize,
    leading_dimension: usize,
}

impl<S: Scalar> Resident<S> {
    /// Room for a matrix that lies like `like`.
    fn like(device: &Device, what: &str, like: &DenseView<'_, S>) -> Result<Self, Refusal> {
        Ok(Resident {
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

    fn view(&self) -> DeviceView<'_, S> {
        DeviceView::whole(&self.buffer, self.rows, self.cols, self.leading_dimension)
    }

    fn view_mut(&mut self) -> DeviceViewMut<'_, S> {
        DeviceViewMut::whole(&mut self.buffer, self.rows, self.cols, self.leading_dimension)
    }
}

/// A kernel with its operands.
pub(crate) struct OnDevice<S, K> {
    kernel: K,
    device: Device,
    a_shape: (usize, usize),
    k: usize,
    loaded: Option<Loaded<S>>,
    /// What [`Product::apply`] needs, kept between calls.
    room: Option<Room<S>>,
    phases: Phases,
}

struct Loaded<S> {
    inputs: Inputs<S>,
    x: Resident<S>,
    y: Resident<S>,
    /// Y before the run, where there is one.
    before: Option<Buffer<S>>,
}

/// Room for operands that lie on the host.
struct Room<S> {
    x: Resident<S>,
    y: Resident<S>,
    clock: PhaseClock,
}

impl<S: Scalar, K: DeviceKernel<S> + 'static> OnDevice<S, K> {
    /// For a matrix of shape `a_shape` and `k` columns of X.
    pub(crate) fn boxed(kernel: K, device: Device, a_shape: (usize, usize), k: usize) -> Box<dyn Product<S>> {
        let phases = Phases::default();
        Box::new(OnDevice { kernel, device, a_shape, k, loaded: None, room: None, phases })
    }
}

impl<S: Scalar, K: DeviceKernel<S>> OnDevice<S, K> {
    /// Operands to the device, the product, the result back: enqueued one behind the other, waited for by whoever owns
    /// `copies`.
    fn enqueue<'host>(
        &mut self,
        copies: &HostCopies<'host>,
        (alpha, beta): (S, S),
        x: DenseView<'host, S>,
        y: DenseViewMut<'host, S>,
        room: &mut Room<S>,
    ) -> Result<(), RunError> {
        let device = &self.device;
        // What lies between and behind the rows comes back as it went.
        let has_gaps = y.as_view().data().len() != y.rows() * y.cols();
        room.clock.mark(device, 0)?;
        copies.upload(device, x.data(), &mut room.x.buffer, 0)?;
        let y = y.into_data();
        if beta != S::ZERO || has_gaps {
            // Waited for: the same memory is written below.
            with_host_copies(|now| now.upload(device, y, &mut room.y.buffer, 0))?;
        }
        room.clock.mark(device, 1)?;
        self.kernel.repack(room.x.view())?;
        self.kernel.multiply(alpha, room.x.view(), beta, room.y.view_mut())?;
        room.clock.mark(device, 2)?;
        copies.download(device, &room.y.buffer, 0, y)?;
        Ok(room.clock.mark(device, 3)?)
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
                (Resident::like(device, "Y", &y.view())?, Some(room))
            }
            None if inputs.beta == S::ZERO => {
                check_shapes(self.a_shape, k, &inputs.x.view(), (rows, k))?;
                let buffer = device.allocate("Y", rows.saturating_mul(k))?;
                (Resident { buffer, rows, cols: k, leading_dimension: k }, None)
            }
            None => return Err(RunError::NothingToAddTo("Y")),
        };
        let x = Resident::like(device, "X", &inputs.x.view())?;
        self.kernel.bind(x.view(), y.view())?;
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
        self.kernel.repack(loaded.x.view())
    }

    fn run(&mut self) -> Result<(), RunError> {
        let Loaded { inputs, x, y, .. } = self.loaded.as_mut().ok_or(RunError::NotLoaded)?;
        self.kernel.repack(x.view())?;
        self.kernel.multiply(inputs.alpha, x.view(), inputs.beta, y.view_mut())
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

    fn fetch_into(&mut self, output: &mut Dense<S>) -> Result<(), RunError> {
        let loaded = self.loaded.as_ref().ok_or(RunError::NotLoaded)?;
        let y = &loaded.y;
        let fits = (output.rows(), output.cols(), output.data().len()) == (y.rows, y.cols, y.buffer.len());
        if loaded.inputs.y.is_some() || !fits {
            *output = self.fetch()?; // gaps are to be as they were
            return Ok(());
        }
        self.device.synchronize()?;
        let start = Instant::now();
        y.buffer.read(output.data_mut())?;
        self.phases.download_ns = Some(start.elapsed().as_nanos() as f64);
        Ok(())
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
        y: DenseViewMut<'_, S>,
    ) -> Result<(), RunError> {
        check_shapes(self.a_shape, self.k, &x, (y.rows(), y.cols()))?;
        self.phases = Phases::default();
        let device = &self.device;
        let mut room = match self.room.take() {
            Some(room) if room.x.lies_like(&x) && room.y.lies_like(&y.as_view()) => room,
            _ => Room {
                x: Resident::like(device, "X", &x)?,
                y: Resident::like(device, "Y", &y.as_view())?,
                clock: PhaseClock::new(device)?,
            },
        };
        self.kernel.bind(room.x.view(), room.y.view())?;
        with_host_copies(|copies| self.enqueue(copies, (alpha, beta), x, y, &mut room))?;
        self.phases = room.clock.phases()?;
        self.room = Some(room);
        Ok(())
    }

    fn get_ready(&mut self, x: DeviceView<'_, S>, y: DeviceView<'_, S>) -> Result<(), RunError> {
        self.kernel.bind(x, y)
    }

    fn apply_on_device(
        &mut self,
        alpha: S,
        x: DeviceView<'_, S>,
        beta: S,
        y: DeviceViewMut<'_, S>,
    ) -> Result<(), RunError> {
        check_shape("X", (x.rows(), x.cols()), (self.a_shape.1, self.k))?;
        check_shape("Y", (y.rows(), y.cols()), (self.a_shape.0, self.k))?;
        check_alignment("X", x.address())?;
        check_alignment("Y", y.address())?;
        let kernel = &mut self.kernel;
        self.device.in_order(x, y, |x, y| {
            kernel.bind(x, y.as_view())?;
            kernel.repack(x)?;
            kernel.multiply(alpha, x, beta, y)
        })
    }
}

fn check_alignment(what: &'static str, address: u64) -> Result<(), RunError> {
    if address.is_multiple_of(OPERAND_ALIGNMENT) {
        return Ok(());
    }
    let expected = format!("a multiple of {OPERAND_ALIGNMENT} bytes");
    Err(RunError::Shape { what, found: format!("at address {address:#x}"), expected })
}
