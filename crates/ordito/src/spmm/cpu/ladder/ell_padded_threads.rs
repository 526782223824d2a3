//! Threaded padded ELLPACK: rows × columns of Y collapsed into one iteration space, of which every thread takes an even stretch, or
//! chunks in turn (parallel_product_ellpack); X is transposed first, so that a sum walks one column of X.
//! Touches the padding, and X twice more.
//! Loses on skewed matrices (padding), and where transposing X costs as much as the product.

use crate::Scalar;
use crate::machine::Machine;
use crate::matrix::{DenseView, DenseViewMut, EllPadded};
use crate::op::{Description, Place, Variant};
use crate::refusal::Refusal;
use crate::source_file;
use crate::spmm::cpu::host::{HostKernel, OnHost, transpose};
use crate::spmm::cpu::kernels::epilogue::update;
use crate::spmm::cpu::ladder::collapsed::{Schedule, collapsed};
use crate::spmm::cpu::ladder::ell_padded_serial::pad_for;
use crate::spmm::product::{Product, Spmm, Subject};
use std::sync::Arc;

pub(crate) struct EllPaddedThreads {
    description: Description,
    schedule: Schedule,
}

struct Kernel<S> {
    a: EllPadded<S>,
    machine: Arc<Machine>,
    schedule: Schedule,
}

impl<S: Scalar> HostKernel<S> for Kernel<S> {
    fn repack(&self, x: DenseView<'_, S>, room: &mut Vec<S>) -> bool {
        transpose(x, room)
    }

    fn multiply(&self, alpha: S, x: DenseView<'_, S>, x_columns: &[S], beta: S, y: DenseViewMut<'_, S>) {
        let (a, x_rows) = (&self.a, x.rows());
        collapsed(&self.machine, self.schedule, y, |row, k, y| {
            let places = row * a.width()..(row + 1) * a.width();
            let x_column = &x_columns[k * x_rows..(k + 1) * x_rows];
            let mut sum = S::ZERO;
            for (&col, &value) in a.columns()[places.clone()].iter().zip(&a.values()[places]) {
                sum += value * x_column[col as usize];
            }
            update(y, alpha, sum, beta);
        });
    }

    fn bytes(&self) -> u64 {
        EllPadded::<S>::bytes_for(self.a.rows(), self.a.width()).unwrap_or(u64::MAX)
    }
}

pub(crate) const EVEN: EllPaddedThreads = EllPaddedThreads {
    description: described(
        "ell-padded-threads-elements",
        "padded ELLPACK, X transposed, rows × columns collapsed and split evenly; padding spreads NaN of X's first row",
    ),
    schedule: Schedule::Even,
};

pub(crate) const DEALT: EllPaddedThreads = EllPaddedThreads {
    description: described(
        "ell-padded-threads-dealt",
        "padded ELLPACK, X transposed, rows × columns collapsed, chunks dealt in turn; padding spreads NaN of X's first row",
    )
    .known_as(&["parallel_product_ellpack"]),
    schedule: Schedule::Dealt,
};

const fn described(name: &'static str, about: &'static str) -> Description {
    Description::new(name, about, Place::Threads, source_file!("spmm/cpu/ladder/ell_padded_threads.rs"))
        .ladder()
        .converted()
        .never_chosen()
}

impl<S: Scalar> Variant<Spmm<S>> for EllPaddedThreads {
    fn describe(&self) -> &Description {
        &self.description
    }
    fn prepare(&self, machine: &Arc<Machine>, subject: &Subject<S>) -> Result<Box<dyn Product<S>>, Refusal> {
        let shape = (subject.a.rows(), subject.a.cols());
        let kernel = Kernel {
            a: pad_for(machine, &subject.a, subject.k)?,
            machine: machine.clone(),
            schedule: self.schedule,
        };
        Ok(OnHost::boxed(machine, kernel, shape, subject.k))
    }
}
