//! Threaded CSR: chunks of contiguous rows dealt to the threads in turn, each element of Y a private partial sum.
//! Touches what serial CSR touches; chunks are multiples of 16 rows, so that threads share cache lines of Y at the ends of
//! chunks at most.
//! Loses on skewed matrices (rows are shared out, not nonzeros) and, like serial CSR, for K > 1.

use crate::Scalar;
use crate::machine::Machine;
use crate::matrix::{Csr, DenseView, DenseViewMut};
use crate::op::{Description, Place, Variant};
use crate::refusal::Refusal;
use crate::source_file;
use crate::spmm::cpu::host::{HostKernel, OnHost};
use crate::spmm::cpu::ladder::csr_serial::element_by_element;
use crate::spmm::product::{Product, Spmm, Subject};
use std::sync::Arc;

pub(crate) struct CsrThreadsRows;

struct Kernel<S> {
    a: Arc<Csr<S>>,
    machine: Arc<Machine>,
}

/// Rows of a chunk are a multiple of this: 16 rows of one f32 already fill a 64-byte cache line. (Against false sharing.)
const CHUNK_MULTIPLE: usize = 16;

/// Rows per chunk: an even share, rounded down to a multiple of 16, but at least 16.
pub(crate) fn rows_per_chunk(rows: usize, threads: usize) -> usize {
    (rows / threads / CHUNK_MULTIPLE * CHUNK_MULTIPLE).max(CHUNK_MULTIPLE)
}

impl<S: Scalar> HostKernel<S> for Kernel<S> {
    fn multiply(&self, alpha: S, x: DenseView<'_, S>, _: &[S], beta: S, y: DenseViewMut<'_, S>) {
        let threads = self.machine.threads();
        let chunk = rows_per_chunk(y.rows(), threads);
        // Chunk c belongs to thread c mod threads; rounding down leaves a short one, which thread 0 takes.
        let mut shares: Vec<Vec<(usize, DenseViewMut<'_, S>)>> = (0..threads).map(|_| Vec::new()).collect();
        let (mut rest, mut first_row) = (y, 0);
        while rest.rows() > 0 {
            let (rows, below) = {
                let rows = chunk.min(rest.rows());
                rest.split_at_row(rows)
            };
            let taken = rows.rows();
            shares[first_row / chunk % threads].push((first_row, rows));
            first_row += taken;
            rest = below;
        }
        let (a, interrupt) = (self.a.view(), self.machine.interrupt());
        self.machine.pool().run_shares(shares, |share| {
            for (first_row, y) in share {
                element_by_element(a, first_row, alpha, x, beta, y, interrupt);
            }
        });
    }
}

pub(crate) const DESCRIPTION: Description = Description::new(
    "csr-threads-rows",
    "CSR, static chunks of contiguous rows, a multiple of 16, a private sum per element",
    Place::Threads,
    source_file!("spmm/cpu/ladder/csr_threads_rows.rs"),
)
.ladder()
.never_chosen()
.known_as(&["parallel_product_CSR"]);

impl<S: Scalar> Variant<Spmm<S>> for CsrThreadsRows {
    fn describe(&self) -> &Description {
        &DESCRIPTION
    }
    fn prepare(&self, machine: &Arc<Machine>, subject: &Subject<S>) -> Result<Box<dyn Product<S>>, Refusal> {
        let a = &subject.a;
        let kernel = Kernel { a: a.clone(), machine: machine.clone() };
        Ok(OnHost::boxed(machine, kernel, (a.rows(), a.cols()), subject.k))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_are_multiples_of_16() {
        assert_eq!(rows_per_chunk(10_974, 2), 5_472);
        assert_eq!(rows_per_chunk(100, 8), 16);
        assert_eq!(rows_per_chunk(0, 4), 16);
        assert_eq!(rows_per_chunk(64, 2), 32);
    }
}
