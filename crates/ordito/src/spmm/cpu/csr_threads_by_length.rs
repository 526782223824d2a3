//! Threaded CSR whose rows are sorted by length inside windows of at most 512: the kernel of `csr-threads-nnz`, but the processor foresees
//! where rows end, since neighbours are about equally long. Reads A and X once, writes Y nearly in order.
//! Loses where Y is large and K wide, where lengths do not change, and where one row is most of the matrix.

use crate::Scalar;
use crate::machine::Machine;
use crate::op::{Description, Place, Variant};
use crate::refusal::Refusal;
use crate::source_file;
use crate::spmm::cpu::csr_ordered::Kernel;
use crate::spmm::cpu::formats::OrderedCsr;
use crate::spmm::cpu::host::OnHost;
use crate::spmm::product::{Product, Spmm, Subject};
use std::sync::Arc;

pub(crate) struct CsrThreadsByLength;

pub(crate) const DESCRIPTION: Description = Description::new(
    "csr-threads-by-length",
    "CSR with rows sorted by length in windows, split at equal nonzeros, vectors across the columns of X",
    Place::Threads,
    source_file!("spmm/cpu/csr_threads_by_length.rs"),
)
.converted();

impl<S: Scalar> Variant<Spmm<S>> for CsrThreadsByLength {
    fn describe(&self) -> &Description {
        &DESCRIPTION
    }
    fn prepare(&self, machine: &Arc<Machine>, subject: &Subject<S>) -> Result<Box<dyn Product<S>>, Refusal> {
        let (rows, nonzeros) = (subject.a.rows(), subject.a.nnz());
        machine.check_memory("CSR sorted by length", OrderedCsr::<S>::bytes_for(rows, nonzeros))?;
        let a = machine.pool().install(|| OrderedCsr::by_length(subject.a.view()))?;
        let kernel = Kernel::new(machine, subject, Arc::new(a), always_pays, None);
        Ok(OnHost::boxed(machine, kernel, subject.a.shape(), subject.k))
    }
}

/// Nobody asks before sorting, which costs little.
fn always_pays<S: Scalar>(_: &Machine, _: &Subject<S>, _: &[u32]) -> Option<String> {
    None
}
