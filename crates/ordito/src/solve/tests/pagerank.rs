use super::*;
use crate::solve::{FromFn, PageRank, Ranks, Step, pagerank};
use std::ops::ControlFlow;

/// (I − d·(S + dangling))⁻¹·(1 − d)·v, dense.
fn exact(links: &DMatrix<f64>, seed: &DMatrix<f64>, d: f64) -> DMatrix<f64> {
    let n = links.nrows();
    let mut ranks = DMatrix::zeros(n, seed.ncols());
    for column in 0..seed.ncols() {
        let v = seed.column(column) / seed.column(column).sum();
        let mut step = DMatrix::zeros(n, n);
        for from in 0..n {
            let sum = links.row(from).sum();
            for to in 0..n {
                step[(to, from)] = if sum > 0.0 { links[(from, to)] / sum } else { v[to] };
            }
        }
        let x = (DMatrix::identity(n, n) - step * d).lu().solve(&(&v * (1.0 - d))).unwrap();
        ranks.column_mut(column).copy_from(&x);
    }
    ranks
}

fn run(links: &DMatrix<f64>, seeds: Option<&DMatrix<f64>>, damping: f64) -> Result<Ranks<f64>, SolveError> {
    let seeds = seeds.map(dense);
    let control = Control { tolerance: Some(Tolerance::Relative(1e-12)), ..Default::default() };
    pagerank(&plan::<f64>(links), seeds.as_ref().map(Dense::view), PageRank { damping, control })
}

#[track_caller]
fn check(links: &DMatrix<f64>, seeds: Option<&DMatrix<f64>>, damping: f64) {
    let found = run(links, seeds, damping).unwrap();
    assert_eq!(found.history.stopped, Stopped::Converged, "{:?}", found.history.steps.last());
    let ranks = matrix(&found.ranks);
    let uniform = DMatrix::from_element(links.nrows(), 1, 1.0);
    let error = (&ranks - exact(links, seeds.unwrap_or(&uniform), damping)).amax();
    assert!(error < 1e-10, "{error:e}");
    for (column, residual) in found.residuals.iter().enumerate() {
        assert!((ranks.column(column).sum() - 1.0).abs() < 1e-14);
        assert!(*residual <= 1e-12 * ranks.column(column).norm());
    }
}

/// Links that are there with this probability, with weights; every seventh node has none.
fn random_links(n: usize, density: f64, seed: u64) -> DMatrix<f64> {
    let (there, weights) = (random(n, n, seed), random(n, n, seed + 1));
    DMatrix::from_fn(n, n, |i, j| {
        if i % 7 != 3 && there[(i, j)].abs() < density { weights[(i, j)].abs() } else { 0.0 }
    })
}

#[test]
fn ranks_are_those_of_a_dense_solver() {
    for (n, density) in [(1, 1.0), (2, 0.5), (10, 0.3), (60, 0.05), (90, 0.01)] {
        let links = random_links(n, density, 3);
        for damping in [0.0, 0.5, 0.85, 0.97] {
            check(&links, None, damping);
            check(&links, Some(&random(n, 5, 9).map(f64::abs)), damping);
        }
    }
    // No links at all, links to oneself, two parts, a cycle.
    check(&DMatrix::zeros(6, 6), None, 0.85);
    check(&DMatrix::identity(6, 6), Some(&random(6, 2, 1).map(f64::abs)), 0.85);
    let apart = DMatrix::from_fn(8, 8, |i, j| f64::from(i / 4 == j / 4 && i != j));
    check(&apart, Some(&DMatrix::from_fn(8, 2, |i, j| f64::from(i == 5 * j))), 0.85);
    check(&DMatrix::from_fn(9, 9, |i, j| f64::from(j == (i + 1) % 9)), None, 0.85);
}

/// The example of eleven pages that every article on it shows, in per cent: A to F, and five that only link.
#[test]
fn known_ranks() {
    let mut links = DMatrix::zeros(11, 11);
    let lists: [&[usize]; 11] =
        [&[], &[2], &[1], &[0, 1], &[1, 3, 5], &[1, 4], &[1, 4], &[1, 4], &[1, 4], &[4], &[4]];
    for (from, list) in lists.iter().enumerate() {
        list.iter().for_each(|&to| links[(from, to)] = 1.0);
    }
    let found = run(&links, None, 0.85).unwrap();
    let expected = [3.3, 38.4, 34.3, 3.9, 8.1, 3.9, 1.6, 1.6, 1.6, 1.6, 1.6];
    for (rank, expected) in found.ranks.data().iter().zip(expected) {
        assert!((100.0 * rank - expected).abs() < 0.05, "{rank} {expected}");
    }
    // A star of n leaves: the hub's rank in closed form. x = (1 − d)/n′ + d·n·y, n·y = n(1 − d)/n′ + d·x.
    let star = DMatrix::from_fn(6, 6, |i, j| f64::from((i == 0) != (j == 0)));
    let hub = (0.15 / 6.0 + 0.85 * 5.0 * 0.15 / 6.0) / (1.0 - 0.85 * 0.85);
    assert!((run(&star, None, 0.85).unwrap().ranks.data()[0] - hub).abs() < 1e-11);
}

