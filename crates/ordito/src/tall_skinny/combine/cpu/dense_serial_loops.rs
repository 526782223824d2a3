//! Three plain loops: row by row, a row of Y is the sum of rows of C.
//! Touches X and Y once, and all of C for every row. Loses everywhere: sums go through memory, and one thread adds.

use crate::Scalar;
use crate::machine::Machine;
use crate::matrix::{DenseView, DenseViewMut};
use crate::op::{Description, Place, Variant};
use crate::refusal::Refusal;
use crate::source_file;
use crate::tall_skinny::combine::contract::{Combination, Combine, Shape};
use crate::tall_skinny::combine::cpu::host::{HostKernel, OnHost};
use std::sync::Arc;

pub(crate) struct DenseSerialLoops;

struct Kernel;

impl<S: Scalar> HostKernel<S> for Kernel {
    fn combine(&mut self, x: DenseView<'_, S>, c: DenseView<'_, S>, mut y: DenseViewMut<'_, S>) {
        for row in 0..x.rows() {
            let to = y.row_mut(row);
            to.fill(S::ZERO);
            for (term, &x) in x.row(row).iter().enumerate() {
                for (to, &c) in to.iter_mut().zip(c.row(term)) {
                    *to += x * c;
                }
            }
        }
    }
}

pub(crate) const DESCRIPTION: Description = Description::new(
    "dense-serial-loops",
    "row by row, a row of Y is a sum of rows of C; one thread",
    Place::Serial,
    source_file!("tall_skinny/combine/cpu/dense_serial_loops.rs"),
)
.ladder();

impl<S: Scalar> Variant<Combine<S>> for DenseSerialLoops {
    fn describe(&self) -> &Description {
        &DESCRIPTION
    }
    fn prepare(&self, machine: &Arc<Machine>, shape: &Shape) -> Result<Box<dyn Combination<S>>, Refusal> {
        Ok(OnHost::boxed(machine, Kernel, *shape))
    }
}
