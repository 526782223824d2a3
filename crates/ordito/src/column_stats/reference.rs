//! The serial answer in f64, in two passes, with what bounds the error of others.
//!
//! Let a column have n elements, X = max |x| and D = max x − min x. A variant may add up the elements themselves, or
//! differences d = x − p from a pivot p of the column, |d| ≤ D, in f64 and in any order.
//!
//! * mean: of the elements, γₙ₊₁·Σ|x|/n ≤ γₙ₊₁·X. Of differences, γₙ₊₂·D for Σd/n, and one rounding of p + Σd/n. As
//!   D ≤ 2X, both are within γₙ₊₄·2X.
//! * variance, (Σd² − (Σd)²/n) / (n − 1): every d carries one rounding, so Σd² is off by at most γₙ₊₃·nD². Σd is off by γₙ·nD, so
//!   (Σd)²/n, itself at most nD², by γ₂ₙ₊₂·nD². The last subtraction and division add three roundings of at most nD². Together
//!   γ₃ₙ₊₈·nD²/(n − 1). A variance is at least D²/2(n − 1): a bound on its relative error is 2n·γ₃ₙ₊₈, and a constant
//!   column has exactly 0.
//! * least and greatest element: equal.

use crate::Scalar;
use crate::machine::{Interrupt, Interrupted};
use crate::matrix::DenseView;
use crate::op::Reference;
use crate::precision::compiled_here;

/// Mean, variance, least and greatest element of every column.
pub(crate) fn oracle<S: Scalar>(
    data: DenseView<'_, S>,
    interrupt: &Interrupt,
) -> Result<Reference, Interrupted> {
    type Compute<S> = fn(DenseView<'_, S>, &Interrupt) -> Result<Reference, Interrupted>;
    compiled_here!(S, computed, Compute)(data, interrupt)
}

fn computed<S: Scalar>(data: DenseView<'_, S>, interrupt: &Interrupt) -> Result<Reference, Interrupted> {
    let (rows, cols) = (data.rows(), data.cols());
    let n = rows as f64;
    // Row by row, which is how the matrix lies in memory.
    let each = |take: &mut dyn FnMut(usize, f64)| {
        for row in interrupt.until_set(0..rows) {
            data.row(row).iter().enumerate().for_each(|(col, x)| take(col, x.to_f64()));
        }
    };
    let mut min = vec![f64::INFINITY; cols];
    let mut max = vec![f64::NEG_INFINITY; cols];
    each(&mut |col, x| {
        min[col] = if x < min[col] || x.is_nan() { x } else { min[col] };
        max[col] = if x > max[col] || x.is_nan() { x } else { max[col] };
    });
    // Columns of numbers so large that their sums might overflow are added up in larger units.
    let unit = |(min, max): (&f64, &f64)| match min.abs().max(max.abs()) {
        largest if largest > 1e140 && largest.is_finite() => 2f64.powi(600),
        _ => 1.0,
    };
    let units: Vec<f64> = min.iter().zip(&max).map(unit).collect();
    let mut mean = vec![0.0; cols];
    each(&mut |col, x| mean[col] += x / units[col]);
    mean.iter_mut().for_each(|mean| *mean /= n);
    // The second sum would be 0 without rounding: it corrects the first one.
    let (mut squares, mut rest) = (vec![0.0; cols], vec![0.0; cols]);
    each(&mut |col, x| {
        let d = x / units[col] - mean[col];
        squares[col] += d * d;
        rest[col] += d;
    });
    let variance = squares.iter().zip(&rest).zip(&units).map(|((squares, rest), unit)| {
        let variance = (squares - rest * rest / n) / (n - 1.0);
        variance * unit * unit
    });
    let variance: Vec<f64> = variance.collect();
    for ((mean, rest), unit) in mean.iter_mut().zip(&rest).zip(&units) {
        *mean = (*mean + if rest.is_finite() { rest / n } else { 0.0 }) * unit;
    }
    if rows == 0 {
        min.fill(f64::NAN);
        max.fill(f64::NAN);
    }
    let largest = min.iter().zip(&max).map(|(min, max)| 2.0 * min.abs().max(max.abs()));
    let spread = min.iter().zip(&max).map(|(min, max)| (max - min) * (max - min) * n / (n - 1.0));
    let magnitude = largest.chain(spread).chain(std::iter::repeat_n(0.0, 2 * cols)).collect();
    let terms = rows as u64;
    interrupt.check()?;
    Ok(Reference {
        rows: 4,
        cols,
        expected: [mean, variance, min, max].concat(),
        magnitude,
        terms: vec![terms + 4, 3 * terms + 8, 0, 0],
        nan_is_an_answer: true,
        ..Reference::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::Dense;

    fn answers<S: Scalar>(rows: usize, cols: usize, numbers: Vec<S>) -> Reference {
        oracle(Dense::from_rows(rows, cols, numbers).unwrap().view(), &Interrupt::default()).unwrap()
    }

    #[test]
    fn small_columns_by_hand() {
        let reference = answers(3, 2, vec![1.0f32, 5.0, 2.0, 5.0, 6.0, 5.0]);
        assert_eq!(reference.expected, [3.0, 5.0, 7.0, 0.0, 1.0, 5.0, 6.0, 5.0]);
        assert_eq!(reference.magnitude, [12.0, 10.0, 37.5, 0.0, 0.0, 0.0, 0.0, 0.0]);
        assert_eq!(reference.terms, [7, 17, 0, 0]);
    }

    #[test]
    fn large_numbers_have_a_mean() {
        let reference = answers(4, 1, vec![1e308, 1e308, -1e308, -1e308]).expected;
        assert_eq!(reference, [0.0, f64::INFINITY, -1e308, 1e308]);
        assert_eq!(answers(2, 1, vec![f64::INFINITY, 1.0]).expected[0], f64::INFINITY);
    }

    #[test]
    fn nothing_has_no_mean_and_one_row_no_variance() {
        assert!(answers::<f64>(0, 1, vec![]).expected.iter().all(|answer| answer.is_nan()));
        let one = answers(1, 1, vec![3.0]).expected;
        assert!(one[1].is_nan());
        assert_eq!((one[0], one[2], one[3]), (3.0, 3.0, 3.0));
        assert!(answers::<f64>(5, 0, vec![]).expected.is_empty());
    }

    #[test]
    fn a_nan_spoils_its_own_column_only() {
        for row in 0..3 {
            let mut numbers = vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
            numbers[2 * row] = f64::NAN;
            let answers = answers(3, 2, numbers).expected;
            assert!(answers.chunks(2).all(|pair| pair[0].is_nan() && pair[1].is_finite()), "{answers:?}");
        }
    }
}
