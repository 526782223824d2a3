//! The product of CSR whose rows stand in another order: the kernel of `csr-threads-nnz`, each row's sums written to where the row
//! belongs. Which order, and what it is good for, the variants say. A row is never shared between threads.

use crate::Scalar;
use crate::machine::Machine;
use crate::matrix::{DenseView, DenseViewMut};
use crate::spmm::cpu::csr_product::NARROW_COLUMNS;
use crate::spmm::cpu::formats::OrderedCsr;
use crate::spmm::cpu::host::{HostKernel, OnHost};
use crate::spmm::cpu::kernels::row_kernel::{Operands, RowList, Rows};
use crate::spmm::cpu::partition::{chunk_count, even_borders, work};
use crate::spmm::product::{Product, Subject};
use std::sync::Arc;

pub(crate) struct Kernel<S> {
    a: OrderedCsr<S>,
    machine: Arc<Machine>,
    borders: Vec<usize>,
    ahead: usize,
    does_not_pay: Option<String>,
}

impl<S: Scalar> Kernel<S> {
    /// X is asked for `ahead` entries before it is needed.
    pub(crate) fn new(machine: &Arc<Machine>, a: OrderedCsr<S>, k: usize, ahead: usize) -> Self {
        let (rows, nonzeros) = (a.rows(), a.columns().len());
        let chunks = chunk_count(machine.threads(), work(nonzeros, rows, k));
        let borders = even_borders(rows, chunks, |row| a.starts()[row] as usize + row);
        Kernel { a, machine: machine.clone(), borders, ahead, does_not_pay: None }
    }

    /// It will say so when asked.
    pub(crate) fn that_does_not_pay(self, why: Option<String>) -> Self {
        Kernel { does_not_pay: why, ..self }
    }

    pub(crate) fn boxed(self, subject: &Subject<S>) -> Box<dyn Product<S>> {
        let machine = self.machine.clone();
        OnHost::boxed(&machine, self, (subject.a.rows(), subject.a.cols()), subject.k)
    }
}

/// The rows of an [`OrderedCsr`].
#[derive(Clone, Copy)]
struct Reordered {
    starts: *const u32,
    order: *const u32,
}

impl RowList for Reordered {
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
        let Kernel { a, machine, borders, ahead, .. } = self;
        let (ahead, operands) = (*ahead, Operands::new(alpha, x, beta, y));
        let narrow_columns = a.cols() <= NARROW_COLUMNS;
        // The format keeps what the kernel relies on: starts rise to the number of entries, columns are rows of X, and every
        // row of Y stands once in the order, so a chunk has its rows to itself.
        machine.run_chunks(borders.len() - 1, |chunk| {
            let list = Reordered { starts: a.starts().as_ptr(), order: a.order().as_ptr() };
            let (columns, values) = (a.columns().as_ptr(), a.values().as_ptr());
            let (first, end) = (borders[chunk], borders[chunk + 1]);
            machine.vectorized(Rows { list, first, end, columns, values, operands, narrow_columns, ahead });
        });
    }

    fn does_not_pay(&self) -> Option<&str> {
        self.does_not_pay.as_deref()
    }
}
