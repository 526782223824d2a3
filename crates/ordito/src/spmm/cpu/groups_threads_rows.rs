//! Threaded row groups: up to four consecutive rows with the same columns are done together, so that a load of X serves all of
//! them; A is smaller by the columns that are not repeated. Chunks of groups with about equal nonzeros, for threads to take.
//! Loses where rows are not like their neighbours: it is then CSR that was copied in vain, and rows are not cut.

use crate::Scalar;
use crate::machine::Machine;
use crate::matrix::{DenseView, DenseViewMut};
use crate::op::{Description, Place, Variant};
use crate::refusal::Refusal;
use crate::source_file;
use crate::spmm::cpu::csr_product::NARROW_COLUMNS;
use crate::spmm::cpu::formats::{Order, RowGroups};
use crate::spmm::cpu::host::{HostKernel, OnHost};
use crate::spmm::cpu::kernels::group_kernel::Groups;
use crate::spmm::cpu::kernels::row_kernel::Operands;
use crate::spmm::cpu::partition::{chunk_count, even_borders, work};
use crate::spmm::product::{Product, Spmm, Subject};
use std::sync::Arc;

pub(crate) struct GroupsThreadsRows;

struct Kernel<S> {
    a: RowGroups<S>,
    machine: Arc<Machine>,
    borders: Vec<usize>,
    widest: usize,
}

impl<S: Scalar> HostKernel<S> for Kernel<S> {
    fn multiply(&mut self, alpha: S, x: DenseView<'_, S>, beta: S, y: DenseViewMut<'_, S>) {
        let operands = Operands::new(alpha, x, beta, y);
        let a = &self.a;
        // The format keeps what the kernel relies on: positions rise to the lengths of the arrays, columns are rows of X, and
        // every row of Y is in one group, so a chunk has its rows to itself.
        self.machine.run_chunks(self.borders.len() - 1, |chunk| {
            let (first, end) = (self.borders[chunk], self.borders[chunk + 1]);
            let (columns, values) = (a.columns().as_ptr(), a.values().as_ptr());
            let (groups, by_row, widest) = (a.groups().as_ptr(), a.order() == Order::ByRow, self.widest);
            self.machine.vectorized(Groups { groups, first, end, columns, values, operands, by_row, widest });
        });
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
        let gathers = subject.k == 1 && subject.a.cols() <= NARROW_COLUMNS;
        let order = if gathers { Order::ByRow } else { Order::ByColumn };
        let a = machine.pool().install(|| RowGroups::from_csr(subject.a.view(), order))?;
        let groups = a.groups();
        let chunks = chunk_count(machine.threads(), work(nonzeros, rows, subject.k));
        let borders =
            even_borders(groups.len() - 1, chunks, |g| groups[g].value as usize + groups[g].row as usize);
        // Mostly groups of four: spans that leave room for four sums of each column.
        let widest = if 2 * rows > 7 * (groups.len() - 1) { 4 } else { 8 };
        let shape = (rows, subject.a.cols());
        Ok(OnHost::boxed(machine, Kernel { a, machine: machine.clone(), borders, widest }, shape, subject.k))
    }
}
