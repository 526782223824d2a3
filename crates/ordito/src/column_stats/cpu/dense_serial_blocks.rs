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
use crate::op::{Place, Variant};
use crate::refusal::Refusal;
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

impl<S: Scalar> Variant<Columns<S>> for DenseSerialBlocks {
    fn name(&self) -> &'static str {
        "dense-serial-blocks"
    }
    fn about(&self) -> &'static str {
        "one thread, blocks of rows and stripes of columns, vector instructions across the columns"
    }
    fn place(&self) -> Place {
        Place::Serial
    }
    fn source(&self) -> &'static str {
        include_str!("dense_serial_blocks.rs")
    }
    fn prepare(&self, machine: &Arc<Machine>, shape: &Shape) -> Result<Box<dyn Reduction<S>>, Refusal> {
        let kernel = Kernel { grid: RowBlocks::new(*shape), simd: machine.cpu().simd };
        Ok(OnHost::boxed(kernel, *shape))
    }
}
