//! Distributed products against a serial oracle, on ranks that are threads.

#![allow(clippy::unwrap_used, clippy::panic)]

mod oracle;

use oracle::{assert_near, balanced, oracle};
use ordito::matrix::random_dense;
use ordito::{Csr, Dense, DenseView, DenseViewMut, Machine, Scalar};
use ordito_mpi::ranks::{Patience, Ranks, on_hosts, on_threads};
use ordito_mpi::{DistributedCsr, DistributedDense, LocalRows, Partition, Plan, Teams};
use std::sync::Arc;

/// Products of all kinds on so many ranks, put together.
fn products<S: Scalar>(
    a: &Csr<S>,
    (count, per_host): (usize, usize),
    shared_times: usize,
    k: usize,
    teams: Option<Teams>,
) -> [Vec<S>; 3] {
    let (rows, cols) = (balanced(a, count), Partition::even(a.cols() as u64, count));
    let parts = on_hosts(count, per_host, Patience::default(), |ranks| {
        let ranks: Arc<dyn Ranks> = Arc::new(ranks.sharing_memory_only(shared_times));
        let rank = ranks.rank();
        let local = LocalRows::of_csr(a, rows.range(rank));
        let matrix = DistributedCsr::with_teams(&ranks, rows.clone(), cols.clone(), local, teams).unwrap();
        assert_eq!(matrix.nnz(), a.nnz() as u64);
        assert_eq!(
            matrix.volume().halo_rows[rank],
            matrix.halo().rows() as u64,
            "counted before, and as it is"
        );
        assert_eq!(matrix.volume().neighbours[rank], matrix.halo().receives().len() as u64);
        let plan = Plan::new(matrix, &Machine::with_threads(1).unwrap()).unwrap();
        let random = |rows: &Partition, seed| DistributedDense::<S>::random(&*ranks, rows, k, seed).unwrap();
        let (x, mut y) = (random(&cols, 1), DistributedDense::zeros(&*ranks, &rows, k).unwrap());
        // What was in Y does not matter where β is 0.
        y.local_mut().data_mut().fill(S::from_f64(f64::NAN));
        plan.multiply(S::ONE, &x, S::ZERO, &mut y).unwrap();
        let first = y.local().data().to_vec();
        // α and β, and rows that lie apart.
        let mut y = random(&rows, 2);
        let (x_apart, mut y_apart) = (apart(x.local()), apart(y.local()));
        let x_view = DenseView::new(&x_apart, x.local().rows(), k, k + 3).unwrap();
        let y_view = DenseViewMut::new(&mut y_apart, y.local().rows(), k, k + 3).unwrap();
        plan.apply(S::from_f64(-1.5), x_view, S::from_f64(0.5), y_view).unwrap();
        let second = y_apart.chunks(k + 3).take(y.local().rows()).flat_map(|row| row[..k].to_vec()).collect();
        // Transposed.
        y = random(&cols, 3);
        plan.apply_transposed(S::from_f64(2.0), random(&rows, 4).view(), S::from_f64(-1.0), y.view_mut())
            .unwrap();
        [first, second, y.local().data().to_vec()]
    });
    let mut all = [const { Vec::new() }; 3];
    parts.into_iter().for_each(|part| all.iter_mut().zip(part).for_each(|(all, part)| all.extend(part)));
    all
}

/// Rows with three elements between them.
fn apart<S: Scalar>(dense: &Dense<S>) -> Vec<S> {
    let gap = [S::from_f64(f64::NAN); 3];
    (0..dense.rows())
        .flat_map(|row| dense.view().row(row).iter().chain(&gap).copied().collect::<Vec<_>>())
        .collect()
}

