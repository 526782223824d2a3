use super::*;
use crate::machine::Interrupt;
use crate::matrix::Random;
use crate::solve::{Cg, FromFn, Preconditioner, Solution, cg};
use std::ops::ControlFlow;

fn solve(a: &DMatrix<f64>, b: &DMatrix<f64>, tolerance: f64) -> Result<Solution<f64>, SolveError> {
    cg(&plan(a), dense(b).view(), Cg { control: relative(tolerance), ..Default::default() })
}

/// Residuals are what is said, and within the tolerance.
#[track_caller]
fn check<S: Scalar>(a: &DMatrix<f64>, b: &DMatrix<f64>, found: &Solution<S>, tolerance: f64) {
    let history = &found.history;
    assert_eq!(history.stopped, Stopped::Converged, "{:?}", history.steps.last());
    let residual = b - a * matrix(&found.x);
    for (index, said) in found.residuals.iter().enumerate() {
        let (norm, size) = (residual.column(index).norm(), b.column(index).norm());
        let rounding = 100.0 * S::EPSILON * (size + a.norm() * matrix(&found.x).column(index).norm());
        assert!(*said <= tolerance * size, "residual {index}: {said:e} of {size:e}");
        assert!(norm <= tolerance * size + rounding, "residual {index}: {norm:e} of {size:e}");
        assert!(
            (norm - said).abs() <= 1e-3 * norm + rounding,
            "residual {index}: {norm:e}, {said:e} was said"
        );
    }
}

#[test]
fn solutions_are_those_of_a_dense_solver() {
    for (name, a) in [
        ("path", path(60)),
        ("grid", grid(12)),
        ("spread", with_spectrum(&(1..=80).map(f64::from).collect::<Vec<_>>(), 3)),
        ("clusters", with_spectrum(&[vec![1.0; 20], vec![1e4; 20], vec![1.0 + 1e-9; 20]].concat(), 4)),
        ("random", {
            let x = random_symmetric(70, 5);
            &x * &x + DMatrix::identity(70, 70)
        }),
    ] {
        for k in [1, 2, 5, 16, 40] {
            let b = random(a.nrows(), k, 7);
            let found = solve(&a, &b, 1e-10).unwrap();
            check(&a, &b, &found, 1e-10);
            let exact = a.clone().cholesky().unwrap().solve(&b);
            let error = (matrix(&found.x) - &exact).norm() / exact.norm();
            assert!(error < 1e-5, "{name}, {k} columns: {error:e}");
        }
    }
}

#[test]
fn more_columns_take_fewer_iterations() {
    let a = grid(30);
    let b = random(900, 16, 1);
    let alone = solve(&a, &b.columns(0, 1).into_owned(), 1e-8).unwrap().history.iterations();
    let together = solve(&a, &b, 1e-8).unwrap().history.iterations();
    assert!(2 * together < alone + 10, "{together} for 16, {alone} for 1");
}

#[test]
fn dependent_equal_and_zero_columns() {
    let a = grid(10);
    let [u, v] = [random(100, 1, 1), random(100, 1, 2)];
    let b = DMatrix::from_columns(&[
        u.column(0).into_owned(),
        u.column(0).into_owned(),
        DMatrix::zeros(100, 1).column(0).into_owned(),
        (&u * 2.0 - &v).column(0).into_owned(),
        v.column(0).into_owned(),
        (&u + &v * 1e-9).column(0).into_owned(),
        (&v * 1e-30).column(0).into_owned(),
    ]);
    let found = solve(&a, &b, 1e-9).unwrap();
    check(&a, &b, &found, 1e-9);
    assert!((0..100).all(|row| found.x.view().row(row)[2] == 0.0));
    assert_eq!(found.residuals[2], 0.0);
    let x = matrix(&found.x);
    assert!((x.column(0) - x.column(1)).norm() < 1e-12 * x.column(0).norm());
    // Nothing but zeros, no columns, and no rows.
    let found = solve(&a, &DMatrix::zeros(100, 3), 1e-9).unwrap();
    check(&a, &DMatrix::zeros(100, 3), &found, 0.0);
    assert!(found.history.products == 0 && found.x.data().iter().all(|x| *x == 0.0));
    assert!(solve(&a, &DMatrix::zeros(100, 0), 1e-9).unwrap().history.converged());
    assert!(solve(&DMatrix::zeros(0, 0), &DMatrix::zeros(0, 2), 1e-9).unwrap().history.converged());
}

