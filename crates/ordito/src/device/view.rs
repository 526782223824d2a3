//! A dense matrix in the memory of a device: of a buffer of ours, or of somebody else.

use crate::Scalar;
use crate::device::argument::Argument;
use crate::device::backend::Memory;
use crate::device::buffer::Buffer;
use crate::matrix::{FormatError, span};
use std::marker::PhantomData;
use std::sync::Arc;

/// The widest load of a thread: operands start at a multiple of so many bytes, and so do the rows of a
/// [`DeviceDense`](crate::device::DeviceDense).
pub(crate) const CHUNK_BYTES: usize = 16;

/// A dense row-major matrix in the memory of a device, to read.
///
/// ```
/// use ordito::device::{Device, DeviceView, Emulator};
/// # if Emulator::open().is_err() { return Ok(()); } // no compiler here
/// let device = Device::Emulator(Emulator::open()?);
/// let buffer = device.upload("X", &[1.0, 2.0, f64::NAN, 3.0, 4.0])?;
/// let x = DeviceView::new(&buffer, 2, 2, 3)?; // rows lie 3 apart; the last one may end early
/// assert_eq!((x.rows(), x.cols(), x.leading_dimension()), (2, 2, 3));
/// let error = DeviceView::new(&buffer, 3, 2, 3).unwrap_err();
/// assert_eq!(error.to_string(), "the device's buffer has 5 elements, 8 expected");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct DeviceView<'a, S> {
    place: Located<'a>,
    element: PhantomData<&'a [S]>,
}

/// A dense row-major matrix in the memory of a device, to read and write.
#[derive(Debug)]
pub struct DeviceViewMut<'a, S> {
    place: Located<'a>,
    element: PhantomData<&'a mut [S]>,
}

/// Where it lies.
#[derive(Debug, Clone, Copy)]
struct Located<'a> {
    address: u64,
    rows: usize,
    cols: usize,
    leading_dimension: usize,
    /// Elements from the first one on that are known to be there: also behind the last row, in a buffer.
    extent: usize,
    owner: Owner<'a>,
}

/// Whose memory it is.
#[derive(Debug, Clone, Copy)]
enum Owner<'a> {
    Buffer(&'a Arc<dyn Memory>),
    /// Somebody else, who also sees to it that it is used in order.
    Caller,
}

impl<'a> Located<'a> {
    fn memory(&self) -> Option<&'a Arc<dyn Memory>> {
        match self.owner {
            Owner::Buffer(memory) => Some(memory),
            Owner::Caller => None,
        }
    }

    fn of<S: Scalar>(
        buffer: &'a Buffer<S>,
        rows: usize,
        cols: usize,
        leading_dimension: usize,
    ) -> Result<Self, FormatError> {
        let expected = span(rows, cols, leading_dimension)?;
        if buffer.len() < expected {
            let found = buffer.len();
            return Err(FormatError::Length { what: "the device's buffer", found, expected });
        }
        Ok(Located::within(buffer, rows, cols, leading_dimension))
    }

    fn within<S: Scalar>(buffer: &'a Buffer<S>, rows: usize, cols: usize, leading_dimension: usize) -> Self {
        let owner = Owner::Buffer(buffer.memory());
        Located { address: buffer.address(), rows, cols, leading_dimension, extent: buffer.len(), owner }
    }

    /// Memory that nobody here knows.
    fn raw(address: u64, rows: usize, cols: usize, leading_dimension: usize) -> Result<Self, FormatError> {
        let extent = span(rows, cols, leading_dimension)?;
        Ok(Located { address, rows, cols, leading_dimension, extent, owner: Owner::Caller })
    }

    fn arguments(&self) -> [Argument; 2] {
        [Argument::of(self.address), Argument::of(self.leading_dimension as u64)]
    }
}

impl<'a, S: Scalar> DeviceView<'a, S> {
    /// `rows` rows of `cols` numbers that lie `leading_dimension` apart, from the buffer's start.
    pub fn new(
        buffer: &'a Buffer<S>,
        rows: usize,
        cols: usize,
        leading_dimension: usize,
    ) -> Result<Self, FormatError> {
        let place = Located::of(buffer, rows, cols, leading_dimension)?;
        Ok(DeviceView { place, element: PhantomData })
    }

    /// As [`new`](Self::new), of a buffer that was made for such a matrix.
    pub(crate) fn whole(buffer: &'a Buffer<S>, rows: usize, cols: usize, leading_dimension: usize) -> Self {
        DeviceView { place: Located::within(buffer, rows, cols, leading_dimension), element: PhantomData }
    }

    /// Memory of somebody else, such as CuPy's `array.data.ptr` or torch's `tensor.data_ptr()`.
    ///
    /// # Safety
    /// For as long as the view lives and until all work that it was given to is done and forgotten (recorded work can be
    /// launched again), `address` is memory of the device
    /// (its primary context) that holds such a matrix, aligned to its elements; nobody writes it meanwhile. What orders
    /// that is the caller's stream: make the plan on a machine [with it](crate::machine::Machine::with_raw_stream).
    pub unsafe fn from_raw(
        address: u64,
        rows: usize,
        cols: usize,
        leading_dimension: usize,
    ) -> Result<Self, FormatError> {
        let place = Located::raw(address, rows, cols, leading_dimension)?;
        Ok(DeviceView { place, element: PhantomData })
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.place.rows
    }
    /// Number of columns.
    pub fn cols(&self) -> usize {
        self.place.cols
    }
    /// Distance between the starts of two rows, in elements.
    pub fn leading_dimension(&self) -> usize {
        self.place.leading_dimension
    }
    /// Where the device sees its first element.
    pub fn address(&self) -> u64 {
        self.place.address
    }
    /// The buffer's memory; none where it is somebody else's.
    pub(crate) fn memory(&self) -> Option<&'a Arc<dyn Memory>> {
        self.place.memory()
    }
    /// Pointer and leading dimension, as every kernel takes them: `const SCALAR* x, u64 x_distance`.
    pub fn arguments(&self) -> [Argument; 2] {
        self.place.arguments()
    }
    /// May rows be read 16 bytes at a time, also where that reaches beyond their end? What starts at a multiple of 16 bytes.
    pub(crate) fn has_whole_chunks(&self) -> bool {
        let Located { rows, cols, leading_dimension, extent, .. } = self.place;
        let chunk = CHUNK_BYTES / size_of::<S>();
        let last_end = rows.saturating_sub(1).saturating_mul(leading_dimension);
        let last_end = last_end.saturating_add(cols.next_multiple_of(chunk));
        leading_dimension.is_multiple_of(chunk) && (last_end <= extent || rows == 0)
    }
}

