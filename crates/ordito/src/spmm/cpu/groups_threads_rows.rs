//! Threaded row groups: up to four consecutive rows with the same columns are done together, so that a load of X serves all of
//! them; A is smaller by the columns that are not repeated. Chunks of groups with about equal nonzeros, for threads to take.
//! Loses where rows are not like their neighbours: it is then CSR that was copied in vain, and rows are not cut.

use crate::Scalar;
use crate::machine::Machine;
use crate::matrix::{Csr, DenseView, DenseViewMut};
use crate::op::{Description, Place, Variant};
use crate::refusal::Refusal;
use crate::source_file;
use crate::spmm::cpu::formats::{Order, RowGroups};
use crate::spmm::cpu::host::{HostKernel, OnHost, refill};
use crate::spmm::cpu::kernels::fetch::gathers;
use crate::spmm::cpu::kernels::group_kernel::Groups;
use crate::spmm::cpu::kernels::row_kernel::Operands;
use crate::spmm::cpu::panels::InParts;
use crate::spmm::cpu::partition::{chunk_count, even_borders, work};
use crate::spmm::product::{Product, Spmm, Subject};
use std::ops::Range;
use std::sync::Arc;

pub(crate) struct GroupsThreadsRows;

struct Kernel<S> {
    a: Arc<RowGroups<S>>,
    machine: Arc<Machine>,
    borders: Vec<usize>,
    widest: usize,
}

/// How entries of a group stand for so many columns of X.
fn order_for(k: usize) -> Order {
    if k == 1 { Order::ByRow } else { Order::ByColumn }
}

impl<S: Scalar> Kernel<S> {
    fn new(machine: &Arc<Machine>, a: Arc<RowGroups<S>>, k: usize) -> Self {
        let (groups, rows, nonzeros) = (a.groups(), a.rows(), a.values().len());
        let chunks = chunk_count(machine.threads(), work(nonzeros, rows, k));
        let borders =
            even_borders(groups.len() - 1, chunks, |g| groups[g].value as usize + groups[g].row as usize);
        // Mostly groups of four: spans that leave room for four sums of each column.
        let widest = if 2 * rows > 7 * (groups.len() - 1) { 4 } else { 8 };
        Kernel { a, machine: machine.clone(), borders, widest }
    }

    /// # Safety
    /// The operands have the rows of X that these groups read and their rows of Y, which no other thread has.
    unsafe fn multiply_groups(&self, first: usize, end: usize, operands: Operands<S>) {
        let a = &self.a;
        // The format keeps what the kernel relies on: positions rise to the lengths of the arrays, columns are rows of X.
        let (columns, values) = (a.columns().as_ptr(), a.values().as_ptr());
        let (groups, by_row, widest) = (a.groups().as_ptr(), a.order() == Order::ByRow, self.widest);
        let gathers = gathers(&self.machine, a.cols());
        self.machine.vectorized(Groups {
            groups,
            first,
            end,
            columns,
            values,
            operands,
            by_row,
            gathers,
            widest,
        });
    }
}

impl<S: Scalar> HostKernel<S> for Kernel<S> {
    fn multiply(&self, alpha: S, x: DenseView<'_, S>, _: &[S], beta: S, y: DenseViewMut<'_, S>) {
        let operands = Operands::new(alpha, x, beta, y);
        self.machine.run_chunks(self.borders.len() - 1, move |chunk| {
            // SAFETY: every row of Y is in one group, so a chunk has its rows to itself; X has a row for every column.
            unsafe { self.multiply_groups(self.borders[chunk], self.borders[chunk + 1], operands) };
        });
    }

    fn for_columns(&self, subject: &Subject<S>) -> Option<Box<dyn HostKernel<S>>> {
        let lies_so = order_for(subject.k) == self.a.order();
        lies_so.then(|| Box::new(Kernel::new(&self.machine, self.a.clone(), subject.k)) as _)
    }

    fn set_values(&mut self, a: &Arc<Csr<S>>) -> bool {
        refill(&self.machine, &mut self.a, |own| own.set_values(a.view()))
    }

    fn in_parts(&self) -> Option<&dyn InParts<S>> {
        Some(self)
    }

    fn bytes(&self) -> u64 {
        RowGroups::<S>::bytes_for(self.a.rows(), self.a.values().len()).unwrap_or(u64::MAX)
    }
}

/// A group is a unit.
impl<S: Scalar> InParts<S> for Kernel<S> {
    fn chunks(&self) -> &[usize] {
        &self.borders
    }
    fn first_row(&self, group: usize) -> usize {
        self.a.groups()[group].row as usize
    }
    unsafe fn multiply_units(&self, groups: Range<usize>, operands: Operands<S>) {
        // SAFETY: the caller's promise.
        unsafe { self.multiply_groups(groups.start, groups.end, operands) };
    }
}

pub(crate) const DESCRIPTION: Description = Description::new(
    "groups-threads-rows",
    "up to four consecutive rows with the same columns at once, split at equal nonzeros, vectors across the columns of X",
    Place::Threads,
    source_file!("spmm/cpu/groups_threads_rows.rs"),
).converted();

impl<S: Scalar> Variant<Spmm<S>> for GroupsThreadsRows {
    fn describe(&self) -> &Description {
        &DESCRIPTION
    }
    fn prepare(&self, machine: &Arc<Machine>, subject: &Subject<S>) -> Result<Box<dyn Product<S>>, Refusal> {
        let (rows, nonzeros) = (subject.a.rows(), subject.a.nnz());
        machine.check_memory("row groups", RowGroups::<S>::bytes_for(rows, nonzeros))?;
        let order = order_for(subject.k);
        let a = machine.pool().install(|| RowGroups::from_csr(subject.a.view(), order))?;
        let kernel = Kernel::new(machine, Arc::new(a), subject.k);
        Ok(OnHost::boxed(machine, kernel, (rows, subject.a.cols()), subject.k))
    }
}
