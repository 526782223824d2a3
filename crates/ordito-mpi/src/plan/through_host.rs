//! Products of operands on devices that are computed from the host's memory: in teams, and with Aᵀ.

use crate::error::Error;
use crate::plan::times::Times;
use crate::plan::{Plan, unpoisoned};
use ordito::device::{Buffer, Device, DeviceView, DeviceViewMut, PinnedDense};
use ordito::{DenseView, DenseViewMut, Machine, Refusal, RunError, Scalar};

/// Room for X and Y on the host, and for one of them at a time on the device: without gaps, so that one copy brings it. Kept for the next product.
pub(super) struct ThroughHost<S: Scalar> {
    on_device: Buffer<S>,
    x: PinnedDense<S>,
    y: PinnedDense<S>,
}

impl<S: Scalar> ThroughHost<S> {
    /// What is kept, or more, for X and Y of so many numbers: A and Aᵀ take turns, and X and Y of one are Y and X of the other.
    fn of<'a>(
        kept: &'a mut Option<Self>,
        machine: &Machine,
        device: &Device,
        [x, y]: [usize; 2],
    ) -> Result<&'a mut Self, Error> {
        let [had_x, had_y] =
            kept.as_ref().map_or([0; 2], |kept| [&kept.x, &kept.y].map(|had| had.data().len()));
        if had_x < x || had_y < y {
            *kept = None; // before, so that both never are there at once
        }
        let (x, y) = (x.max(had_x), y.max(had_y));
        Ok(match kept {
            Some(kept) => kept,
            none => none.insert(ThroughHost {
                on_device: device.allocate("X or Y on its way", x.max(y))?,
                x: machine.pinned_dense(x, 1)?,
                y: machine.pinned_dense(y, 1)?,
            }),
        })
    }
}

impl<S: Scalar> Plan<S> {
    pub(super) fn transposed_product_through_host(
        &self,
        alpha: S,
        x: DeviceView<'_, S>,
        beta: S,
        y: DeviceViewMut<'_, S>,
    ) -> Result<Times, Error> {
        let rank = self.ranks.rank();
        let (shape_of_x, shape_of_y) = ((x.rows(), x.cols()), (y.rows(), y.cols()));
        self.check([("X", shape_of_x, self.rows.rows_of(rank)), ("Y", shape_of_y, self.cols.rows_of(rank))])?;
        let product =
            |x: DenseView<'_, S>, y: DenseViewMut<'_, S>| self.transposed_product(alpha, x, beta, y);
        self.through_host(x, beta, y, product)
    }

    /// Brings X to the host, Y too where it is read, and Y back.
    pub(super) fn through_host(
        &self,
        x: DeviceView<'_, S>,
        beta: S,
        y: DeviceViewMut<'_, S>,
        product: impl FnOnce(DenseView<'_, S>, DenseViewMut<'_, S>) -> Result<Times, Error>,
    ) -> Result<Times, Error> {
        let device = self.device().ok_or(Refusal::NoDevice)?;
        let (rows_of_x, rows_of_y, k) = (x.rows(), y.rows(), x.cols());
        let counts = [rows_of_x, rows_of_y].map(|rows| rows.saturating_mul(k));
        let mut kept = unpoisoned(&self.through_host);
        let room = ThroughHost::of(&mut kept, &self.machine, device, counts)?;
        let (host_x, host_y) = (&mut room.x.data_mut()[..counts[0]], &mut room.y.data_mut()[..counts[1]]);
        bring(device, x, &mut room.on_device, host_x)?;
        if beta != S::ZERO {
            bring(device, y.as_view(), &mut room.on_device, host_y)?;
        }
        let operands =
            (DenseView::new(host_x, rows_of_x, k, k)?, DenseViewMut::new(host_y, rows_of_y, k, k)?);
        let times = product(operands.0, operands.1)?;
        room.on_device.write_from(0, host_y).map_err(RunError::from)?;
        device.copy_rows(DeviceView::new(&room.on_device, rows_of_y, k, k)?, y)?;
        Ok(times)
    }
}

/// A matrix to the host, through room for as many numbers on its device.
fn bring<S: Scalar>(
    device: &Device,
    matrix: DeviceView<'_, S>,
    room: &mut Buffer<S>,
    into: &mut [S],
) -> Result<(), Error> {
    let (rows, cols) = (matrix.rows(), matrix.cols());
    device.copy_rows(matrix, DeviceViewMut::new(room, rows, cols, cols)?)?;
    Ok(room.read_from(0, into).map_err(RunError::from)?)
}
