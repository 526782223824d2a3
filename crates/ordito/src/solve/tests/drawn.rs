//! Spectra that are drawn: clusters, gaps and zeros wherever they fall.

use super::*;
use crate::matrix::Random;
use crate::solve::{Cg, Chebyshev, Lobpcg, cg, chebyshev, lobpcg};

const CASES: u64 = 300;

/// `n` eigenvalues, each new, one of before, or just beside one of before.
fn spectrum(random: &mut Random, n: usize, positive: bool) -> Vec<f64> {
    let mut values: Vec<f64> = Vec::new();
    for _ in 0..n {
        let kind = random.below(6);
        let new = 10f64.powi(random.below(7) as i32 - 3) * (1.0 + random.unit());
        let value = match (kind, values.last().copied()) {
            (0, Some(last)) => last,
            (1, Some(last)) => last * (1.0 + 1e-9),
            (2, _) if !positive => 0.0,
            (3, _) if !positive => -new,
            _ => new,
        };
        values.push(value);
    }
    values
}

#[test]
#[cfg_attr(miri, ignore = "takes minutes")]
fn solvers_are_right_or_say_that_they_are_not() {
    // LOBPCG, the filter, conjugate gradients.
    let mut reached = [0; 3];
    for seed in 0..CASES {
        let mut random = Random::new(seed, 0);
        let n = 1 + random.below(70) as usize;
        let a = with_spectrum(&spectrum(&mut random, n, false), seed);
        let count = 1 + random.below(n.min(12) as u64) as usize;
        let which = if random.below(2) == 0 { Which::Largest } else { Which::Smallest };
        let plan_of_a = plan::<f64>(&a);
        let size = eigenvalues(&a, Which::Largest).iter().fold(0.0_f64, |size, value| size.max(value.abs()));
        let control = || within(1e-9 * size);
        let by_lobpcg = lobpcg(&plan_of_a, Lobpcg { count, which, control: control(), ..Default::default() });
        let by_filter =
            chebyshev(&plan_of_a, Chebyshev { count, which, control: control(), ..Default::default() });
        for (solver, found) in [by_lobpcg.unwrap(), by_filter.unwrap()].into_iter().enumerate() {
            if found.history.stopped == Stopped::Converged {
                reached[solver] += 1;
                check_eigenpairs(&a, &found, which, 1e-7);
            } else {
                println!(
                    "solver {solver} of seed {seed}, {n} rows, {count} {which:?}: {}",
                    found.history.stopped
                );
            }
        }
        let a = with_spectrum(&spectrum(&mut random, n, true), seed);
        let k = 1 + random.below(12) as usize;
        let b = super::random(n, k, seed + 1);
        let right = dense(&b);
        let control = relative(1e-8);
        let found: Result<_, SolveError> =
            cg(&plan::<f64>(&a), right.view(), Cg { control, ..Default::default() });
        let found = found.unwrap();
        if found.history.stopped == Stopped::Converged {
            reached[2] += 1;
            let residual = &b - &a * matrix(&found.x);
            (0..k).for_each(|j| {
                assert!(residual.column(j).norm() <= 1.01e-8 * b.column(j).norm(), "seed {seed}")
            });
        } else {
            println!(
                "cg of seed {seed}, {n} rows, {k} columns: {} {:?}",
                found.history.stopped, found.residuals
            );
        }
    }
    println!("{reached:?} of {CASES}");
    // Spectra over seven orders of magnitude, without a preconditioner: some are too hard for those that look for eigenvectors.
    let least = [90, 80, 100].map(|per_cent| CASES * per_cent / 100);
    assert!(reached.iter().zip(least).all(|(reached, least)| *reached >= least), "{reached:?} of {CASES}");
}
