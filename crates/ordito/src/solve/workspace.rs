//! Blocks with a clock: what solvers work with.

use crate::Scalar;
#[cfg(any(feature = "cuda", feature = "emulator"))]
use crate::device::Device;
use crate::device::DeviceDense;
use crate::machine::Machine;
use crate::matrix::{Dense, DenseView};
use crate::precision::compiled_here;
use crate::solve::blocks::{Block, Blocks, Columns};
use crate::solve::control::Control;
#[cfg(any(feature = "cuda", feature = "emulator"))]
use crate::solve::device_blocks::DeviceBlocks;
use crate::solve::error::SolveError;
use crate::solve::history::{Step, Times};
use crate::solve::host_blocks::HostBlocks;
use crate::solve::operator::Operator;
use crate::solve::shared::{BetweenRanks, Rows, agreed};
use crate::solve::small::Small;
use crate::solve::vectors::Source;
use std::sync::Arc;
use std::time::{Duration, Instant};

pub(crate) struct Workspace<S: Scalar> {
    blocks: Box<dyn Blocks<S>>,
    /// Whom rows are shared with.
    ranks: Option<Arc<dyn BetweenRanks>>,
    /// Does whoever watches this rank want to stop? And did anyone, when inner products were last taken?
    wishes_to_stop: bool,
    any_wishes_to_stop: bool,
    pub(crate) times: Times,
    /// Vectors that the operator was applied to.
    pub(crate) products: usize,
    /// Columns of every block.
    widths: Vec<usize>,
    begun: Instant,
    time_parts: bool,
}

/// Few different numbers of columns: a plan prepares for each that it is used with, and a block that becomes narrower, column by column,
/// would have it prepare again and again.
fn widened(count: usize) -> usize {
    count.next_multiple_of(if count <= 4 { 4 } else { 8 })
}

fn on_host<S: Scalar>(machine: Arc<Machine>) -> Box<dyn Blocks<S>> {
    type Make<S> = fn(Arc<Machine>) -> Box<dyn Blocks<S>>;
    fn make<S: Scalar>(machine: Arc<Machine>) -> Box<dyn Blocks<S>> {
        Box::new(HostBlocks::new(machine))
    }
    compiled_here!(S, make, Make)(machine)
}

#[cfg(any(feature = "cuda", feature = "emulator"))]
fn on_device<S: Scalar>(device: &Device) -> Box<dyn Blocks<S>> {
    type Make<S> = fn(&Device) -> Box<dyn Blocks<S>>;
    fn make<S: Scalar>(device: &Device) -> Box<dyn Blocks<S>> {
        Box::new(DeviceBlocks::new(device))
    }
    compiled_here!(S, make, Make)(device)
}

impl<S: Scalar> Workspace<S> {
    /// Where the operator runs.
    pub(crate) fn of(operator: &dyn Operator<S>, time_parts: bool) -> Result<Self, SolveError> {
        let blocks: Box<dyn Blocks<S>> = match operator.device() {
            #[cfg(any(feature = "cuda", feature = "emulator"))]
            Some(device) => on_device(device),
            _ => on_host(match operator.machine() {
                Some(machine) => machine,
                None => Machine::all_cores()?,
            }),
        };
        let ranks = operator.shared().map(|shared| shared.ranks);
        let (times, begun) = (Times::default(), Instant::now());
        Ok(Workspace {
            blocks,
            ranks,
            wishes_to_stop: false,
            any_wishes_to_stop: false,
            times,
            products: 0,
            widths: Vec::new(),
            begun,
            time_parts,
        })
    }

    pub(crate) fn elapsed(&self) -> Duration {
        self.begun.elapsed()
    }

    /// Whom rows are shared with; none: nobody.
    pub(crate) fn ranks(&self) -> Option<&dyn BetweenRanks> {
        self.ranks.as_deref()
    }

    /// What was looked at row by row: did it work out on all ranks?
    pub(crate) fn agreed<R>(&self, mine: Result<R, SolveError>) -> Result<R, SolveError> {
        agreed(self.ranks(), mine)
    }

    /// Tells of an iteration. Is it to be the last? Wishes of ranks travel with inner products: what one of them wants, all do an iteration later.
    pub(crate) fn tell(&mut self, control: &mut Control<'_>, step: &Step) -> bool {
        let flow = control.progress.as_mut().map(|progress| progress(step));
        self.wishes_to_stop = flow.is_some_and(|flow| flow.is_break());
        if self.ranks.is_some() { self.any_wishes_to_stop } else { self.wishes_to_stop }
    }

    pub(crate) fn add(&mut self, what: &'static str, rows: Rows, cols: usize) -> Result<Block, SolveError> {
        let block = self.blocks.add(what, rows.local, cols)?;
        debug_assert_eq!(block.id, self.widths.len());
        self.widths.push(cols);
        Ok(block)
    }

    /// The same columns and as many more as both blocks have and few widths ask for.
    fn with_more(&self, x: Columns, y: Columns) -> (Columns, Columns) {
        if (x.first, y.first) != (0, 0) {
            return (x, y);
        }
        let count = widened(x.count).min(self.widths[x.id]).min(self.widths[y.id]).max(x.count);
        (Columns { count, ..x }, Columns { count, ..y })
    }

    pub(crate) fn write(&mut self, to: Columns, from: DenseView<'_, S>) -> Result<(), SolveError> {
        self.blocks.write(to, from)
    }

    /// The unit matrix.
    pub(crate) fn unit_block(&mut self, n: Rows) -> Result<Block, SolveError> {
        let mut unit = Dense::zeros(n.local, n.total)?;
        (0..n.local).for_each(|i| unit.view_mut().row_mut(i)[n.first as usize + i] = S::ONE);
        let block = self.add("the unit matrix", n, n.total)?;
        self.write(block.all(), unit.view())?;
        Ok(block)
    }

