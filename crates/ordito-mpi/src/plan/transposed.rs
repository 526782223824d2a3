//! Y = αAᵀX + βY: the same lists, messages the other way.

use crate::error::Error;
use crate::plan::lines::Back;
use crate::plan::outer::some_rows;
use crate::plan::rows::{add_rows, gather, scatter_add};
use crate::plan::times::{Stopwatch, Times};
use crate::plan::{Plan, unpoisoned};
use ordito::{DenseView, DenseViewMut, Scalar};

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
        let lines = self.lines_for(&mut all, k)?;
        let Back { far, near, shown, team } = match &mut lines.back {
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
        let parts = DenseViewMut::new(bytemuck::cast_slice_mut(far.outgoing()), self.halo.rows(), k, k)?;
        self.far_part.transposed(alpha, x, &mut lines.far_scratch, parts)?;
        far.start()?;
        if self.near.is_whole {
            self.own_transposed(alpha, x, S::ZERO, shown.view_mut(), || Ok(far.poll()?))?;
        } else {
            self.near_part.transposed(alpha, x, &mut lines.near_scratch, shown.view_mut())?;
        }
        let places = self.near.places.iter().map(|&place| place as usize);
        gather(shown.view(), places, bytemuck::cast_slice_mut(near.outgoing()));
        near.start()?;
        times.outer = clock.lap();
        if self.near.is_whole {
            let mine = some_rows(shown.view(), self.near.first..self.near.first + y.rows())?;
            add_rows(mine, beta, &mut y);
        } else {
            self.own_transposed(alpha, x, beta, y.reborrow(), || Ok(far.poll()? & near.poll()?))?;
        }
        times.own = clock.lap();
        (*self.ranks).wait(&mut **near)?;
        (*self.ranks).wait(&mut **far)?;
        times.wait = clock.lap();
        for (halo, came) in [(&self.near.halo, near.incoming()), (&self.halo, far.incoming())] {
            scatter_add(bytemuck::cast_slice(came), halo.rows_to_send(), &mut y);
        }
        times.outer += clock.lap();
        Ok(times)
    }

    /// Y = α · ownᵀ · X + βY, moving messages on between pieces.
    fn own_transposed(
        &self,
        alpha: S,
        x: DenseView<'_, S>,
        mut beta: S,
        mut y: DenseViewMut<'_, S>,
        mut move_on: impl FnMut() -> Result<bool, Error>,
    ) -> Result<(), Error> {
        for piece in &self.own {
            let rows = some_rows(x, piece.rows.clone())?;
            piece.plan.transposed()?.apply(alpha, rows, beta, y.reborrow())?;
            beta = S::ONE;
            move_on()?;
        }
        Ok(())
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
        (*self.ranks).wait(exchange)?;
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
