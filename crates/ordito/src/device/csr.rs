//! A sparse matrix by rows that lies in memory of a device: taken from somebody else, and kept there.

use crate::Scalar;
use crate::device::argument::Argument;
use crate::device::backend::DeviceError;
use crate::device::buffer::Buffer;
use crate::device::handle::Device;
use crate::device::launch::LaunchPlan;
use crate::device::source::KernelSource;
use crate::matrix::{Csr, Elsewhere, check_dimensions};
use crate::refusal::Refusal;
use bytemuck::Pod;
use std::any::Any;
use std::marker::PhantomData;
use std::sync::Arc;

/// Threads of a block of the kernel that copies.
const THREADS: u32 = 256;
/// Types that it copies: numbers and indices of 32 and of 64 bits.
const BITS_32: &str = "u32";
const BITS_64: &str = "u64";

/// Where indices lie on a device, and how wide they are: signed or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeviceIndices {
    /// The address of indices of 32 bits.
    Bits32(u64),
    /// The address of indices of 64 bits.
    Bits64(u64),
}

/// A sparse matrix by rows in somebody else's memory of a device, such as a CSR matrix of CuPy or torch.
///
/// ```
/// use ordito::device::{DeviceCsrView, DeviceIndices};
/// use ordito::spmm::Plan;
/// use ordito::{Accelerator, Dense, Machine};
///
/// let machine = Machine::all_cores()?.with_accelerator(Accelerator::Emulator); // or Accelerator::Cuda(0)
/// # if machine.device().is_err() { return Ok(()); }
/// let device = machine.device()?;
/// let offsets = device.upload("offsets", &[0_i32, 1, 2])?; // somebody else's
/// let columns = device.upload("columns", &[1_i64, 0])?;
/// let values = device.upload("values", &[2.0, 3.0])?;
///
/// let (offsets, columns) = (DeviceIndices::Bits32(offsets.address()), DeviceIndices::Bits64(columns.address()));
/// // SAFETY: the arrays above have 3, 2 and 2 elements.
/// let a = unsafe { DeviceCsrView::<f64>::from_raw((2, 2), 2, offsets, columns, values.address()) };
/// let plan = Plan::new(a.to_csr(&device)?, &machine)?; // its values stay on the device
/// let (x, mut y) = (Dense::from_rows(2, 1, vec![1.0, 10.0])?, Dense::zeros(2, 1)?);
/// plan.apply(1.0, x.view(), 0.0, y.view_mut())?;
/// assert_eq!(y.data(), &[20.0, 3.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct DeviceCsrView<'a, S> {
    shape: (usize, usize),
    nonzeros: usize,
    offsets: DeviceIndices,
    columns: DeviceIndices,
    values: u64,
    element: PhantomData<&'a [S]>,
}

impl<S: Scalar> DeviceCsrView<'_, S> {
    /// Arrays at these addresses: `rows + 1` offsets, and `nonzeros` columns and values. What they hold is checked later.
    ///
    /// # Safety
    /// For as long as the view is used, so many elements are there, aligned, in memory of the device that [`to_csr`](Self::to_csr) is given (its primary
    /// context); and nobody writes them meanwhile. What orders that is the stream of that device.
    pub unsafe fn from_raw(
        shape: (usize, usize),
        nonzeros: usize,
        offsets: DeviceIndices,
        columns: DeviceIndices,
        values: u64,
    ) -> Self {
        DeviceCsrView { shape, nonzeros, offsets, columns, values, element: PhantomData }
    }

    /// The matrix, for plans that compute there. All arrays are copied on the device: when this returns, theirs are not read any more, whatever came of it.
    /// Offsets and columns come to the host too, where they are checked and a kernel is chosen by them; values come when somebody looks at them
    /// ([`Csr::values`], a plan of the transposed matrix, a plan on the CPU). Should the device have failed by then, plans refuse, and
    /// [`Csr::bring_values`] does.
    pub fn to_csr(&self, device: &Device) -> Result<Csr<S>, Refusal> {
        let (rows, cols) = self.shape;
        check_dimensions(rows, cols)?;
        let taken = self.take_all(device);
        if taken.is_err() {
            // Kernels that were launched before it failed may be reading still. A device that cannot even be waited for reads nothing any more.
            let _ = device.synchronize();
        }
        taken
    }

    fn take_all(&self, device: &Device) -> Result<Csr<S>, Refusal> {
        let rows = self.shape.0;
        let offsets = take::<u64>(device, "row starts of A", rows + 1, self.offsets)?;
        let columns = take::<u32>(device, "columns of A", self.nonzeros, self.columns)?;
        let values = match size_of::<S>() {
            4 => DeviceIndices::Bits32(self.values),
            _ => DeviceIndices::Bits64(self.values),
        };
        let values = take::<S>(device, "values of A", self.nonzeros, values)?;
        let (mut starts, mut columns_here) = (vec![0_usize; offsets.len()], vec![0_u32; columns.len()]);
        device.read_into(&offsets, bytemuck::cast_slice_mut(&mut starts)).map_err(refused)?;
        device.read_into(&columns, &mut columns_here).map_err(refused)?;
        let resident = Arc::new(Resident { device: device.clone(), columns, values });
        Ok(Csr::with_values_elsewhere(self.shape, starts, columns_here, resident)?)
    }
}

