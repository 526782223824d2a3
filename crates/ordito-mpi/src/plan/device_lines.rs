//! Memory of a device for products with so many columns: rows on their way out, and those that came.
//!
//! What travels has a stream of its own: it is packed and brought to the host while the plan's stream multiplies.

use crate::error::Error;
use crate::halo::Halo;
use crate::near::Near;
use crate::plan::Plan;
use crate::plan::rows_of_x::RowsOfX;
use crate::plan::shown::Shown;
use ordito::device::{Buffer, Device, DeviceView, DeviceViewMut};
use ordito::op::ListedRows;
use ordito::{FormatError, RunError, Scalar};

pub(super) struct DeviceLines<S: Scalar> {
    /// The device, with the stream of what travels.
    way: Device,
    published: Packed<S>,
    to_near: Packed<S>,
    to_far: Packed<S>,
    /// Those rows of this computer that are multiplied here.
    pub(super) near: Came<S>,
    /// Rows from other computers.
    pub(super) far: Came<S>,
    /// What rows get that are computed apart.
    pub(super) near_scratch: Came<S>,
    pub(super) far_scratch: Came<S>,
}

/// Rows one behind the other, without gaps: one copy brings them.
pub(super) struct Came<S> {
    rows: usize,
    k: usize,
    numbers: Buffer<S>,
}

/// Rows of X that are brought together.
struct Packed<S> {
    list: ListedRows<S>,
    rows: Came<S>,
}

impl<S: Scalar> Came<S> {
    fn new(device: &Device, what: &str, rows: usize, k: usize) -> Result<Self, Error> {
        Ok(Came { rows, k, numbers: device.allocate(what, rows.saturating_mul(k))? })
    }
    pub(super) fn view(&self) -> Result<DeviceView<'_, S>, FormatError> {
        DeviceView::new(&self.numbers, self.rows, self.k, self.k)
    }
    pub(super) fn view_mut(&mut self) -> Result<DeviceViewMut<'_, S>, FormatError> {
        DeviceViewMut::new(&mut self.numbers, self.rows, self.k, self.k)
    }
}

impl<S: Scalar> Packed<S> {
    fn new(device: &Device, list: &[u32], k: usize) -> Result<Self, Error> {
        let rows = Came::new(device, "rows of X for other ranks", list.len(), k)?;
        Ok(Packed { list: ListedRows::new(device, list)?, rows })
    }
    fn pack(&mut self, x: DeviceView<'_, S>) -> Result<(), Error> {
        if self.list.is_empty() {
            return Ok(());
        }
        Ok(self.list.gather(x, self.rows.view_mut()?)?)
    }
}

impl<S: Scalar> DeviceLines<S> {
    /// Those that are kept, or made now. `shown` says whether others of this computer read rows in place, or are sent them.
    pub(super) fn of<'a>(
        kept: &'a mut Option<Self>,
        plan: &Plan<S>,
        device: &Device,
        shown: &Shown<S>,
        k: usize,
    ) -> Result<&'a mut Self, Error> {
        Ok(match kept {
            Some(lines) => lines,
            none => none.insert(DeviceLines::new(plan, device, !shown.is_messages(), k)?),
        })
    }

    fn new(plan: &Plan<S>, device: &Device, shares_memory: bool, k: usize) -> Result<Self, Error> {
        let way = device.with_new_stream()?;
        let near = &plan.near;
        let list = |halo: &Halo| halo.rows_to_send().map(|row| row as u32).collect::<Vec<_>>();
        let shown: &[u32] = if shares_memory || near.is_whole { &near.published } else { &[] };
        let sent = if shares_memory { Vec::new() } else { list(&near.halo) };
        Ok(DeviceLines {
            published: Packed::new(&way, shown, k)?,
            to_near: Packed::new(&way, &sent, k)?,
            to_far: Packed::new(&way, &list(&plan.halo), k)?,
            near: Came::new(&way, "rows of X on this computer", near.total, k)?,
            far: Came::new(&way, "rows of X from other computers", plan.halo.rows(), k)?,
            near_scratch: Came::new(device, "parts of Y", plan.near_part.scratch_rows(), k)?,
            far_scratch: Came::new(device, "parts of Y", plan.far_part.scratch_rows(), k)?,
            way,
        })
    }

    /// Brings together what others need of X, after all that the plan's stream has done until now, and runs `work`, which sends it. Where either fails, X
    /// is not read any more by what travels when this returns: the caller's stream knows nothing of that.
    pub(super) fn reading<T>(
        &mut self,
        device: &Device,
        x: DeviceView<'_, S>,
        work: impl FnOnce(&mut Self) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let done = self.pack(device, x).and_then(|()| work(self));
        if done.is_err() {
            // A device that cannot even be waited for reads nothing any more.
            let _ = self.way.synchronize();
        }
        done
    }

    /// Only enqueues.
    fn pack(&mut self, device: &Device, x: DeviceView<'_, S>) -> Result<(), Error> {
        self.way.wait_for(device).map_err(RunError::from)?;
        [&mut self.published, &mut self.to_near, &mut self.to_far]
            .into_iter()
            .try_for_each(|rows| rows.pack(x))
    }

    /// Rows of this computer, to where this rank's part multiplies them.
    pub(super) fn bring_near(&mut self, rows: &[S]) -> Result<(), Error> {
        DeviceLines::write(&self.way, rows, &mut self.near)
    }

    /// What came from other computers.
    pub(super) fn bring_far(&mut self, came: &[S]) -> Result<(), Error> {
        DeviceLines::write(&self.way, came, &mut self.far)
    }

    fn write(way: &Device, from: &[S], rows: &mut Came<S>) -> Result<(), Error> {
        if from.is_empty() {
            return Ok(());
        }
        Ok(way.write_into(from, &mut rows.numbers).map_err(RunError::from)?)
    }
    fn read(way: &Device, rows: &Came<S>, into: &mut [S]) -> Result<(), Error> {
        if into.is_empty() {
            return Ok(());
        }
        Ok(way.read_into(&rows.numbers, into).map_err(RunError::from)?)
    }
}

/// While X is read; waits for what travels alone.
impl<S: Scalar> RowsOfX<S> for DeviceLines<S> {
    fn published(&mut self, _near: &Near, into: &mut [S]) -> Result<(), Error> {
        DeviceLines::read(&self.way, &self.published.rows, into)
    }
    fn to_near(&mut self, _near: &Near, into: &mut [S]) -> Result<(), Error> {
        DeviceLines::read(&self.way, &self.to_near.rows, into)
    }
    fn to_far(&mut self, _halo: &Halo, into: &mut [S]) -> Result<(), Error> {
        DeviceLines::read(&self.way, &self.to_far.rows, into)
    }
}
