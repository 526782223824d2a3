//! Y = αAX + βY.

use crate::error::Error;
use crate::plan::lines::{Lines, Partial};
use crate::plan::rows::{gather, scatter_add};
use crate::plan::times::{Stopwatch, Times};
use crate::plan::{Plan, unpoisoned};
use ordito::{DenseView, DenseViewMut, Scalar};
use std::collections::hash_map::Entry;
use std::time::Duration;

impl<S: Scalar> Plan<S> {
    pub(super) fn product(
        &self,
        alpha: S,
        x: DenseView<'_, S>,
        beta: S,
        mut y: DenseViewMut<'_, S>,
    ) -> Result<Times, Error> {
        let rank = self.ranks.rank();
        self.check([("X", x.shape(), self.cols.rows_of(rank)), ("Y", y.shape(), self.rows.rows_of(rank))])?;
        let k = x.cols();
        let mut all = unpoisoned(&self.lines);
        let lines = match all.entry(k) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => entry.insert(Lines::new(self, k)?),
        };
        let mut clock = Stopwatch::start();
        let mut times = Times::default();
        self.pack(x, lines)?;
        times.pack = clock.lap();
        let Lines { halo, partial, outer, .. } = lines;
        match partial {
            None => {
                self.multiply_own((alpha, beta), x, y.reborrow(), || halo.poll())?;
                times.own = clock.lap();
                (&*self.ranks).wait(&mut **halo)?;
                times.wait = clock.lap();
                self.add_outer(alpha, bytemuck::cast_slice(halo.incoming()), k, outer, y)?;
                times.outer = clock.lap();
            }
            Some(Partial { exchange, y: of_team }) => {
                self.multiply_own((alpha, S::ZERO), x, of_team.view_mut(), || halo.poll())?;
                times.own = clock.lap();
                (&*self.ranks).wait(&mut **halo)?;
                times.wait = clock.lap();
                self.add_outer(alpha, bytemuck::cast_slice(halo.incoming()), k, outer, of_team.view_mut())?;
                times.outer = clock.lap();
                self.send_parts(&mut **exchange, of_team.view())?;
                (&*self.ranks).wait(&mut **exchange)?;
                self.add_parts(beta, of_team.view(), bytemuck::cast_slice(exchange.incoming()), &mut y);
                times.reduce = clock.lap();
            }
        }
        Ok(times)
    }

    pub(super) fn exchange_alone(&self, x: DenseView<'_, S>) -> Result<Duration, Error> {
        let rows = self.cols.rows_of(self.ranks.rank());
        self.check([("X", x.shape(), rows), ("X", x.shape(), rows)])?;
        let mut all = unpoisoned(&self.lines);
        let lines = match all.entry(x.cols()) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => entry.insert(Lines::new(self, x.cols())?),
        };
        let mut clock = Stopwatch::start();
        self.pack(x, lines)?;
        (&*self.ranks).wait(&mut *lines.halo)?;
        Ok(clock.lap())
    }

    /// Rows for others, on their way.
    fn pack(&self, x: DenseView<'_, S>, lines: &mut Lines<S>) -> Result<(), Error> {
        let rows = self.halo.sends().iter().flat_map(|(_, rows)| rows).map(|&row| row as usize);
        gather(x, rows, bytemuck::cast_slice_mut(lines.halo.outgoing()));
        Ok(lines.halo.start()?)
    }

    /// What multiplies X of this rank, moving messages on between pieces.
    fn multiply_own(
        &self,
        (alpha, beta): (S, S),
        x: DenseView<'_, S>,
        mut y: DenseViewMut<'_, S>,
        mut move_on: impl FnMut() -> Result<bool, crate::ranks::RanksError>,
    ) -> Result<(), Error> {
        for piece in &self.own {
            let (rows, below) = y.split_at_row(piece.rows.len());
            piece.plan.apply(alpha, x, beta, rows)?;
            y = below;
            move_on()?;
        }
        Ok(())
    }

    /// Y += α · what multiplies X of others.
    fn add_outer(
        &self,
        alpha: S,
        halo: &[S],
        k: usize,
        scratch: &mut ordito::Dense<S>,
        mut y: DenseViewMut<'_, S>,
    ) -> Result<(), Error> {
        let Some(plan) = &self.outer else { return Ok(()) };
        let halo = DenseView::new(halo, self.halo.rows(), k, k)?;
        match &self.outer_rows {
            None => plan.apply(alpha, halo, S::ONE, y)?,
            Some(rows) => {
                plan.apply(alpha, halo, S::ZERO, scratch.view_mut())?;
                scatter_add(scratch.data(), rows.iter().map(|&row| row as usize), &mut y);
            }
        }
        Ok(())
    }

    /// Everyone of the team gets its rows.
    fn send_parts(
        &self,
        exchange: &mut dyn crate::ranks::Exchange,
        of_team: DenseView<'_, S>,
    ) -> Result<(), Error> {
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