#[test]
fn columns_that_converge_at_different_times() {
    // Eigenvectors are found in one iteration, sums of a few in a few, and the last takes all.
    let values: Vec<f64> = (1..=90).map(|i| f64::from(i * i)).collect();
    let q = orthonormal(90, 90, 8);
    let a = with_spectrum(&values, 8);
    let sum =
        |of: std::ops::Range<usize>| of.map(|i| q.column(i).into_owned()).sum::<nalgebra::DVector<f64>>();
    let b = DMatrix::from_columns(&[sum(3..4), sum(0..90), sum(10..12), sum(20..30) * 1e6, sum(5..6) * 1e-8]);
    for tolerance in [1e-4, 1e-8, 1e-11] {
        check(&a, &b, &solve(&a, &b, tolerance).unwrap(), tolerance);
    }
}

#[test]
fn sizes_from_one_end_of_the_numbers_to_the_other() {
    let a = grid(8);
    let mut b = random(64, 4, 3);
    for (column, size) in [1e-250, 1e250, 1.0, 1e-300].into_iter().enumerate() {
        b.column_mut(column).scale_mut(size);
    }
    let found = solve(&a, &b, 1e-9).unwrap();
    assert_eq!(found.history.stopped, Stopped::Converged);
    let x = matrix(&found.x);
    let exact = a.cholesky().unwrap();
    for (column, size) in [1e-250, 1e250, 1.0, 1e-300].into_iter().enumerate() {
        let [x, b] = [&x, &b].map(|m| m.column(column) / size);
        assert!((x - exact.solve(&b)).norm() < 1e-6 * b.norm(), "column {column}");
    }
}

#[test]
fn singular_matrices_with_a_solution() {
    let laplacian = paths_apart(&[20, 30, 1, 9]);
    let b = &laplacian * random(60, 3, 1);
    check(&laplacian, &b, &solve(&laplacian, &b, 1e-9).unwrap(), 1e-9);
    let deficient = with_spectrum(&[vec![0.0; 30], vec![1.0, 2.0, 7.0]].concat(), 2);
    let b = &deficient * random(33, 12, 2);
    check(&deficient, &b, &solve(&deficient, &b, 1e-8).unwrap(), 1e-8);
}

#[test]
fn where_there_is_no_solution_nothing_is_claimed() {
    // b has a part that A cannot reach.
    let a = paths_apart(&[12, 8]);
    let b = random(20, 2, 1);
    for found in [solve(&a, &b, 1e-8).unwrap(), solve(&DMatrix::zeros(20, 20), &b, 1e-8).unwrap()] {
        assert!(matches!(found.history.stopped, Stopped::Stagnated | Stopped::Limit));
        let residual = &b - &a * matrix(&found.x);
        assert!(
            found
                .residuals
                .iter()
                .enumerate()
                .all(|(j, said)| said.is_finite() && *said <= 1.001 * b.column(j).norm())
        );
        assert!(residual.iter().all(|r| r.is_finite()));
    }
}

#[test]
fn a_tolerance_beyond_rounding_stagnates() {
    let a = with_spectrum(&(0..50).map(|i| 10f64.powf(f64::from(i) / 8.0)).collect::<Vec<_>>(), 1);
    let b = random(50, 3, 1);
    for tolerance in [0.0, 1e-18] {
        let found = solve(&a, &b, tolerance).unwrap();
        assert_eq!(found.history.stopped, Stopped::Stagnated);
        assert!(
            found.residuals.iter().enumerate().all(|(j, r)| *r < 1e-10 * b.column(j).norm()),
            "{:?}",
            found.residuals
        );
    }
}

