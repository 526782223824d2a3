//! Y = αAX + βY.

use crate::error::Error;
use crate::plan::lines::{Lines, Partial, Use};
use crate::plan::rows::gather;
use crate::plan::rows_of_x::RowsOfX;
use crate::plan::shown::Shown;
use crate::plan::times::{Stopwatch, Times};
use crate::plan::{Plan, unpoisoned};
use crate::ranks::Exchange;
use crate::shared_dense::SharedDense;
use ordito::{DenseView, DenseViewMut, Scalar};
use std::time::Duration;

/// X of a product.
#[derive(Clone, Copy)]
pub(super) struct X<'a, S> {
    /// The rows of this rank.
    pub(super) rows: DenseView<'a, S>,
    /// All of it, where ranks of a computer read it in place.
    pub(super) shared: Option<&'a SharedDense<S>>,
}

impl<S: Scalar> Plan<S> {
    pub(super) fn product(
        &self,
        alpha: S,
        x: X<'_, S>,
        beta: S,
        mut y: DenseViewMut<'_, S>,
    ) -> Result<Times, Error> {
        let rank = self.ranks.rank();
        let X { rows: x, shared } = x;
        self.check([("X", x.shape(), self.cols.rows_of(rank)), ("Y", y.shape(), self.rows.rows_of(rank))])?;
        let k = x.cols();
        let mut all = unpoisoned(&self.lines);
        let lines = self.lines_of(&mut all, Use { k, in_place: shared.is_some() })?;
        let mut clock = Stopwatch::start();
        let mut times = Times::default();
        let Lines { shown, halo, partial, near_scratch, far_scratch, .. } = lines;
        self.open(X { rows: x, shared }, shown, &mut **halo)?;
        times.pack = clock.lap();
        // Alone, Y is written at once; in a team, a part of the sum first.
        let (own_beta, mut target) = match partial {
            None => (beta, y.reborrow()),
            Some(Partial { y: of_team, .. }) => (S::ZERO, of_team.view_mut()),
        };
        if self.near.is_whole {
            let x = match shared {
                Some(x) => shown.opened(&*self.ranks, x)?,
                None => {
                    shown.wait(&*self.ranks, &self.near)?;
                    shown.rows(&self.near, k)?
                }
            };
            times.wait = clock.lap();
            self.multiply_own((alpha, own_beta), x, target.reborrow(), || Ok(halo.poll()?))?;
            times.own = clock.lap();
            if shared.is_some() {
                shown.close(&*self.ranks)?;
                times.release = clock.lap();
            }
        } else {
            debug_assert!(shared.is_none() || self.near.partners.is_empty(), "whoever reads here shows all");
            let move_on = || Ok(shown.poll()? & halo.poll()?);
            self.multiply_own((alpha, own_beta), x, target.reborrow(), move_on)?;
            times.own = clock.lap();
            shown.wait(&*self.ranks, &self.near)?;
            times.wait = clock.lap();
            let x = shown.rows(&self.near, k)?;
            self.near_part.add(alpha, x, near_scratch, target.reborrow())?;
            times.outer = clock.lap();
        }
        (*self.ranks).wait(&mut **halo)?;
        times.wait += clock.lap();
        let came = DenseView::new(bytemuck::cast_slice(halo.incoming()), self.halo.rows(), k, k)?;
        self.far_part.add(alpha, came, far_scratch, target)?;
        times.outer += clock.lap();
        if let Some(Partial { exchange, y: of_team }) = partial {
            self.send_parts(&mut **exchange, of_team.view())?;
            (*self.ranks).wait(&mut **exchange)?;
            self.add_parts(beta, of_team.view(), bytemuck::cast_slice(exchange.incoming()), &mut y);
            times.reduce = clock.lap();
        }
        Ok(times)
    }

    pub(super) fn exchange_alone(&self, x: X<'_, S>) -> Result<Duration, Error> {
        let (rows, shape) = (self.cols.rows_of(self.ranks.rank()), x.rows.shape());
        self.check([("X", shape, rows), ("X", shape, rows)])?;
        let mut all = unpoisoned(&self.lines);
        let wanted = Use { k: x.rows.cols(), in_place: x.shared.is_some() };
        let Lines { shown, halo, .. } = self.lines_of(&mut all, wanted)?;
        let mut clock = Stopwatch::start();
        self.open(x, shown, &mut **halo)?;
        match x.shared {
            Some(x) => {
                shown.opened(&*self.ranks, x)?;
                shown.close(&*self.ranks)?;
            }
            None => shown.wait(&*self.ranks, &self.near)?,
        }
        (*self.ranks).wait(&mut **halo)?;
        Ok(clock.lap())
    }

    /// X for others, on its way; or where they read it.
    fn open(&self, x: X<'_, S>, shown: &mut Shown<S>, halo: &mut dyn Exchange) -> Result<(), Error> {
        if let Some(shared) = x.shared {
            shown.open(shared)?;
        }
        let mut rows = x.rows;
        self.pack(&mut rows, x.rows.cols(), shown, halo)
    }

    /// Rows for others, on their way.
    pub(super) fn pack(
        &self,
        x: &mut impl RowsOfX<S>,
        k: usize,
        shown: &mut Shown<S>,
        halo: &mut dyn Exchange,
    ) -> Result<(), Error> {
        shown.show(&self.near, k, x)?;
        x.to_far(&self.halo, bytemuck::cast_slice_mut(halo.outgoing()))?;
        Ok(halo.start()?)
    }

    /// What multiplies X of this rank, or of all here, moving messages on between pieces.
    fn multiply_own(
        &self,
        (alpha, beta): (S, S),
        x: DenseView<'_, S>,
        mut y: DenseViewMut<'_, S>,
        mut move_on: impl FnMut() -> Result<bool, Error>,
    ) -> Result<(), Error> {
        for piece in &self.own {
            let (rows, below) = y.split_at_row(piece.rows.len());
            piece.plan.apply(alpha, x, beta, rows)?;
            y = below;
            move_on()?;
        }
        Ok(())
    }

    /// Everyone of the team gets its rows.
    fn send_parts(&self, exchange: &mut dyn Exchange, of_team: DenseView<'_, S>) -> Result<(), Error> {
        let (start, mine) = self.own_rows_in_team();
        let others = (0..of_team.rows()).filter(|row| !(start..start + mine).contains(row));
        gather(of_team, others, bytemuck::cast_slice_mut(exchange.outgoing()));
        Ok(exchange.start()?)
    }

    /// Y = βY + the parts of all members, in their order.
    fn add_parts(&self, beta: S, of_team: DenseView<'_, S>, came: &[S], y: &mut DenseViewMut<'_, S>) {
        let rank = self.ranks.rank();
        let (start, rows) = self.own_rows_in_team();
        let k = y.cols();
        for row in 0..rows {
            let mut others = 0;
            let y = y.row_mut(row);
            y.iter_mut().for_each(|y| *y = if beta == S::ZERO { S::ZERO } else { beta * *y });
            for member in self.teams.members(rank) {
                let part = if member == rank {
                    of_team.row(start + row)
                } else {
                    let at = (others * rows + row) * k;
                    others += 1;
                    &came[at..at + k]
                };
                y.iter_mut().zip(part).for_each(|(y, part)| *y += *part);
            }
        }
    }

    /// Where the rows of this rank begin in those of the team, and how many they are.
    pub(super) fn own_rows_in_team(&self) -> (usize, usize) {
        let rank = self.ranks.rank();
        let first = self.teams.rows(rank, &self.rows).start;
        ((self.rows.range(rank).start - first) as usize, self.rows.rows_of(rank))
    }
}
