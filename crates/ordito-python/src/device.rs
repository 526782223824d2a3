//! Products with memory of CuPy and torch: nothing travels, nothing waits.

use crate::aside::aside;
use crate::errors::exception;
use crate::held::{Held, Precision, Side};
use numpy::Element;
use ordito::device::{Device, DeviceView, DeviceViewMut};
use ordito::spmm::Plan;
use ordito::{Error, FormatError, Scalar};
use pyo3::prelude::*;
use std::cell::RefCell;
use std::ffi::c_void;
use std::sync::Arc;

/// The legacy stream, as the driver and as the runtime name it: that of the plans ([`crate::machines`]).
const LEGACY: [usize; 2] = [0, 1];
/// Streams of the caller's that are kept at most, for each thread.
const KEPT_STREAMS: usize = 16;

thread_local! {
    /// Streams that were seen, so that their events need not be made anew: number of the GPU, handle, and what orders with it.
    static STREAMS: RefCell<Vec<(usize, usize, Device)>> = const { RefCell::new(Vec::new()) };
}

/// The widest load of a kernel: where an array begins.
pub(crate) const ALIGNMENT: u64 = 16;

/// A matrix in memory of the device, by rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Block {
    address: u64,
    rows: usize,
    cols: usize,
    distance: usize,
}

/// A block as Python tells it: address, rows, columns, and how many elements apart rows begin.
pub(crate) type Told = (u64, usize, usize, usize);

impl Block {
    /// # Safety
    /// Somebody holds the array that lies there for `'a`, and uses it in the order of the stream.
    pub(crate) unsafe fn view<'a, S: Scalar>(self) -> Result<DeviceView<'a, S>, FormatError> {
        // SAFETY: the caller's promise.
        unsafe { DeviceView::from_raw(self.address, self.rows, self.cols, self.distance) }
    }
    /// # Safety
    /// As for [`view`](Self::view), and nobody else uses it.
    pub(crate) unsafe fn view_mut<'a, S: Scalar>(self) -> Result<DeviceViewMut<'a, S>, FormatError> {
        // SAFETY: the caller's promise.
        unsafe { DeviceViewMut::from_raw(self.address, self.rows, self.cols, self.distance) }
    }
    pub(crate) fn shape(self) -> (usize, usize) {
        (self.rows, self.cols)
    }
    pub(crate) fn is_aligned(self) -> bool {
        self.address.is_multiple_of(ALIGNMENT)
    }
    /// May they? Rows at their distance reach at least as far as their elements.
    pub(crate) fn overlaps(self, other: Block, element_bytes: u64) -> bool {
        let end = |block: Block| block.address + element_bytes * (block.rows * block.distance) as u64;
        self.address < end(other) && other.address < end(self)
    }
    pub(crate) fn at((address, rows, cols, distance): Told) -> Self {
        Block { address, rows, cols, distance }
    }
}

/// The product of blocks that arrays hold, of the matrix's GPU and element type.
///
/// # Safety
/// The arrays are there, X to be read and Y to be written, and their owners free them and use them again in the order of `stream`.
pub(crate) unsafe fn enqueue(
    py: Python<'_>,
    held: &Precision,
    x: Block,
    y: Block,
    (alpha, beta): (f64, f64),
    side: Side,
    stream: usize,
) -> PyResult<()> {
    // SAFETY: the caller's promise.
    aside(py, || unsafe {
        match held {
            Precision::F32(held) => product(held, x, y, (alpha as f32, beta as f32), side, stream),
            Precision::F64(held) => product(held, x, y, (alpha, beta), side, stream),
        }
    })
    .map_err(exception)
}

/// # Safety
/// As for [`enqueue`].
unsafe fn product<S: Scalar + Element>(
    held: &Held<S>,
    x: Block,
    y: Block,
    (alpha, beta): (S, S),
    side: Side,
    stream: usize,
) -> Result<(), Error> {
    held.with_plan(side, |plan| {
        // SAFETY: the caller's promise.
        let (x, y) = unsafe { (x.view()?, y.view_mut()?) };
        in_order_of(stream, plan, |plan| Ok(plan.apply_on_device(alpha, x, beta, y)?))
    })
}

/// After all that is in the stream, before all that is put into it later.
pub(crate) fn in_order_of<S: Scalar, R>(
    stream: usize,
    plan: &Plan<S>,
    work: impl FnOnce(&Plan<S>) -> Result<R, Error>,
) -> Result<R, Error> {
    let ours = match plan.device() {
        Some(ours) if !LEGACY.contains(&stream) => ours,
        _ => return work(plan),
    };
    let theirs = their_device(ours, stream)?;
    ours.wait_for(&theirs)?;
    let result = work(plan)?;
    theirs.wait_for(ours)?;
    Ok(result)
}

fn their_device(ours: &Device, stream: usize) -> Result<Device, Error> {
    let Some(gpu) = ours.gpu() else { return Ok(ours.clone()) };
    let number = gpu.info().number;
    STREAMS.with_borrow_mut(|streams| {
        if let Some((.., device)) = streams.iter().find(|(of, handle, _)| (*of, *handle) == (number, stream))
        {
            return Ok(device.clone());
        }
        // SAFETY: a stream of the caller's, current while it calls. Later it is used only when a caller names it again.
        let device = Device::Cuda(unsafe { Arc::clone(gpu).with_raw_stream(stream as *mut c_void) }?);
        if streams.len() == KEPT_STREAMS {
            streams.remove(0);
        }
        streams.push((number, stream, device.clone()));
        Ok(device)
    })
}
