//! Solvers on ranks that are threads, against the same solvers in one process and against the whole matrix.

#![allow(clippy::unwrap_used, clippy::panic)] // helpers of tests

mod problems;

use ordito::matrix::random_dense;
use ordito::solve::{
    Cg, Chebyshev, Control, Lanczos, Lobpcg, PageRank, Preconditioner, RandomizedSvd, SolveError, Source,
    Stopped, Svds, Which, cg, chebyshev, eigsh, lobpcg, pagerank, randomized_svd, svds,
};
use ordito::{Coo, Csr, Dense, Duplicates, RunError};
use ordito_mpi::ranks::{Patience, Ranks, on_threads};
use ordito_mpi::{Partition, Plan};
use problems::*;
use std::ops::ControlFlow;
use std::sync::Arc;

const COUNTS: &[usize] = &[1, 2, 3, 4];

#[test]
fn eigenvalues_of_four_ranks_are_those_of_one() {
    let a = grid(17);
    for which in [Which::Largest, Which::Smallest] {
        let options = || Lobpcg { count: 4, which, ..Lobpcg::default() };
        let right = lobpcg(&serial(&a), options()).unwrap();
        for &count in COUNTS {
            let what = format!("{which:?}, {count} ranks");
            let (values, residuals, blocks) = on_ranks(count, |ranks| {
                let found = lobpcg(&plan_of(ranks, &a), options()).unwrap();
                assert_eq!(found.history.stopped, Stopped::Converged);
                (found.values, found.residuals, vec![found.vectors])
            });
            near(&values, &right.values, 1e-12, &what);
            check_pairs(&a, None, &values, &blocks[0], 1e-6, &what);
            assert!(residuals.iter().all(|residual| *residual < 1e-6));
        }
    }
}

#[test]
fn lobpcg_takes_a_mass_a_preconditioner_and_constraints() {
    let (a, b) = (grid(15), diagonal((0..225).map(|i| 1.0 + (i % 5) as f64)));
    let inverse: Vec<f64> =
        (0..225).map(|row| 1.0 / a.row(row).find(|(col, _)| *col == row).unwrap().1).collect();
    let start = random_dense::<f64>(225, 5, 78).unwrap();
    let (whole_a, whole_b) = (serial(&a), serial(&b));
    // The first two, so that others are found.
    let first = Lobpcg { count: 2, which: Which::Smallest, b: Some(&whole_b), ..Lobpcg::default() };
    let y = lobpcg(&whole_a, first).unwrap().vectors;
    for with in 0..4 {
        let right = lobpcg(
            &whole_a,
            Lobpcg {
                count: 3,
                which: Which::Smallest,
                b: (with != 1).then_some(&whole_b as _),
                preconditioner: (with != 0).then_some(Preconditioner::Diagonal(&inverse)),
                constraints: (with == 2).then_some(Source::Host(y.view())),
                start: (with == 3).then_some(Source::Host(start.view())),
                ..Lobpcg::default()
            },
        )
        .unwrap();
        for &count in COUNTS {
            let what = format!("{with}, {count} ranks");
            let (values, _, blocks) = on_ranks(count, |ranks| {
                let plan = plan_of(ranks, &a);
                let mass = cut(ranks, &b, plan.rows().clone());
                let rows = mine(&plan);
                let inverse = &inverse[rows.start as usize..rows.end as usize];
                let (y, start) = (part(&y, rows.clone()), part(&start, rows));
                let found = lobpcg(
                    &plan,
                    Lobpcg {
                        count: 3,
                        which: Which::Smallest,
                        b: (with != 1).then_some(&mass as _),
                        preconditioner: (with != 0).then_some(Preconditioner::Diagonal(inverse)),
                        constraints: (with == 2).then_some(Source::Host(y.view())),
                        start: (with == 3).then_some(Source::Host(start.view())),
                        ..Lobpcg::default()
                    },
                )
                .unwrap();
                assert!(found.history.converged(), "{what}");
                (found.values, found.residuals, vec![found.vectors])
            });
            near(&values, &right.values, 1e-10, &what);
            check_pairs(&a, (with != 1).then_some(&b), &values, &blocks[0], 1e-6, &what);
        }
    }
}

