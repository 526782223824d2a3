//! Threaded CSR whose rows stand in clusters that share columns: the kernel of `csr-threads-nnz`, but a row finds in the cache what
//! those before it read of X. Reads A and X once, writes Y here and there.
//! Loses where rows are near their relatives already, where no order helps (random columns), and where X fits the cache.

use super::csr_ordered::Kernel;
use super::x_fetches::{Cache, WORTHWHILE};
use super::{Product, Spmm, Subject, ahead};
use crate::Scalar;
use crate::machine::{Machine, Refusal};
use crate::matrix::{OrderedCsr, RowClusters};
use crate::ops::{Place, Variant};
use std::sync::Arc;

/// What a cluster touches of X: a part of the second-level cache, which also holds what goes by of A and Y. 64 KiB and 1 MiB were
/// within 10 % of it, the former slower to grow.
const CLUSTER_BYTES: usize = 256 << 10;
/// Bytes of a row of X up to which the ends of rows take more time than X: then rows of a cluster are sorted by length. Beyond, that
/// would only undo their order (brack2, f64: 1.3 times as fast at K = 16, 0.96 at K = 64).
const SHORT_X: usize = 128;

pub(super) struct CsrThreadsClustered;

impl<S: Scalar> Variant<Spmm<S>> for CsrThreadsClustered {
    fn name(&self) -> &'static str {
        "csr-threads-clustered"
    }
    fn about(&self) -> &'static str {
        "CSR with rows that share columns beside each other, split at equal nonzeros, vectors across the columns of X"
    }
    fn place(&self) -> Place {
        Place::Threads
    }
    fn source(&self) -> &'static str {
        include_str!("csr_threads_clustered.rs")
    }
    fn prepare(&self, machine: &Arc<Machine>, subject: &Subject<S>) -> Result<Box<dyn Product<S>>, Refusal> {
        let (a, k) = (subject.a.view(), subject.k);
        let (rows, cols, nonzeros) = (a.rows(), a.cols(), a.nonzeros());
        let growing = RowClusters::bytes_for(rows, cols, nonzeros);
        let kept = OrderedCsr::<S>::bytes_for(rows, nonzeros);
        machine.check_memory("CSR in clusters of rows", growing.zip(kept).and_then(|(a, b)| a.checked_add(b)))?;
        let x_row_bytes = k.saturating_mul(size_of::<S>()).max(1);
        let mut clusters = RowClusters::grow(a, CLUSTER_BYTES / x_row_bytes)?;
        if x_row_bytes <= SHORT_X {
            clusters.sort_by_length(a);
        }
        let why_not = does_not_pay(machine, subject, clusters.order());
        let ahead = ahead::distance(machine, a, k);
        let a = machine.pool().install(|| OrderedCsr::in_clusters(a, clusters))?;
        Ok(Kernel::new(machine, a, k, ahead).that_does_not_pay(why_not).boxed(subject))
    }
}

/// Whether the model of the cache sees too small a gain over rows as they come; a sentence that says it.
fn does_not_pay<S: Scalar>(machine: &Machine, subject: &Subject<S>, order: &[u32]) -> Option<String> {
    let Some(cache) = Cache::of(machine, subject.k, size_of::<S>()) else {
        return Some("the size of the second-level cache is not known".into());
    };
    let a = subject.a.view();
    if cache.holds(a.cols()) {
        return Some("X fits the second-level cache".into());
    }
    let (before, after) = (cache.fetches(a, |row| row), cache.fetches(a, |place| order[place] as usize));
    (Cache::gain(before, after) < WORTHWHILE).then(|| {
        format!("{before:.2} rows of X are fetched for a nonzero as rows stand, {after:.2} in clusters of rows")
    })
}