impl<'a, S: Scalar> DeviceViewMut<'a, S> {
    /// `rows` rows of `cols` numbers that lie `leading_dimension` apart, from the buffer's start; the gaps are never
    /// touched.
    pub fn new(
        buffer: &'a mut Buffer<S>,
        rows: usize,
        cols: usize,
        leading_dimension: usize,
    ) -> Result<Self, FormatError> {
        let place = Located::of(buffer, rows, cols, leading_dimension)?;
        Ok(DeviceViewMut { place, element: PhantomData })
    }

    /// As [`new`](Self::new), of a buffer that was made for such a matrix.
    pub(crate) fn whole(
        buffer: &'a mut Buffer<S>,
        rows: usize,
        cols: usize,
        leading_dimension: usize,
    ) -> Self {
        DeviceViewMut { place: Located::within(buffer, rows, cols, leading_dimension), element: PhantomData }
    }

    /// Memory of somebody else.
    ///
    /// # Safety
    /// As for [`DeviceView::from_raw`]; and nobody reads it meanwhile either.
    pub unsafe fn from_raw(
        address: u64,
        rows: usize,
        cols: usize,
        leading_dimension: usize,
    ) -> Result<Self, FormatError> {
        let place = Located::raw(address, rows, cols, leading_dimension)?;
        Ok(DeviceViewMut { place, element: PhantomData })
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.place.rows
    }
    /// Number of columns.
    pub fn cols(&self) -> usize {
        self.place.cols
    }
    /// Distance between the starts of two rows, in elements.
    pub fn leading_dimension(&self) -> usize {
        self.place.leading_dimension
    }
    /// Where the device sees its first element.
    pub fn address(&self) -> u64 {
        self.place.address
    }
    /// The buffer's memory; none where it is somebody else's.
    pub(crate) fn memory(&self) -> Option<&'a Arc<dyn Memory>> {
        self.place.memory()
    }
    /// Pointer and leading dimension, as every kernel takes them: `SCALAR* y, u64 y_distance`.
    pub fn arguments(&self) -> [Argument; 2] {
        self.place.arguments()
    }
    /// The matrix, to read.
    pub fn as_view(&self) -> DeviceView<'_, S> {
        DeviceView { place: self.place, element: PhantomData }
    }
    /// The matrix for a shorter time: what is handed over can be used again afterwards.
    pub fn reborrow(&mut self) -> DeviceViewMut<'_, S> {
        DeviceViewMut { place: self.place, element: PhantomData }
    }
}

/// A matrix that is kept for work that is done later, and keeps its buffer's memory.
#[derive(Debug)]
pub(crate) struct KeptMatrix<S> {
    memory: Option<Arc<dyn Memory>>,
    address: u64,
    shape: [usize; 4],
    element: PhantomData<S>,
}

impl<S: Scalar> KeptMatrix<S> {
    pub(crate) fn new(view: DeviceView<'_, S>) -> Self {
        let Located { address, rows, cols, leading_dimension, extent, owner } = view.place;
        let memory = match owner {
            Owner::Buffer(memory) => Some(memory.clone()),
            Owner::Caller => None,
        };
        let shape = [rows, cols, leading_dimension, extent];
        KeptMatrix { memory, address, shape, element: PhantomData }
    }

    fn place(&self) -> Located<'_> {
        let owner = self.memory.as_ref().map_or(Owner::Caller, Owner::Buffer);
        let [rows, cols, leading_dimension, extent] = self.shape;
        Located { address: self.address, rows, cols, leading_dimension, extent, owner }
    }
    pub(crate) fn view(&self) -> DeviceView<'_, S> {
        DeviceView { place: self.place(), element: PhantomData }
    }
    /// Whoever kept it was allowed to write it.
    pub(crate) fn view_mut(&mut self) -> DeviceViewMut<'_, S> {
        DeviceViewMut { place: self.place(), element: PhantomData }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn raw_memory_is_only_asked_for_its_shape() {
        // SAFETY: nothing is done with the views.
        let view = |rows, cols, distance| unsafe { DeviceView::<f32>::from_raw(256, rows, cols, distance) };
        let x = view(3, 4, 5).unwrap();
        assert_eq!((x.address(), x.rows(), x.cols(), x.leading_dimension()), (256, 3, 4, 5));
        assert_eq!(x.arguments(), [Argument::of(256_u64), Argument::of(5_u64)]);
        assert!(view(3, 4, 3).is_err() && view(usize::MAX, 4, 4).is_err());
        // SAFETY: the same.
        let mut y = unsafe { DeviceViewMut::<f32>::from_raw(512, 2, 1, 1) }.unwrap();
        assert_eq!((y.as_view().address(), y.reborrow().rows()), (512, 2));
    }
}
