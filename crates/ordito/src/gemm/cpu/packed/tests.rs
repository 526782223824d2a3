use super::*;
use crate::cpu::SimdLevel;
use crate::matrix::Dense;

/// Small numbers with few digits, so that sums are exact in any order.
fn numbers<S: Scalar>(rows: usize, cols: usize, gap: usize, seed: usize) -> Dense<S> {
    let number = |i: usize| S::from_f64(((i * 7919 + seed * 104_729) % 17) as f64 - 8.0);
    let data = (0..rows * (cols + gap)).map(number).collect();
    Dense::with_leading_dimension(rows, cols, cols + gap, data).unwrap()
}

fn expected<S: Scalar>(alpha: S, a: &Dense<S>, b: &Dense<S>, beta: S, c: &Dense<S>) -> Dense<S> {
    let mut out = c.clone();
    for row in 0..c.rows() {
        for col in 0..c.cols() {
            let sum: S = (0..a.cols()).map(|term| a.view().row(row)[term] * b.view().row(term)[col]).sum();
            let before = if beta == S::ZERO { S::ZERO } else { beta * c.view().row(row)[col] };
            out.view_mut().row_mut(row)[col] = alpha * sum + before;
        }
    }
    out
}

fn product<'a, S: Scalar>(
    alpha: S,
    a: &'a Dense<S>,
    b: &'a Dense<S>,
    beta: S,
    c: &mut Dense<S>,
) -> Product<'a, S> {
    let c = Output { step: c.leading_dimension(), first: c.data_mut().as_mut_ptr() };
    Product { alpha, a: a.view(), b: b.view(), beta, c }
}

/// Backwards: no chunk may wait for another.
fn backwards(chunks: usize, work: &(dyn Fn(usize) + Sync)) {
    (0..chunks).rev().for_each(work);
}

fn tiles_are_right<S: Scalar>() {
    let levels = SimdLevel::ALL.into_iter().filter(|level| *level <= SimdLevel::supported());
    for (level, [m, k, n], gap) in levels.flat_map(|level| {
        let shapes =
            [[1, 1, 1], [8, 5, 24], [9, 7, 25], [33, 70, 49], [4, 300, 5], [50, 3, 101], [26, 600, 15]];
        shapes.into_iter().flat_map(move |shape| [0, 3].map(|gap| (level, shape, gap)))
    }) {
        let (a, b, c) = (numbers::<S>(m, k, gap, 1), numbers(k, n, gap, 2), numbers(m, n, gap, 3));
        for (alpha, beta) in [(1.0, 1.0), (2.0, 0.0), (-1.0, 0.5)] {
            let (alpha, beta) = (S::from_f64(alpha), S::from_f64(beta));
            // A cache of nothing has everything copied, a large one nothing; one chunk, and as many as can be.
            for (cache_bytes, chunks) in [(0, 1), (0, 100), (20_000, 3), (1 << 30, 1)] {
                let mut found = c.clone();
                if beta == S::ZERO {
                    (0..m).for_each(|row| found.view_mut().row_mut(row).fill(S::from_f64(f64::NAN)));
                }
                let wanted = expected(alpha, &a, &b, beta, &c);
                in_tiles(
                    &product(alpha, &a, &b, beta, &mut found),
                    &Tiles::of(level),
                    cache_bytes,
                    chunks,
                    &backwards,
                );
                assert_eq!(
                    found, wanted,
                    "{level} {m}×{k}×{n} gap {gap} cache {cache_bytes} chunks {chunks}"
                );
            }
        }
    }
}

/// Small enough for Miri: several panels of B and of A are copied.
#[test]
fn panels_are_copied_whole() {
    let (a, b, c) = (numbers::<f64>(17, 3, 1, 1), numbers(3, 29, 2, 2), numbers(17, 29, 3, 3));
    let mut found = c.clone();
    let tiles = Tiles::of(SimdLevel::Portable);
    in_tiles(&product(2.0, &a, &b, 1.0, &mut found), &tiles, 0, 100, &backwards);
    assert_eq!(found, expected(2.0, &a, &b, 1.0, &c));
}