#[test]
fn drift_is_made_good_by_beginning_anew() {
    // Condition 10⁹: what the recurrence says and what is true part at about 10⁻⁸.
    let a = with_spectrum(&(0..40).map(|i| 10f64.powf(f64::from(i) * 9.0 / 39.0)).collect::<Vec<_>>(), 3);
    let b = &a * random(40, 4, 2);
    check(&a, &b, &solve(&a, &b, 1e-11).unwrap(), 1e-11);
}

#[test]
fn matrices_that_are_not_positive_or_not_symmetric_are_refused() {
    let b = random(30, 2, 1);
    let indefinite = path(30) - DMatrix::identity(30, 30);
    let error = solve(&indefinite, &b, 1e-8).unwrap_err().to_string();
    assert!(error.contains("positive definite"), "{error}");
    let error = solve(&-path(30), &b, 1e-8).unwrap_err().to_string();
    assert!(error.contains("positive definite"), "{error}");
    let error = solve(&indefinite, &random(30, 1, 1), 1e-8).unwrap_err().to_string();
    assert!(error.contains("positive definite"), "{error}");
    let mut one_sided = path(30);
    (0..29).for_each(|i| one_sided[(i, i + 1)] = 0.5);
    let error = solve(&one_sided, &b, 1e-8).unwrap_err().to_string();
    assert!(error.contains("symmetric matrix"), "{error}");
}

#[test]
fn preconditioners_take_fewer_iterations() {
    // Rows of very different sizes: what Jacobi's is for.
    let scale: Vec<f64> = (0..100).map(|i| 10f64.powf(f64::from(i % 7) - 3.0)).collect();
    let d = DMatrix::from_diagonal(&scale.clone().into());
    let a = &d * grid(10) * &d;
    let b = random(100, 5, 4);
    let inverse: Vec<f64> = (0..100).map(|i| 1.0 / a[(i, i)]).collect();
    let (plan_of_a, right) = (plan::<f64>(&a), dense(&b));
    let run = |preconditioner| {
        cg(&plan_of_a, right.view(), Cg { preconditioner, control: relative(1e-8), ..Default::default() })
            .unwrap()
    };
    let none = run(None);
    let jacobi = run(Some(Preconditioner::Diagonal(&inverse)));
    check(&a, &b, &jacobi, 1e-8);
    assert!(jacobi.history.iterations() < 60 && none.history.iterations() >= 2 * jacobi.history.iterations());
    let m = plan(&DMatrix::from_diagonal(&inverse.clone().into()));
    let same = run(Some(Preconditioner::Operator(&m)));
    check(&a, &b, &same, 1e-8);
    assert!(same.history.iterations().abs_diff(jacobi.history.iterations()) <= 2);
    // A⁻¹ itself: once is enough.
    let exact = plan(&a.clone().cholesky().unwrap().inverse());
    let best = run(Some(Preconditioner::Operator(&exact)));
    check(&a, &b, &best, 1e-8);
    assert!(best.history.iterations() <= 4, "{}", best.history.iterations());
    let negative: Vec<f64> = inverse.iter().map(|x| -x).collect();
    let error = cg(
        &plan_of_a,
        right.view(),
        Cg { preconditioner: Some(Preconditioner::Diagonal(&negative)), ..Default::default() },
    );
    assert!(error.unwrap_err().to_string().contains("preconditioner"));
}

#[test]
fn a_start_is_used_and_never_made_worse() {
    let a = grid(10);
    let exact = random(100, 3, 1);
    let b = &a * &exact;
    let near = dense::<f64>(&(&exact + random(100, 3, 2) * 1e-6));
    let plan_of_a = plan(&a);
    let right = dense(&b);
    let found = cg(
        &plan_of_a,
        right.view(),
        Cg { start: Some(near.view().into()), control: relative(1e-9), ..Default::default() },
    )
    .unwrap();
    check(&a, &b, &found, 1e-9);
    assert!(found.history.iterations() < solve(&a, &b, 1e-9).unwrap().history.iterations());
    // The solution itself, and a start for a right-hand side of 0.
    let start = dense(&exact);
    let found =
        cg(&plan_of_a, right.view(), Cg { start: Some(start.view().into()), ..Default::default() }).unwrap();
    assert_eq!((found.history.iterations(), found.x.data()), (0, start.data()));
    let zero = Dense::zeros(100, 3).unwrap();
    let found =
        cg(&plan_of_a, zero.view(), Cg { start: Some(start.view().into()), ..Default::default() }).unwrap();
    assert!(found.history.converged() && found.x.data().iter().all(|x| *x == 0.0));
}

