//! Three loops, the textbook's: one thread computes one element of C after the other, its sum in a register.
//! Touches a row of A and a column of B for every element, the latter one cache line per number.
//! Loses as soon as B exceeds a cache: every line of it is fetched again for each of its columns.

use crate::Scalar;
use crate::gemm::cpu::host::{HostKernel, OnHost, check_serial_work};
use crate::gemm::product::{Gemm, Product, Shape};
use crate::machine::{Interrupt, Machine};
use crate::matrix::{DenseView, DenseViewMut};
use crate::op::{Description, Place, Variant};
use crate::refusal::Refusal;
use crate::source_file;
use std::sync::Arc;

pub(crate) struct DenseSerialLoops;

struct Kernel(Interrupt);

impl<S: Scalar> HostKernel<S> for Kernel {
    fn multiply(
        &mut self,
        alpha: S,
        a: DenseView<'_, S>,
        b: DenseView<'_, S>,
        beta: S,
        mut c: DenseViewMut<'_, S>,
    ) {
        let (b_data, distance) = (b.data(), b.leading_dimension());
        for row in self.0.until_set(0..c.rows()) {
            let a = a.row(row);
            for (col, c) in c.row_mut(row).iter_mut().enumerate() {
                let mut sum = S::ZERO;
                for (k, &a) in a.iter().enumerate() {
                    sum += a * b_data[k * distance + col];
                }
                *c = if beta == S::ZERO { alpha * sum } else { alpha * sum + beta * *c };
            }
        }
    }
}

pub(crate) const DESCRIPTION: Description = Description::new(
    "dense-serial-loops",
    "one thread, three loops, one element of C after the other",
    Place::Serial,
    source_file!("gemm/cpu/dense_serial_loops.rs"),
)
.ladder();

impl<S: Scalar> Variant<Gemm<S>> for DenseSerialLoops {
    fn describe(&self) -> &Description {
        &DESCRIPTION
    }
    fn prepare(&self, machine: &Arc<Machine>, shape: &Shape) -> Result<Box<dyn Product<S>>, Refusal> {
        check_serial_work(machine, *shape)?;
        Ok(OnHost::boxed(machine, Kernel(machine.interrupt().clone()), *shape))
    }
}