fn check<S: Scalar>(name: &str, a: &Csr<S>, counts: &[usize], ks: &[usize]) {
    let transposed = a.transpose();
    let longest = a.longest_row().max(transposed.longest_row());
    for &k in ks {
        let dense = |rows, seed| random_dense::<S>(rows, k, seed).unwrap();
        let (x, y) = (dense(a.cols(), 1), dense(a.rows(), 2));
        let right = [
            oracle(a, 1.0, &x, 0.0, &y),
            oracle(a, -1.5, &x, 0.5, &y),
            oracle(&transposed, 2.0, &dense(a.rows(), 4), -1.0, &dense(a.cols(), 3)),
        ];
        for &count in counts {
            let sizes = (2..=count).filter_map(|size| Teams::of(size, count)).map(Some);
            for teams in [None, Some(Teams::ALONE)].into_iter().chain(sizes) {
                // Each on a computer of its own, some together, all on one; where memory cannot be shared at all, and where it can at first, when it is tried, and not for X.
                for (per_host, shared_times) in
                    [(1, usize::MAX), (2, usize::MAX), (count, usize::MAX), (count, 0), (count, 1)]
                {
                    let what = format!(
                        "{name}, {count} ranks, {per_host} a host, memory shared {shared_times} times, K = {k}, {teams:?}"
                    );
                    let found = products(a, (count, per_host), shared_times, k, teams);
                    for (found, right) in found.iter().zip(&right) {
                        assert_near(found, right, longest + count, &what);
                    }
                    let again = products(a, (count, per_host), shared_times, k, teams);
                    assert!(found == again, "{what}: the same bits");
                }
            }
        }
    }
}

fn named<S: Scalar>(name: &str) -> Csr<S> {
    ordito::io::read_csr(name).unwrap()
}

const COUNTS: &[usize] = &[1, 2, 3, 4, 8];

#[test]
fn synthetic_matrices_of_every_shape() {
    for name in ["stencil5:12", "powerlaw:300x9", "band:100x7", "blocks:20x3x4", "uniform:150x5", "drawn:12"]
    {
        if name != "drawn:12" {
            check::<f64>(name, &named(name), COUNTS, &[1, 3]);
        }
        check::<f32>(name, &named(name), &[2, 8], &[16]);
    }
}

#[test]
fn empty_rows_dense_rows_and_more_ranks_than_rows() {
    check::<f64>("empty", &named("empty:5x7"), COUNTS, &[2]);
    check::<f64>("no rows", &named("empty:0x7"), &[3], &[2]);
    check::<f64>("no columns", &named("empty:7x0"), &[3], &[2]);
    check::<f64>("few rows", &named("band:3x2"), &[8, 5], &[1, 4]);
    // One full row among empty ones.
    let full =
        Csr::from_parts(6, 40, vec![0, 0, 0, 40, 40, 41, 41], (0..40).chain([7]).collect(), vec![0.5; 41])
            .unwrap();
    check::<f64>("one full row", &full, COUNTS, &[1, 16]);
    // Wide, tall.
    let wide = Csr::from_parts(
        2,
        90,
        vec![0, 3, 6],
        vec![0, 44, 89, 1, 45, 88],
        vec![1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0],
    )
    .unwrap();
    check("wide", &wide, &[4], &[3]);
    check("tall", &wide.transpose(), &[4], &[3]);
}

/// Own parts large enough to be cut.
#[test]
fn pieces_give_the_same() {
    check::<f64>("stencil27:32", &named("stencil27:32"), &[2], &[3]);
}

#[test]
fn real_matrices() {
    let corpus = std::env::var_os("ORDITO_CORPUS")
        .map_or_else(|| "../../../shared/data".into(), std::path::PathBuf::from);
    let Ok(files) = std::fs::read_dir(corpus.join("mtx")) else { return };
    let mut seen = 0;
    for file in files {
        let path = file.unwrap().path();
        let Ok(a) = ordito::io::read_csr::<f64>(&path.to_string_lossy()) else { continue };
        if a.nnz() > 60_000 {
            continue; // those run under MPI, with the program itself
        }
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        check(&name, &a, &[3], &[3]);
        seen += 1;
    }
    assert!(seen > 5, "{seen} matrices in {}", corpus.display());
}

