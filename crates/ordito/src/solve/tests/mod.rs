//! Solvers against dense ones, on matrices that are hard for them.

mod cg;
mod chebyshev;
mod drawn;
mod lanczos;
mod lobpcg;
#[cfg(all(feature = "emulator", feature = "io"))]
mod on_device;
mod pagerank;
mod scales;

use crate::Scalar;
use crate::machine::Machine;
use crate::matrix::{Coo, Csr, Dense, Duplicates, random_dense};
use crate::solve::{Control, Eigenpairs, SolveError, Stopped, Tolerance, Which};
use crate::spmm::Plan;
use nalgebra::{DMatrix, SymmetricEigen};

/// A plan of two threads for the elements that are not 0.
fn plan<S: Scalar>(a: &DMatrix<f64>) -> Plan<S> {
    plan_on(a, &Machine::with_threads(2).unwrap())
}

fn plan_on<S: Scalar>(a: &DMatrix<f64>, machine: &std::sync::Arc<Machine>) -> Plan<S> {
    let (mut rows, mut cols, mut values) = (Vec::new(), Vec::new(), Vec::new());
    for row in 0..a.nrows() {
        for col in 0..a.ncols() {
            if a[(row, col)] != 0.0 {
                rows.push(row as u32);
                cols.push(col as u32);
                values.push(S::from_f64(a[(row, col)]));
            }
        }
    }
    let coo = Coo::new(a.nrows(), a.ncols(), rows, cols, values).unwrap();
    Plan::new(Csr::from_coo(&coo, Duplicates::Sum), machine).unwrap()
}

fn dense<S: Scalar>(a: &DMatrix<f64>) -> Dense<S> {
    let rows = a.transpose().iter().map(|&x| S::from_f64(x)).collect();
    Dense::from_rows(a.nrows(), a.ncols(), rows).unwrap()
}

fn matrix<S: Scalar>(a: &Dense<S>) -> DMatrix<f64> {
    DMatrix::from_fn(a.rows(), a.cols(), |row, col| a.view().row(row)[col].to_f64())
}

fn random(rows: usize, cols: usize, seed: u64) -> DMatrix<f64> {
    matrix(&random_dense::<f64>(rows, cols, seed).unwrap())
}

/// 2 on the diagonal, −1 beside it: positive definite.
fn path(n: usize) -> DMatrix<f64> {
    DMatrix::from_fn(n, n, |i, j| match i.abs_diff(j) {
        0 => 2.0,
        1 => -1.0,
        _ => 0.0,
    })
}

/// The grid's: eigenvalues are sums of those of a path, many of them double.
fn grid(m: usize) -> DMatrix<f64> {
    let unit = DMatrix::identity(m, m);
    path(m).kronecker(&unit) + unit.kronecker(&path(m))
}

/// Laplacian of paths that do not touch: 0 is an eigenvalue as often as there are paths.
fn paths_apart(lengths: &[usize]) -> DMatrix<f64> {
    let n = lengths.iter().sum();
    let mut a = DMatrix::zeros(n, n);
    let mut first = 0;
    for &length in lengths {
        for i in first..first + length - 1 {
            a[(i, i)] += 1.0;
            a[(i + 1, i + 1)] += 1.0;
            a[(i, i + 1)] = -1.0;
            a[(i + 1, i)] = -1.0;
        }
        first += length;
    }
    a
}

/// A few elements in each row, at random.
fn random_symmetric(n: usize, seed: u64) -> DMatrix<f64> {
    let x = random(n, n, seed);
    let sparse = x.map(|x| if x.abs() < 5.0 / n as f64 { x * n as f64 } else { 0.0 });
    &sparse + sparse.transpose()
}

/// Orthonormal columns.
fn orthonormal(n: usize, cols: usize, seed: u64) -> DMatrix<f64> {
    random(n, cols, seed).qr().q()
}

/// Symmetric, with these eigenvalues.
fn with_spectrum(values: &[f64], seed: u64) -> DMatrix<f64> {
    let q = orthonormal(values.len(), values.len(), seed);
    let a = &q * DMatrix::from_diagonal(&values.to_vec().into()) * q.transpose();
    (&a + a.transpose()) * 0.5
}

/// Best first.
fn eigenvalues(a: &DMatrix<f64>, which: Which) -> Vec<f64> {
    let mut values: Vec<f64> = SymmetricEigen::new(a.clone()).eigenvalues.iter().copied().collect();
    values.sort_by(f64::total_cmp);
    if which == Which::Largest {
        values.reverse();
    }
    values
}

fn within<'a>(tolerance: f64) -> Control<'a> {
    Control { tolerance: Some(Tolerance::Absolute(tolerance)), ..Default::default() }
}

fn relative<'a>(tolerance: f64) -> Control<'a> {
    Control { tolerance: Some(Tolerance::Relative(tolerance)), ..Default::default() }
}

/// The pairs of both ends, as `solver` finds them, checked.
#[track_caller]
fn check_both_ends(
    a: &DMatrix<f64>,
    solver: impl Fn(&Plan<f64>, Which, Control<'_>) -> Result<Eigenpairs<f64>, SolveError>,
) {
    let size = a.amax().max(1e-300);
    for which in [Which::Largest, Which::Smallest] {
        let found = solver(&plan(a), which, within(1e-9 * size)).unwrap();
        assert_eq!(found.history.stopped, Stopped::Converged, "{which:?}: {:?}", found.history.steps.last());
        check_eigenpairs(a, &found, which, 1e-8);
    }
}

/// Values are those of a dense solver, vectors are orthonormal, residuals are as small as is said, and said as they are.
#[track_caller]
fn check_eigenpairs<S: Scalar>(a: &DMatrix<f64>, found: &Eigenpairs<S>, which: Which, bound: f64) {
    let size = a.amax().max(1e-300);
    let (x, count) = (matrix(&found.vectors), found.values.len());
    assert_eq!(x.shape(), (a.nrows(), count));
    let expected = eigenvalues(a, which);
    for (index, value) in found.values.iter().enumerate() {
        let error = (value - expected[index]).abs();
        assert!(
            error <= bound * size,
            "eigenvalue {index}: {value}, {} expected\n{:?}",
            expected[index],
            found.values
        );
    }
    let orthonormality = (x.transpose() * &x - DMatrix::identity(count, count)).amax();
    assert!(orthonormality <= 100.0 * S::EPSILON, "XᵀX − I: {orthonormality:e}");
    let residual = a * &x - &x * DMatrix::from_diagonal(&found.values.clone().into());
    for (index, said) in found.residuals.iter().enumerate() {
        let norm = residual.column(index).norm();
        assert!(norm <= bound * size, "residual {index}: {norm:e}");
        let rounding = 100.0 * S::EPSILON * size * (a.nrows() as f64).sqrt();
        assert!(
            (norm - said).abs() <= 1e-3 * norm + rounding,
            "residual {index}: {norm:e}, {said:e} was said"
        );
    }
}