#[test]
fn lanczos_and_filters_find_the_same() {
    // Of 36 rows all are found at once, by a dense problem.
    for a in [grid(6), grid(16)] {
        for which in [Which::Largest, Which::Smallest, Which::LargestMagnitude] {
            let whole_a = serial(&a);
            let right = eigsh(&whole_a, Lanczos { count: 5, which, ..Lanczos::default() }).unwrap();
            for &count in COUNTS {
                let what = format!("{which:?} of {}, {count} ranks", a.rows());
                let (values, _, blocks) = on_ranks(count, |ranks| {
                    let plan = plan_of(ranks, &a);
                    let found = eigsh(&plan, Lanczos { count: 5, which, ..Lanczos::default() }).unwrap();
                    assert!(found.history.converged(), "{what}");
                    (found.values, found.residuals, vec![found.vectors])
                });
                near(&values, &right.values, 1e-12, &what);
                check_pairs(&a, None, &values, &blocks[0], 1e-6, &what);
                if which == Which::LargestMagnitude {
                    continue;
                }
                let (values, _, blocks) = on_ranks(count, |ranks| {
                    let plan = plan_of(ranks, &a);
                    let found =
                        chebyshev(&plan, Chebyshev { count: 5, which, ..Chebyshev::default() }).unwrap();
                    assert!(found.history.converged(), "{what}");
                    (found.values, found.residuals, vec![found.vectors])
                });
                near(&values, &right.values, 1e-12, &format!("chebyshev, {what}"));
                check_pairs(&a, None, &values, &blocks[0], 1e-6, &what);
            }
        }
    }
}

/// So many rows and columns, some of them empty.
fn rectangular(rows: usize, cols: usize) -> Csr<f64> {
    let (mut offsets, mut columns, mut values) = (vec![0], vec![], vec![]);
    for row in 0..rows {
        for step in 0..if row % 11 == 3 { 0 } else { 6 } {
            columns.push(((row * 13 + step * (row % 5 + 3) * 7) % cols) as u32);
            values.push(((row * 31 + step * 17) % 23) as f64 / 7.0 - 1.0);
        }
        offsets.push(columns.len());
    }
    let rows_of =
        offsets.windows(2).enumerate().flat_map(|(row, at)| vec![row as u32; at[1] - at[0]]).collect();
    Csr::from_coo(&Coo::new(rows, cols, rows_of, columns, values).unwrap(), Duplicates::Sum)
}

#[test]
fn singular_vectors_of_both_sides() {
    // Few columns are solved as a dense problem; wide ones the other way round.
    for (rows, cols) in [(300, 120), (120, 300), (200, 40), (40, 200)] {
        let a = rectangular(rows, cols);
        let whole_a = serial(&a);
        let right = svds(&whole_a, Svds { count: 4, ..Svds::default() }).unwrap();
        let randomized = || RandomizedSvd { count: 4, power_iterations: Some(3), ..RandomizedSvd::default() };
        let nearly = randomized_svd(&whole_a, randomized()).unwrap();
        for &count in COUNTS {
            let what = format!("{rows}×{cols}, {count} ranks");
            let (values, _, blocks) = on_ranks(count, |ranks| {
                let found = svds(&plan_of(ranks, &a), Svds { count: 4, ..Svds::default() }).unwrap();
                assert!(found.history.converged(), "{what}");
                (found.values, found.residuals, vec![found.left, found.right])
            });
            near(&values, &right.values, 1e-12, &what);
            check_triplets(&a, &values, &blocks, 1e-6, &what);
            let (values, residuals, blocks) = on_ranks(count, |ranks| {
                let found = randomized_svd(&plan_of(ranks, &a), randomized()).unwrap();
                (found.values, found.residuals, vec![found.left, found.right])
            });
            near(&values, &nearly.values, 1e-10, &format!("randomized, {what}"));
            near(&residuals, &nearly.residuals, 1e-8, &what);
            check_triplets(
                &a,
                &values,
                &blocks,
                residuals.iter().copied().fold(1e-8, f64::max) * 1.01,
                &what,
            );
        }
    }
}

