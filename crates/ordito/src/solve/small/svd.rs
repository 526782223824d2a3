//! Singular values and vectors of a small square matrix.

use super::matrix::{Small, dot, norm};
use super::{column_norms, columns, without};
use crate::solve::error::SolveError;

/// Rotations of all pairs of columns after which they are as orthogonal as arithmetic gives; five or six are usual.
const MOST_SWEEPS: usize = 60;

/// U, falling σ, and V of a small square matrix, by one-sided Jacobi rotations: accurate also where singular values are close.
#[allow(clippy::type_complexity)]
pub(crate) fn small_svd(r: &Small) -> Result<(Small, Vec<f64>, Small), SolveError> {
    if !r.is_finite() {
        return Err(SolveError::NotFinite("A·V"));
    }
    let n = r.ncols();
    let (mut u, mut v) = (r.clone(), Small::identity(n, n));
    for _ in 0..MOST_SWEEPS {
        let mut rotated = false;
        for p in 0..n {
            for q in p + 1..n {
                let (a, b, c) = (
                    dot(u.column(p), u.column(p)),
                    dot(u.column(q), u.column(q)),
                    dot(u.column(p), u.column(q)),
                );
                if c.abs() <= f64::EPSILON * a.sqrt() * b.sqrt() {
                    continue;
                }
                rotated = true;
                let zeta = (b - a) / (2.0 * c);
                let t = zeta.signum() / (zeta.abs() + (1.0 + zeta * zeta).sqrt());
                let cos = 1.0 / (1.0 + t * t).sqrt();
                for matrix in [&mut u, &mut v] {
                    rotate(matrix, p, q, cos, cos * t);
                }
            }
        }
        if !rotated {
            break;
        }
    }
    let sizes = column_norms(&u);
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&i, &j| sizes[j].total_cmp(&sizes[i]));
    let values: Vec<f64> = order.iter().map(|&i| sizes[i]).collect();
    Ok((left_vectors(&u, &order, &values), values, columns(&v, &order)))
}

/// Columns p and q become c·p − s·q and s·p + c·q.
fn rotate(matrix: &mut Small, p: usize, q: usize, c: f64, s: f64) {
    let (left, right) = matrix.two_columns_mut(p, q);
    for (a, b) in left.iter_mut().zip(right) {
        (*a, *b) = (c * *a - s * *b, s * *a + c * *b);
    }
}

/// Columns of so many lengths made unit vectors; those of length 0 become any that are orthonormal to the others.
fn left_vectors(u: &Small, order: &[usize], values: &[f64]) -> Small {
    let n = u.nrows();
    let mut unit = Small::zeros(n, 0);
    let least = values.first().copied().unwrap_or(0.0) * f64::EPSILON;
    for (&from, &size) in order.iter().zip(values) {
        if size > least {
            let column: Vec<f64> = u.column(from).iter().map(|x| x / size).collect();
            unit.push_column(&column);
            continue;
        }
        // The unit vector that has most left when the others are taken away.
        let left = |axis: usize| {
            let mut vector = vec![0.0; n];
            vector[axis] = 1.0;
            without(&unit, &mut vector);
            vector
        };
        let most = (0..n).map(left).max_by(|x, y| norm(x).total_cmp(&norm(y)));
        if let Some(mut vector) = most {
            let length = norm(&vector);
            vector.iter_mut().for_each(|x| *x /= length);
            unit.push_column(&vector);
        }
    }
    unit
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_problems_are_solved_to_the_last_digits() {
        let close =
            Small::from_fn(
                4,
                4,
                |i, j| if i == j { 3.8 + 0.015 * i as f64 } else { 1e-3 * (i + 2 * j) as f64 },
            );
        let of_rank_two = Small::from_fn(5, 5, |i, j| {
            (i + 1) as f64 * (j + 2) as f64 + if i == j && i < 1 { 1.0 } else { 0.0 }
        });
        let (large, tiny) = (&close * 1e100, &of_rank_two * 1e-100);
        let zero = Small::zeros(3, 3);
        for a in [close, of_rank_two, large, tiny, zero, Small::identity(1, 1), Small::zeros(0, 0)] {
            let (u, values, v) = small_svd(&a).unwrap();
            let n = a.nrows();
            let allowed = 1e-14 * a.amax();
            assert!((&a * &v - &u * Small::diagonal(&values)).amax() <= allowed);
            assert!((a.transpose() * &u - &v * Small::diagonal(&values)).amax() <= allowed);
            let unit = Small::identity(n, n);
            assert!(
                (u.transpose() * &u - &unit).amax() < 1e-14 && (v.transpose() * &v - &unit).amax() < 1e-14
            );
            assert!(values.is_sorted_by(|x, y| x >= y));
        }
        assert!(small_svd(&Small::filled(2, 2, f64::INFINITY)).is_err());
    }
}
