//! Threaded CSR whose rows stand in clusters that share columns: the kernel of `csr-threads-nnz`, but a row finds in the cache what
//! those before it read of X. Reads A and X once, writes Y here and there.
//! Loses where rows are near their relatives already, where no order helps (random columns), and where X fits the cache.

use crate::Scalar;
use crate::machine::Machine;
use crate::op::{Description, Place, Variant};
use crate::refusal::Refusal;
use crate::source_file;
use crate::spmm::analysis::x_fetches::Cache;
use crate::spmm::cpu::csr_ordered::Kernel;
use crate::spmm::cpu::formats::{OrderedCsr, RowClusters};
use crate::spmm::cpu::host::OnHost;
use crate::spmm::product::{Product, Spmm, Subject};
use std::sync::Arc;

/// Rows of X that a cluster touches: whatever K is, so that all numbers of columns read the same clusters, and a part of the
/// second-level cache, which also holds what goes by of A and Y. Measured at K = 8 to 64 on meshes, in bytes of X: with 64 KiB as fast
/// as with 256 and slower to grow, with 1 MiB up to 0.9 of the speed.
const CLUSTER_ROWS: usize = 512;

pub(crate) struct CsrThreadsClustered;

pub(crate) const DESCRIPTION: Description = Description::new(
    "csr-threads-clustered",
    "CSR with rows that share columns beside each other, split at equal nonzeros, vectors across the columns of X",
    Place::Threads,
    source_file!("spmm/cpu/csr_threads_clustered.rs"),
).converted();

impl<S: Scalar> Variant<Spmm<S>> for CsrThreadsClustered {
    fn describe(&self) -> &Description {
        &DESCRIPTION
    }
    fn prepare(&self, machine: &Arc<Machine>, subject: &Subject<S>) -> Result<Box<dyn Product<S>>, Refusal> {
        let clusters = grown(machine, subject)?;
        let verdict = does_not_pay(machine, subject, clusters.order());
        in_clusters(machine, subject, clusters, verdict)
    }

    /// Before A is copied: that takes as much memory again.
    fn prepare_if_it_pays(
        &self,
        machine: &Arc<Machine>,
        subject: &Subject<S>,
    ) -> Result<Result<Box<dyn Product<S>>, String>, Refusal> {
        let clusters = grown(machine, subject)?;
        match does_not_pay(machine, subject, clusters.order()) {
            Some(why) => Ok(Err(why)),
            None => in_clusters(machine, subject, clusters, None).map(Ok),
        }
    }
}

fn grown<S: Scalar>(machine: &Machine, subject: &Subject<S>) -> Result<RowClusters, Refusal> {
    let a = subject.a.view();
    let (rows, cols, nonzeros) = (a.rows(), a.cols(), a.nnz());
    let growing = RowClusters::bytes_for(rows, cols, nonzeros);
    // And the model of the cache, a number for every line of X.
    let growing = growing.and_then(|bytes| bytes.checked_add((cols as u64).checked_mul(4)?));
    let kept = OrderedCsr::<S>::bytes_for(rows, nonzeros);
    machine.check_memory("CSR in clusters of rows", growing.zip(kept).and_then(|(a, b)| a.checked_add(b)))?;
    let mut clusters = RowClusters::grow(a, CLUSTER_ROWS)?;
    clusters.sort_by_length(a);
    Ok(clusters)
}

fn in_clusters<S: Scalar>(
    machine: &Arc<Machine>,
    subject: &Subject<S>,
    clusters: RowClusters,
    verdict: Option<String>,
) -> Result<Box<dyn Product<S>>, Refusal> {
    let (shape, k) = (subject.a.shape(), subject.k);
    let a = machine.pool().install(|| OrderedCsr::in_clusters(subject.a.view(), clusters))?;
    let kernel = Kernel::new(machine, subject, Arc::new(a), does_not_pay, verdict);
    Ok(OnHost::boxed(machine, kernel, shape, k))
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
    (!cache.worthwhile(before, after)).then(|| {
        format!("{before:.2} rows of X and Y are fetched for a nonzero as rows stand, {after:.2} in clusters")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu::CpuInfo;
    use crate::io;
    use crate::machine::Limits;
    use crate::matrix::random_dense;
    use crate::matrix::{Csr, Dense, Duplicates};
    use crate::spmm::cpu::tests::shuffled_mesh;
    use crate::spmm::plan::Plan;

    const K: usize = 64;

    /// X of the matrices below has several times its cache.
    fn machine() -> Arc<Machine> {
        let cpu = CpuInfo { l2_bytes: Some(512 << 10), ..CpuInfo::default() };
        Machine::new(cpu.clone(), 2, Limits::of(&cpu)).unwrap()
    }

    #[test]
    #[cfg_attr(miri, ignore = "takes minutes")]
    fn auto_puts_the_rows_of_a_shuffled_mesh_together_and_changes_no_bit() {
        let (machine, a) = (machine(), Arc::new(shuffled_mesh::<f64>()));
        let x = random_dense(a.cols(), K, 1).unwrap();
        let product = |plan: Plan<f64>| {
            let mut y = Dense::filled(a.rows(), K, 0.5).unwrap();
            plan.apply(2.0, x.view(), -1.0, y.view_mut()).unwrap();
            y
        };
        let plan = Plan::new(a.clone(), &machine).unwrap();
        assert_eq!(plan.prepare(K).unwrap().choice.variant, "csr-threads-clustered");
        let plain = Plan::with_variant("csr-threads-nnz", a.clone(), &machine).unwrap();
        assert_eq!(product(plan), product(plain));
    }

    #[test]
    #[cfg_attr(miri, ignore = "takes minutes")]
    fn auto_goes_back_where_no_order_helps_and_says_so() {
        let a = io::load::<f64>("uniform:4000x8", &Default::default()).unwrap().coo;
        let a = Arc::new(Csr::from_coo(&a, Duplicates::Sum));
        let choice = Plan::new(a.clone(), &machine()).unwrap().prepare(K).unwrap().choice;
        assert_eq!(choice.variant, "csr-threads-nnz");
        let reason = choice.reason;
        assert!(reason.contains("csr-threads-clustered would not pay: 0."), "{reason}");
        // Asked for by name it does as it is told.
        let by_name = Plan::with_variant("csr-threads-clustered", a, &machine()).unwrap();
        assert_eq!(by_name.prepare(K).unwrap().choice.variant, "csr-threads-clustered");
    }
}
