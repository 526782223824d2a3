//! Y = αAX + βY on operands that lie on the devices of ranks: only rows of X that others need travel.
//!
//! They are packed on the device and go through memory of the host. What multiplies this rank's own X is enqueued before anything is waited
//! for, so that a device computes while rows travel.

use crate::error::Error;
use crate::plan::device_lines::DeviceLines;
use crate::plan::lines::Lines;
use crate::plan::outer::Outer;
use crate::plan::product::X;
use crate::plan::times::{Stopwatch, Times};
use crate::plan::{Plan, unpoisoned};
use ordito::device::{Device, DeviceView, DeviceViewMut};
use ordito::precision::compiled_here;
use ordito::{Refusal, RunError, Scalar};
use std::time::Duration;

type Product<S> =
    for<'s> fn(&'s Plan<S>, S, DeviceView<'_, S>, S, DeviceViewMut<'_, S>) -> Result<Times, Error>;

impl<S: Scalar> Plan<S> {
    /// The device of this rank, with the stream of its products; none on the CPU.
    pub fn device(&self) -> Option<&Device> {
        self.own.first().and_then(|piece| piece.plan.device())
    }

    /// Y = αAX + βY of rows that lie on this rank's device. Every rank calls it, each with a device. Rows that travel go through memory of the host, which waits for them;
    /// what is computed last may still be under way afterwards. In [teams](crate::Teams) all of X and Y goes that way.
    pub fn apply_on_device(
        &self,
        alpha: S,
        x: DeviceView<'_, S>,
        beta: S,
        y: DeviceViewMut<'_, S>,
    ) -> Result<(), Error> {
        let product = compiled_here!(S, Plan::product_on_device, Product);
        let times = self.telling(product(self, alpha, x, beta, y)).inspect_err(|_| self.forget(x.cols()))?;
        *unpoisoned(&self.times) = times;
        Ok(())
    }

    /// Y = αAᵀX + βY of rows that lie on this rank's device. All of X and Y goes through memory of the host.
    pub fn apply_transposed_on_device(
        &self,
        alpha: S,
        x: DeviceView<'_, S>,
        beta: S,
        y: DeviceViewMut<'_, S>,
    ) -> Result<(), Error> {
        let product = compiled_here!(S, Plan::transposed_product_through_host, Product);
        let times = self.telling(product(self, alpha, x, beta, y)).inspect_err(|_| self.forget(x.cols()))?;
        *unpoisoned(&self.times) = times;
        Ok(())
    }

    /// What an exchange of X takes alone, to the device and from it. Every rank calls it.
    pub fn time_exchange_on_device(&self, x: DeviceView<'_, S>) -> Result<Duration, Error> {
        type Exchange<S> = for<'s> fn(&'s Plan<S>, DeviceView<'_, S>) -> Result<Duration, Error>;
        let alone = compiled_here!(S, Plan::exchange_alone_on_device, Exchange);
        self.telling(alone(self, x)).inspect_err(|_| self.forget(x.cols()))
    }

    fn exchange_alone_on_device(&self, x: DeviceView<'_, S>) -> Result<Duration, Error> {
        let rows = self.cols.rows_of(self.ranks.rank());
        self.check([("X", (x.rows(), x.cols()), rows), ("X", (x.rows(), x.cols()), rows)])?;
        let device = self.device().ok_or(Refusal::NoDevice)?;
        let mut all = unpoisoned(&self.lines);
        let lines = self.lines_for(&mut all, x.cols())?;
        let there = DeviceLines::of(&mut lines.on_device, self, device, &lines.shown, x.cols())?;
        device.synchronize().map_err(RunError::from)?;
        let mut clock = Stopwatch::start();
        there.reading(device, x, |there| {
            self.pack(there, x.cols(), &mut lines.shown, &mut *lines.halo)?;
            lines.shown.wait(&*self.ranks, &self.near)?;
            there.bring_near(lines.shown.rows(&self.near, x.cols())?.data())?;
            (*self.ranks).wait(&mut *lines.halo)?;
            there.bring_far(bytemuck::cast_slice(lines.halo.incoming()))?;
            Ok(clock.lap())
        })
    }