/// A copy of somebody else's array, in memory of ours.
fn take<T: Pod>(
    device: &Device,
    what: &str,
    count: usize,
    from: DeviceIndices,
) -> Result<Buffer<T>, Refusal> {
    let to = device.allocate::<T>(what, count)?;
    let bits_to = if size_of::<T>() == size_of::<u32>() { BITS_32 } else { BITS_64 };
    let (from, bits) = match from {
        DeviceIndices::Bits32(address) => (address, BITS_32),
        DeviceIndices::Bits64(address) => (address, BITS_64),
    };
    let blocks = (count as u64).div_ceil(THREADS.into());
    let plan = LaunchPlan::new(device.limits(), [blocks, 1, 1], [THREADS, 1, 1], 0)?;
    let arguments = [Argument::of(count as u64), Argument::of(from), Argument::from(&to)];
    // SAFETY: as the kernel declares them: so many elements to be read, by the promise of whoever made the view, and room for them.
    unsafe { device.kernel(&source(bits, bits_to))?.launch(&plan, &arguments) }.map_err(refused)?;
    Ok(to)
}

fn source(from: &'static str, to: &'static str) -> KernelSource {
    KernelSource::new("take_elements", "take_elements.cu", include_str!("take_elements.cu"))
        .define("THREADS", THREADS)
        .define("FROM", from)
        .define("TO", to)
}

/// What a matrix of somebody else's is taken with: for whoever compiles all kernels there are.
#[doc(hidden)]
pub fn kernels_that_take() -> Vec<KernelSource> {
    [(BITS_32, BITS_32), (BITS_64, BITS_32), (BITS_32, BITS_64), (BITS_64, BITS_64)]
        .map(|(from, to)| source(from, to))
        .into()
}

fn refused(error: DeviceError) -> Refusal {
    Refusal::Device(error.to_string())
}

/// Columns and values of a matrix whose values are nowhere else.
struct Resident<S> {
    device: Device,
    columns: Buffer<u32>,
    values: Buffer<S>,
}

impl<S: Scalar> Elsewhere<S> for Resident<S> {
    fn count(&self) -> usize {
        self.values.len()
    }
    fn bring(&self) -> Result<Vec<S>, Refusal> {
        let mut values = self.poisoned();
        self.device.read_into(&self.values, &mut values).map_err(refused)?;
        Ok(values)
    }
    fn poisoned(&self) -> Vec<S> {
        vec![S::POISON; self.values.len()]
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// Columns and values of A on this device: uploaded, unless they lie there already. Then it is the same memory where that belongs to the
/// same stream, a copy where it belongs to another.
pub(crate) fn columns_and_values<S: Scalar>(
    device: &Device,
    a: &Csr<S>,
) -> Result<(Buffer<u32>, Buffer<S>), Refusal> {
    let there = a.place_of_values().and_then(|place| place.downcast_ref::<Resident<S>>());
    let Some(there) = there.filter(|there| device.backend().owns(&**there.values.memory())) else {
        a.bring_values()?;
        return Ok((
            device.upload("columns of A", a.col_indices())?,
            device.upload("values of A", a.values())?,
        ));
    };
    if std::ptr::addr_eq(device.backend(), there.device.backend()) {
        return Ok((there.columns.shared(), there.values.shared()));
    }
    let mut columns = device.allocate("columns of A", there.columns.len())?;
    let mut values = device.allocate("values of A", there.values.len())?;
    columns.copy_from(&there.columns).and_then(|()| values.copy_from(&there.values)).map_err(refused)?;
    Ok((columns, values))
}
