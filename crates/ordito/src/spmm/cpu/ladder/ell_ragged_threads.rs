//! Threaded ragged ELLPACK: rows × columns of Y collapsed into one iteration space, of which every thread takes an even stretch, or
//! chunks in turn (parallel_product_ellpack_no_zero_padding); X is transposed first, so that a sum walks one column of X.
//! Touches a pointer pair per element of Y.
//! Loses on skewed matrices (elements are shared out, not nonzeros), and where transposing X is the larger half.

use crate::Scalar;
use crate::machine::Machine;
use crate::matrix::{DenseView, DenseViewMut, EllRagged};
use crate::op::{Description, Place, Variant};
use crate::refusal::Refusal;
use crate::source_file;
use crate::spmm::cpu::host::{HostKernel, OnHost, transpose};
use crate::spmm::cpu::kernels::epilogue::update;
use crate::spmm::cpu::ladder::collapsed::{Schedule, collapsed};
use crate::spmm::cpu::ladder::ell_ragged_serial::rag;
use crate::spmm::product::{Product, Spmm, Subject};
use std::sync::Arc;

pub(crate) struct EllRaggedThreads {
    description: Description,
    schedule: Schedule,
}

struct Kernel<S> {
    a: EllRagged<S>,
    machine: Arc<Machine>,
    schedule: Schedule,
}

impl<S: Scalar> HostKernel<S> for Kernel<S> {
    fn repack(&self, x: DenseView<'_, S>, room: &mut Vec<S>) -> bool {
        transpose(x, room)
    }

    fn multiply(&self, alpha: S, x: DenseView<'_, S>, x_columns: &[S], beta: S, y: DenseViewMut<'_, S>) {
        let (rows, x_rows) = (self.a.rows(), x.rows());
        collapsed(&self.machine, self.schedule, y, |row, k, y| {
            let x_column = &x_columns[k * x_rows..(k + 1) * x_rows];
            let mut sum = S::ZERO;
            for (&col, &value) in rows[row].columns.iter().zip(&rows[row].values) {
                sum += value * x_column[col as usize];
            }
            update(y, alpha, sum, beta);
        });
    }

    fn bytes(&self) -> u64 {
        let nonzeros = self.a.rows().iter().map(|row| row.values.len()).sum();
        EllRagged::<S>::bytes_for(self.a.rows().len(), nonzeros).unwrap_or(u64::MAX)
    }
}

pub(crate) const EVEN: EllRaggedThreads = EllRaggedThreads {
    description: described(
        "ell-ragged-threads-elements",
        "ragged ELLPACK, X transposed, rows × columns collapsed and split evenly",
    ),
    schedule: Schedule::Even,
};

pub(crate) const DEALT: EllRaggedThreads = EllRaggedThreads {
    description: described(
        "ell-ragged-threads-dealt",
        "ragged ELLPACK, X transposed, rows × columns collapsed, chunks dealt in turn",
    )
    .known_as(&["parallel_product_ellpack_no_zero_padding"]),
    schedule: Schedule::Dealt,
};

const fn described(name: &'static str, about: &'static str) -> Description {
    Description::new(name, about, Place::Threads, source_file!("spmm/cpu/ladder/ell_ragged_threads.rs"))
        .ladder()
        .converted()
        .never_chosen()
}

impl<S: Scalar> Variant<Spmm<S>> for EllRaggedThreads {
    fn describe(&self) -> &Description {
        &self.description
    }
    fn prepare(&self, machine: &Arc<Machine>, subject: &Subject<S>) -> Result<Box<dyn Product<S>>, Refusal> {
        let shape = (subject.a.rows(), subject.a.cols());
        let kernel =
            Kernel { a: rag(machine, &subject.a)?, machine: machine.clone(), schedule: self.schedule };
        Ok(OnHost::boxed(machine, kernel, shape, subject.k))
    }
}
