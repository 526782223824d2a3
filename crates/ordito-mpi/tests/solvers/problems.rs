//! Matrices, plans of their parts, and what results are held against.

use ordito::{Coo, Csr, Dense, Duplicates, Machine, Scalar};
use ordito_mpi::ranks::{Patience, Ranks, on_threads};
use ordito_mpi::{DistributedCsr, LocalRows, Partition, Plan};
use std::ops::Range;
use std::sync::Arc;

/// A plan of this rank's rows, cut by nonzeros; columns of a square matrix are cut alike.
pub(crate) fn plan_of<S: Scalar>(ranks: &Arc<dyn Ranks>, a: &Csr<S>) -> Plan<S> {
    let rows =
        Partition::balanced(a.rows() as u64, ranks.count(), |row| a.row_offsets()[row as usize] as u64);
    cut(ranks, a, rows)
}

pub(crate) fn cut<S: Scalar>(ranks: &Arc<dyn Ranks>, a: &Csr<S>, rows: Partition) -> Plan<S> {
    let cols = match a.rows() == a.cols() {
        true => rows.clone(),
        false => Partition::even(a.cols() as u64, ranks.count()),
    };
    let local = LocalRows::of_csr(a, rows.range(ranks.rank()));
    let matrix = DistributedCsr::from_local_rows(ranks, rows, cols, local).unwrap();
    Plan::new(matrix, &Machine::with_threads(1).unwrap()).unwrap()
}

pub(crate) fn serial<S: Scalar>(a: &Csr<S>) -> ordito::spmm::Plan<S> {
    ordito::spmm::Plan::new(a.clone(), &Machine::with_threads(1).unwrap()).unwrap()
}

/// This rank's rows.
pub(crate) fn part<S: Scalar>(of: &Dense<S>, rows: Range<u64>) -> Dense<S> {
    let k = of.cols();
    let data = of.data()[rows.start as usize * k..rows.end as usize * k].to_vec();
    Dense::from_rows((rows.end - rows.start) as usize, k, data).unwrap()
}

/// Rows of all ranks, one behind the other.
pub(crate) fn whole<S: Scalar>(parts: impl Iterator<Item = Dense<S>>) -> Dense<S> {
    let parts: Vec<Dense<S>> = parts.collect();
    let data: Vec<S> = parts.iter().flat_map(|part| part.data().to_vec()).collect();
    Dense::from_rows(parts.iter().map(Dense::rows).sum(), parts[0].cols(), data).unwrap()
}

pub(crate) fn mine<S: Scalar>(plan: &Plan<S>) -> Range<u64> {
    plan.rows().range(plan.ranks().rank())
}

/// What every rank found: values and residuals that must be the same bits everywhere, and its rows of blocks.
pub(crate) type Found = (Vec<f64>, Vec<f64>, Vec<Dense<f64>>);

/// The same on so many ranks, twice: the same bits on every rank and every time.
pub(crate) fn on_ranks(count: usize, solve: impl Fn(&Arc<dyn Ranks>) -> Found + Sync) -> Found {
    let once = || {
        let all = on_threads(count, Patience::default(), |ranks| {
            let ranks: Arc<dyn Ranks> = Arc::new(ranks);
            solve(&ranks)
        });
        assert!(all.iter().all(|(values, residuals, _)| (values, residuals) == (&all[0].0, &all[0].1)));
        let blocks = (0..all[0].2.len()).map(|block| whole(all.iter().map(|found| found.2[block].clone())));
        (all[0].0.clone(), all[0].1.clone(), blocks.collect())
    };
    let first = once();
    assert!(first == once(), "{count} ranks: the same bits");
    first
}

pub(crate) fn near(found: &[f64], right: &[f64], tolerance: f64, what: &str) {
    assert_eq!(found.len(), right.len(), "{what}");
    let size = right.iter().fold(1.0_f64, |size, x| size.max(x.abs()));
    for (found, right) in found.iter().zip(right) {
        assert!((found - right).abs() <= tolerance * size, "{what}: {found} and {right}");
    }
}

/// A·X, by a loop.
pub(crate) fn product(a: &Csr<f64>, x: &Dense<f64>) -> Vec<f64> {
    let mut y = Vec::new();
    for row in 0..a.rows() {
        for column in 0..x.cols() {
            y.push(a.row(row).map(|(index, value)| value * x.view().row(index)[column]).sum());
        }
    }
    y
}

/// ‖A·x − λ·B·x‖ of every column, seen from the whole matrix.
pub(crate) fn check_pairs(
    a: &Csr<f64>,
    b: Option<&Csr<f64>>,
    values: &[f64],
    x: &Dense<f64>,
    tolerance: f64,
    what: &str,
) {
    let (ax, bx) = (product(a, x), b.map_or(x.data().to_vec(), |b| product(b, x)));
    for (column, value) in values.iter().enumerate() {
        let at = |row: usize| row * x.cols() + column;
        let square: f64 = (0..a.rows()).map(|row| (ax[at(row)] - value * bx[at(row)]).powi(2)).sum();
        assert!(square.sqrt() <= tolerance, "{what}: pair {column} is off by {}", square.sqrt());
        let length: f64 = (0..a.rows()).map(|row| x.data()[at(row)] * bx[at(row)]).sum();
        assert!((length - 1.0).abs() < 1e-8, "{what}: a vector of length {length}");
    }
}

/// Symmetric and positive definite: a grid with a potential.
pub(crate) fn grid(side: usize) -> Csr<f64> {
    let n = side * side;
    let (mut rows, mut cols, mut values) = (vec![], vec![], vec![]);
    let mut push = |i: usize, j: usize, value: f64| {
        rows.push(i as u32);
        cols.push(j as u32);
        values.push(value);
    };
    for i in 0..n {
        push(i, i, 4.0 + (i % 7) as f64 * 0.3);
        if i % side > 0 {
            push(i, i - 1, -1.0);
            push(i - 1, i, -1.0);
        }
        if i >= side {
            push(i, i - side, -1.0);
            push(i - side, i, -1.0);
        }
    }
    Csr::from_coo(&Coo::new(n, n, rows, cols, values).unwrap(), Duplicates::Sum)
}

pub(crate) fn diagonal(numbers: impl Iterator<Item = f64>) -> Csr<f64> {
    let values: Vec<f64> = numbers.collect();
    let n = values.len();
    Csr::from_parts(n, n, (0..=n).collect(), (0..n as u32).collect(), values).unwrap()
}
