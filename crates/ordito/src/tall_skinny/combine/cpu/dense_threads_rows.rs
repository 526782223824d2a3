//! Threads share chunks of rows; sums of a few rows stay in registers while their terms go by. What is written may be what is read.
//! Touches X and Y once, from end to end, and C from the first cache. Loses where C is large: it then comes from farther away for
//! every few rows, and a dense product that packs X would not.

use crate::Scalar;
use crate::machine::Machine;
use crate::matrix::{Dense, DenseView, DenseViewMut};
use crate::op::{Description, Place, Variant};
use crate::refusal::Refusal;
use crate::source_file;
use crate::tall_skinny::combine::contract::{Combination, Combine, Shape};
use crate::tall_skinny::combine::cpu::host::{HostKernel, OnHost};
use crate::tall_skinny::combine::cpu::rows::OfRows;
use crate::tall_skinny::{Part, columns_of};
use std::sync::Arc;

/// Rows of a chunk at least, and chunks for every thread: enough that one which was held up can be helped.
const LEAST_ROWS: usize = 512;
const CHUNKS_PER_THREAD: usize = 8;
/// Multiply-adds below which a second thread is not worth waking: some 2 µs.
const SERIAL_BELOW: u64 = 40_000;

pub(crate) struct DenseThreadsRows;

struct Kernel(Arc<Machine>);

impl<S: Scalar> HostKernel<S> for Kernel {
    fn combine(&mut self, x: DenseView<'_, S>, c: DenseView<'_, S>, mut y: DenseViewMut<'_, S>) {
        let in_f64 = (0..c.rows()).flat_map(|row| c.row(row).iter().map(|c| c.to_f64())).collect();
        let Ok(c) = Dense::from_rows(c.rows(), c.cols(), in_f64) else { return };
        // SAFETY: the views are borrowed, and their shapes were checked.
        unsafe { combine_parts(&self.0, x.rows(), &[Part::read(&x)], c.view(), &[Part::written(&mut y)]) }
    }
}

/// [Y …] = [X …]·C on the threads of `machine`. Rows are read before they are written: a Y may be, or overlap, an X.
///
/// # Safety
/// All parts have so many rows, which may be read, and `into` written; nobody else uses those meanwhile. What is written overlaps nothing
/// that is written, and of what is read only columns of the same block, whose rows lie where its own do.
pub(crate) unsafe fn combine_parts<S: Scalar>(
    machine: &Machine,
    rows: usize,
    from: &[Part<S>],
    c: DenseView<'_, f64>,
    into: &[Part<S>],
) {
    let work =
        (rows as u64).saturating_mul((columns_of(from) + 1) as u64).saturating_mul(columns_of(into) as u64);
    let chunks = match work {
        0..SERIAL_BELOW => 1,
        _ => (machine.threads() * CHUNKS_PER_THREAD).min(rows.div_ceil(LEAST_ROWS)).max(1),
    };
    let rows_per_chunk = rows.div_ceil(chunks);
    machine.run_chunks(chunks, |chunk| {
        let rows = (chunk * rows_per_chunk).min(rows)..((chunk + 1) * rows_per_chunk).min(rows);
        machine.vectorized::<S>(OfRows { rows, from, c, into });
    });
}

pub(crate) const DESCRIPTION: Description = Description::new(
    "dense-threads-rows",
    "sums of a few rows in registers while their terms go by; threads share rows",
    Place::Threads,
    source_file!("tall_skinny/combine/cpu/dense_threads_rows.rs"),
);

impl<S: Scalar> Variant<Combine<S>> for DenseThreadsRows {
    fn describe(&self) -> &Description {
        &DESCRIPTION
    }
    fn prepare(&self, machine: &Arc<Machine>, shape: &Shape) -> Result<Box<dyn Combination<S>>, Refusal> {
        Ok(OnHost::boxed(machine, Kernel(machine.clone()), *shape))
    }
}