fn check_triplets(a: &Csr<f64>, values: &[f64], blocks: &[Dense<f64>], tolerance: f64, what: &str) {
    let [u, v] = blocks else { panic!("two sides") };
    assert_eq!((u.rows(), v.rows()), a.shape(), "{what}");
    let (av, atu) = (product(a, v), product(&a.transpose(), u));
    for (column, value) in values.iter().enumerate() {
        for (image, vectors) in [(&av, u), (&atu, v)] {
            let at = |row: usize| row * values.len() + column;
            let off =
                (0..vectors.rows()).map(|row| (image[at(row)] - value * vectors.data()[at(row)]).powi(2));
            let off = off.sum::<f64>().sqrt();
            assert!(off <= tolerance, "{what}: triplet {column} is off by {off}");
        }
    }
}

#[test]
fn right_hand_sides_are_solved_for_together() {
    let a = grid(18);
    let n = a.rows();
    let mut b = random_dense::<f64>(n, 5, 3).unwrap();
    for row in 0..n {
        // One of 0, one whose squares vanish, one that depends on another.
        let first = b.view().row(row)[0];
        b.view_mut().row_mut(row)[1] = 0.0;
        b.view_mut().row_mut(row)[2] *= 1e-200;
        b.view_mut().row_mut(row)[3] = 2.0 * first;
    }
    let inverse: Vec<f64> = (0..n).map(|row| 1.0 / (4.0 + (row % 7) as f64 * 0.3)).collect();
    let whole_a = serial(&a);
    for jacobi in [false, true] {
        let preconditioner = jacobi.then_some(Preconditioner::Diagonal(&inverse[..]));
        let right = cg(&whole_a, b.view(), Cg { preconditioner, ..Cg::default() }).unwrap();
        for &count in COUNTS {
            let what = format!("jacobi {jacobi}, {count} ranks");
            let (_, residuals, blocks) = on_ranks(count, |ranks| {
                let plan = plan_of(ranks, &a);
                let rows = mine(&plan);
                let inverse = &inverse[rows.start as usize..rows.end as usize];
                let preconditioner = jacobi.then_some(Preconditioner::Diagonal(inverse));
                let b = part(&b, rows);
                let found = cg(&plan, b.view(), Cg { preconditioner, ..Cg::default() }).unwrap();
                assert!(found.history.converged(), "{what}");
                (Vec::new(), found.residuals, vec![found.x])
            });
            let x = &blocks[0];
            near(x.data(), right.x.data(), 1e-7, &what);
            let ax = product(&a, x);
            for (column, residual) in residuals.iter().enumerate() {
                let at = |row: usize| row * 5 + column;
                let off = (0..n).map(|row| (ax[at(row)] - b.data()[at(row)]).abs()).fold(0.0, f64::max);
                let size = (0..n).map(|row| b.data()[at(row)].abs()).fold(0.0, f64::max);
                assert!(off <= 1e-6 * size, "{what}: side {column} is off by {off} of {size}");
                assert!(*residual <= 1e-6 * size.max(1e-300), "{what}");
            }
        }
    }
}

