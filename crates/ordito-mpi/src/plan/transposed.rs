//! Y = αAᵀX + βY: the same lists, messages the other way.

use crate::error::Error;
use crate::plan::lines::{Back, Lines};
use crate::plan::rows::{gather, scatter_add};
use crate::plan::times::{Stopwatch, Times};
use crate::plan::{Plan, unpoisoned};
use ordito::{DenseView, DenseViewMut, Scalar};
use std::collections::hash_map::Entry;

impl<S: Scalar> Plan<S> {
    pub(super) fn transposed_product(
        &self,
        alpha: S,
        x: DenseView<'_, S>,
        beta: S,
        mut y: DenseViewMut<'_, S>,
    ) -> Result<Times, Error> {
        let rank = self.ranks.rank();
        self.check([("X", x.shape(), self.rows.rows_of(rank)), ("Y", y.shape(), self.cols.rows_of(rank))])?;
        let k = x.cols();
        let mut all = unpoisoned(&self.lines);
        let lines = match all.entry(k) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => entry.insert(Lines::new(self, k)?),
        };
        let Back { exchange, team, outer_x } = match &mut lines.back {
            Some(back) => back,
            none => none.insert(Back::new(self, k)?),
        };
        let mut clock = Stopwatch::start();
        let mut times = Times::default();
        // All of the team multiply with all of its rows.
        let x = match team {
            None => x,
            Some((exchange, of_team)) => {
                self.gather_team(&mut **exchange, x, of_team)?;
                of_team.view()
            }
        };
        times.reduce = clock.lap();
        // What others need first: it travels while the rest is computed.
        if let Some(outer) = &self.outer {
            let x = match &self.outer_rows {
                None => x,
                Some(rows) => {
                    gather(x, rows.iter().map(|&row| row as usize), outer_x.data_mut());
                    outer_x.view()
                }
            };
            let parts = bytemuck::cast_slice_mut(exchange.outgoing());
            let parts = DenseViewMut::new(parts, self.halo.rows(), k, k)?;
            outer.transposed()?.apply(alpha, x, S::ZERO, parts)?;
        }
        times.outer = clock.lap();
        exchange.start()?;
        times.pack = clock.lap();
        let mut beta = beta;
        for piece in &self.own {
            let start = (piece.rows.start * x.leading_dimension()).min(x.data().len());
            let rows = DenseView::new(&x.data()[start..], piece.rows.len(), k, x.leading_dimension())?;
            piece.plan.transposed()?.apply(alpha, rows, beta, y.reborrow())?;
            beta = S::ONE;
            exchange.poll()?;
        }
        times.own = clock.lap();
        (&*self.ranks).wait(&mut **exchange)?;
        times.wait = clock.lap();
        let rows = self.halo.sends().iter().flat_map(|(_, rows)| rows).map(|&row| row as usize);
        scatter_add(bytemuck::cast_slice(exchange.incoming()), rows, &mut y);
        times.outer += clock.lap();
        Ok(times)
    }

    /// X of every member, in their order.
    fn gather_team(
        &self,
        exchange: &mut dyn crate::ranks::Exchange,
        x: DenseView<'_, S>,
        of_team: &mut ordito::Dense<S>,
    ) -> Result<(), Error> {
        let k = x.cols();
        let (start, mine) = self.own_rows_in_team();
        let rows_for_each = std::iter::repeat_n(0..mine, self.teams.size() - 1).flatten();
        gather(x, rows_for_each, bytemuck::cast_slice_mut(exchange.outgoing()));
        exchange.start()?;
        (&*self.ranks).wait(exchange)?;
        let came: &[S] = bytemuck::cast_slice(exchange.incoming());
        let (above, below) = came.split_at(start * k);
        let data = of_team.data_mut();
        data[..above.len()].copy_from_slice(above);
        data[(start + mine) * k..].copy_from_slice(below);
        let own = &mut data[start * k..(start + mine) * k];
        gather(x, 0..mine, own);
        Ok(())
    }
}
