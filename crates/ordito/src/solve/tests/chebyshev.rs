use super::*;
use crate::machine::Interrupt;
use crate::solve::{Chebyshev, Step, chebyshev};
use std::ops::ControlFlow;

#[track_caller]
fn both_ends(a: &DMatrix<f64>, count: usize) {
    check_both_ends(a, |plan, which, control| {
        chebyshev(plan, Chebyshev { count, which, control, ..Default::default() })
    });
}

#[test]
fn eigenpairs_are_those_of_a_dense_solver() {
    for seed in 1..4 {
        both_ends(&random_symmetric(80, seed), 12);
    }
    both_ends(&path(60), 15);
    both_ends(&grid(14), 50);
    both_ends(&with_spectrum(&(0..70).map(|i| f64::from(i) - 30.0).collect::<Vec<_>>(), 2), 6);
}

#[test]
fn multiple_and_clustered_eigenvalues() {
    both_ends(&grid(9), 7);
    both_ends(&with_spectrum(&[vec![1.0; 12], vec![5.0; 30], vec![9.0; 8]].concat(), 1), 5);
    both_ends(&with_spectrum(&[vec![1.0; 59], vec![5.0]].concat(), 1), 1);
    let near: Vec<f64> = (0..50).map(|i| 1.0 + f64::from(i / 5) + f64::from(i % 5) * 1e-11).collect();
    both_ends(&with_spectrum(&near, 2), 7);
    let near: Vec<f64> = (0..50).map(|i| 1.0 + f64::from(i / 5) + f64::from(i % 5) * 1e-6).collect();
    both_ends(&with_spectrum(&near, 3), 7);
}

#[test]
fn unit_zero_singular_and_indefinite_matrices() {
    both_ends(&DMatrix::identity(30, 30), 4);
    both_ends(&DMatrix::zeros(30, 30), 4);
    both_ends(&(DMatrix::identity(30, 30) * -7.0), 4);
    both_ends(&paths_apart(&[15, 25, 1, 1]), 6);
    both_ends(&with_spectrum(&[vec![0.0; 25], vec![-3.0, 2.0, 8.0]].concat(), 4), 8);
    both_ends(&with_spectrum(&(0..40).map(|i| (f64::from(i) - 20.0).powi(3)).collect::<Vec<_>>(), 5), 4);
}

#[test]
fn eigenvalues_of_zero_converge_by_default() {
    let a = paths_apart(&[30, 20, 14]);
    let plan = plan::<f64>(&a);
    let found =
        chebyshev(&plan, Chebyshev { count: 5, which: Which::Smallest, ..Default::default() }).unwrap();
    assert_eq!(found.history.stopped, Stopped::Converged, "{:?}", found.history.steps.last());
    check_eigenpairs(&a, &found, Which::Smallest, 1e-8);
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
fn starts_that_are_dependent_and_degrees_that_are_given() {
    let a = grid(8);
    let plan_of_a = plan::<f64>(&a);
    let one = random(64, 1, 1);
    let same = DMatrix::from_columns(&[one.column(0); 8]);
    for start in [same, DMatrix::zeros(64, 8), random(64, 8, 4)] {
        for degree in [None, Some(1), Some(2), Some(15)] {
            let start = dense(&start);
            let options = Chebyshev {
                count: 4,
                degree,
                start: Some(start.view().into()),
                control: within(1e-8),
                ..Default::default()
            };
            let found = chebyshev(&plan_of_a, options).unwrap();
            assert_eq!(found.history.stopped, Stopped::Converged);
            check_eigenpairs(&a, &found, Which::Largest, 1e-8);
        }
    }
}

#[test]
fn single_precision() {
    for which in [Which::Largest, Which::Smallest] {
        let a = grid(12);
        let plan = plan::<f32>(&a);
        let found = chebyshev(&plan, Chebyshev { count: 12, which, ..Default::default() }).unwrap();
        assert_eq!(found.history.stopped, Stopped::Converged, "{:?}", found.history.steps.last());
        check_eigenpairs(&a, &found, which, 1e-3);
    }
}

#[test]
fn a_tolerance_beyond_rounding_stagnates() {
    let a = grid(9);
    let plan = plan::<f64>(&a);
    let found = chebyshev(&plan, Chebyshev { count: 3, control: within(0.0), ..Default::default() }).unwrap();
    assert_eq!(found.history.stopped, Stopped::Stagnated);
    check_eigenpairs(&a, &found, Which::Largest, 1e-12);
}

#[test]
fn what_is_not_finite_or_does_not_fit_is_said() {
    let mut a = grid(5);
    a[(3, 3)] = f64::NAN;
    let error = chebyshev(&plan::<f64>(&a), Chebyshev { count: 2, ..Default::default() }).unwrap_err();
    assert!(matches!(error, SolveError::NotFinite(_)), "{error}");
    let plan_of_a = plan::<f64>(&path(4));
    let said = |options| chebyshev(&plan_of_a, options).unwrap_err().to_string();
    let many = Chebyshev { count: 5, ..Default::default() };
    assert_eq!(said(many), "5 eigenpairs of a matrix of 4 rows: there are only 4");
    let none = Chebyshev { degree: Some(0), ..Default::default() };
    assert_eq!(said(none), "the degree of the filter must be at least 1");
}

#[test]
fn limits_cancelling_and_interrupts_are_told() {
    let a = grid(20);
    let interrupt = Interrupt::default();
    let plan_of_a = plan_on::<f64>(&a, &Machine::with_threads(2).unwrap().interrupted_by(&interrupt));
    fn options(control: Control<'_>) -> Chebyshev<'_, f64> {
        Chebyshev { count: 9, which: Which::Smallest, degree: Some(2), control, ..Default::default() }
    }
    let control = Control { max_iterations: 3, ..Default::default() };
    let found = chebyshev(&plan_of_a, options(control)).unwrap();
    assert_eq!((found.history.stopped, found.history.iterations()), (Stopped::Limit, 3));
    let x = matrix(&found.vectors);
    let residual = &a * &x - &x * DMatrix::from_diagonal(&found.values.clone().into());
    for (j, said) in found.residuals.iter().enumerate() {
        assert!((residual.column(j).norm() - said).abs() < 1e-9, "not fresh");
    }
    let mut seen = 0;
    let mut progress = |step: &Step| {
        seen += 1;
        if step.iteration == 5 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let control = Control { progress: Some(Box::new(&mut progress)), ..Default::default() };
    let found = chebyshev(&plan_of_a, options(control)).unwrap();
    assert_eq!((found.history.stopped, seen), (Stopped::Cancelled, 6));
    let mut progress = |step: &Step| {
        if step.iteration == 2 {
            interrupt.set();
        }
        ControlFlow::Continue(())
    };
    let control = Control { progress: Some(Box::new(&mut progress)), ..Default::default() };
    let error = chebyshev(&plan_of_a, options(control)).unwrap_err();
    assert!(error.to_string().starts_with("interrupted"), "{error}");
}