#[test]
fn single_precision() {
    let a = grid(15);
    let b = random(225, 6, 1);
    let found = cg(&plan::<f32>(&a), dense::<f32>(&b).view(), Cg::default()).unwrap();
    check(&a, &b, &found, 1e-4);
    let found =
        cg(&plan::<f32>(&a), dense::<f32>(&b).view(), Cg { control: relative(3e-6), ..Default::default() })
            .unwrap();
    check(&a, &b, &found, 3e-6);
}

#[test]
fn tiny_matrices() {
    for n in 1..6 {
        let a = path(n) * 3.0;
        for k in 1..9 {
            let b = random(n, k, 5);
            check(&a, &b, &solve(&a, &b, 1e-12).unwrap(), 1e-12);
        }
    }
    let b = DMatrix::from_element(1, 1, 8.0);
    assert_eq!(solve(&DMatrix::from_element(1, 1, 4.0), &b, 1e-12).unwrap().x.data(), [2.0]);
}

#[test]
fn what_is_not_finite_is_said() {
    let a = grid(5);
    let mut broken = a.clone();
    broken[(3, 3)] = f64::NAN;
    let error = solve(&broken, &random(25, 2, 1), 1e-8).unwrap_err();
    assert!(matches!(error, SolveError::NotFinite(_)), "{error}");
    let mut b = random(25, 2, 1);
    b[(7, 1)] = f64::INFINITY;
    assert_eq!(solve(&a, &b, 1e-8).unwrap_err(), SolveError::NotFinite("the right-hand side"));
    let start = Dense::filled(25, 2, f64::NAN).unwrap();
    let right = dense(&random(25, 2, 1));
    let error = cg(&plan(&a), right.view(), Cg { start: Some(start.view().into()), ..Default::default() })
        .unwrap_err();
    assert!(matches!(error, SolveError::NotFinite(_)), "{error}");
}