    fn product_on_device(
        &self,
        alpha: S,
        x: DeviceView<'_, S>,
        beta: S,
        mut y: DeviceViewMut<'_, S>,
    ) -> Result<Times, Error> {
        let rank = self.ranks.rank();
        let (shape_of_x, shape_of_y) = ((x.rows(), x.cols()), (y.rows(), y.cols()));
        self.check([("X", shape_of_x, self.cols.rows_of(rank)), ("Y", shape_of_y, self.rows.rows_of(rank))])?;
        let device = self.device().ok_or(Refusal::NoDevice)?;
        if self.teams.size() > 1 {
            return self
                .through_host(x, beta, y, |x, y| self.product(alpha, X { rows: x, shared: None }, beta, y));
        }
        let k = x.cols();
        let mut all = unpoisoned(&self.lines);
        let lines = self.lines_for(&mut all, k)?;
        let Lines { shown, halo, on_device, .. } = lines;
        let there = DeviceLines::of(on_device, self, device, shown, k)?;
        let mut clock = Stopwatch::start();
        let mut times = Times::default();
        there.reading(device, x, |there| {
            times.pack = clock.lap();
            if !self.near.is_whole {
                self.own_on_device(alpha, x, beta, y.reborrow())?;
                times.own = clock.lap();
            }
            self.pack(there, k, shown, &mut **halo)?;
            times.pack += clock.lap();
            shown.wait(&*self.ranks, &self.near)?;
            times.wait = clock.lap();
            there.bring_near(shown.rows(&self.near, k)?.data())?;
            if self.near.is_whole {
                times.outer = clock.lap();
                self.own_on_device(alpha, there.near.view()?, beta, y.reborrow())?;
                times.own = clock.lap();
            } else {
                let x = there.near.view()?;
                self.near_part.add_on_device(alpha, x, there.near_scratch.view_mut()?, y.reborrow())?;
                times.outer = clock.lap();
            }
            (*self.ranks).wait(&mut **halo)?;
            times.wait += clock.lap();
            there.bring_far(bytemuck::cast_slice(halo.incoming()))?;
            let x = there.far.view()?;
            self.far_part.add_on_device(alpha, x, there.far_scratch.view_mut()?, y)?;
            times.outer += clock.lap();
            Ok(times)
        })
    }

    fn own_on_device(
        &self,
        alpha: S,
        x: DeviceView<'_, S>,
        beta: S,
        mut y: DeviceViewMut<'_, S>,
    ) -> Result<(), Error> {
        // One piece: on a device rows are not cut.
        self.own.iter().try_for_each(|piece| Ok(piece.plan.apply_on_device(alpha, x, beta, y.reborrow())?))
    }
}

impl<S: Scalar> Outer<S> {
    /// Y += α · this · X on the device.
    fn add_on_device(
        &self,
        alpha: S,
        x: DeviceView<'_, S>,
        scratch: DeviceViewMut<'_, S>,
        mut y: DeviceViewMut<'_, S>,
    ) -> Result<(), Error> {
        match self {
            Outer::None => {}
            // All rows: on a device ranges of them are a list.
            Outer::InPlace(pieces) => {
                for piece in pieces {
                    piece.plan.apply_on_device(alpha, x, S::ONE, y.reborrow())?;
                }
            }
            Outer::Listed { plan, on_device, .. } => {
                let list = on_device.as_ref().ok_or(Refusal::NoDevice)?;
                let mut scratch = scratch;
                plan.apply_on_device(alpha, x, S::ZERO, scratch.reborrow())?;
                list.add(scratch.as_view(), y)?;
            }
        }
        Ok(())
    }
}
