//! What solvers do to blocks on a device between two products: the same kernels as those of the workbench, on parts of any blocks.

use crate::Scalar;
use crate::device::{Buffer, Device, DeviceDense, DeviceView, PinnedDense, with_host_copies};
use crate::matrix::{Dense, DenseView};
use crate::op::copy_rows::CopyRows;
use crate::op::{RunError, check_shape};
use crate::refusal::Refusal;
use crate::tall_skinny::combine::cuda::dense_cuda_tensor::{TensorCombine, is_one_launch};
use crate::tall_skinny::device_part::DevicePart;
#[cfg(feature = "solve")]
use crate::tall_skinny::draw::Draw;
use crate::tall_skinny::gram::Kind;
use crate::tall_skinny::gram::cuda::dense_cuda_tensor::TensorGram;
use crate::tall_skinny::uploads::Uploads;
use crate::tall_skinny::weigh_rows::WeighRows;

/// Numbers that there is room for in G from the beginning: pinned memory is taken and given back in tenths of milliseconds.
const LEAST_ROOM: usize = 1 << 13;

/// Kernels of one device, compiled when they are first needed, and the memory that they need beside their operands. All work goes into the
/// stream of the device.
pub(crate) struct TallSkinnyOnDevice<S: Scalar> {
    device: Device,
    gram: TensorGram<S>,
    combine: TensorCombine<S, f64>,
    weigh: Option<WeighRows<S>>,
    #[cfg(feature = "solve")]
    draw: Option<Draw<S>>,
    uploads: Uploads,
    /// G on the device and on the host.
    small: Option<(Buffer<f64>, PinnedDense<f64>)>,
}

impl<S: Scalar> TallSkinnyOnDevice<S> {
    pub(crate) fn new(device: &Device) -> Self {
        TallSkinnyOnDevice {
            device: device.clone(),
            gram: TensorGram::new(device),
            combine: TensorCombine::new(device),
            weigh: None,
            #[cfg(feature = "solve")]
            draw: None,
            uploads: Uploads::new(device),
            small: None,
        }
    }

    /// G = [X …]ᵀ[Y …] on the host, after all that is in the stream. `Symmetric`: `left` and `right` are the same.
    ///
    /// # Safety
    /// All parts are in buffers of this device and its stream, and have so many rows.
    pub(crate) unsafe fn gram(
        &mut self,
        rows: usize,
        left: &[DevicePart<S>],
        right: &[DevicePart<S>],
        kind: Kind,
    ) -> Result<Dense<f64>, RunError> {
        let [tall, wide] = [left, right].map(columns_of);
        let mut g = Dense::zeros(tall, wide)?;
        let len = g.data().len();
        if len == 0 {
            return Ok(g);
        }
        if self.small.as_ref().is_none_or(|(on_device, _)| on_device.len() < len) {
            let len = len.next_power_of_two().max(LEAST_ROOM);
            let on_device = self.device.allocate("G", len)?;
            self.small = Some((on_device, PinnedDense::new(Some(&self.device), 1, len)?));
        }
        let Some((on_device, on_host)) = &mut self.small else { return Err(RunError::NotLoaded) };
        // SAFETY: G has room for all products. The rest is the caller's promise, and waited for.
        unsafe { self.gram.enqueue(rows, left, right, kind, (on_device.address(), wide)) }?;
        let found = &mut on_host.data_mut()[..len];
        with_host_copies(|copies| copies.download(&self.device, on_device, 0, found))?;
        self.uploads.all_done();
        g.data_mut().copy_from_slice(&on_host.data()[..len]);
        Ok(g)
    }

