//! Products with an X that ranks of a computer share, against a serial oracle, on ranks that are threads.

#![allow(clippy::unwrap_used, clippy::panic)]

mod oracle;

use oracle::{assert_near, balanced, oracle};
use ordito::matrix::random_dense;
use ordito::{Csr, Machine, Scalar};
use ordito_mpi::ranks::{Patience, Ranks, on_hosts, on_threads};
use ordito_mpi::{DistributedCsr, DistributedDense, Error, LocalRows, Partition, Plan, SharedDense, Teams};
use std::sync::Arc;

/// Ranks, how many of them a computer has, and how often memory can be shared.
#[derive(Debug, Clone, Copy)]
struct Computers {
    ranks: usize,
    per_host: usize,
    shared_times: usize,
}

fn plan<S: Scalar>(
    ranks: &Arc<dyn Ranks>,
    a: &Csr<S>,
    (rows, cols): (&Partition, &Partition),
    teams: Option<Teams>,
) -> Plan<S> {
    let local = LocalRows::of_csr(a, rows.range(ranks.rank()));
    let cut = DistributedCsr::with_teams(ranks, rows.clone(), cols.clone(), local, teams).unwrap();
    let local_nnz = cut.local_nnz();
    // Once more changes nothing.
    let cut = cut.with_x_shared().unwrap().with_x_shared().unwrap();
    assert_eq!(cut.local_nnz(), local_nnz);
    Plan::new(cut, &Machine::with_threads(1).unwrap()).unwrap()
}

/// AX + Y for two X one after the other in the same memory, and 2AᵀX − Y.
fn products<S: Scalar>(a: &Csr<S>, on: Computers, k: usize, teams: Option<Teams>) -> [Vec<S>; 3] {
    let (rows, cols) = (balanced(a, on.ranks), Partition::even(a.cols() as u64, on.ranks));
    let parts = on_hosts(on.ranks, on.per_host, Patience::default(), |ranks| {
        let ranks: Arc<dyn Ranks> = Arc::new(ranks.sharing_memory_only(on.shared_times));
        let plan = plan(&ranks, a, (&rows, &cols), teams);
        let random = |rows: &Partition, seed| DistributedDense::<S>::random(&*ranks, rows, k, seed).unwrap();
        let mut shared = SharedDense::<S>::zeros(&*ranks, &cols, k).unwrap();
        let is_alone = on.ranks == 1 || a.cols() * k == 0;
        assert_eq!(plan.reads_in_place(&shared), is_alone || on.shared_times > 1);
        let [first, second] = [1, 5].map(|seed| {
            let x = random(&cols, seed);
            shared.view_mut().unwrap().data_mut().copy_from_slice(x.local().data());
            let (mut y, mut y_of_any) = (random(&rows, 2), random(&rows, 2));
            plan.apply_shared(S::ONE, &shared, S::ONE, y.view_mut()).unwrap();
            // Nobody reads it any more.
            shared.view_mut().unwrap().data_mut().fill(S::from_f64(f64::NAN));
            assert!(plan.times().release <= plan.times().total());
            plan.multiply(S::ONE, &x, S::ONE, &mut y_of_any).unwrap();
            assert!(y == y_of_any, "X anywhere: the same bits");
            plan.time_shared_exchange(&shared).unwrap();
            y.local().data().to_vec()
        });
        let mut y = random(&cols, 3);
        plan.apply_transposed(S::from_f64(2.0), random(&rows, 4).view(), S::from_f64(-1.0), y.view_mut())
            .unwrap();
        [first, second, y.local().data().to_vec()]
    });
    let mut all = [const { Vec::new() }; 3];
    parts.into_iter().for_each(|part| all.iter_mut().zip(part).for_each(|(all, part)| all.extend(part)));
    all
}

fn check<S: Scalar>(name: &str, a: &Csr<S>, counts: &[usize], ks: &[usize]) {
    let transposed = a.transpose();
    let longest = a.longest_row().max(transposed.longest_row());
    for &k in ks {
        let dense = |rows, seed| random_dense::<S>(rows, k, seed).unwrap();
        let of = |seed| oracle(a, 1.0, &dense(a.cols(), seed), 1.0, &dense(a.rows(), 2));
        let of_transposed = oracle(&transposed, 2.0, &dense(a.rows(), 4), -1.0, &dense(a.cols(), 3));
        let right = [of(1), of(5), of_transposed];
        for &ranks in counts {
            let sizes = (2..=ranks).filter_map(|size| Teams::of(size, ranks)).map(Some);
            for teams in [None, Some(Teams::ALONE)].into_iter().chain(sizes) {
                // Some together, all together; where memory cannot be shared at all, and where it cannot for X.
                for (per_host, shared_times) in [(2, usize::MAX), (ranks, usize::MAX), (ranks, 0), (ranks, 1)]
                {
                    let on = Computers { ranks, per_host, shared_times };
                    let found = products(a, on, k, teams);
                    let what = format!("{name}, {on:?}, K = {k}, {teams:?}");
                    for (found, right) in found.iter().zip(&right) {
                        assert_near(found, right, longest + ranks, &what);
                    }
                }
            }
        }
    }
}

