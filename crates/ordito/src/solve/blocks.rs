//! Blocks of vectors, wherever they lie: what a loop is written over, so that it is written once.

use crate::Scalar;
use crate::device::{DeviceDense, DeviceView};
use crate::matrix::{DenseView, DenseViewMut};
use crate::refusal::Refusal;
use crate::solve::error::SolveError;
use crate::solve::operator::Operator;
use crate::solve::small::Small;

/// A block that was made by [`Blocks::add`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Block {
    pub(crate) id: usize,
    pub(crate) rows: usize,
    pub(crate) cols: usize,
}

/// Some columns of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Columns {
    pub(crate) id: usize,
    pub(crate) first: usize,
    pub(crate) count: usize,
}

impl Block {
    pub(crate) fn all(self) -> Columns {
        Columns { id: self.id, first: 0, count: self.cols }
    }
    /// The first `count` columns.
    pub(crate) fn first(self, count: usize) -> Columns {
        self.range(0, count)
    }
    pub(crate) fn range(self, first: usize, count: usize) -> Columns {
        debug_assert!(first + count <= self.cols);
        Columns { id: self.id, first, count }
    }
}

/// Memory for blocks, and what is done with them. Small matrices are on the host, always.
pub(crate) trait Blocks<S: Scalar> {
    /// Room for a block, zeros at first.
    fn add(&mut self, what: &'static str, rows: usize, cols: usize) -> Result<Block, SolveError>;
    /// From the host.
    fn write(&mut self, to: Columns, from: DenseView<'_, S>) -> Result<(), SolveError>;
    /// Random numbers: rows from `first_row` on of what this seed draws.
    fn randomize(&mut self, to: Columns, first_row: u64, seed: u64) -> Result<(), SolveError>;
    /// From memory of the caller's on the device.
    fn write_from_device(&mut self, _to: Columns, _from: DeviceView<'_, S>) -> Result<(), SolveError> {
        Err(Refusal::NoDevice.into())
    }
    /// As a matrix of its own on the device; none where blocks lie on the host.
    fn read_on_device(&mut self, _from: Columns) -> Result<Option<DeviceDense<S>>, SolveError> {
        Ok(None)
    }
    /// To the host.
    fn read(&mut self, from: Columns, into: DenseViewMut<'_, S>) -> Result<(), SolveError>;
    /// [L …]ᵀ[R …], exactly symmetric where both lists are the same.
    fn gram(&mut self, left: &[Columns], right: &[Columns]) -> Result<Small, SolveError>;
    /// [Y …] = [X …]·C in one pass. Rows are read before they are written: a Y may be, or overlap, an X.
    fn combine(&mut self, from: &[Columns], c: &Small, into: &[Columns]) -> Result<(), SolveError>;
    /// Every row times its number, in place; `factors` has one column.
    fn scale_rows(&mut self, factors: Columns, x: Columns) -> Result<(), SolveError>;
    /// Y = A·X, or Aᵀ·X; both begin with the first column of their block.
    fn apply(
        &mut self,
        operator: &dyn Operator<S>,
        transposed: bool,
        x: Columns,
        y: Columns,
    ) -> Result<(), SolveError>;
    /// Until all of it is done.
    fn wait(&mut self) -> Result<(), SolveError>;
}

/// Do some of these columns stand in two of them?
pub(crate) fn overlap(all: &[Columns]) -> bool {
    let apart = |x: &Columns, y: &Columns| {
        x.id != y.id || x.first + x.count <= y.first || y.first + y.count <= x.first
    };
    all.iter().enumerate().any(|(index, x)| !all[index + 1..].iter().all(|y| apart(x, y)))
}
