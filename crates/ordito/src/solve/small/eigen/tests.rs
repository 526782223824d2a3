use super::*;
use nalgebra::{DMatrix, SymmetricEigen};

/// Numbers between −1 and 1, always the same.
fn random_symmetric(n: usize) -> Small {
    let number = |i: usize, j: usize| {
        let mixed = (i as u64 * 0x9e37_79b9 + j as u64 * 0x85eb_ca6b + 1).wrapping_mul(0xd134_2543_de82_ef95);
        (mixed >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    };
    Small::from_fn(n, n, |i, j| number(i.max(j), i.min(j)))
}

fn check(a: &Small) {
    let n = a.nrows();
    let Eigen { values, vectors } = symmetric_eigen(a, "A").unwrap();
    let tolerance = 8.0 * f64::EPSILON * n as f64;
    assert!(values.is_sorted());
    let residual = a * &vectors - &vectors * Small::diagonal(&values);
    // The least numbers there are have no more digits.
    let allowed = tolerance * (n as f64).sqrt() * a.amax() + 1e-322;
    assert!(residual.amax() <= allowed, "{n}: {:e}", residual.amax() / a.amax());
    let unit = vectors.transpose() * &vectors - Small::identity(n, n);
    assert!(unit.amax() <= tolerance, "{n}: {:e}", unit.amax());
    let size = if a.amax() > 0.0 { a.amax() } else { 1.0 };
    let expected = SymmetricEigen::new(DMatrix::from_fn(n, n, |i, j| a[(i, j)] / size)).eigenvalues;
    let mut expected: Vec<f64> = expected.iter().copied().collect();
    if expected.iter().any(|value| value.is_nan()) {
        return; // numbers that only ours can take
    }
    expected.sort_by(f64::total_cmp);
    for (value, expected) in values.iter().zip(expected) {
        assert!((value / size - expected).abs() <= allowed / size * n as f64);
    }
}

#[test]
fn pairs_are_those_of_the_matrix() {
    for n in [1, 2, 3, 4, 7, 8, 9, 16, 31, 97, 130] {
        check(&random_symmetric(n));
        check(&Small::identity(n, n));
        check(&Small::zeros(n, n));
        check(&Small::filled(n, n, 1.0));
        // Falling over many orders of magnitude, either way.
        for exponent in [-3, 3] {
            let size = |i: usize| 10_f64.powi(exponent * i as i32 % 40);
            check(&Small::from_fn(n, n, |i, j| random_symmetric(n)[(i, j)] * size(i) * size(j)));
        }
        // Tridiagonal, and in two blocks.
        check(&Small::from_fn(n, n, |i, j| [2.0, -1.0, 0.0][i.abs_diff(j).min(2)]));
        check(&Small::from_fn(n, n, |i, j| f64::from(i / 3 == j / 3)));
        // Of few ranks, projections, and columns of unit length that repeat: many eigenvalues are 0, or 1, but for rounding.
        for rank in [1, 3, n / 3, n / 2] {
            let x = Small::from_fn(n, rank.min(n), |i, j| random_symmetric(n)[(i, j)]);
            check(&(&x * x.transpose()));
            let q = symmetric_eigen(&random_symmetric(n), "A").unwrap().vectors.first_columns(rank.min(n));
            check(&(&q * q.transpose()));
            let lengths = crate::solve::small::column_norms(&x);
            let gram = x.transpose() * &x;
            let of = |i: usize| i % rank.max(1);
            check(&Small::from_fn(n, n, |i, j| {
                if rank == 0 { 0.0 } else { gram[(of(i), of(j))] / (lengths[of(i)] * lengths[of(j)]) }
            }));
        }
        // Eigenvalues that nearly coincide (Wilkinson's matrix).
        check(&Small::from_fn(n, n, |i, j| match i.abs_diff(j) {
            0 => (n / 2).abs_diff(i) as f64,
            1 => 1.0,
            _ => 0.0,
        }));
    }
}

#[test]
fn last_rows_are_those_of_all() {
    for (n, rows) in [(1, 1), (5, 0), (9, 2), (40, 8), (40, 40)] {
        let a = random_symmetric(n);
        let all = symmetric_eigen(&a, "A").unwrap();
        let ends = ends_of_eigenvectors(&a, rows, "A").unwrap();
        assert_eq!(ends.values, all.values);
        let expected = all.vectors.rows_from(n - rows, rows);
        assert!((ends.vectors - expected).amax() <= 1e-13, "{n} {rows}");
    }
}

#[test]
fn any_size_of_numbers() {
    for unit in [1e300, 1e-300, 1e200, 1e-200] {
        check(&(random_symmetric(12) * unit));
    }
    // Some of them underflow beside the others.
    check(&Small::from_fn(6, 6, |i, j| if i < 2 && j < 2 { 1.0 } else { 1e-200 * (i + j) as f64 }));
    check(&Small::from_rows(3, 3, &[0.0, 1e-310, 0.0, 1e-310, 0.0, 1e-310, 0.0, 1e-310, 0.0]));
    // Falling from 1 to where squares underflow.
    for n in [9, 40] {
        let size = |i: usize| 10_f64.powf(-170.0 * i as f64 / (n - 1) as f64);
        check(&Small::from_fn(n, n, |i, j| match i.abs_diff(j) {
            0 => size(i),
            1 => 0.7 * size(i.max(j)),
            _ => 0.0,
        }));
    }
    check(&(Small::identity(3, 3) * f64::MAX));
    assert!(symmetric_eigen(&Small::zeros(0, 0), "A").unwrap().values.is_empty());
    let error = symmetric_eigen(&Small::filled(1, 1, f64::NAN), "A").err().unwrap();
    assert!(error.to_string().starts_with("A is not finite"));
}