#[test]
fn single_precision_sums_to_one() {
    let links = random_links(300, 0.02, 5);
    let control = Control { tolerance: Some(Tolerance::Relative(1e-6)), ..Default::default() };
    let found = pagerank(&plan::<f32>(&links), None, PageRank { control, ..Default::default() }).unwrap();
    assert_eq!(found.history.stopped, Stopped::Converged);
    let ranks = matrix(&found.ranks);
    assert!((ranks.sum() - 1.0).abs() < 1e-6);
    assert!((ranks - exact(&links, &DMatrix::from_element(300, 1, 1.0), 0.85)).amax() < 1e-6);
}

#[test]
fn what_makes_no_sense_is_said() {
    let links = random_links(10, 0.4, 1);
    let said = |links: &DMatrix<f64>, seeds: Option<&DMatrix<f64>>, damping| {
        run(links, seeds, damping).unwrap_err().to_string()
    };
    assert_eq!(said(&links, None, 1.0), "the damping must be at least 0 and less than 1; it is 1");
    assert_eq!(said(&links, None, f64::NAN), "the damping must be at least 0 and less than 1; it is NaN");
    assert_eq!(said(&links, Some(&random(9, 1, 1)), 0.5), "the seeds have 9 rows, 10 expected");
    assert_eq!(said(&links, Some(&DMatrix::zeros(10, 1)), 0.5), "the weights of seed 0 sum to 0");
    let mut seeds = DMatrix::from_element(10, 2, 1.0);
    seeds[(4, 1)] = -2.0;
    let error = said(&links, Some(&seeds), 0.5);
    assert_eq!(error, "weight -2 of node 4 in seed 1: weights must be finite and not negative");
    assert_eq!(
        said(&DMatrix::zeros(2, 3), None, 0.5),
        "ranks need a square matrix of links; this one is 2×3"
    );
    let mut bad = links.clone();
    bad[(2, 5)] = -100.0;
    assert!(said(&bad, None, 0.85).starts_with("the links of node 2 sum to -"), "{}", said(&bad, None, 0.85));
    // Hidden in a sum that is positive.
    bad[(2, 5)] = -1.0;
    bad[(2, 6)] = 1.5;
    bad.column_mut(5)
        .iter_mut()
        .enumerate()
        .filter(|(row, _)| *row != 2)
        .for_each(|(_, weight)| *weight = 0.0);
    let error = said(&bad, None, 0.85);
    assert!(error.contains("node 5 is negative"), "{error}");
    bad[(2, 6)] = f64::NAN;
    assert!(matches!(run(&bad, None, 0.85), Err(SolveError::NotFinite(_))));
    let no_transpose =
        FromFn::new(4, 4, |_: crate::DenseView<'_, f64>, mut y: crate::DenseViewMut<'_, f64>| {
            y.data_mut().fill(1.0);
            Ok(())
        });
    assert!(matches!(pagerank(&no_transpose, None, PageRank::default()), Err(SolveError::Run(_))));
}

#[test]
fn limits_and_cancelling_are_told() {
    let links = random_links(50, 0.1, 2);
    let plan = plan::<f64>(&links);
    let control = Control { max_iterations: 3, ..Default::default() };
    let found = pagerank(&plan, None, PageRank { control, ..Default::default() }).unwrap();
    assert_eq!((found.history.stopped, found.history.iterations()), (Stopped::Limit, 3));
    // The residual is that of the result, not of the one before.
    assert!(found.residuals[0] < found.history.steps[3].residuals[0]);
    let mut progress =
        |step: &Step| if step.iteration == 4 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
    let control = Control { progress: Some(Box::new(&mut progress)), ..Default::default() };
    let found = pagerank(&plan, None, PageRank { control, ..Default::default() }).unwrap();
    assert_eq!(found.history.stopped, Stopped::Cancelled);
    let control = Control { tolerance: Some(Tolerance::Absolute(0.0)), ..Default::default() };
    let found = pagerank(&plan, None, PageRank { control, ..Default::default() }).unwrap();
    assert!(
        matches!(found.history.stopped, Stopped::Converged | Stopped::Stagnated)
            && found.residuals[0] < 1e-16
    );
}
