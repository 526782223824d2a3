//! How an array of NumPy's lies, and views of it.

use numpy::npyffi::{self, PY_ARRAY_API, npy_intp};
use numpy::{Element, PyArrayDescrMethods, PyArrayDyn, PyArrayMethods, PyUntypedArrayMethods};
use ordito::{
    BlockView, BlockViewMut, ColumnsView, ColumnsViewMut, DenseView, DenseViewMut, FormatError, Scalar,
};
use pyo3::prelude::*;
use std::ffi::c_int;
use std::ops::Range;
use std::ptr::{NonNull, null_mut};

/// A block of vectors, one or two dimensions of an array: element (r, c) lies `r · distance + c` elements from the start, or with
/// `by_columns` `c · distance + r`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Block<S> {
    start: *mut S,
    place: Place,
    /// Of the array: a vector is a block of one column.
    pub(crate) dimensions: usize,
}

/// Shape and distances, in elements.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Place {
    pub(crate) rows: usize,
    pub(crate) cols: usize,
    distance: usize,
    by_columns: bool,
}

// SAFETY: only an address; those who make views of it promise what it points to.
unsafe impl<S: Send> Send for Block<S> {}
// SAFETY: the same.
unsafe impl<S: Sync> Sync for Block<S> {}

impl<S: Scalar + Element> Block<S> {
    /// Of an array of exactly this element type that lies by rows or by columns; `None` for everything else, which can be copied
    /// to one that does.
    pub(crate) fn of(array: &Bound<'_, PyAny>) -> Option<Self> {
        let array = array.cast::<PyArrayDyn<S>>().ok()?;
        if !array.is_aligned() {
            return None;
        }
        let place = Place::of(array.shape(), array.strides(), size_of::<S>())?;
        Some(Block { start: array.data(), place, dimensions: array.ndim() })
    }

    pub(crate) fn place(&self) -> Place {
        self.place
    }

    /// Its first element. Of none NumPy may say any address.
    fn start(&self) -> *mut S {
        if self.place.elements() == 0 { NonNull::dangling().as_ptr() } else { self.start }
    }

    /// Rows for columns.
    pub(crate) fn transposed(self) -> Self {
        let Place { rows, cols, distance, by_columns } = self.place;
        Block { place: Place { rows: cols, cols: rows, distance, by_columns: !by_columns }, ..self }
    }

    /// Addresses between its first and its last byte, gaps included.
    fn span(&self) -> Range<usize> {
        let begin = self.start.addr();
        begin..begin + self.place.elements() * size_of::<S>()
    }

    pub(crate) fn overlaps(&self, other: &Self) -> bool {
        let (ours, theirs) = (self.span(), other.span());
        ours.start < theirs.end && theirs.start < ours.end
    }

    /// # Safety
    /// The array is there for `'a`, and nobody writes its elements.
    pub(crate) unsafe fn view<'a>(&self) -> Result<BlockView<'a, S>, FormatError> {
        let Place { rows, cols, distance, by_columns } = self.place;
        // SAFETY: shape and distances are the array's, so that it reaches that far; the rest is the caller's promise.
        let data = unsafe { std::slice::from_raw_parts(self.start(), self.place.elements()) };
        Ok(if by_columns {
            ColumnsView::new(data, rows, cols, distance)?.into()
        } else {
            DenseView::new(data, rows, cols, distance)?.into()
        })
    }

    /// As [`view`](Self::view), of what lies by rows.
    ///
    /// # Safety
    /// The same.
    pub(crate) unsafe fn by_rows<'a>(&self) -> Option<DenseView<'a, S>> {
        // SAFETY: the caller's promise.
        match unsafe { self.view() } {
            Ok(BlockView::Rows(view)) => Some(view),
            _ => None,
        }
    }

    /// # Safety
    /// The array is there for `'a`, and no other view reads or writes anything between its first and last element, gaps included.
    pub(crate) unsafe fn view_mut<'a>(&self) -> Result<BlockViewMut<'a, S>, FormatError> {
        let Place { rows, cols, distance, by_columns } = self.place;
        // SAFETY: as in `view`.
        let data = unsafe { std::slice::from_raw_parts_mut(self.start(), self.place.elements()) };
        Ok(if by_columns {
            ColumnsViewMut::new(data, rows, cols, distance)?.into()
        } else {
            DenseViewMut::new(data, rows, cols, distance)?.into()
        })
    }
}

