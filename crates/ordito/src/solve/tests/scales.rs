//! Matrices of any size: what is found of one is found of it times a power of two.

use super::*;
use crate::matrix::{DenseView, DenseViewMut};
use crate::op::RunError;
use crate::solve::shared::Rows;
use crate::solve::workspace::Workspace;
use crate::solve::{
    Chebyshev, Lanczos, Lobpcg, Operator, Preconditioner, RandomizedSvd, Step, Svds, chebyshev, eigsh,
    lobpcg, randomized_svd, svds,
};
use std::ops::ControlFlow;

/// The same, times a factor.
#[track_caller]
fn are_close(found: &[f64], usual: &[f64], factor: f64, bound: f64) {
    let is_close = |(x, y): (&f64, &f64)| (x / factor - y).abs() <= bound * y.abs().max(1e-3);
    assert!(found.iter().zip(usual).all(is_close), "times {factor:e}: {found:?} {usual:?}");
}

#[test]
fn singular_values_of_any_size() {
    for exponent in [-1000, -600, -400, 300, 450, 600, 1000] {
        let factor = 2_f64.powi(exponent);
        for (rows, cols) in [(190, 90), (30, 90), (90, 30)] {
            let a = random(rows, cols, 3);
            let [usual, found] = [1.0, factor].map(|factor| {
                let mut told = Vec::new();
                let progress = |step: &Step| {
                    told.push(step.values.clone());
                    ControlFlow::Continue(())
                };
                let control = Control { progress: Some(Box::new(progress)), ..relative(1e-10) };
                let found =
                    svds(&plan::<f64>(&(&a * factor)), Svds { count: 2, control, ..Default::default() });
                let found = found.unwrap();
                assert!(found.history.converged());
                assert_eq!(told.last(), found.history.steps.last().map(|step| &step.values));
                found
            });
            are_close(&found.values, &usual.values, factor, 1e-12);
            assert!(found.residuals.iter().zip(&found.values).all(|(r, value)| *r <= 1e-10 * value));
        }
    }
    let nothing =
        svds(&plan::<f64>(&DMatrix::zeros(40, 30)), Svds { count: 2, ..Default::default() }).unwrap();
    assert!(nothing.values == [0.0; 2] && nothing.history.converged());
}

#[test]
fn eigenvalues_of_any_size() {
    for exponent in [-1000, -600, -400, -350, 300, 450, 600, 1000] {
        let factor = 2_f64.powi(exponent);
        for which in [Which::Largest, Which::Smallest] {
            let [usual, found] = [1.0, factor].map(|factor| {
                let a = plan::<f64>(&(random_symmetric(100, 4) * factor));
                let control = || within(1e-6 * factor);
                let all = [
                    eigsh(&a, Lanczos { count: 2, which, control: control(), ..Default::default() }),
                    lobpcg(&a, Lobpcg { count: 2, which, control: control(), ..Default::default() }),
                    chebyshev(&a, Chebyshev { count: 2, which, control: control(), ..Default::default() }),
                ];
                all.map(Result::unwrap).into_iter().fold(Vec::new(), |values, found| {
                    assert!(
                        found.history.converged(),
                        "times {factor:e}, {which:?}: {}",
                        found.history.stopped
                    );
                    [values, found.values].concat()
                })
            });
            are_close(&found, &usual, factor, 1e-12);
        }
    }
}

