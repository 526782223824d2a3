//! Threaded ragged ELLPACK: rows × columns of Y collapsed into one iteration space, cut into one even stretch per
//! thread; X is transposed first, so that a sum walks one column of X. Touches a pointer pair per element of Y.
//! Loses on skewed matrices (elements are shared out, not nonzeros), and where transposing X is the larger half.

use crate::Scalar;
use crate::machine::Machine;
use crate::matrix::{DenseView, DenseViewMut, EllRagged};
use crate::op::{Description, Place, Variant};
use crate::refusal::Refusal;
use crate::source_file;
use crate::spmm::cpu::host::{HostKernel, OnHost, transpose};
use crate::spmm::cpu::kernels::epilogue::update;
use crate::spmm::cpu::ladder::ell_padded_threads::collapsed;
use crate::spmm::cpu::ladder::ell_ragged_serial::rag;
use crate::spmm::product::{Product, Spmm, Subject};
use std::sync::Arc;

pub(crate) struct EllRaggedThreads;

struct Kernel<S> {
    a: EllRagged<S>,
    machine: Arc<Machine>,
    x_columns: Vec<S>,
}

impl<S: Scalar> HostKernel<S> for Kernel<S> {
    fn repack(&mut self, x: DenseView<'_, S>) -> bool {
        transpose(x, &mut self.x_columns)
    }

    fn multiply(&mut self, alpha: S, x: DenseView<'_, S>, beta: S, y: DenseViewMut<'_, S>) {
        let (rows, x_rows, x_columns) = (self.a.rows(), x.rows(), &self.x_columns);
        collapsed(&self.machine, y, |row, k, y| {
            let x_column = &x_columns[k * x_rows..(k + 1) * x_rows];
            let mut sum = S::ZERO;
            for (&col, &value) in rows[row].columns.iter().zip(&rows[row].values) {
                sum += value * x_column[col as usize];
            }
            update(y, alpha, sum, beta);
        });
    }
}

pub(crate) const DESCRIPTION: Description = Description::new(
    "ell-ragged-threads-elements",
    "ragged ELLPACK, X transposed, rows × columns collapsed and split evenly",
    Place::Threads,
    source_file!("spmm/cpu/ladder/ell_ragged_threads.rs"),
)
.ladder()
.converted()
.never_chosen();

impl<S: Scalar> Variant<Spmm<S>> for EllRaggedThreads {
    fn describe(&self) -> &Description {
        &DESCRIPTION
    }
    fn prepare(&self, machine: &Arc<Machine>, subject: &Subject<S>) -> Result<Box<dyn Product<S>>, Refusal> {
        let shape = (subject.a.rows(), subject.a.cols());
        let kernel = Kernel { a: rag(machine, &subject.a)?, machine: machine.clone(), x_columns: Vec::new() };
        Ok(OnHost::boxed(machine, kernel, shape, subject.k))
    }
}
