//! Blocked loops: one thread adds the product of a block of A and a block of B to a block of C, row by row.
//! Touches each block of B once for every block of rows of C, while it lies in the first-level cache.
//! Loses to packed panels: rows of a block are not contiguous, and C is loaded and stored for every column of A.

use crate::Scalar;
use crate::gemm::cpu::host::{HostKernel, OnHost, check_serial_work};
use crate::gemm::product::{Gemm, Product, Shape};
use crate::machine::{Interrupt, Machine};
use crate::matrix::{DenseView, DenseViewMut};
use crate::op::{Description, Place, Variant};
use crate::refusal::Refusal;
use crate::source_file;
use std::sync::Arc;

/// Rows and columns of a block of B: 32 KiB in f64, what a first-level cache holds.
const DEPTH: usize = 32;
const WIDTH: usize = 128;
/// Rows of A and C that pass over it before the next block comes.
const HEIGHT: usize = 128;

pub(crate) struct DenseSerialBlocked;

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
        c.scale(beta);
        let (m, k, n) = (a.rows(), a.cols(), b.cols());
        for first_row in (0..m).step_by(HEIGHT) {
            for first_term in self.0.until_set((0..k).step_by(DEPTH)) {
                for first_col in (0..n).step_by(WIDTH) {
                    let cols = first_col..n.min(first_col + WIDTH);
                    for row in first_row..m.min(first_row + HEIGHT) {
                        let c = &mut c.row_mut(row)[cols.clone()];
                        for term in first_term..k.min(first_term + DEPTH) {
                            let a = alpha * a.row(row)[term];
                            for (c, &b) in c.iter_mut().zip(&b.row(term)[cols.clone()]) {
                                *c += a * b;
                            }
                        }
                    }
                }
            }
        }
    }
}

pub(crate) const DESCRIPTION: Description = Description::new(
    "dense-serial-blocked",
    "one thread, blocks of A, B and C that lie in the first-level cache",
    Place::Serial,
    source_file!("gemm/cpu/dense_serial_blocked.rs"),
)
.ladder();

impl<S: Scalar> Variant<Gemm<S>> for DenseSerialBlocked {
    fn describe(&self) -> &Description {
        &DESCRIPTION
    }
    fn prepare(&self, machine: &Arc<Machine>, shape: &Shape) -> Result<Box<dyn Product<S>>, Refusal> {
        check_serial_work(machine, *shape)?;
        Ok(OnHost::boxed(machine, Kernel(machine.interrupt().clone()), *shape))
    }
}