#[test]
fn limits_and_cancelling_are_told() {
    let (a, b) = (grid(20), random(400, 2, 1));
    let (plan_of_a, right) = (plan::<f64>(&a), dense(&b));
    let control = Control { max_iterations: 3, ..Default::default() };
    let found = cg(&plan_of_a, right.view(), Cg { control, ..Default::default() }).unwrap();
    assert_eq!((found.history.stopped, found.history.iterations()), (Stopped::Limit, 3));
    let mut seen = Vec::new();
    let mut progress = |step: &crate::solve::Step| {
        seen.push((step.iteration, step.residuals.clone()));
        if step.iteration == 5 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let control = Control { progress: Some(Box::new(&mut progress)), ..Default::default() };
    let found = cg(&plan_of_a, right.view(), Cg { control, ..Default::default() }).unwrap();
    assert_eq!((found.history.stopped, seen.len()), (Stopped::Cancelled, 6));
    // The recurrence tells the truth here.
    let residual = &b - &a * matrix(&found.x);
    for j in 0..2 {
        assert!((residual.column(j).norm() - seen[5].1[j]).abs() < 1e-9 * seen[5].1[j]);
        assert!((residual.column(j).norm() - found.residuals[j]).abs() < 1e-9 * seen[5].1[j]);
    }
}

#[test]
fn an_interrupted_machine_gives_an_error() {
    let interrupt = Interrupt::default();
    let machine = Machine::with_threads(2).unwrap().interrupted_by(&interrupt);
    let plan = plan_on::<f64>(&grid(20), &machine);
    let right = dense(&random(400, 2, 1));
    let mut progress = |step: &crate::solve::Step| {
        if step.iteration == 2 {
            interrupt.set();
        }
        ControlFlow::Continue(())
    };
    let control = Control { progress: Some(Box::new(&mut progress)), ..Default::default() };
    let error = cg(&plan, right.view(), Cg { control, ..Default::default() }).unwrap_err();
    assert!(error.to_string().starts_with("interrupted"), "{error}");
}

#[test]
fn what_does_not_fit_is_said() {
    let plan_of_a = plan::<f64>(&grid(3));
    let said = |b: &DMatrix<f64>, start: Option<&Dense<f64>>, d: Option<&[f64]>, tolerance| {
        let options = Cg {
            start: start.map(|start| start.view().into()),
            preconditioner: d.map(Preconditioner::Diagonal),
            control: relative(tolerance),
        };
        cg(&plan_of_a, dense(b).view(), options).unwrap_err().to_string()
    };
    let (b, other) = (random(9, 2, 1), Dense::zeros(9, 1).unwrap());
    assert_eq!(said(&random(8, 2, 1), None, None, 1.0), "the right-hand sides have 8 rows, 9 expected");
    assert_eq!(said(&b, Some(&other), None, 1.0), "the starting block is 9×1, 9×2 expected");
    assert_eq!(said(&b, None, Some(&[1.0]), 1.0), "the preconditioner has 1 numbers, 9 expected");
    assert_eq!(said(&b, None, None, f64::NAN), "the tolerance must be a number of 0 or more");
    let wide = FromFn::new(2, 3, |_: crate::DenseView<'_, f64>, _: crate::DenseViewMut<'_, f64>| Ok(()));
    let error = cg(&wide, dense(&random(2, 1, 1)).view(), Cg::default()).unwrap_err();
    assert_eq!(error.to_string(), "conjugate gradients need a square matrix; this one is 2×3");
}

/// Without a solution nothing converges, but nothing runs away either.
#[test]
fn singular_systems_without_a_solution_end_in_peace() {
    let a = DMatrix::from_diagonal(&nalgebra::DVector::from_fn(24, |i, _| (i % 3) as f64));
    for cols in [1, 3] {
        let found = solve(&a, &random(24, cols, 4), 1e-8).unwrap();
        assert!(!found.history.converged());
        assert!(found.x.data().iter().all(|x| x.is_finite() && x.abs() < 1e6), "{:?}", found.x.data());
        assert!(found.residuals.iter().all(|residual| residual.is_finite()));
    }
}

/// Right-hand sides without a solution let directions grow, in f32 beyond all numbers: what was best before is the result then.
#[test]
#[cfg_attr(miri, ignore = "takes minutes")]
fn singular_systems_without_a_solution_end_with_numbers() {
    let machine = Machine::with_threads(1).unwrap();
    let mut faults = Vec::new();
    for seed in 0..4000 {
        let mut drawn = Random::new(seed, 0);
        let (n, k) = (1 + drawn.below(24) as usize, 1 + drawn.below(6) as usize);
        // A few small whole numbers: some rows have none.
        let x = random(n, n, seed).map(|x| if x.abs() < 0.3 { (x * 10.0).round() } else { 0.0 });
        let a = &x * x.transpose();
        let mut b = random(n, k, seed + 1);
        if drawn.below(3) == 0 {
            b.column_mut(drawn.below(k as u64) as usize).fill(0.0);
        }
        let options = Cg { control: relative(1e-7), ..Default::default() };
        let found = match cg(&plan_on::<f32>(&a, &machine), dense::<f32>(&b).view(), options) {
            Ok(found) => found,
            Err(error) => {
                faults.push(format!("seed {seed}: {error}"));
                continue;
            }
        };
        let x = matrix(&found.x);
        let residual = &b - &a * &x;
        for (j, said) in found.residuals.iter().enumerate() {
            let (norm, size) = (residual.column(j).norm(), b.column(j).norm());
            let rounding = 100.0 * f64::from(f32::EPSILON) * (size + a.norm() * x.column(j).norm());
            // Never worse than 0 is.
            if !((norm - said).abs() <= rounding && *said <= 1.001 * size && x.column(j).norm().is_finite()) {
                let stopped = found.history.stopped;
                faults.push(format!("seed {seed}, column {j}: {norm:e}, {said:e} was said; {stopped}"));
            }
        }
    }
    assert!(faults.is_empty(), "{}: {faults:#?}", faults.len());
}
