//! Serial CSR: one thread computes one element of Y after the other, a sum over the row's nonzeros in a register.
//! Touches A's row once per column of X and one element of X per product, K elements apart.
//! Loses as soon as K > 1: A is read K times and no cache line of X is used whole.

use crate::Scalar;
use crate::machine::{Interrupt, Machine};
use crate::matrix::{Csr, CsrSlices, DenseView, DenseViewMut};
use crate::op::{Description, Place, Variant};
use crate::refusal::Refusal;
use crate::source_file;
use crate::spmm::cpu::host::{HostKernel, OnHost};
use crate::spmm::cpu::kernels::epilogue::update;
use crate::spmm::product::{Product, Spmm, Subject};
use std::sync::Arc;

pub(crate) struct CsrSerial;

struct Kernel<S> {
    a: Arc<Csr<S>>,
    interrupt: Interrupt,
}

impl<S: Scalar> HostKernel<S> for Kernel<S> {
    fn multiply(&self, alpha: S, x: DenseView<'_, S>, _: &[S], beta: S, y: DenseViewMut<'_, S>) {
        element_by_element(self.a.view(), 0, alpha, x, beta, y, &self.interrupt);
    }
}

/// Rows `first_row..` of Y, as many as `y` has, one element after the other, until it is interrupted.
pub(crate) fn element_by_element<S: Scalar>(
    a: CsrSlices<'_, S>,
    first_row: usize,
    alpha: S,
    x: DenseView<'_, S>,
    beta: S,
    mut y: DenseViewMut<'_, S>,
    interrupt: &Interrupt,
) {
    let (x_data, distance) = (x.data(), x.leading_dimension());
    for row in interrupt.until_set(0..y.rows()) {
        let entries = a.range(first_row + row);
        let columns = &a.columns()[entries.clone()];
        let values = &a.values()[entries];
        for (k, y) in y.row_mut(row).iter_mut().enumerate() {
            let mut sum = S::ZERO;
            for (&col, &value) in columns.iter().zip(values) {
                sum += value * x_data[col as usize * distance + k];
            }
            update(y, alpha, sum, beta);
        }
    }
}

pub(crate) const DESCRIPTION: Description = Description::new(
    "csr-serial",
    "CSR, one thread, one element of Y after the other",
    Place::Serial,
    source_file!("spmm/cpu/ladder/csr_serial.rs"),
)
.ladder()
.never_chosen();

impl<S: Scalar> Variant<Spmm<S>> for CsrSerial {
    fn describe(&self) -> &Description {
        &DESCRIPTION
    }
    fn prepare(&self, machine: &Arc<Machine>, subject: &Subject<S>) -> Result<Box<dyn Product<S>>, Refusal> {
        let a = &subject.a;
        let kernel = Kernel { a: a.clone(), interrupt: machine.interrupt().clone() };
        Ok(OnHost::boxed(machine, kernel, (a.rows(), a.cols()), subject.k))
    }
}
