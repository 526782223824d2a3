//! One thread walks a grid of row blocks × stripes of columns; vector instructions across the columns.
//! Touches every element once; what is kept of a stripe's columns stays in the first-level cache.
//! Loses to more threads as soon as the matrix is larger than waking them costs.

use crate::Scalar;
use crate::column_stats::cpu::host::{HostKernel, OnHost};
use crate::column_stats::cpu::row_blocks::RowBlocks;
use crate::column_stats::reduction::{Columns, Reduction, Shape};
use crate::cpu::SimdLevel;
use crate::machine::Machine;
use crate::matrix::DenseView;
use crate::op::{Description, Place, Variant};
use crate::refusal::Refusal;
use crate::source_file;
use std::sync::Arc;

pub(crate) struct DenseSerialBlocks;

struct Kernel<S> {
    grid: RowBlocks<S>,
    simd: SimdLevel,
}

impl<S: Scalar> HostKernel<S> for Kernel<S> {
    fn reduce(&mut self, data: DenseView<'_, S>, results: &mut [f64]) {
        self.grid.reduce(self.simd, None, data, results);
    }
}

pub(crate) const DESCRIPTION: Description = Description::new(
    "dense-serial-blocks",
    "one thread, blocks of rows and stripes of columns, vector instructions across the columns",
    Place::Serial,
    source_file!("column_stats/cpu/dense_serial_blocks.rs"),
);

impl<S: Scalar> Variant<Columns<S>> for DenseSerialBlocks {
    fn describe(&self) -> &Description {
        &DESCRIPTION
    }
    fn prepare(&self, machine: &Arc<Machine>, shape: &Shape) -> Result<Box<dyn Reduction<S>>, Refusal> {
        let kernel = Kernel { grid: RowBlocks::new(*shape), simd: machine.cpu().simd };
        Ok(OnHost::boxed(machine, kernel, *shape))
    }
}