impl Place {
    fn of(shape: &[usize], strides: &[isize], size: usize) -> Option<Self> {
        match (shape, strides) {
            (&[rows], &[stride]) => Place::of_matrix([rows, 1], [stride, size as isize], size),
            (&[rows, cols], &[by_row, by_col]) => Place::of_matrix([rows, cols], [by_row, by_col], size),
            _ => None,
        }
    }

    fn of_matrix([rows, cols]: [usize; 2], [by_row, by_col]: [isize; 2], size: usize) -> Option<Self> {
        if rows == 0 || cols == 0 {
            return Some(Place { rows, cols, distance: cols, by_columns: false }); // whatever NumPy says of strides
        }
        let by_columns = |by_columns| move |distance| Place { rows, cols, distance, by_columns };
        apart(rows, by_row, cols, by_col, size)
            .map(by_columns(false))
            .or_else(|| apart(cols, by_col, rows, by_row, size).map(by_columns(true)))
    }

    /// Elements from the first to the last one.
    fn elements(&self) -> usize {
        let (lines, length) = if self.by_columns { (self.cols, self.rows) } else { (self.rows, self.cols) };
        if lines == 0 || length == 0 { 0 } else { (lines - 1) * self.distance + length }
    }
}

/// How many elements apart lines begin, where elements lie side by side in them and lines do not overlap.
fn apart(lines: usize, by_line: isize, length: usize, by_element: isize, size: usize) -> Option<usize> {
    if length > 1 && by_element != size as isize {
        return None;
    }
    if lines == 1 {
        return Some(length);
    }
    let by_line = usize::try_from(by_line).ok()?;
    (by_line.is_multiple_of(size) && by_line / size >= length).then_some(by_line / size)
}

/// May it be written?
pub(crate) fn is_writeable(array: &Bound<'_, PyAny>) -> bool {
    let Ok(array) = array.cast::<numpy::PyUntypedArray>() else { return false };
    let flag = array.getattr("flags").and_then(|flags| flags.getattr("writeable"));
    flag.and_then(|flag| flag.is_truthy()).unwrap_or(false)
}

/// A new array in rows, of any content. An error of Python's where there is no memory for it.
///
/// # Safety
/// Every element is written before anybody reads one.
pub(crate) unsafe fn unwritten<'py, S: Element>(
    py: Python<'py>,
    shape: &[usize],
) -> PyResult<Bound<'py, PyAny>> {
    let mut lengths = [0; 2];
    for (length, side) in lengths.iter_mut().zip(shape) {
        *length = npy_intp::try_from(*side)?;
    }
    // SAFETY: as NumPy wants it: a reference to the type of elements, which it takes; as many lengths as dimensions; memory of its own.
    unsafe {
        let array = PY_ARRAY_API.PyArray_NewFromDescr(
            py,
            npyffi::get_type_object(py, npyffi::NpyTypes::PyArray_Type),
            S::get_dtype(py).into_dtype_ptr(),
            shape.len().min(lengths.len()) as c_int,
            lengths.as_mut_ptr(),
            null_mut(),
            null_mut(),
            0,
            null_mut(),
        );
        Bound::from_owned_ptr_or_err(py, array)
    }
}

/// An array of one dimension without gaps, to read.
///
/// # Safety
/// The array is there for `'a`, and nobody writes its elements.
pub(crate) unsafe fn line<'a, T: Element>(array: &Bound<'_, PyAny>) -> Option<&'a [T]> {
    let array = array.cast::<PyArrayDyn<T>>().ok()?;
    if array.ndim() != 1 || !array.is_c_contiguous() || !array.is_aligned() {
        return None;
    }
    if array.is_empty() {
        return Some(&[]); // NumPy may say any address
    }
    // SAFETY: that many elements lie there side by side; the rest is the caller's promise.
    Some(unsafe { std::slice::from_raw_parts(array.data(), array.len()) })
}
