use super::*;
use crate::machine::Interrupt;
use crate::solve::{Lobpcg, Preconditioner, Step, lobpcg};
use std::ops::ControlFlow;

#[track_caller]
fn both_ends(a: &DMatrix<f64>, count: usize) {
    check_both_ends(a, |plan, which, control| {
        lobpcg(plan, Lobpcg { count, which, control, ..Default::default() })
    });
}

#[test]
fn eigenpairs_are_those_of_a_dense_solver() {
    for seed in 1..4 {
        both_ends(&random_symmetric(80, seed), 5);
    }
    both_ends(&path(60), 4);
    both_ends(&with_spectrum(&(0..70).map(|i| f64::from(i) - 30.0).collect::<Vec<_>>(), 2), 6);
}

#[test]
fn multiple_and_clustered_eigenvalues() {
    both_ends(&grid(9), 7);
    both_ends(&with_spectrum(&[vec![1.0; 12], vec![5.0; 30], vec![9.0; 8]].concat(), 1), 5);
    // Less apart than the tolerance, and a little more.
    let near: Vec<f64> = (0..50).map(|i| 1.0 + f64::from(i / 5) + f64::from(i % 5) * 1e-11).collect();
    both_ends(&with_spectrum(&near, 2), 7);
    let near: Vec<f64> = (0..50).map(|i| 1.0 + f64::from(i / 5) + f64::from(i % 5) * 1e-6).collect();
    both_ends(&with_spectrum(&near, 3), 7);
}

#[test]
fn unit_and_zero_matrices() {
    both_ends(&DMatrix::identity(30, 30), 4);
    both_ends(&(DMatrix::identity(30, 30) * -7.0), 4);
    for relative in [false, true] {
        let zero = plan::<f64>(&DMatrix::zeros(20, 20));
        let control = if relative { Control::default() } else { within(1e-12) };
        let found = lobpcg(&zero, Lobpcg { count: 3, control, ..Default::default() }).unwrap();
        assert_eq!(found.history.stopped, Stopped::Converged);
        check_eigenpairs(&DMatrix::zeros(20, 20), &found, Which::Largest, 1e-300);
    }
}

#[test]
fn singular_and_indefinite_matrices() {
    both_ends(&paths_apart(&[15, 25, 1, 1]), 6);
    both_ends(&with_spectrum(&[vec![0.0; 25], vec![-3.0, 2.0, 8.0]].concat(), 4), 8);
    both_ends(&with_spectrum(&(0..40).map(|i| (f64::from(i) - 20.0).powi(3)).collect::<Vec<_>>(), 5), 4);
}

/// A relative tolerance of an eigenvalue of 0 is one that rounding cannot reach: it must not be asked for.
#[test]
fn eigenvalues_of_zero_converge_by_default() {
    let a = paths_apart(&[30, 20, 14]);
    let found =
        lobpcg(&plan::<f64>(&a), Lobpcg { count: 5, which: Which::Smallest, ..Default::default() }).unwrap();
    assert_eq!(found.history.stopped, Stopped::Converged, "{:?}", found.history.steps.last());
    check_eigenpairs(&a, &found, Which::Smallest, 1e-8);
    assert!(found.values[2].abs() < 1e-12 && found.values[3] > 1e-3);
}

#[test]
fn tiny_matrices_and_all_eigenpairs() {
    for n in 1..8 {
        let a = path(n) - DMatrix::identity(n, n);
        for count in 1..=n {
            both_ends(&a, count);
        }
    }
    both_ends(&random_symmetric(24, 9), 24);
    both_ends(&grid(5), 25);
    both_ends(&grid(5), 13);
}

#[test]
fn starts_that_are_dependent_or_exact() {
    let a = grid(8);
    let plan_of_a = plan::<f64>(&a);
    let run = |start: &DMatrix<f64>, count| {
        let start = dense(start);
        let options =
            Lobpcg { count, start: Some(start.view().into()), control: within(1e-9), ..Default::default() };
        lobpcg(&plan_of_a, options).unwrap()
    };
    let one = random(64, 1, 1);
    let same = DMatrix::from_columns(&[one.column(0), one.column(0), one.column(0), one.column(0)]);
    let nearly = &same + random(64, 4, 2) * 1e-13;
    for start in [same, nearly, DMatrix::zeros(64, 4)] {
        let found = run(&start, 3);
        assert_eq!(found.history.stopped, Stopped::Converged);
        check_eigenpairs(&a, &found, Which::Largest, 1e-8);
    }
    let eigen = SymmetricEigen::new(a.clone());
    let mut order: Vec<usize> = (0..64).collect();
    order.sort_by(|&i, &j| eigen.eigenvalues[j].total_cmp(&eigen.eigenvalues[i]));
    let exact = DMatrix::from_fn(64, 4, |row, col| eigen.eigenvectors[(row, order[col])]);
    let found = run(&exact, 4);
    assert_eq!((found.history.stopped, found.history.iterations()), (Stopped::Converged, 0));
    // Columns of very different sizes.
    let found = run(&(random(64, 4, 3) * DMatrix::from_diagonal(&vec![1e-200, 1.0, 1e100, 1e-9].into())), 4);
    check_eigenpairs(&a, &found, Which::Largest, 1e-8);
}

