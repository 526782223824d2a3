//! Threaded CSR whose rows are sorted by length inside windows of at most 512, eight of one length at a time, their entries side by
//! side: one loop serves eight rows, and ends where the processor foresees it. Reads A and X once, writes Y nearly in order.
//! Loses where rows are long, where Y is large and K wide, and where one row is most of the matrix.

use crate::Scalar;
use crate::machine::Machine;
use crate::matrix::{Csr, DenseView, DenseViewMut};
use crate::op::{Description, Place, Variant};
use crate::refusal::Refusal;
use crate::source_file;
use crate::spmm::cpu::formats::SortedCsr;
use crate::spmm::cpu::host::{HostKernel, OnHost, refill};
use crate::spmm::cpu::kernels::row_kernel::Operands;
use crate::spmm::cpu::kernels::stretch_kernel::Stretches;
use crate::spmm::cpu::panels::InParts;
use crate::spmm::cpu::partition::{chunk_count, even_borders, snap, work};
use crate::spmm::product::{Product, Spmm, Subject};
use std::ops::Range;
use std::sync::Arc;

pub(crate) struct CsrThreadsSorted;

struct Kernel<S> {
    a: Arc<SortedCsr<S>>,
    machine: Arc<Machine>,
    /// Stretches at which chunks begin and end.
    borders: Vec<usize>,
    /// Windows of rows at which chunks begin and end for X and Y in columns.
    windows: Vec<usize>,
}

impl<S: Scalar> Kernel<S> {
    fn new(machine: &Arc<Machine>, a: Arc<SortedCsr<S>>, k: usize) -> Self {
        let chunks = chunk_count(machine.threads(), work(a.columns().len(), a.order().len(), k));
        let work_before = |i: usize| a.stretches()[i].entry as usize + a.stretches()[i].place as usize;
        let mut borders = even_borders(a.stretches().len() - 1, chunks, work_before);
        let count = a.windows().len() - 1;
        let begin: Vec<usize> = (0..=count).map(|window| a.first_stretch(window)).collect();
        snap(&mut borders, &begin, work_before);
        let windows = even_borders(count, chunks.min(count.max(1)), |window| work_before(begin[window]));
        Kernel { a, machine: machine.clone(), borders, windows }
    }

    /// # Safety
    /// The operands have the rows of X that these stretches read and their rows of Y, which no other thread has.
    unsafe fn multiply_stretches(&self, first: usize, end: usize, operands: Operands<S>) {
        let (a, machine) = (&self.a, &self.machine);
        // The format keeps what the kernel relies on: stretches cover the entries, columns are rows of X.
        let stretches = Stretches {
            stretches: a.stretches().as_ptr(),
            first,
            end,
            order: a.order().as_ptr(),
            columns: a.columns().as_ptr(),
            values: a.values().as_ptr(),
            operands,
        };
        if !in_vectors(machine, stretches) {
            machine.vectorized(stretches);
        }
    }
}

impl<S: Scalar> HostKernel<S> for Kernel<S> {
    fn multiply(&self, alpha: S, x: DenseView<'_, S>, _: &[S], beta: S, y: DenseViewMut<'_, S>) {
        let operands = Operands::new(alpha, x, beta, y);
        self.machine.run_chunks(self.borders.len() - 1, move |chunk| {
            // SAFETY: every row of Y stands once in the order, so a chunk has its rows to itself; X has a row for every column.
            unsafe { self.multiply_stretches(self.borders[chunk], self.borders[chunk + 1], operands) };
        });
    }

    fn for_columns(&self, subject: &Subject<S>) -> Option<Box<dyn HostKernel<S>>> {
        Some(Box::new(Kernel::new(&self.machine, self.a.clone(), subject.k)))
    }

    fn set_values(&mut self, a: &Arc<Csr<S>>) -> bool {
        refill(&self.machine, &mut self.a, |own| own.set_values(a.view()))
    }

    fn in_parts(&self) -> Option<&dyn InParts<S>> {
        Some(self)
    }

    fn bytes(&self) -> u64 {
        SortedCsr::<S>::bytes_for(self.a.order().len(), self.a.columns().len()).unwrap_or(u64::MAX)
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

/// A window is a unit: its rows stand together, in whatever order.
impl<S: Scalar> InParts<S> for Kernel<S> {
    fn chunks(&self) -> &[usize] {
        &self.windows
    }
    fn first_row(&self, window: usize) -> usize {
        self.a.windows()[window]
    }
    unsafe fn multiply_units(&self, windows: Range<usize>, operands: Operands<S>) {
        let [first, end] = [windows.start, windows.end].map(|window| self.a.first_stretch(window));
        // SAFETY: stretches never reach over windows; the rest is the caller's promise.
        unsafe { self.multiply_stretches(first, end, operands) };
    }
}

pub(crate) const DESCRIPTION: Description = Description::new(
    "csr-threads-sorted",
    "CSR with rows sorted by length in windows, eight of one length side by side, vectors across the columns of X",
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
        let kernel = Kernel::new(machine, Arc::new(a), subject.k);
        Ok(OnHost::boxed(machine, kernel, (rows, subject.a.cols()), subject.k))
    }
}
