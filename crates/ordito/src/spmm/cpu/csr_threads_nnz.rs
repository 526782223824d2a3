//! Threaded CSR, ours: chunks of rows with about equal *nonzeros*, for threads to take; within a row the sums of up to eight
//! registers of columns stay there, so A is read once per such span and X by whole cache lines. Rows beyond 16 K nonzeros are shared.
//! Loses to formats that know more of the matrix: rows that are alike, diagonals, rows too short to foresee where they end.

use crate::Scalar;
use crate::machine::Machine;
use crate::matrix::{Csr, DenseView, DenseViewMut};
use crate::op::{Description, Place, Variant};
use crate::refusal::Refusal;
use crate::source_file;
use crate::spmm::cpu::csr_product::multiply_chunks;
use crate::spmm::cpu::host::{HostKernel, OnHost};
use crate::spmm::cpu::partition::RowChunks;
use crate::spmm::cpu::prefetch as ahead;
use crate::spmm::product::{Product, Spmm, Subject};
use std::sync::Arc;

pub(crate) struct CsrThreadsNnz;

struct Kernel<S> {
    a: Arc<Csr<S>>,
    machine: Arc<Machine>,
    chunks: RowChunks,
    ahead: usize,
}

impl<S: Scalar> HostKernel<S> for Kernel<S> {
    fn multiply(&mut self, alpha: S, x: DenseView<'_, S>, beta: S, y: DenseViewMut<'_, S>) {
        multiply_chunks(&self.machine, self.a.view(), &self.chunks, self.ahead, alpha, x, beta, y);
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
        let chunks = RowChunks::new(a.view().offsets(), subject.k, machine.threads());
        let ahead = ahead::distance(machine, a.view(), subject.k);
        let kernel = Kernel { a: a.clone(), machine: machine.clone(), chunks, ahead };
        Ok(OnHost::boxed(machine, kernel, (a.rows(), a.cols()), subject.k))
    }
}