#[test]
fn generalised_problems() {
    let (a, b) = (grid(7), {
        let x = random_symmetric(49, 6) * 0.1;
        &x * &x + DMatrix::identity(49, 49)
    });
    // LLᵀ = B: the eigenvalues of L⁻¹AL⁻ᵀ.
    let inverse = b.clone().cholesky().unwrap().l().try_inverse().unwrap();
    let whole = &inverse * &a * inverse.transpose();
    let (of_a, of_b) = (plan::<f64>(&a), plan::<f64>(&b));
    for which in [Which::Largest, Which::Smallest] {
        let options = Lobpcg { count: 4, which, b: Some(&of_b), control: within(1e-9), ..Default::default() };
        let found = lobpcg(&of_a, options).unwrap();
        assert_eq!(found.history.stopped, Stopped::Converged);
        let x = matrix(&found.vectors);
        assert!((x.transpose() * &b * &x - DMatrix::identity(4, 4)).amax() < 1e-12);
        let residual = &a * &x - &b * &x * DMatrix::from_diagonal(&found.values.clone().into());
        assert!(residual.amax() < 1e-8, "{:e}", residual.amax());
        for (value, expected) in found.values.iter().zip(eigenvalues(&whole, which)) {
            assert!((value - expected).abs() < 1e-7, "{value} {expected}");
        }
    }
    let indefinite = plan::<f64>(&(&b * -1.0));
    let error = lobpcg(&of_a, Lobpcg { b: Some(&indefinite), ..Default::default() }).unwrap_err();
    assert!(error.to_string().contains("is B"), "{error}");
}

#[test]
fn constraints_leave_the_rest() {
    let a = grid(8);
    let eigen = SymmetricEigen::new(a.clone());
    let mut order: Vec<usize> = (0..64).collect();
    order.sort_by(|&i, &j| eigen.eigenvalues[i].total_cmp(&eigen.eigenvalues[j]));
    let known = DMatrix::from_fn(64, 3, |row, col| eigen.eigenvectors[(row, order[col])] * 17.0);
    let (plan_of_a, held) = (plan::<f64>(&a), dense(&known));
    let options = Lobpcg {
        count: 4,
        which: Which::Smallest,
        constraints: Some(held.view().into()),
        control: within(1e-9),
        ..Default::default()
    };
    let found = lobpcg(&plan_of_a, options).unwrap();
    assert_eq!(found.history.stopped, Stopped::Converged);
    assert!((known.transpose() * matrix(&found.vectors)).amax() < 1e-9);
    for (value, expected) in found.values.iter().zip(&eigenvalues(&a, Which::Smallest)[3..]) {
        assert!((value - expected).abs() < 1e-8, "{value} {expected}");
    }
    let twice = dense::<f64>(&DMatrix::from_columns(&[known.column(0), known.column(0)]));
    let error = lobpcg(&plan_of_a, Lobpcg { constraints: Some(twice.view().into()), ..Default::default() })
        .unwrap_err();
    assert_eq!(error.to_string(), "the constraints are dependent: rank 1 of 2");
}

#[test]
fn preconditioners_take_fewer_iterations() {
    let d: Vec<f64> = (0..100).map(|i| 1.0 + f64::from(i).powi(2)).collect();
    let a = grid(10) + DMatrix::from_diagonal(&d.clone().into());
    let inverse: Vec<f64> = (0..100).map(|i| 1.0 / a[(i, i)]).collect();
    let (plan_of_a, m) = (plan::<f64>(&a), plan::<f64>(&DMatrix::from_diagonal(&inverse.clone().into())));
    let run = |preconditioner| {
        let options = Lobpcg {
            count: 4,
            which: Which::Smallest,
            preconditioner,
            control: within(1e-7),
            ..Default::default()
        };
        let found = lobpcg(&plan_of_a, options).unwrap();
        assert_eq!(found.history.stopped, Stopped::Converged);
        check_eigenpairs(&a, &found, Which::Smallest, 1e-9);
        found.history.iterations()
    };
    let (none, jacobi) = (run(None), run(Some(Preconditioner::Diagonal(&inverse))));
    assert!(2 * jacobi < none, "{jacobi} {none}");
    assert!(run(Some(Preconditioner::Operator(&m))).abs_diff(jacobi) <= 2);
}