fn named<S: Scalar>(name: &str) -> Csr<S> {
    ordito::io::read_csr(name).unwrap()
}

#[test]
fn matrices_of_every_shape() {
    for name in ["stencil5:12", "powerlaw:300x9", "band:100x7", "uniform:150x5"] {
        check::<f64>(name, &named(name), &[1, 3, 4], &[1, 3]);
        check::<f32>(name, &named(name), &[2, 8], &[16]);
    }
}

#[test]
fn nothing_to_share_and_more_ranks_than_rows() {
    check::<f64>("no columns of X", &named("stencil5:12"), &[1, 2, 4], &[0]);
    check::<f64>("empty", &named("empty:5x7"), &[2, 4], &[2]);
    check::<f64>("no rows", &named("empty:0x7"), &[3], &[2]);
    check::<f64>("no columns", &named("empty:7x0"), &[3], &[2]);
    check::<f64>("few rows", &named("band:3x2"), &[8, 5], &[1, 4]);
}

/// Two ranks with a plan for a stencil, and two X.
fn on_two<T: Send>(of_rank: impl Fn(&Plan<f64>, usize, [SharedDense<f64>; 2]) -> T + Sync) -> Vec<T> {
    let a = named::<f64>("stencil5:12");
    let rows = Partition::even(a.rows() as u64, 2);
    on_threads(2, Patience::default(), |ranks| {
        let ranks: Arc<dyn Ranks> = Arc::new(ranks);
        let plan = plan(&ranks, &a, (&rows, &rows), None);
        let both = [0, 1].map(|_| SharedDense::zeros(&*ranks, &rows, 2).unwrap());
        of_rank(&plan, ranks.rank(), both)
    })
}

#[test]
fn a_product_has_one_x() {
    let ends = on_two(|plan, rank, mut both| {
        let mut y = DistributedDense::zeros(&**plan.ranks(), plan.rows(), 2).unwrap();
        let told = plan.apply_shared(1.0, &both[rank], 0.0, y.view_mut()).unwrap_err().to_string();
        // What others may still read must not be written.
        let lost = both[rank].view_mut().unwrap_err().to_string();
        assert!(both[1 - rank].view_mut().is_ok());
        (told, lost)
    });
    assert!(ends.iter().any(|(told, _)| told.contains("different shared X")), "{ends:?}");
    assert!(ends.iter().all(|(_, lost)| lost.contains("make it anew")), "{ends:?}");
}

#[test]
fn a_wrong_y_of_one_rank_ends_all() {
    let told = on_two(|plan, rank, [x, _]| {
        let mut y = DistributedDense::zeros(&**plan.ranks(), plan.rows(), 2 + rank).unwrap();
        plan.apply_shared(1.0, &x, 0.0, y.view_mut()).unwrap_err().to_string()
    });
    assert!(told.iter().all(|told| told.contains("Y is 72×3, 72×2 on this rank expected")), "{told:?}");
}

/// Others would write the same rows.
#[test]
fn a_shared_x_is_made_with_the_same_numbers() {
    let refused = |of_rank: &(dyn Fn(&dyn Ranks) -> Option<Error> + Sync)| {
        let told = on_threads(2, Patience::default(), |ranks| of_rank(&ranks).unwrap().to_string());
        assert!(told.iter().all(|told| !told.is_empty()), "{told:?}");
        told.concat()
    };
    let cut = |starts: [u64; 3]| Partition::new(starts).unwrap();
    let cut_otherwise = refused(&|ranks| {
        let rows = [cut([0, 5, 5]), cut([0, 0, 5])];
        SharedDense::<f64>::zeros(ranks, &rows[ranks.rank()], 2).err()
    });
    assert!(cut_otherwise.contains("a shared X"), "{cut_otherwise}");
    refused(&|ranks| SharedDense::<f64>::zeros(ranks, &cut([0, 2, 5]), 2 + ranks.rank()).err());
    refused(&|ranks| match ranks.rank() {
        0 => SharedDense::<f64>::zeros(ranks, &cut([0, 2, 5]), 1).err(),
        _ => SharedDense::<f32>::zeros(ranks, &cut([0, 2, 5]), 2).err(),
    });
    let too_few = refused(&|ranks| SharedDense::<f64>::zeros(ranks, &Partition::even(5, 3), 2).err());
    assert!(too_few.contains("rows are cut for 3 ranks: there are 2"), "{too_few}");
}
