//! The product of CSR whose rows stand in another order: the kernel of `csr-threads-nnz`, each row's sums written to where the row
//! belongs. Which order, and what it is good for, the variants say. A row is never shared between threads.

use crate::Scalar;
use crate::machine::Machine;
use crate::matrix::{Csr, DenseView, DenseViewMut};
use crate::spmm::cpu::formats::{MOST_ROWS, OrderedCsr};
use crate::spmm::cpu::host::{HostKernel, refill};
use crate::spmm::cpu::kernels::fetch::gathers;
use crate::spmm::cpu::kernels::row_kernel::{Operands, RowList, Rows};
use crate::spmm::cpu::panels::InParts;
use crate::spmm::cpu::partition::{chunk_count, even_borders, snap, work};
use crate::spmm::cpu::prefetch as ahead;
use crate::spmm::product::Subject;
use std::ops::Range;
use std::sync::Arc;

pub(crate) struct Kernel<S> {
    a: Arc<OrderedCsr<S>>,
    machine: Arc<Machine>,
    /// Stored rows at which chunks begin and end.
    borders: Vec<usize>,
    /// Windows at which chunks begin and end for X and Y in columns; none where a window is too large for that.
    windows: Vec<usize>,
    ahead: usize,
    judge: Judge<S>,
    does_not_pay: Option<String>,
}

/// Why rows in that order would not be worth it for a number of columns; `None` where they are.
pub(crate) type Judge<S> = fn(&Machine, &Subject<S>, order: &[u32]) -> Option<String>;

impl<S: Scalar> Kernel<S> {
    /// Of the rows of `subject` in another order, which `judge` has an opinion of; `does_not_pay` is what it says.
    pub(crate) fn new(
        machine: &Arc<Machine>,
        subject: &Subject<S>,
        a: Arc<OrderedCsr<S>>,
        judge: Judge<S>,
        does_not_pay: Option<String>,
    ) -> Self {
        let (rows, nonzeros) = (a.rows(), a.columns().len());
        let chunks = chunk_count(machine.threads(), work(nonzeros, rows, subject.k));
        let work_before = |row: usize| a.starts()[row] as usize + row;
        let mut borders = even_borders(rows, chunks, work_before);
        snap(&mut borders, a.windows(), work_before);
        let count = a.windows().len() - 1;
        let are_small = a.windows().windows(2).all(|window| window[1] - window[0] <= MOST_ROWS);
        let windows = match are_small {
            true => even_borders(count, chunks.min(count.max(1)), |window| work_before(a.windows()[window])),
            false => Vec::new(),
        };
        let ahead = ahead::distance(machine, subject.a.view(), subject.k);
        Kernel { a, machine: machine.clone(), borders, windows, ahead, judge, does_not_pay }
    }

    /// # Safety
    /// The operands have the rows of X that these stored rows read and their rows of Y, which no other thread has.
    unsafe fn multiply_rows(&self, first: usize, end: usize, operands: Operands<S>) {
        let (a, ahead) = (&self.a, self.ahead);
        // The format keeps what the kernel relies on: starts rise to the number of entries, columns are rows of X.
        let list = Reordered { starts: a.starts().as_ptr(), order: a.order().as_ptr() };
        let (columns, values) = (a.columns().as_ptr(), a.values().as_ptr());
        let gathers = gathers(&self.machine, a.cols());
        self.machine.vectorized(Rows { list, first, end, columns, values, operands, gathers, ahead });
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
    fn multiply(&self, alpha: S, x: DenseView<'_, S>, _: &[S], beta: S, y: DenseViewMut<'_, S>) {
        let operands = Operands::new(alpha, x, beta, y);
        self.machine.run_chunks(self.borders.len() - 1, move |chunk| {
            // SAFETY: every row of Y stands once in the order, so a chunk has its rows to itself; X has a row for every column.
            unsafe { self.multiply_rows(self.borders[chunk], self.borders[chunk + 1], operands) };
        });
    }

    fn in_parts(&self) -> Option<&dyn InParts<S>> {
        (!self.windows.is_empty()).then_some(self)
    }

    fn does_not_pay(&self) -> Option<&str> {
        self.does_not_pay.as_deref()
    }

    fn for_columns(&self, subject: &Subject<S>) -> Option<Box<dyn HostKernel<S>>> {
        let does_not_pay = (self.judge)(&self.machine, subject, self.a.order());
        Some(Box::new(Kernel::new(&self.machine, subject, self.a.clone(), self.judge, does_not_pay)))
    }

    fn set_values(&mut self, a: &Arc<Csr<S>>) -> bool {
        refill(&self.machine, &mut self.a, |own| own.set_values(a.view()))
    }

    fn bytes(&self) -> u64 {
        OrderedCsr::<S>::bytes_for(self.a.rows(), self.a.columns().len()).unwrap_or(u64::MAX)
    }
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
        let [first, end] = [windows.start, windows.end].map(|window| self.a.windows()[window]);
        // SAFETY: the caller's promise.
        unsafe { self.multiply_rows(first, end, operands) };
    }
}