#[test]
fn single_precision() {
    for (a, which) in
        [(grid(12), Which::Largest), (grid(12), Which::Smallest), (random_symmetric(90, 3), Which::Largest)]
    {
        let found = lobpcg(&plan::<f32>(&a), Lobpcg { count: 5, which, ..Default::default() }).unwrap();
        assert_eq!(found.history.stopped, Stopped::Converged, "{:?}", found.history.steps.last());
        check_eigenpairs(&a, &found, which, 1e-3);
    }
}

#[test]
fn a_tolerance_beyond_rounding_stagnates() {
    let a = grid(9);
    let found =
        lobpcg(&plan::<f64>(&a), Lobpcg { count: 3, control: within(0.0), ..Default::default() }).unwrap();
    assert_eq!(found.history.stopped, Stopped::Stagnated);
    check_eigenpairs(&a, &found, Which::Largest, 1e-12);
}

#[test]
fn what_is_not_finite_is_said() {
    for number in [f64::NAN, f64::INFINITY] {
        let mut a = grid(5);
        a[(3, 3)] = number;
        let error = lobpcg(&plan::<f64>(&a), Lobpcg { count: 2, ..Default::default() }).unwrap_err();
        assert!(matches!(error, SolveError::NotFinite(_)), "{error}");
    }
    let start = Dense::filled(25, 2, f64::NAN).unwrap();
    let plan_of_a = plan(&grid(5));
    let error =
        lobpcg(&plan_of_a, Lobpcg { count: 2, start: Some(start.view().into()), ..Default::default() })
            .unwrap_err();
    assert!(matches!(error, SolveError::NotFinite(_)), "{error}");
}

#[test]
fn limits_cancelling_and_interrupts_are_told() {
    let a = grid(20);
    let interrupt = Interrupt::default();
    let plan_of_a = plan_on::<f64>(&a, &Machine::with_threads(2).unwrap().interrupted_by(&interrupt));
    let control = Control { max_iterations: 3, ..Default::default() };
    let found = lobpcg(&plan_of_a, Lobpcg { count: 2, control, ..Default::default() }).unwrap();
    assert_eq!((found.history.stopped, found.history.iterations()), (Stopped::Limit, 3));
    let mut seen = 0;
    let mut progress = |step: &Step| {
        seen += 1;
        if step.iteration == 5 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let control = Control { progress: Some(Box::new(&mut progress)), ..Default::default() };
    let found = lobpcg(&plan_of_a, Lobpcg { count: 2, control, ..Default::default() }).unwrap();
    assert_eq!((found.history.stopped, seen), (Stopped::Cancelled, 6));
    let x = matrix(&found.vectors);
    let residual = &a * &x - &x * DMatrix::from_diagonal(&found.values.clone().into());
    for (j, said) in found.residuals.iter().enumerate() {
        assert!((residual.column(j).norm() - said).abs() < 1e-9, "not fresh");
    }
    let mut progress = |step: &Step| {
        if step.iteration == 2 {
            interrupt.set();
        }
        ControlFlow::Continue(())
    };
    let control = Control { progress: Some(Box::new(&mut progress)), ..Default::default() };
    let error = lobpcg(&plan_of_a, Lobpcg { count: 2, control, ..Default::default() }).unwrap_err();
    assert!(error.to_string().starts_with("interrupted"), "{error}");
}

#[test]
fn what_does_not_fit_is_said() {
    let plan_of_a = plan::<f64>(&path(4));
    let said = |options| lobpcg(&plan_of_a, options).unwrap_err().to_string();
    assert_eq!(
        said(Lobpcg { count: 5, ..Default::default() }),
        "5 eigenpairs of a matrix of 4 rows: there are only 4"
    );
    let (short, narrow) = (Dense::zeros(3, 1).unwrap(), Dense::zeros(4, 1).unwrap());
    let start = |view| Lobpcg { count: 2, start: Some(view), ..Default::default() };
    assert_eq!(said(start(short.view().into())), "the starting block has 3 rows, 4 expected");
    assert_eq!(said(start(narrow.view().into())), "2 eigenpairs of a starting block of 1 columns");
    let control = within(-1.0);
    assert_eq!(said(Lobpcg { control, ..Default::default() }), "the tolerance must be a number of 0 or more");
}

/// x has length 1 in the inner product of B: a relative tolerance must not become weaker with it.
#[test]
fn the_scale_of_b_does_not_matter() {
    let a = grid(10);
    let exact = |scale: f64| a.clone().symmetric_eigenvalues().max() / scale;
    for scale in [1e-12, 1.0, 1e12] {
        let b = plan::<f64>(&(DMatrix::identity(100, 100) * scale));
        let found = lobpcg(&plan::<f64>(&a), Lobpcg { count: 2, b: Some(&b), ..Default::default() }).unwrap();
        assert!(found.history.converged());
        assert!((found.values[0] / exact(scale) - 1.0).abs() < 1e-9, "{scale:e}: {}", found.values[0]);
    }
}
