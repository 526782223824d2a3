//! Serial ragged ELLPACK: one thread, one element of Y after the other, every row in memory of its own.
//! Touches a pointer pair per row, the row once per column of X, and one element of X per product, K elements apart.
//! Loses where rows are short (a row is two allocations somewhere else) and for K > 1.

use crate::Scalar;
use crate::machine::{Interrupt, Machine};
use crate::matrix::{Csr, DenseView, DenseViewMut, EllRagged};
use crate::op::{Description, Place, Variant};
use crate::refusal::Refusal;
use crate::source_file;
use crate::spmm::cpu::host::{HostKernel, OnHost};
use crate::spmm::cpu::kernels::epilogue::update;
use crate::spmm::product::{Product, Spmm, Subject};
use std::sync::Arc;

pub(crate) struct EllRaggedSerial;

struct Kernel<S> {
    a: EllRagged<S>,
    interrupt: Interrupt,
}

impl<S: Scalar> HostKernel<S> for Kernel<S> {
    fn multiply(&self, alpha: S, x: DenseView<'_, S>, _: &[S], beta: S, mut y: DenseViewMut<'_, S>) {
        let (x_data, distance) = (x.data(), x.leading_dimension());
        for (row, entries) in self.interrupt.until_set(self.a.rows().iter().enumerate()) {
            for (k, y) in y.row_mut(row).iter_mut().enumerate() {
                let mut sum = S::ZERO;
                for (&col, &value) in entries.columns.iter().zip(&entries.values) {
                    sum += value * x_data[col as usize * distance + k];
                }
                update(y, alpha, sum, beta);
            }
        }
    }

    fn bytes(&self) -> u64 {
        let nonzeros = self.a.rows().iter().map(|row| row.values.len()).sum();
        EllRagged::<S>::bytes_for(self.a.rows().len(), nonzeros).unwrap_or(u64::MAX)
    }
}

/// Ragged ELLPACK, or a refusal that says how large it would be.
pub(crate) fn rag<S: Scalar>(machine: &Machine, a: &Csr<S>) -> Result<EllRagged<S>, Refusal> {
    let what = format!("ragged ELLPACK ({} rows, {} nonzeros)", a.rows(), a.nnz());
    machine.check_memory(what, EllRagged::<S>::bytes_for(a.rows(), a.nnz()))?;
    Ok(EllRagged::from_csr(a))
}

pub(crate) const DESCRIPTION: Description = Description::new(
    "ell-ragged-serial",
    "ragged ELLPACK, one thread, one element of Y after the other",
    Place::Serial,
    source_file!("spmm/cpu/ladder/ell_ragged_serial.rs"),
)
.ladder()
.converted()
.never_chosen();

impl<S: Scalar> Variant<Spmm<S>> for EllRaggedSerial {
    fn describe(&self) -> &Description {
        &DESCRIPTION
    }
    fn prepare(&self, machine: &Arc<Machine>, subject: &Subject<S>) -> Result<Box<dyn Product<S>>, Refusal> {
        let a = &subject.a;
        let kernel = Kernel { a: rag(machine, a)?, interrupt: machine.interrupt().clone() };
        Ok(OnHost::boxed(machine, kernel, (a.rows(), a.cols()), subject.k))
    }
}