#[test]
#[cfg_attr(miri, ignore = "takes minutes")]
fn tiles_of_every_level_cache_and_number_of_chunks_are_right() {
    tiles_are_right::<f32>();
    tiles_are_right::<f64>();
}

fn thin_products_are_right<S: Scalar>() {
    for (m, k, n) in
        [(1, 1, 1), (1, 9, 200), (3, 10, 70), (2, 3, 4), (1, 100, 2), (7, 50, 1), (9, 33, 3), (5, 4, 2)]
    {
        let (a, b, c) = (numbers::<S>(m, k, 2, 1), numbers(k, n, 1, 2), numbers(m, n, 3, 3));
        for (beta, chunks) in [(1.0, 1), (0.0, 3), (-0.5, 100)] {
            let (alpha, beta) = (S::from_f64(2.0), S::from_f64(beta));
            let mut found = c.clone();
            if n <= thin::MOST {
                let wanted = expected(alpha, &a, &b, beta, &c);
                thin::along_rows(&product(alpha, &a, &b, beta, &mut found), chunks, &backwards);
                assert_eq!(found, wanted, "{m}×{k}×{n}");
            }
            if m <= thin::MOST {
                let wanted = expected(alpha, &a, &b, S::ONE, &c);
                found = c.clone();
                thin::sums_of_rows(&product(alpha, &a, &b, beta, &mut found), chunks, &backwards);
                assert_eq!(found, wanted, "{m}×{k}×{n}");
            }
        }
    }
}

#[test]
fn thin_products_of_both_kinds_are_right() {
    thin_products_are_right::<f32>();
    thin_products_are_right::<f64>();
}

#[test]
#[cfg_attr(miri, ignore = "takes minutes")]
fn bits_depend_neither_on_threads_nor_on_gaps() {
    let third = |dense: Dense<f64>| {
        let data = dense.data().iter().map(|x| x / 3.0).collect();
        Dense::with_leading_dimension(dense.rows(), dense.cols(), dense.leading_dimension(), data).unwrap()
    };
    for (m, k, n) in [(70, 700, 90), (300, 40, 2), (2, 700, 300)] {
        let bits = |threads: usize, gap: usize| {
            let machine = Machine::with_threads(threads).unwrap();
            // The same numbers, whatever lies between rows.
            let spread = |rows, cols, seed| {
                let from = third(numbers(rows, cols, 0, seed));
                let mut to =
                    Dense::with_leading_dimension(rows, cols, cols + gap, vec![9.0; rows * (cols + gap)])
                        .unwrap();
                (0..rows).for_each(|row| to.view_mut().row_mut(row).copy_from_slice(from.view().row(row)));
                to
            };
            let (a, b, mut c) = (spread(m, k, 1), spread(k, n, 2), spread(m, n, 3));
            multiply(&machine, threads, 0.7, a.view(), b.view(), 0.3, c.view_mut());
            (0..m).flat_map(|row| c.view().row(row).to_vec()).map(f64::to_bits).collect::<Vec<_>>()
        };
        let alone = bits(1, 0);
        assert_eq!(bits(3, 0), alone, "{m}×{k}×{n}");
        assert_eq!(bits(2, 5), alone, "{m}×{k}×{n}");
    }
}

#[test]
fn what_is_infinite_stays_where_it_is() {
    let machine = Machine::with_threads(1).unwrap();
    for (m, k, n) in [(9, 6, 10), (2, 5, 30), (5, 7, 2)] {
        let (mut a, mut b) = (numbers::<f64>(m, k, 0, 1), numbers::<f64>(k, n, 0, 2));
        a.data_mut().fill(1.0);
        b.data_mut().fill(1.0);
        b.view_mut().row_mut(k - 1)[1] = f64::INFINITY;
        a.view_mut().row_mut(m - 1)[0] = f64::INFINITY;
        let mut c = numbers(m, n, 0, 3);
        multiply(&machine, 1, 1.0, a.view(), b.view(), 0.0, c.view_mut());
        for row in 0..m {
            for col in 0..n {
                let infinite = row == m - 1 || col == 1;
                assert_eq!(
                    c.view().row(row)[col],
                    if infinite { f64::INFINITY } else { k as f64 },
                    "{m}×{k}×{n}"
                );
            }
        }
    }
}
