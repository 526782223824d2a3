//! All threads share out the cells of a grid of row blocks × stripes of columns, which one thread adds up in the end.
//! Touches every element once; the grid depends on the shape only, so that the bits are those of one thread.
//! Loses on small matrices, where waking threads costs more than the sums.

use crate::Scalar;
use crate::column_stats::cpu::host::{HostKernel, OnHost};
use crate::column_stats::cpu::row_blocks::RowBlocks;
use crate::column_stats::reduction::{Columns, Reduction, Shape};
use crate::machine::Machine;
use crate::matrix::DenseView;
use crate::op::{Description, Place, Variant};
use crate::refusal::Refusal;
use crate::source_file;
use std::sync::Arc;

pub(crate) struct DenseThreadsBlocks;

struct Kernel<S> {
    grid: RowBlocks<S>,
    machine: Arc<Machine>,
}

impl<S: Scalar> HostKernel<S> for Kernel<S> {
    fn reduce(&mut self, data: DenseView<'_, S>, results: &mut [f64]) {
        self.grid.reduce(self.machine.cpu().simd, Some(&self.machine), data, results);
    }
}

pub(crate) const DESCRIPTION: Description = Description::new(
    "dense-threads-blocks",
    "all threads share blocks of rows and stripes of columns; the same bits for any number of them",
    Place::Threads,
    source_file!("column_stats/cpu/dense_threads_blocks.rs"),
);

impl<S: Scalar> Variant<Columns<S>> for DenseThreadsBlocks {
    fn describe(&self) -> &Description {
        &DESCRIPTION
    }
    fn prepare(&self, machine: &Arc<Machine>, shape: &Shape) -> Result<Box<dyn Reduction<S>>, Refusal> {
        let kernel = Kernel { grid: RowBlocks::new(*shape), machine: machine.clone() };
        Ok(OnHost::boxed(machine, kernel, *shape))
    }
}