    /// [Y …] = [X …]·C. C has a row for every column of the X and a column for every one of the Y. Only enqueues.
    ///
    /// # Safety
    /// All parts are in buffers of this device and its stream, and have so many rows. Parts that are written overlap nothing but parts that
    /// are read whose rows lie where their own do.
    pub(crate) unsafe fn combine(
        &mut self,
        rows: usize,
        from: &[DevicePart<S>],
        c: DenseView<'_, f64>,
        into: &[DevicePart<S>],
    ) -> Result<(), RunError> {
        check_shape("C", c.shape(), (columns_of(from), columns_of(into)))?;
        let c = (self.uploads.send(c)?, c.cols());
        if is_one_launch(from, into) {
            // SAFETY: C has just been sent. The rest is the caller's promise.
            return unsafe { self.combine.enqueue(rows, from, c, into) };
        }
        // A later launch would read what an earlier one has written: from copies.
        let (mut copies, mut apart) = (Vec::new(), Vec::new());
        for part in from {
            if !into.iter().any(|written| overlap(rows, part, written)) {
                apart.push(*part);
                continue;
            }
            // SAFETY: the caller's promise.
            copies.push(unsafe { self.copy_of(rows, *part) }?);
            apart.extend(copies.last().map(|copy| DevicePart::read(&copy.view())));
        }
        // SAFETY: as above; copies are given back after what is in the stream.
        unsafe { self.combine.enqueue(rows, &apart, c, into) }
    }

    /// # Safety
    /// As for [`combine`](Self::combine).
    unsafe fn copy_of(&self, rows: usize, part: DevicePart<S>) -> Result<DeviceDense<S>, RunError> {
        let DevicePart { address, cols, distance, .. } = part;
        // SAFETY: the caller's promise.
        let view = unsafe { DeviceView::from_raw(address, rows, cols, distance) }.map_err(Refusal::from)?;
        let mut copy = DeviceDense::new(&self.device, "a copy of what is overwritten", rows, cols)?;
        CopyRows::new(&self.device, rows, cols)?.copy(view, copy.view_mut())?;
        Ok(copy)
    }

    /// X[r][c] = d[r]·X[r][c], where d is one column. Only enqueues.
    ///
    /// # Safety
    /// Both are in buffers of this device and its stream, have so many rows, and do not overlap.
    pub(crate) unsafe fn scale_rows(
        &mut self,
        rows: usize,
        factors: DevicePart<S>,
        x: DevicePart<S>,
    ) -> Result<(), RunError> {
        check_shape("the factors", (rows, factors.cols), (rows, 1))?;
        let weigh = match self.weigh.take() {
            Some(weigh) => weigh,
            None => WeighRows::new(&self.device)?,
        };
        // SAFETY: the caller's promise.
        unsafe { self.weigh.insert(weigh).enqueue(rows, factors, x) }
    }

    /// X becomes the rows from `first_row` on of random numbers, the same as on the host. Only enqueues.
    ///
    /// # Safety
    /// X is in a buffer of this device and its stream, and has so many rows.
    #[cfg(feature = "solve")]
    pub(crate) unsafe fn randomize(
        &mut self,
        rows: (usize, u64),
        seed: u64,
        x: DevicePart<S>,
    ) -> Result<(), RunError> {
        let draw = match self.draw.take() {
            Some(draw) => draw,
            None => Draw::new(&self.device)?,
        };
        // SAFETY: the caller's promise.
        unsafe { self.draw.insert(draw).enqueue(rows, seed, x) }
    }
}

fn columns_of<S>(parts: &[DevicePart<S>]) -> usize {
    parts.iter().map(|part| part.cols).sum()
}

/// May they? Parts of one matrix, side by side, may too.
fn overlap<S: Scalar>(rows: usize, a: &DevicePart<S>, b: &DevicePart<S>) -> bool {
    let end = |part: &DevicePart<S>| {
        let elements = rows.saturating_sub(1).saturating_mul(part.distance).saturating_add(part.cols);
        part.address.saturating_add(elements.saturating_mul(size_of::<S>()) as u64)
    };
    a.address < end(b) && b.address < end(a)
}

#[cfg(test)]
mod tests;
