//! Blocks with a clock: what solvers work with.

use crate::Scalar;
use crate::machine::Machine;
use crate::matrix::{Dense, DenseView, random_dense};
use crate::solve::blocks::{Block, Blocks, Columns};
use crate::solve::error::SolveError;
use crate::solve::history::Times;
use crate::solve::host_blocks::HostBlocks;
use crate::solve::operator::Operator;
use nalgebra::DMatrix;
use std::time::{Duration, Instant};

pub(crate) struct Workspace<S: Scalar> {
    blocks: Box<dyn Blocks<S>>,
    pub(crate) times: Times,
    /// Vectors that the operator was applied to.
    pub(crate) products: usize,
    begun: Instant,
    time_parts: bool,
}

impl<S: Scalar> Workspace<S> {
    /// Where the operator runs.
    pub(crate) fn of(operator: &dyn Operator<S>, time_parts: bool) -> Result<Self, SolveError> {
        let machine = match operator.machine() {
            Some(machine) => machine,
            None => Machine::all_cores()?,
        };
        let blocks: Box<dyn Blocks<S>> = Box::new(HostBlocks::new(machine));
        let (times, begun) = (Times::default(), Instant::now());
        Ok(Workspace { blocks, times, products: 0, begun, time_parts })
    }

    pub(crate) fn elapsed(&self) -> Duration {
        self.begun.elapsed()
    }

    pub(crate) fn add(&mut self, what: &'static str, rows: usize, cols: usize) -> Result<Block, SolveError> {
        self.blocks.add(what, rows, cols)
    }

    pub(crate) fn write(&mut self, to: Columns, from: DenseView<'_, S>) -> Result<(), SolveError> {
        self.blocks.write(to, from)
    }

    /// Random numbers, the same for the same seed.
    pub(crate) fn randomize(&mut self, to: Columns, rows: usize, seed: u64) -> Result<(), SolveError> {
        self.write(to, random_dense::<S>(rows, to.count, seed)?.view())
    }

    pub(crate) fn read(&mut self, from: Columns, rows: usize) -> Result<Dense<S>, SolveError> {
        let mut into = Dense::zeros(rows, from.count)?;
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

    pub(crate) fn gram(&mut self, left: &[Columns], right: &[Columns]) -> Result<DMatrix<f64>, SolveError> {
        self.timed(|times| &mut times.gram, |blocks| blocks.gram(left, right))
    }

    pub(crate) fn combine(
        &mut self,
        from: &[Columns],
        c: &DMatrix<f64>,
        into: &[Columns],
    ) -> Result<(), SolveError> {
        self.timed(|times| &mut times.combine, |blocks| blocks.combine(from, c, into))
    }

    /// Y = X, of as many columns.
    pub(crate) fn copy(&mut self, from: Columns, into: Columns) -> Result<(), SolveError> {
        self.combine(&[from], &DMatrix::identity(from.count, into.count), &[into])
    }

    pub(crate) fn scale_rows(&mut self, factors: Columns, x: Columns) -> Result<(), SolveError> {
        self.timed(|times| &mut times.precondition, |blocks| blocks.scale_rows(factors, x))
    }

    pub(crate) fn precondition(
        &mut self,
        with: &dyn Operator<S>,
        x: Columns,
        y: Columns,
    ) -> Result<(), SolveError> {
        self.timed(|times| &mut times.precondition, |blocks| blocks.apply(with, false, x, y))
    }

    /// Y = A·X.
    pub(crate) fn apply(&mut self, a: &dyn Operator<S>, x: Columns, y: Columns) -> Result<(), SolveError> {
        self.products += x.count;
        self.timed(|times| &mut times.product, |blocks| blocks.apply(a, false, x, y))
    }

    /// Y = Aᵀ·X.
    pub(crate) fn apply_transposed(
        &mut self,
        a: &dyn Operator<S>,
        x: Columns,
        y: Columns,
    ) -> Result<(), SolveError> {
        self.products += x.count;
        self.timed(|times| &mut times.product, |blocks| blocks.apply(a, true, x, y))
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
