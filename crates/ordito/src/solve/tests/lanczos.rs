//! Block Lanczos and singular triplets: multiple values, ranks that are too small, many restarts.

use super::{dense, grid, matrix, paths_apart, plan, plan_on, random, random_symmetric, relative};
use crate::machine::{Interrupt, Machine};
use crate::solve::{Control, Eigenpairs, Lanczos, SolveError, Stopped, Svds, Tolerance, Which, eigsh, svds};
use nalgebra::{DMatrix, SymmetricEigen};
use std::ops::ControlFlow;

fn found(a: &DMatrix<f64>, count: usize, which: Which) -> Eigenpairs<f64> {
    eigsh(&plan::<f64>(a), Lanczos { count, which, control: relative(1e-11), ..Default::default() }).unwrap()
}

/// All eigenvalues, best first.
fn expected(a: &DMatrix<f64>, which: Which) -> Vec<f64> {
    let mut values: Vec<f64> = SymmetricEigen::new(a.clone()).eigenvalues.iter().copied().collect();
    values.sort_by(f64::total_cmp);
    let order = which.order(&values);
    order.into_iter().map(|i| values[i]).collect()
}

fn agrees(a: &DMatrix<f64>, count: usize, which: Which) {
    let pairs = found(a, count, which);
    let size = a.norm().max(1e-300);
    assert!(pairs.history.converged(), "{:?} {:?}", pairs.history.stopped, pairs.residuals);
    for (found, expected) in pairs.values.iter().zip(expected(a, which)) {
        assert!((found - expected).abs() <= 1e-10 * size, "{found} {expected} {which:?}");
    }
    let x = matrix(&pairs.vectors);
    assert!((a * &x - &x * DMatrix::from_diagonal(&pairs.values.clone().into())).norm() <= 1e-9 * size);
    assert!((x.transpose() * &x - DMatrix::identity(count, count)).amax() < 1e-11);
}

#[test]
fn both_ends_and_both_at_once() {
    for which in [Which::Largest, Which::Smallest, Which::LargestMagnitude] {
        agrees(&random_symmetric(120, 3), 7, which);
        agrees(&grid(9), 6, which); // double ones
    }
}

#[test]
fn multiple_eigenvalues_are_found_as_often_as_they_are_there() {
    agrees(&paths_apart(&[17, 17, 17, 29]), 6, Which::Smallest);
    agrees(&DMatrix::identity(90, 90), 5, Which::Largest);
    agrees(&DMatrix::zeros(80, 80), 4, Which::Largest);
    agrees(&DMatrix::identity(9, 9), 5, Which::Largest);
}

/// More copies than a block has columns: a Krylov space of one block has no more than that.
#[test]
fn no_copy_is_missed() {
    agrees(&paths_apart(&[6; 40]), 8, Which::Smallest);
    let clique = DMatrix::from_element(10, 10, 1.0) - DMatrix::identity(10, 10);
    agrees(&DMatrix::identity(30, 30).kronecker(&clique), 8, Which::Largest);
    let found = svds(
        &plan::<f64>(&DMatrix::identity(12, 12).kronecker(&clique)),
        Svds { count: 8, control: relative(1e-9), ..Default::default() },
    );
    assert!(found.unwrap().values.iter().all(|value| (value - 9.0).abs() < 1e-9));
}

/// Blocks that are only partly used, and bases that hold nearly everything.
#[test]
fn as_many_rows_as_the_basis_has_columns_or_a_few_more() {
    for n in 66..72 {
        for (count, subspace) in [(2, 7), (3, n - 1), (5, n - 2), (2, n), (n / 2, n), (n - 1, n)] {
            for block in [2, 3, 5] {
                let a = random_symmetric(n, (count + subspace) as u64);
                let (subspace, control) = (Some(subspace.max(count + block).min(n)), relative(1e-10));
                let options = Lanczos { count, subspace, block: Some(block), control, ..Default::default() };
                let pairs = eigsh(&plan::<f64>(&a), options).unwrap();
                assert!(pairs.history.converged(), "{n} {count} {subspace:?} {block}: {:?}", pairs.residuals);
                for (found, expected) in pairs.values.iter().zip(expected(&a, Which::Largest)) {
                    assert!((found - expected).abs() < 1e-9 * a.norm(), "{n} {count} {subspace:?} {block}");
                }
            }
        }
    }
}

#[test]
fn tiny_matrices_and_all_of_them() {
    agrees(&DMatrix::from_row_slice(1, 1, &[-3.0]), 1, Which::Largest);
    for n in [2, 3, 5, 17] {
        agrees(&random_symmetric(n, n as u64), n, Which::Smallest);
    }
}