#[test]
fn ranks_of_nodes_do_not_depend_on_how_they_are_shared() {
    // Links forward, some nodes without any.
    let n = 120;
    let (mut rows, mut cols) = (vec![], vec![]);
    for i in (0..n).filter(|i| i % 9 != 4) {
        for step in 1..=(i % 4 + 1) {
            rows.push(i as u32);
            cols.push(((i * 5 + step * step * 3) % n) as u32);
        }
    }
    let values = (0..rows.len()).map(|at| 1.0 + (at % 3) as f64).collect();
    let a = Csr::from_coo(&Coo::new(n, n, rows, cols, values).unwrap(), Duplicates::Sum);
    let mut seeds = Dense::zeros(n, 3).unwrap();
    (0..n).for_each(|row| {
        seeds.view_mut().row_mut(row).copy_from_slice(&[1.0, f64::from(row == 7), row as f64])
    });
    let whole_a = serial(&a);
    for seeded in [false, true] {
        let right = pagerank(&whole_a, seeded.then_some(seeds.view()), PageRank::default()).unwrap();
        for &count in COUNTS {
            let (_, _, blocks) = on_ranks(count, |ranks| {
                let plan = plan_of(ranks, &a);
                let seeds = part(&seeds, mine(&plan));
                let found = pagerank(&plan, seeded.then_some(seeds.view()), PageRank::default()).unwrap();
                assert!(found.history.converged());
                (Vec::new(), found.residuals, vec![found.ranks])
            });
            near(blocks[0].data(), right.ranks.data(), 1e-9, &format!("{count} ranks"));
        }
    }
    // What one rank alone sees, all are told: a weight that cannot be, and a row whose links do.
    let mut wrong = a.values().to_vec();
    let last = wrong.len() - 1;
    wrong[last] = -50.0;
    let negative = a.with_values(wrong).unwrap();
    for (links, weight, expected) in
        [(&a, -1.0, "weight -1 of node 119"), (&negative, 1.0, "the links of node 11")]
    {
        let mut seeds = seeds.clone();
        seeds.view_mut().row_mut(n - 1)[0] = weight;
        let errors = on_threads(3, Patience::default(), |ranks| {
            let ranks: Arc<dyn Ranks> = Arc::new(ranks);
            let plan = plan_of(&ranks, links);
            let seeds = part(&seeds, mine(&plan));
            pagerank(&plan, Some(seeds.view()), PageRank::default()).unwrap_err().to_string()
        });
        assert!(errors[2].starts_with(expected), "{errors:?}");
        assert!(
            errors[..2].iter().all(|error| error.starts_with(&format!("rank 2: {expected}"))),
            "{errors:?}"
        );
    }
}

#[test]
fn ranks_without_rows_take_part() {
    let a = grid(3);
    let right = eigsh(&serial(&a), Lanczos { count: 2, ..Lanczos::default() }).unwrap();
    // More ranks than rows have sense; and two in the middle that have none.
    let empty = Partition::new([0, 4, 4, 4, 9]).unwrap();
    for (count, partition) in [(8, Partition::even(9, 8)), (4, empty), (12, Partition::even(9, 12))] {
        let what = format!("{count} ranks");
        let (values, _, blocks) = on_ranks(count, |ranks| {
            let plan = cut(ranks, &a, partition.clone());
            let found = eigsh(&plan, Lanczos { count: 2, ..Lanczos::default() }).unwrap();
            let also = lobpcg(&plan, Lobpcg { count: 2, ..Lobpcg::default() }).unwrap();
            near(&also.values, &found.values, 1e-10, &what);
            let filtered = chebyshev(&plan, Chebyshev { count: 2, ..Chebyshev::default() }).unwrap();
            near(&filtered.values, &found.values, 1e-10, &what);
            let b = part(&random_dense::<f64>(9, 2, 5).unwrap(), mine(&plan));
            let solution = cg(&plan, b.view(), Cg::default()).unwrap();
            assert!(solution.history.converged());
            let triplets = svds(&plan, Svds { count: 2, ..Svds::default() }).unwrap();
            near(&triplets.values, &found.values, 1e-10, &what);
            (found.values, found.residuals, vec![found.vectors])
        });
        near(&values, &right.values, 1e-12, &what);
        check_pairs(&a, None, &values, &blocks[0], 1e-10, &what);
    }
}

#[test]
fn where_one_wants_to_stop_all_do() {
    let a = grid(20);
    let ends = on_threads(3, Patience::default(), |ranks| {
        let ranks: Arc<dyn Ranks> = Arc::new(ranks);
        let plan = plan_of(&ranks, &a);
        // Only one of them watches.
        let stop = |step: &ordito::solve::Step| match step.iteration {
            0..3 => ControlFlow::Continue(()),
            _ => ControlFlow::Break(()),
        };
        let watched = || Control {
            progress: (ranks.rank() == 1).then_some(Box::new(stop) as _),
            tolerance: Some(ordito::solve::Tolerance::Relative(0.0)),
            ..Control::default()
        };
        let which = Which::Smallest;
        let one = lobpcg(&plan, Lobpcg { count: 3, which, control: watched(), ..Lobpcg::default() }).unwrap();
        let two = eigsh(
            &plan,
            Lanczos { count: 3, which, subspace: Some(6), control: watched(), ..Lanczos::default() },
        );
        let three = chebyshev(
            &plan,
            Chebyshev { count: 3, which, degree: Some(3), control: watched(), ..Chebyshev::default() },
        );
        let b = part(&random_dense::<f64>(400, 1, 5).unwrap(), mine(&plan));
        let four = cg(&plan, b.view(), Cg { control: watched(), ..Cg::default() }).unwrap();
        [one.history, two.unwrap().history, three.unwrap().history, four.history]
            .map(|history| (history.stopped, history.steps.len()))
    });
    // The wish travels with the inner products of the next iteration.
    assert!(ends.iter().all(|end| *end == [(Stopped::Cancelled, 5); 4]), "{ends:?}");
}

