//! Threaded CSR, ours: chunks of rows with about equal *nonzeros*, for threads to take; within a row the sums of up to eight
//! registers of columns stay there, so A is read once per such span and X by whole cache lines. Rows beyond 16 K nonzeros are shared.
//! Loses to formats that know more of the matrix: rows that are alike, diagonals, rows too short to foresee where they end.

use crate::Scalar;
use crate::machine::Machine;
use crate::matrix::{Csr, DenseView, DenseViewMut};
use crate::op::{Description, Place, Variant};
use crate::refusal::Refusal;
use crate::source_file;
use crate::spmm::cpu::csr_product::{multiply_chunks, multiply_rows};
use crate::spmm::cpu::host::{HostKernel, OnHost};
use crate::spmm::cpu::kernels::row_kernel::Operands;
use crate::spmm::cpu::panels::InParts;
use crate::spmm::cpu::partition::RowChunks;
use crate::spmm::cpu::prefetch as ahead;
use crate::spmm::product::{Product, Spmm, Subject};
use std::ops::Range;
use std::sync::Arc;

pub(crate) struct CsrThreadsNnz;

pub(crate) struct Kernel<S> {
    a: Arc<Csr<S>>,
    machine: Arc<Machine>,
    chunks: RowChunks,
    /// Rows at which they begin and end; none where a row is shared.
    whole_rows: Vec<usize>,
    ahead: usize,
}

impl<S: Scalar> Kernel<S> {
    pub(crate) fn new(machine: &Arc<Machine>, a: Arc<Csr<S>>, k: usize) -> Self {
        let chunks = RowChunks::new(a.view().offsets(), k, machine.threads());
        let ahead = ahead::distance(machine, a.view(), k);
        let whole_rows = chunks.of_whole_rows();
        Kernel { a, machine: machine.clone(), chunks, whole_rows, ahead }
    }
}

impl<S: Scalar> HostKernel<S> for Kernel<S> {
    fn multiply(&self, alpha: S, x: DenseView<'_, S>, _: &[S], beta: S, y: DenseViewMut<'_, S>) {
        multiply_chunks(&self.machine, self.a.view(), &self.chunks, self.ahead, alpha, x, beta, y);
    }

    fn in_parts(&self) -> Option<&dyn InParts<S>> {
        (!self.whole_rows.is_empty()).then_some(self)
    }

    fn for_columns(&self, subject: &Subject<S>) -> Option<Box<dyn HostKernel<S>>> {
        Some(Box::new(Kernel::new(&self.machine, self.a.clone(), subject.k)))
    }

    fn set_values(&mut self, a: &Arc<Csr<S>>) -> bool {
        self.a = a.clone();
        true
    }
}

/// A row is a unit.
impl<S: Scalar> InParts<S> for Kernel<S> {
    fn chunks(&self) -> &[usize] {
        &self.whole_rows
    }
    fn first_row(&self, row: usize) -> usize {
        row
    }
    unsafe fn multiply_units(&self, rows: Range<usize>, operands: Operands<S>) {
        // SAFETY: the caller's promise.
        unsafe { multiply_rows(&self.machine, self.a.view(), rows, self.ahead, operands) };
    }
}

pub(crate) const DESCRIPTION: Description = Description::new(
    "csr-threads-nnz",
    "CSR, rows split at equal nonzeros, vector instructions across the columns of X",
    Place::Threads,
    source_file!("spmm/cpu/csr_threads_nnz.rs"),
)
.plain();

impl<S: Scalar> Variant<Spmm<S>> for CsrThreadsNnz {
    fn describe(&self) -> &Description {
        &DESCRIPTION
    }
    fn prepare(&self, machine: &Arc<Machine>, subject: &Subject<S>) -> Result<Box<dyn Product<S>>, Refusal> {
        let a = &subject.a;
        let kernel = Kernel::new(machine, a.clone(), subject.k);
        Ok(OnHost::boxed(machine, kernel, (a.rows(), a.cols()), subject.k))
    }
}
