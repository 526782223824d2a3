//! Three plain loops: row by row, every product is added to its sum.
//! Touches X and Y once, and all of G for every row. Loses everywhere: sums go through memory, and one thread adds.

use crate::Scalar;
use crate::machine::Machine;
use crate::matrix::DenseView;
use crate::op::{Description, Place, Variant};
use crate::refusal::Refusal;
use crate::source_file;
use crate::tall_skinny::gram::contract::{Gram, InnerProducts, Shape};
use crate::tall_skinny::gram::cpu::host::{HostKernel, OnHost};
use std::sync::Arc;

pub(crate) struct DenseSerialLoops;

struct Kernel;

impl<S: Scalar> HostKernel<S> for Kernel {
    fn reduce(&mut self, x: DenseView<'_, S>, y: DenseView<'_, S>, g: &mut [f64]) {
        g.fill(0.0);
        for row in 0..x.rows() {
            let y = y.row(row);
            for (x, sums) in x.row(row).iter().zip(g.chunks_exact_mut(y.len().max(1))) {
                for (y, sum) in y.iter().zip(sums) {
                    *sum += x.to_f64() * y.to_f64();
                }
            }
        }
    }
}

pub(crate) const DESCRIPTION: Description = Description::new(
    "dense-serial-loops",
    "row by row, every product added to its sum; one thread",
    Place::Serial,
    source_file!("tall_skinny/gram/cpu/dense_serial_loops.rs"),
)
.ladder();

impl<S: Scalar> Variant<Gram<S>> for DenseSerialLoops {
    fn describe(&self) -> &Description {
        &DESCRIPTION
    }
    fn prepare(&self, machine: &Arc<Machine>, shape: &Shape) -> Result<Box<dyn InnerProducts<S>>, Refusal> {
        Ok(OnHost::boxed(machine, Kernel, *shape))
    }
}