#[test]
fn what_does_not_fit_on_one_rank_is_known_to_all() {
    let a = grid(8);
    let errors = on_threads(3, Patience::default(), |ranks| {
        let ranks: Arc<dyn Ranks> = Arc::new(ranks);
        let plan = plan_of(&ranks, &a);
        let more = usize::from(ranks.rank() == 1);
        let b = Dense::<f64>::zeros(mine(&plan).count() + more, 1).unwrap();
        let short = Lobpcg { start: Some(Source::Host(b.view())), ..Lobpcg::default() };
        let too_many = lobpcg(&plan, Lobpcg { count: 65, ..Lobpcg::default() });
        let otherwise = cut(&ranks, &a, Partition::even(64, 3));
        let mass = lobpcg(&plan, Lobpcg { b: Some(&otherwise), ..Lobpcg::default() });
        [
            cg(&plan, b.view(), Cg::default()).unwrap_err(),
            lobpcg(&plan, short).unwrap_err(),
            too_many.unwrap_err(),
            mass.unwrap_err(),
        ]
        .map(|error| error.to_string())
    });
    assert!(errors[0][0].starts_with("rank 1: the right-hand sides have "), "{errors:?}");
    assert!(errors[2][1].starts_with("rank 1: the starting block has "), "{errors:?}");
    assert!(errors[1][1].starts_with("the starting block has "), "{errors:?}");
    let all = "65 eigenpairs of a matrix of 64 rows: there are only 64";
    assert!(errors.iter().all(|errors| errors[2] == all), "{errors:?}");
    assert!(errors.iter().all(|errors| errors[3].ends_with("B is not cut as the matrix is")), "{errors:?}");
}

#[test]
fn a_rank_that_fails_in_the_middle_ends_all() {
    /// A preconditioner whose third product fails on one rank.
    struct Fails<'a> {
        plan: &'a Plan<f64>,
        left: std::sync::atomic::AtomicUsize,
    }
    impl ordito::solve::Operator<f64> for Fails<'_> {
        fn rows(&self) -> usize {
            ordito::solve::Operator::rows(self.plan)
        }
        fn cols(&self) -> usize {
            ordito::solve::Operator::cols(self.plan)
        }
        fn apply(
            &self,
            x: ordito::DenseView<'_, f64>,
            mut y: ordito::DenseViewMut<'_, f64>,
        ) -> Result<(), RunError> {
            let before = self.left.fetch_sub(1, std::sync::atomic::Ordering::Relaxed);
            if before == 1 && self.plan.ranks().rank() == 2 {
                return Err(RunError::NotLoaded);
            }
            (0..x.rows()).for_each(|row| y.row_mut(row).copy_from_slice(x.row(row)));
            Ok(())
        }
        fn shared(&self) -> Option<ordito::solve::Shared> {
            ordito::solve::Operator::shared(self.plan)
        }
    }
    let a = grid(20);
    let begin = std::time::Instant::now();
    let errors = on_threads(4, Patience::default(), |ranks| {
        let ranks: Arc<dyn Ranks> = Arc::new(ranks);
        let plan = plan_of(&ranks, &a);
        let fails = Fails { plan: &plan, left: 3.into() };
        let preconditioner = Some(Preconditioner::Operator(&fails));
        lobpcg(&plan, Lobpcg { count: 3, preconditioner, ..Lobpcg::default() }).unwrap_err()
    });
    assert_eq!(errors[2], SolveError::Run(RunError::NotLoaded));
    let told = SolveError::Run(RunError::BetweenRanks("rank 2: no inputs have been loaded".into()));
    assert!([0, 1, 3].iter().all(|&rank| errors[rank] == told), "{errors:?}");
    assert!(begin.elapsed().as_secs() < 60, "nobody waits for it");
}