    /// From wherever they lie.
    pub(crate) fn write_source(&mut self, to: Columns, from: Source<'_, S>) -> Result<(), SolveError> {
        match from {
            Source::Host(from) => self.blocks.write(to, from),
            Source::Device(from) => self.blocks.write_from_device(to, from),
        }
    }

    /// To where the caller wants them: the host, or as they lie on the device.
    pub(crate) fn give_back(
        &mut self,
        from: Columns,
        rows: Rows,
        keep_on_device: bool,
    ) -> Result<(Dense<S>, Option<DeviceDense<S>>), SolveError> {
        if keep_on_device && let Some(kept) = self.blocks.read_on_device(from)? {
            return Ok((Dense::zeros(rows.local, 0)?, Some(kept)));
        }
        Ok((self.read(from, rows)?, None))
    }

    /// Random numbers, the same for the same seed however rows are shared.
    pub(crate) fn randomize(&mut self, to: Columns, rows: Rows, seed: u64) -> Result<(), SolveError> {
        self.blocks.randomize(to, rows.first, seed)
    }

    pub(crate) fn read(&mut self, from: Columns, rows: Rows) -> Result<Dense<S>, SolveError> {
        let mut into = Dense::zeros(rows.local, from.count)?;
        self.blocks.read(from, into.view_mut())?;
        Ok(into)
    }

    /// On a device nothing is waited for unless that was asked for: the time is then that of the host.
    fn timed<R>(
        &mut self,
        on: impl FnOnce(&mut Times) -> &mut Duration,
        work: impl FnOnce(&mut dyn Blocks<S>) -> Result<R, SolveError>,
    ) -> Result<R, SolveError> {
        let begin = Instant::now();
        let result = work(&mut *self.blocks)?;
        if self.time_parts {
            self.blocks.wait()?;
        }
        *on(&mut self.times) += begin.elapsed();
        Ok(result)
    }

    pub(crate) fn gram(&mut self, left: &[Columns], right: &[Columns]) -> Result<Small, SolveError> {
        let (ranks, wish) = (self.ranks.clone(), f64::from(self.wishes_to_stop));
        let (gram, wishes) = self.timed(
            |times| &mut times.gram,
            |blocks| {
                let gram = blocks.gram(left, right)?;
                let Some(ranks) = ranks else { return Ok((gram, wish)) };
                let mut numbers: Vec<f64> = gram.iter().copied().chain([wish]).collect();
                ranks.sum(&mut numbers)?;
                let wishes = numbers.pop().unwrap_or(wish);
                Ok((Small::from_columns(gram.nrows(), gram.ncols(), numbers), wishes))
            },
        )?;
        self.any_wishes_to_stop = wishes > 0.0;
        Ok(gram)
    }

    pub(crate) fn combine(
        &mut self,
        from: &[Columns],
        c: &Small,
        into: &[Columns],
    ) -> Result<(), SolveError> {
        self.timed(|times| &mut times.combine, |blocks| blocks.combine(from, c, into))
    }

    /// Y = X, of as many columns.
    pub(crate) fn copy(&mut self, from: Columns, into: Columns) -> Result<(), SolveError> {
        self.combine(&[from], &Small::identity(from.count, into.count), &[into])
    }

    pub(crate) fn scale_rows(&mut self, factors: Columns, x: Columns) -> Result<(), SolveError> {
        self.timed(|times| &mut times.precondition, |blocks| blocks.scale_rows(factors, x))
    }

    /// Y = M·X. Columns of Y behind these may be written too.
    pub(crate) fn apply_preconditioner(
        &mut self,
        with: &dyn Operator<S>,
        x: Columns,
        y: Columns,
    ) -> Result<(), SolveError> {
        let (x, y) = self.with_more(x, y);
        self.timed(|times| &mut times.precondition, |blocks| blocks.apply(with, false, x, y))
    }

    /// Y = A·X. Columns of Y behind these may be written too.
    pub(crate) fn apply(&mut self, a: &dyn Operator<S>, x: Columns, y: Columns) -> Result<(), SolveError> {
        self.multiply(a, false, x, y)
    }

    /// Y = Aᵀ·X. Columns of Y behind these may be written too.
    pub(crate) fn apply_transposed(
        &mut self,
        a: &dyn Operator<S>,
        x: Columns,
        y: Columns,
    ) -> Result<(), SolveError> {
        self.multiply(a, true, x, y)
    }

    fn multiply(
        &mut self,
        a: &dyn Operator<S>,
        transposed: bool,
        x: Columns,
        y: Columns,
    ) -> Result<(), SolveError> {
        let wanted = y;
        let (x, y) = self.with_more(x, y);
        self.products += x.count;
        self.timed(|times| &mut times.product, |blocks| blocks.apply(a, transposed, x, y))?;
        match a.factor() {
            1.0 => Ok(()),
            // Not those behind them: what lay there may have become infinite, and 0 times that is a NaN.
            factor => self.combine(&[wanted], &Small::diagonal(&vec![factor; wanted.count]), &[wanted]),
        }
    }

    /// A problem of the host.
    pub(crate) fn small<R>(&mut self, work: impl FnOnce() -> R) -> R {
        let begin = Instant::now();
        let result = work();
        self.times.small += begin.elapsed();
        result
    }

    /// Where the time went, until now.
    pub(crate) fn times(&mut self) -> Result<Times, SolveError> {
        self.blocks.wait()?;
        Ok(Times { total: self.elapsed(), ..self.times })
    }
}