#[test]
fn graphs_take_teams_and_stencils_do_not() {
    let chosen = |name: &str, count: usize| {
        let a: Csr<f64> = named(name);
        let rows = balanced(&a, count);
        on_hosts(count, 1, Patience::default(), |ranks| {
            let ranks: Arc<dyn Ranks> = Arc::new(ranks);
            let local = LocalRows::of_csr(&a, rows.range(ranks.rank()));
            let matrix = DistributedCsr::from_local_rows(&ranks, rows.clone(), rows.clone(), local).unwrap();
            (matrix.teams().size(), matrix.volume().most())
        })[0]
    };
    assert_eq!(chosen("stencil5:40", 16).0, 1);
    let (size, most) = chosen("uniform:2000x40", 16);
    // Alone, nearly 15/16 of X would come to every rank; in teams of four 1/4 of X and 3/16 of Y.
    assert_eq!(size, 4);
    assert!(most < 1000, "{most}");
}

#[test]
fn what_does_not_fit_is_said_on_all_ranks() {
    let told = on_threads(3, Patience::default(), |ranks| {
        let ranks: Arc<dyn Ranks> = Arc::new(ranks);
        let rows = Partition::even(6, 3);
        let given = if ranks.rank() == 1 { 3 } else { 2 };
        let local = LocalRows::<f64>::new(6, vec![0; given + 1], Vec::new(), Vec::new()).unwrap();
        DistributedCsr::from_local_rows(&ranks, rows.clone(), rows, local)
            .map(|_| ())
            .unwrap_err()
            .to_string()
    });
    assert!(told.iter().all(|told| told == "rank 1: 3 rows were given, 2 are this rank's"), "{told:?}");
    let told = on_threads(2, Patience::default(), |ranks| {
        let ranks: Arc<dyn Ranks> = Arc::new(ranks);
        let rows = Partition::new([0, 2 + 2 * ranks.rank() as u64, 4]).unwrap();
        let local = LocalRows::<f64>::new(4, vec![0; rows.rows_of(ranks.rank()) + 1], Vec::new(), Vec::new())
            .unwrap();
        DistributedCsr::from_local_rows(&ranks, rows, Partition::even(4, 2), local)
            .map(|_| ())
            .unwrap_err()
            .to_string()
    });
    assert!(
        told.iter().all(|told| told.starts_with("where rows and columns are cut, and teams: rank 0 has ")),
        "{told:?}"
    );
}

#[test]
fn one_rank_with_a_wrong_operand_ends_all() {
    let a: Csr<f64> = named("stencil5:8");
    let rows = balanced(&a, 3);
    let told = on_threads(3, Patience::default(), |ranks| {
        let ranks: Arc<dyn Ranks> = Arc::new(ranks);
        let matrix = DistributedCsr::from_local_rows(
            &ranks,
            rows.clone(),
            rows.clone(),
            LocalRows::of_csr(&a, rows.range(ranks.rank())),
        )
        .unwrap();
        // The third may have failed before the others have come to an end of this.
        let plan = match Plan::new(matrix, &Machine::with_threads(1).unwrap()) {
            Ok(plan) => plan,
            Err(error) => return error.to_string(),
        };
        let mine = rows.rows_of(ranks.rank());
        let wrong = usize::from(ranks.rank() == 2);
        let (x, mut y) = (Dense::<f64>::zeros(mine + wrong, 2).unwrap(), Dense::zeros(mine, 2).unwrap());
        // The others may have been through before; then the next one tells them.
        let mut product = || plan.apply(1.0, x.view(), 0.0, y.view_mut());
        product().and_then(|()| product()).unwrap_err().to_string()
    });
    assert!(told[2].starts_with("X is "), "{told:?}");
    assert!(told[1].starts_with("rank 2: X is "), "{told:?}");
}