/// Of single precision sizes are fewer, but squares of numbers overflow all the sooner.
#[test]
fn sizes_of_single_precision() {
    let (a, rectangular) = (random_symmetric(100, 4), random(200, 100, 3));
    for exponent in [-100, -77, -70, 63, 70, 100] {
        let factor = 2_f64.powi(exponent);
        let [usual, found] = [1.0, factor].map(|factor| {
            let a = plan::<f32>(&(&a * factor));
            let which = Which::Smallest;
            let all = [
                eigsh(&a, Lanczos { count: 2, which, ..Default::default() }),
                lobpcg(&a, Lobpcg { count: 2, which, ..Default::default() }),
                chebyshev(&a, Chebyshev { count: 2, which, ..Default::default() }),
            ];
            all.map(Result::unwrap).into_iter().fold(Vec::new(), |values, found| {
                assert!(found.history.converged(), "2^{exponent}: {}", found.history.stopped);
                [values, found.values].concat()
            })
        });
        are_close(&found, &usual, factor, 1e-5);
        for tall in [rectangular.clone(), rectangular.transpose()] {
            let [usual, found] = [1.0, factor].map(|factor| {
                let a = plan::<f32>(&(&tall * factor));
                let found = svds(&a, Svds { count: 3, ..Default::default() }).unwrap();
                assert!(found.history.converged(), "2^{exponent}: {}", found.history.stopped);
                let other = randomized_svd(&a, RandomizedSvd { count: 3, ..Default::default() }).unwrap();
                [found.values, other.values].concat()
            });
            are_close(&found, &usual, factor, 1e-5);
        }
    }
}

/// Whether it is something like A⁻¹, and as small as A is large, or of a size of its own.
#[test]
fn preconditioners_of_any_size() {
    let n = 100;
    let d: Vec<f64> = (0..n).map(|i| 1.0 + f64::from(i).powi(2)).collect();
    let a = DMatrix::from_diagonal(&d.clone().into()) + random_symmetric(n as usize, 3) * 0.1;
    let a = (&a + a.transpose()) * 0.5;
    let run = |factor: f64, of_preconditioner: f64| {
        let inverse: Vec<f64> = d.iter().map(|d| of_preconditioner / d).collect();
        let as_operator = plan::<f64>(&DMatrix::from_diagonal(&inverse.clone().into()));
        let plan = plan::<f64>(&(&a * factor));
        let each = [Preconditioner::Diagonal(&inverse), Preconditioner::Operator(&as_operator)];
        each.map(|preconditioner| {
            let found = lobpcg(
                &plan,
                Lobpcg {
                    count: 3,
                    which: Which::Smallest,
                    preconditioner: Some(preconditioner),
                    control: within(1e-7 * factor),
                    ..Default::default()
                },
            );
            let found = found.unwrap();
            assert!(found.history.converged(), "{factor:e} {of_preconditioner:e}: {}", found.history.stopped);
            found
        })
    };
    let usual = run(1.0, 1.0);
    for exponent in [-1000, -600, -400, 300, 600, 1000] {
        let factor = 2_f64.powi(exponent);
        for of_preconditioner in [1.0, 1.0 / factor] {
            for (found, usual) in run(factor, of_preconditioner).iter().zip(&usual) {
                are_close(&found.values, &usual.values, factor, 1e-12);
                assert!(found.history.iterations().abs_diff(usual.history.iterations()) <= 2);
            }
        }
    }
}

/// X times a factor.
struct Times(f64);

impl Operator<f64> for Times {
    fn rows(&self) -> usize {
        6
    }
    fn cols(&self) -> usize {
        6
    }
    fn apply(&self, x: DenseView<'_, f64>, mut y: DenseViewMut<'_, f64>) -> Result<(), RunError> {
        (0..6).for_each(|row| y.row_mut(row).copy_from_slice(x.row(row)));
        Ok(())
    }
    fn factor(&self) -> f64 {
        self.0
    }
}

/// A product may take columns along that nobody asked for: what lies there is not computed with.
#[test]
fn columns_beside_those_that_are_wanted_do_not_matter() {
    let a = Times(2.0);
    let mut work = Workspace::of(&a, false).unwrap();
    let n = Rows::of(&a);
    let [x, y] = ["x", "y"].map(|what| work.add(what, n, 4).unwrap());
    let rows = (0..6).flat_map(|row| [f64::from(row), f64::INFINITY, f64::NAN, 1.0]).collect();
    work.write(x.all(), Dense::from_rows(6, 4, rows).unwrap().view()).unwrap();
    work.apply(&a, x.first(1), y.first(1)).unwrap();
    assert_eq!(work.read(y.first(1), n).unwrap().data(), [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]);
}