/// Close values at the end that is asked for: many restarts, in which the basis stays orthonormal.
#[test]
fn many_restarts_lose_no_orthogonality() {
    let n = 400;
    let values: Vec<f64> = (0..n).map(|i| 1.0 + (i as f64 / n as f64).powi(3)).collect();
    let a = DMatrix::from_diagonal(&values.into());
    let control =
        Control { tolerance: Some(Tolerance::Relative(1e-9)), max_iterations: 400, ..Control::default() };
    let options =
        Lanczos { count: 5, which: Which::Smallest, subspace: Some(16), control, ..Default::default() };
    let pairs = eigsh(&plan::<f64>(&a), options).unwrap();
    assert!(pairs.history.iterations() > 10);
    let x = matrix(&pairs.vectors);
    assert!((x.transpose() * &x - DMatrix::identity(5, 5)).amax() < 1e-11);
    // What is said of residuals is true, wherever it ended.
    let residual = &a * &x - &x * DMatrix::from_diagonal(&pairs.values.clone().into());
    for (column, said) in residual.column_iter().zip(&pairs.residuals) {
        assert!((column.norm() - said).abs() <= 1e-12);
    }
}

#[test]
fn singular_triplets_of_either_shape_and_of_small_rank() {
    let low = random(160, 3, 1) * random(3, 100, 2);
    for a in [random(190, 90, 3), random(70, 190, 4), random(90, 30, 5), random(30, 90, 6), low] {
        let found =
            svds(&plan::<f64>(&a), Svds { count: 5, control: relative(1e-9), ..Default::default() }).unwrap();
        let (u, v) = (matrix(&found.left), matrix(&found.right));
        let sigma = DMatrix::from_diagonal(&found.values.clone().into());
        assert!((&a * &v - &u * &sigma).amax() < 1e-8 && (a.transpose() * &u - &v * &sigma).amax() < 1e-8);
        let unit = DMatrix::identity(5, 5);
        assert!((u.transpose() * &u - &unit).amax() < 1e-11 && (v.transpose() * &v - &unit).amax() < 1e-11);
        let mut exact: Vec<f64> = a.singular_values().iter().copied().collect();
        exact.sort_by(|x, y| y.total_cmp(x));
        for (found, exact) in found.values.iter().zip(exact) {
            assert!((found - exact).abs() < 1e-7 * a.norm(), "{found} {exact}");
        }
    }
}

#[test]
fn what_makes_no_sense_is_said() {
    let a = plan::<f64>(&grid(3));
    let said = |options| eigsh(&a, options).unwrap_err().to_string();
    assert_eq!(
        said(Lanczos { count: 10, ..Default::default() }),
        "10 eigenpairs of a matrix of 9 rows: between 1 and 9 can be found"
    );
    assert!(
        said(Lanczos { count: 2, block: Some(2), subspace: Some(3), ..Default::default() })
            .contains("a basis of 3 columns is too small")
    );
    let short = dense::<f64>(&random(4, 1, 1));
    let start = Some(short.view().into());
    assert_eq!(said(Lanczos { start, ..Default::default() }), "the starting block has 4 rows, 9 expected");
    assert!(eigsh(&a, Lanczos { count: 2, subspace: Some(usize::MAX), ..Default::default() }).is_ok());
    let mut broken = grid(3);
    broken[(2, 2)] = f64::NAN;
    let error = eigsh(&plan::<f64>(&broken), Lanczos::default()).unwrap_err();
    assert_eq!(error, SolveError::NotFinite("A·V"));
}

#[test]
fn it_ends_when_it_is_told_to() {
    let a = random_symmetric(150, 5);
    let progress =
        Some(Box::new(|_: &crate::solve::Step| ControlFlow::Break(())) as crate::solve::Progress<'_>);
    let control = Control { progress, ..relative(1e-12) };
    let pairs = eigsh(&plan::<f64>(&a), Lanczos { count: 4, control, ..Default::default() }).unwrap();
    assert_eq!((pairs.history.stopped, pairs.history.iterations()), (Stopped::Cancelled, 0));
    assert!(pairs.residuals.iter().all(|residual| residual.is_finite()));
    let interrupt = Interrupt::default();
    interrupt.set();
    let machine = Machine::with_threads(1).unwrap().interrupted_by(&interrupt);
    assert!(eigsh(&plan_on::<f64>(&a, &machine), Lanczos::default()).is_err());
}
