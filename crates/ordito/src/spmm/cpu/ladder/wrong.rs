//! Deliberately wrong: leaves out the last nonzero of every row. Only in builds with the feature `wrong-variant`,
//! where a test sees `ordito verify` call it incorrect.
//! Loses always.

use crate::Scalar;
use crate::machine::Machine;
use crate::matrix::{Csr, DenseView, DenseViewMut};
use crate::op::{Description, Place, Variant};
use crate::refusal::Refusal;
use crate::source_file;
use crate::spmm::cpu::host::{HostKernel, OnHost};
use crate::spmm::cpu::kernels::epilogue::update;
use crate::spmm::product::{Product, Spmm, Subject};
use std::sync::Arc;

pub(crate) struct CsrSerialWrong;

struct Kernel<S>(Arc<Csr<S>>);

impl<S: Scalar> HostKernel<S> for Kernel<S> {
    fn multiply(&self, alpha: S, x: DenseView<'_, S>, _: &[S], beta: S, mut y: DenseViewMut<'_, S>) {
        for row in 0..y.rows() {
            let kept = self.0.view().range(row).len().saturating_sub(1);
            for (k, y) in y.row_mut(row).iter_mut().enumerate() {
                let sum = self.0.view().row(row).take(kept).map(|(col, value)| value * x.row(col)[k]).sum();
                update(y, alpha, sum, beta);
            }
        }
    }
}

pub(crate) const DESCRIPTION: Description = Description::new(
    "csr-serial-wrong",
    "deliberately wrong: leaves out the last nonzero of every row",
    Place::Serial,
    source_file!("spmm/cpu/ladder/wrong.rs"),
)
.faulty();

impl<S: Scalar> Variant<Spmm<S>> for CsrSerialWrong {
    fn describe(&self) -> &Description {
        &DESCRIPTION
    }
    fn prepare(&self, machine: &Arc<Machine>, subject: &Subject<S>) -> Result<Box<dyn Product<S>>, Refusal> {
        let a = &subject.a;
        Ok(OnHost::boxed(machine, Kernel(a.clone()), (a.rows(), a.cols()), subject.k))
    }
}
