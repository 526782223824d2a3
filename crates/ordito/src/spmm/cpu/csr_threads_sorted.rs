//! Threaded CSR whose rows are sorted by length inside windows of 512, eight of one length at a time, their entries side by
//! side: one loop serves eight rows, and ends where the processor foresees it. Reads A and X once, writes Y nearly in order.
//! Loses where rows are long, where Y is large and K wide, and where one row is most of the matrix.

use crate::Scalar;
use crate::machine::Machine;
use crate::matrix::{DenseView, DenseViewMut};
use crate::op::{Description, Place, Variant};
use crate::refusal::Refusal;
use crate::source_file;
use crate::spmm::cpu::formats::SortedCsr;
use crate::spmm::cpu::host::{HostKernel, OnHost};
use crate::spmm::cpu::kernels::row_kernel::Operands;
use crate::spmm::cpu::kernels::stretch_kernel::Stretches;
use crate::spmm::cpu::partition::{chunk_count, even_borders, work};
use crate::spmm::product::{Product, Spmm, Subject};
use std::sync::Arc;

pub(crate) struct CsrThreadsSorted;

struct Kernel<S> {
    a: SortedCsr<S>,
    machine: Arc<Machine>,
    /// Stretches at which chunks begin and end.
    borders: Vec<usize>,
}

impl<S: Scalar> HostKernel<S> for Kernel<S> {
    fn multiply(&mut self, alpha: S, x: DenseView<'_, S>, beta: S, y: DenseViewMut<'_, S>) {
        let Kernel { a, machine, borders } = self;
        let operands = Operands::new(alpha, x, beta, y);
        // The format keeps what the kernel relies on: stretches cover the entries, columns are rows of X, and every row of Y
        // stands once in the order, so a chunk has its rows to itself.
        machine.run_chunks(borders.len() - 1, |chunk| {
            let stretches = Stretches {
                stretches: a.stretches().as_ptr(),
                first: borders[chunk],
                end: borders[chunk + 1],
                order: a.order().as_ptr(),
                columns: a.columns().as_ptr(),
                values: a.values().as_ptr(),
                operands,
            };
            if !in_vectors(machine, stretches) {
                machine.vectorized(stretches);
            }
        });
    }
}

/// Few columns, of several rows in one vector, where the processor has such vectors; `false`: nothing was done.
#[cfg_attr(not(target_arch = "x86_64"), allow(unused_variables))]
fn in_vectors<S: Scalar>(machine: &Machine, stretches: Stretches<S>) -> bool {
    #[cfg(target_arch = "x86_64")]
    if machine.cpu().simd == crate::cpu::SimdLevel::Avx512 {
        // SAFETY: a machine's level never exceeds what the processor has.
        return unsafe { crate::spmm::cpu::kernels::stretches_avx512::multiply(stretches) };
    }
    false
}

pub(crate) const DESCRIPTION: Description = Description::new(
    "csr-threads-sorted",
    "CSR with rows sorted by length in windows of 512, eight of one length side by side, vectors across the columns of X",
    Place::Threads,
    source_file!("spmm/cpu/csr_threads_sorted.rs"),
).converted();

impl<S: Scalar> Variant<Spmm<S>> for CsrThreadsSorted {
    fn describe(&self) -> &Description {
        &DESCRIPTION
    }
    fn prepare(&self, machine: &Arc<Machine>, subject: &Subject<S>) -> Result<Box<dyn Product<S>>, Refusal> {
        let (rows, nonzeros) = (subject.a.rows(), subject.a.nnz());
        machine.check_memory("CSR sorted by length", SortedCsr::<S>::bytes_for(rows, nonzeros))?;
        let a = machine.pool().install(|| SortedCsr::from_csr(subject.a.view()))?;
        let chunks = chunk_count(machine.threads(), work(nonzeros, rows, subject.k));
        let work_before = |i: usize| a.stretches()[i].entry as usize + a.stretches()[i].place as usize;
        let borders = even_borders(a.stretches().len() - 1, chunks, work_before);
        let shape = (rows, subject.a.cols());
        Ok(OnHost::boxed(machine, Kernel { a, machine: machine.clone(), borders }, shape, subject.k))
    }
}
