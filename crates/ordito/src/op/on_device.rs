//! What the CUDA variants of all operations share: a kernel over matrices on a device, made into what the workbench runs
//! and the library calls.

use crate::Scalar;
use crate::device::{
    CHUNK_BYTES, Device, DeviceDense, DeviceView, DeviceViewMut, HostCopies, LaunchReport, with_host_copies,
};
use crate::matrix::{Dense, DenseView, DenseViewMut};
use crate::op::on_host::poisoned;
use crate::op::operands::{DenseOp, Shapes};
use crate::op::phase_clock::PhaseClock;
use crate::op::{Phases, Prepared, RunError};
use crate::refusal::Refusal;
use std::time::Instant;

/// How kernels of a device compute an operation. They only enqueue.
pub(crate) trait DeviceOp<const READ: usize>: DenseOp<READ> {
    /// The heart of a CUDA variant, a `dyn` trait of the operation. Shapes have been checked, and operands begin at
    /// multiples of 16 bytes.
    type DeviceKernel: ?Sized + Send;
    /// Does the workbench load operands without gaps with rows that start at multiples of 16 bytes, as kernels like them best,
    /// or as they lie on the host?
    const PADDED_ROWS: bool;

    /// Told, untimed, where the operands lie and what the factors are before they are used: what is to be known of that is
    /// found out here.
    fn bind(
        kernel: &mut Self::DeviceKernel,
        factors: Self::Factors,
        read: [DeviceView<'_, Self::Read>; READ],
        written: DeviceView<'_, Self::Written>,
    ) -> Result<(), RunError>;
    /// Rearranges what is read into memory of the kernel; `false` where it reads everything as it is.
    fn repack(
        kernel: &mut Self::DeviceKernel,
        read: [DeviceView<'_, Self::Read>; READ],
    ) -> Result<bool, RunError>;
    /// Repacks and computes.
    fn run(
        kernel: &mut Self::DeviceKernel,
        factors: Self::Factors,
        read: [DeviceView<'_, Self::Read>; READ],
        written: DeviceViewMut<'_, Self::Written>,
    ) -> Result<(), RunError>;
    /// What a run launches, for those who study kernels.
    fn launches(kernel: &Self::DeviceKernel) -> Vec<LaunchReport>;
}

/// The operands on a device.
struct Resident<O: DeviceOp<READ>, const READ: usize> {
    /// As many as are read.
    read: Vec<DeviceDense<O::Read>>,
    written: DeviceDense<O::Written>,
}

impl<O: DeviceOp<READ>, const READ: usize> Resident<O, READ> {
    /// Room for operands that lie so on the host, and are copied as they lie.
    fn like(
        device: &Device,
        read: &[DenseView<'_, O::Read>; READ],
        written: &DenseView<'_, O::Written>,
    ) -> Result<Self, Refusal> {
        let read = O::READ_NAMES.into_iter().zip(read);
        Ok(Resident {
            read: read.map(|(what, view)| DeviceDense::like(device, what, view)).collect::<Result<_, _>>()?,
            written: DeviceDense::like(device, O::WRITTEN_NAME, written)?,
        })
    }

    fn is_like(&self, read: &[DenseView<'_, O::Read>; READ], written: &DenseView<'_, O::Written>) -> bool {
        self.read.iter().zip(read).all(|(room, view)| room.is_like(view)) && self.written.is_like(written)
    }

    fn views(&self) -> [DeviceView<'_, O::Read>; READ] {
        views(&self.read)
    }

    fn bind(&self, kernel: &mut O::DeviceKernel, factors: O::Factors) -> Result<(), RunError> {
        O::bind(kernel, factors, self.views(), self.written.view())
    }

    fn run(&mut self, kernel: &mut O::DeviceKernel, factors: O::Factors) -> Result<(), RunError> {
        O::run(kernel, factors, views(&self.read), self.written.view_mut())
    }
}

fn views<S: Scalar, const READ: usize>(read: &[DeviceDense<S>]) -> [DeviceView<'_, S>; READ] {
    std::array::from_fn(|operand| read[operand].view())
}

/// What the workbench has loaded.
struct Loaded<O: DeviceOp<READ>, const READ: usize> {
    inputs: O::Inputs,
    resident: Resident<O, READ>,
    /// The written matrix before the run, where there is one.
    before: Option<DeviceDense<O::Written>>,
}

/// Room for operands that lie on the host.
struct Room<O: DeviceOp<READ>, const READ: usize> {
    resident: Resident<O, READ>,
    clock: PhaseClock,
}

/// A kernel with its operands.
pub(crate) struct OnDevice<O: DeviceOp<READ>, const READ: usize> {
    kernel: Box<O::DeviceKernel>,
    device: Device,
    shapes: Shapes<READ>,
    loaded: Option<Loaded<O, READ>>,
    /// What [`apply`](Self::apply) needs, kept between calls.
    room: Option<Room<O, READ>>,
    /// What [`compute`](Self::compute) writes, kept between calls.
    results: Option<Dense<O::Written>>,
    phases: Phases,
}

impl<O: DeviceOp<READ>, const READ: usize> OnDevice<O, READ> {
    pub(crate) fn new(kernel: Box<O::DeviceKernel>, device: Device, shapes: Shapes<READ>) -> Self {
        let phases = Phases::default();
        OnDevice { kernel, device, shapes, loaded: None, room: None, results: None, phases }
    }

    /// The library's call on memory of the host: operands to the device, the work, the result back.
    pub(crate) fn apply(
        &mut self,
        factors: O::Factors,
        read: [DenseView<'_, O::Read>; READ],
        written: DenseViewMut<'_, O::Written>,
    ) -> Result<(), RunError> {
        let shapes = read.map(|view| (view.rows(), view.cols()));
        self.shapes.check::<O>(shapes, (written.rows(), written.cols()))?;
        self.phases = Phases::default();
        let mut room = match self.room.take() {
            Some(room) if room.resident.is_like(&read, &written.as_view()) => room,
            _ => Room {
                resident: Resident::like(&self.device, &read, &written.as_view())?,
                clock: PhaseClock::new(&self.device)?,
            },
        };
        room.resident.bind(&mut self.kernel, factors)?;
        with_host_copies(|copies| self.enqueue(copies, factors, read, written, &mut room))?;
        self.phases = room.clock.phases()?;
        self.room = Some(room);
        Ok(())
    }

    /// The library's call where the result is handed out in another form.
    pub(crate) fn compute(
        &mut self,
        factors: O::Factors,
        read: [DenseView<'_, O::Read>; READ],
    ) -> Result<&Dense<O::Written>, RunError> {
        let mut results = match self.results.take() {
            Some(results) => results,
            None => poisoned(self.shapes.written)?,
        };
        self.apply(factors, read, results.view_mut())?;
        Ok(self.results.insert(results))
    }

    /// Copies and kernels one behind the other, waited for by whoever owns `copies`.
    fn enqueue<'host>(
        &mut self,
        copies: &HostCopies<'host>,
        factors: O::Factors,
        read: [DenseView<'host, O::Read>; READ],
        written: DenseViewMut<'host, O::Written>,
        room: &mut Room<O, READ>,
    ) -> Result<(), RunError> {
        let Room { resident, clock } = room;
        let device = &self.device;
        clock.mark(device, 0)?;
        for (to, from) in resident.read.iter_mut().zip(read) {
            to.enqueue_write(copies, from)?;
        }
        // What lies between the rows comes back as it went.
        let gaps_travel = resident.written.brings_gaps(&written.as_view());
        if O::adds(factors) || gaps_travel {
            // Waited for: the same memory is written below.
            with_host_copies(|now| resident.written.enqueue_write(now, written.as_view()))?;
        }
        clock.mark(device, 1)?;
        resident.run(&mut self.kernel, factors)?;
        clock.mark(device, 2)?;
        resident.written.enqueue_read(copies, written)?;
        Ok(clock.mark(device, 3)?)
    }

    /// Told where operands on the device lie before [`apply_on_device`](Self::apply_on_device) gets them.
    pub(crate) fn get_ready(
        &mut self,
        factors: O::Factors,
        read: [DeviceView<'_, O::Read>; READ],
        written: DeviceView<'_, O::Written>,
    ) -> Result<(), RunError> {
        O::bind(&mut self.kernel, factors, read, written)
    }

    /// The library's call on operands that lie on the device. Only enqueues.
    pub(crate) fn apply_on_device(
        &mut self,
        factors: O::Factors,
        read: [DeviceView<'_, O::Read>; READ],
        written: DeviceViewMut<'_, O::Written>,
    ) -> Result<(), RunError> {
        let shapes = read.map(|view| (view.rows(), view.cols()));
        self.shapes.check::<O>(shapes, (written.rows(), written.cols()))?;
        for (what, view) in O::READ_NAMES.into_iter().zip(&read) {
            check_alignment(what, view.address())?;
        }
        check_alignment(O::WRITTEN_NAME, written.address())?;
        let kernel = &mut *self.kernel;
        self.device.in_order((O::READ_NAMES, read), (O::WRITTEN_NAME, written), |read, written| {
            O::bind(kernel, factors, read, written.as_view())?;
            O::run(kernel, factors, read, written)
        })
    }

    /// The matrix that the last run of the workbench wrote, into one of the host. Gaps come too where rows lie alike: a
    /// kernel that wrote them shows.
    fn download(&mut self, into: &mut Dense<O::Written>) -> Result<(), RunError> {
        let Loaded { resident, .. } = self.loaded.as_ref().ok_or(RunError::NotLoaded)?;
        self.device.synchronize()?;
        let start = Instant::now();
        with_host_copies(|copies| resident.written.enqueue_read(copies, into.view_mut()))?;
        self.phases.download_ns = Some(start.elapsed().as_nanos() as f64);
        Ok(())
    }
}

/// Kernels may read operands 16 bytes at a time where the leading dimension allows it too.
fn check_alignment(what: &'static str, address: u64) -> Result<(), RunError> {
    if address.is_multiple_of(CHUNK_BYTES as u64) {
        return Ok(());
    }
    let expected = format!("a multiple of {CHUNK_BYTES} bytes");
    Err(RunError::Shape { what, found: format!("at address {address:#x}"), expected })
}

impl<O: DeviceOp<READ>, const READ: usize> Prepared<O> for OnDevice<O, READ> {
    fn load(&mut self, inputs: &O::Inputs) -> Result<(), RunError> {
        self.loaded = None; // its memory is free again
        self.phases = Phases::default();
        let operands = O::operands(inputs);
        operands.check(&self.shapes)?;
        let device = &self.device;
        let (rows, cols) = self.shapes.written;
        let distance = operands.before.map_or(cols, Dense::leading_dimension);
        let written = |what: &str| room_to_load(device, what, (rows, cols), distance, O::PADDED_ROWS);
        let read = O::READ_NAMES.into_iter().zip(operands.read).map(|(what, dense)| {
            let shape = (dense.rows(), dense.cols());
            room_to_load(device, what, shape, dense.leading_dimension(), O::PADDED_ROWS)
        });
        let read = read.collect::<Result<_, _>>()?;
        let mut resident = Resident::<O, READ> { read, written: written(O::WRITTEN_NAME)? };
        let as_it_was = || written(&format!("{} as it was", O::WRITTEN_NAME));
        let mut before = operands.before.map(|_| as_it_was()).transpose()?;
        resident.bind(&mut self.kernel, operands.factors)?;
        device.synchronize()?;
        let start = Instant::now();
        for (to, from) in resident.read.iter_mut().zip(operands.read) {
            to.write(from.view())?;
        }
        if let (Some(to), Some(from)) = (&mut before, operands.before) {
            to.write(from.view())?;
        }
        device.synchronize()?;
        self.phases.upload_ns = Some(start.elapsed().as_nanos() as f64);
        self.loaded = Some(Loaded { inputs: inputs.clone(), resident, before });
        Ok(())
    }

    fn reset(&mut self) -> Result<(), RunError> {
        let Loaded { resident, before, .. } = self.loaded.as_mut().ok_or(RunError::NotLoaded)?;
        match before {
            Some(before) => resident.written.buffer.copy_from(&before.buffer)?,
            None => resident.written.buffer.fill_bytes(0xFF)?,
        }
        Ok(())
    }

    fn repack(&mut self) -> Result<bool, RunError> {
        let Loaded { resident, .. } = self.loaded.as_ref().ok_or(RunError::NotLoaded)?;
        O::repack(&mut self.kernel, resident.views())
    }

    fn run(&mut self) -> Result<(), RunError> {
        let Loaded { inputs, resident, .. } = self.loaded.as_mut().ok_or(RunError::NotLoaded)?;
        resident.run(&mut self.kernel, O::operands(inputs).factors)
    }

    fn fetch(&mut self) -> Result<O::Output, RunError> {
        let Loaded { inputs, .. } = self.loaded.as_ref().ok_or(RunError::NotLoaded)?;
        let mut found = match O::operands(inputs).before {
            Some(before) => before.clone(), // with its gaps
            None => poisoned(self.shapes.written)?,
        };
        self.download(&mut found)?;
        Ok(O::output(&self.shapes, found))
    }

    fn fetch_into(&mut self, output: &mut O::Output) -> Result<(), RunError> {
        let Loaded { inputs, .. } = self.loaded.as_ref().ok_or(RunError::NotLoaded)?;
        let has_gaps = O::operands(inputs).before.is_some();
        let (rows, cols) = self.shapes.written;
        let fits = |found: &&mut Dense<O::Written>| {
            (found.rows(), found.cols(), found.data().len()) == (rows, cols, rows * cols)
        };
        match O::matrix_of(output).filter(fits) {
            Some(found) if !has_gaps => self.download(found),
            _ => {
                *output = self.fetch()?; // gaps are to be as they were
                Ok(())
            }
        }
    }

    fn device(&self) -> Option<&Device> {
        Some(&self.device)
    }
    fn phases(&self) -> Phases {
        self.phases
    }
    fn launches(&self) -> Vec<LaunchReport> {
        O::launches(&self.kernel)
    }
}

/// Room for a matrix of the workbench: with rows as kernels like them best, or as on the host. Whoever keeps rows apart there
/// wants to know what that costs, and gets them as they are.
fn room_to_load<S: Scalar>(
    device: &Device,
    what: &str,
    (rows, cols): (usize, usize),
    leading_dimension: usize,
    padded_rows: bool,
) -> Result<DeviceDense<S>, Refusal> {
    if padded_rows && leading_dimension == cols {
        return DeviceDense::new(device, what, rows, cols);
    }
    DeviceDense::with_leading_dimension(device, what, (rows, cols), leading_dimension)
}
