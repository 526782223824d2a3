//! Threaded CSR whose rows are sorted by length inside windows of 512: the kernel of `csr-threads-nnz`, but the loop over a row
//! ends after as many steps as the one before, which the processor foresees. Reads A and X once, writes Y nearly in order.
//! Loses where rows are long or equally long anyway, where Y is large and K wide, and where one row is most of the matrix.

use super::ahead;
use super::csr_product::NARROW_COLUMNS;
use super::host::{HostKernel, OnHost};
use super::row_chunks::{chunk_count, even_borders, work};
use super::row_kernel::{Operands, RowList, Rows};
use super::{Product, Spmm, Subject};
use crate::Scalar;
use crate::machine::{Machine, Refusal};
use crate::matrix::{DenseView, DenseViewMut, SortedCsr};
use crate::ops::{Place, Variant};
use std::sync::Arc;

pub(super) struct CsrThreadsSorted;

struct Kernel<S> {
    a: SortedCsr<S>,
    machine: Arc<Machine>,
    borders: Vec<usize>,
    ahead: usize,
}

/// The rows of a [`SortedCsr`].
#[derive(Clone, Copy)]
struct ByLength {
    starts: *const u32,
    order: *const u32,
}

impl RowList for ByLength {
    #[inline(always)]
    unsafe fn start(self, i: usize) -> usize {
        // SAFETY: the caller's promise.
        unsafe { *self.starts.add(i) as usize }
    }
    #[inline(always)]
    unsafe fn row(self, i: usize) -> usize {
        // SAFETY: the caller's promise.
        unsafe { *self.order.add(i) as usize }
    }
}

impl<S: Scalar> HostKernel<S> for Kernel<S> {
    fn multiply(&mut self, alpha: S, x: DenseView<'_, S>, beta: S, y: DenseViewMut<'_, S>) {
        let Kernel { a, machine, borders, ahead } = self;
        let (ahead, operands) = (*ahead, Operands::new(alpha, x, beta, y));
        let narrow_columns = a.cols() <= NARROW_COLUMNS;
        // The format keeps what the kernel relies on: starts rise to the number of entries, columns are rows of X, and every
        // row of Y stands once in the order, so a chunk has its rows to itself.
        machine.team().run(borders.len() - 1, |chunk| {
            let list = ByLength { starts: a.starts().as_ptr(), order: a.order().as_ptr() };
            let (columns, values) = (a.columns().as_ptr(), a.values().as_ptr());
            let (first, end) = (borders[chunk], borders[chunk + 1]);
            machine.vectorized(Rows { list, first, end, columns, values, operands, narrow_columns, ahead });
        });
    }
}

impl<S: Scalar> Variant<Spmm<S>> for CsrThreadsSorted {
    fn name(&self) -> &'static str {
        "csr-threads-sorted"
    }
    fn about(&self) -> &'static str {
        "CSR with rows sorted by length in windows of 512, split at equal nonzeros, vectors across the columns of X"
    }
    fn place(&self) -> Place {
        Place::Threads
    }
    fn source(&self) -> &'static str {
        include_str!("csr_threads_sorted.rs")
    }
    fn prepare(&self, machine: &Arc<Machine>, subject: &Subject<S>) -> Result<Box<dyn Product<S>>, Refusal> {
        let (rows, nonzeros) = (subject.a.rows(), subject.a.nonzeros());
        machine.check_memory("CSR sorted by length", SortedCsr::<S>::bytes_for(rows, nonzeros))?;
        let a = machine.pool().install(|| SortedCsr::from_csr(subject.a.view()))?;
        let chunks = chunk_count(machine.threads(), work(nonzeros, rows, subject.k));
        let borders = even_borders(rows, chunks, |row| a.starts()[row] as usize + row);
        let shape = (rows, subject.a.cols());
        let ahead = ahead::distance(machine, subject.a.view(), subject.k);
        Ok(OnHost::boxed(Kernel { a, machine: machine.clone(), borders, ahead }, shape, subject.k))
    }
}
