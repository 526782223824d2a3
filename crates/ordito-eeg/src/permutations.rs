//! Is the difference more than chance? Labels are permuted, and the largest |t| anywhere is compared with every observed one.
//!
//! With L the labels (a row per permutation, 1 where an epoch is called target) and E the centred epochs, L·E holds the sums of
//! all columns under all permutations and L·E² the sums of squares: two matrix products, from which Welch's t follows.

use crate::analysis::Chosen;
use crate::block::first_rows;
use crate::error::ErpError;
use crate::recording::Recording;
use crate::reduce::Kept;
use crate::significance::PermutationTest;
use crate::significance::judge;
use crate::spare_gpu::Somewhere;
use ordito::Scalar;
use ordito::column_stats::Statistics;
use ordito::gemm::{Plan, Shape};
use ordito::machine::Machine;
use ordito::matrix::Dense;
use ordito::matrix::Random;
use ordito::op::RunError;
use rayon::prelude::*;

/// Columns and permutations of one product: operands of some ten megabytes, enough to do for every core and for a GPU.
const COLUMNS_PER_BLOCK: usize = 1024;
const PERMUTATIONS_PER_CHUNK: usize = 512;
/// Both conditions, and which of their columns make up a wave.
pub(crate) struct Labelled<'a, S> {
    pub(crate) first: &'a [Kept<S>],
    pub(crate) second: &'a [Kept<S>],
    /// Columns of the files, in the order of a wave.
    pub(crate) columns: &'a [usize],
    /// The mean over both conditions of every column of the files, its least and its greatest element.
    pub(crate) whole: &'a Statistics,
}

fn rows_of<S>(blocks: &[Kept<S>]) -> usize {
    blocks.iter().map(|block| block.rows).sum()
}

/// Bytes of the largest t² of so many permutations; `None` where not even 64 bits hold that.
pub(crate) fn bytes_of_maxima(count: usize) -> Option<u64> {
    (count as u64).checked_mul(size_of::<f64>() as u64)
}

/// Tests the observed `t` of a wave.
pub(crate) fn test<S: Scalar>(
    labelled: &Labelled<'_, S>,
    recording: &Recording,
    t: &[f64],
    (count, seed): (usize, u64),
    (machine, reason): &Somewhere,
) -> Result<(PermutationTest, Chosen), ErpError> {
    let (n1, n2) = (rows_of(labelled.first), rows_of(labelled.second));
    let (epochs, width) = (n1 + n2, labelled.columns.len().min(COLUMNS_PER_BLOCK));
    let height = count.min(PERMUTATIONS_PER_CHUNK);
    let shape = Shape { m: height, k: epochs, n: width };
    let numbers = [(height, epochs), (2 * epochs, width), (2 * height, width)];
    let operands = |sum: u64, &(rows, cols): &(usize, usize)| {
        sum.checked_add((rows as u64).checked_mul(cols as u64)?.checked_mul(size_of::<S>() as u64)?)
    };
    let bytes = bytes_of_maxima(count).and_then(|maxima| numbers.iter().try_fold(maxima, operands));
    machine.check_memory("the permutation test", bytes)?;
    let mut plan = Plan::<S>::new(shape, machine)?;
    let chosen = Chosen {
        step: "permutations",
        variant: plan.choice().variant.to_owned(),
        reason: format!("{reason}; {}", plan.choice().reason),
    };
    let filled = |rows, cols| Dense::filled(rows, cols, S::ZERO).map_err(RunError::from);
    let (mut labels, mut block) = (filled(height, epochs)?, filled(epochs, width)?);
    let mut squared = filled(epochs, width)?;
    let (mut sums, mut sums_of_squares) = (filled(height, width)?, filled(height, width)?);
    let mut largest_squares = vec![0.0f64; count];
    for columns in labelled.columns.chunks(width) {
        labelled.centred(columns, &mut block, machine)?;
        squared.data_mut().iter_mut().zip(block.data()).for_each(|(square, &x)| *square = x * x);
        let welch = Welch::new(&block, &squared, (n1, n2), columns.len());
        for (chunk, largest) in largest_squares.chunks_mut(height).enumerate() {
            machine.pool().install(|| permute(&mut labels, n1, seed, chunk * height, largest.len()));
            plan.apply(S::ONE, labels.view(), block.view(), S::ZERO, sums.view_mut())?;
            plan.apply(S::ONE, labels.view(), squared.view(), S::ZERO, sums_of_squares.view_mut())?;
            let (sums, squares) = (sums.view(), sums_of_squares.view());
            let update = |(row, largest): (usize, &mut f64)| {
                *largest = largest.max(welch.largest_square(sums.row(row), squares.row(row)));
            };
            machine.pool().install(|| largest.par_iter_mut().enumerate().for_each(update));
        }
    }
    let maxima = largest_squares.into_iter().map(f64::sqrt).collect();
    Ok((judge(recording, t, maxima, seed, S::EPSILON), chosen))
}

impl<S: Scalar> Labelled<'_, S> {
    /// Some columns of all epochs, less their mean, which would drown what varies, and in units of their largest deviation,
    /// so that no unit makes squares too large or too small: t is the same. Columns that do not vary are 0, and so are those
    /// that a narrower block leaves over.
    fn centred(&self, columns: &[usize], block: &mut Dense<S>, machine: &Machine) -> Result<(), ErpError> {
        let width = block.cols();
        let scaling = |&column: &usize| {
            let (mean, min, max) = (self.whole.mean[column], self.whole.min[column], self.whole.max[column]);
            // A constant less its own mean leaves rounding errors, which must not be taken for signal.
            let largest = (max - mean).max(mean - min);
            (mean, if largest > 8.0 * f64::EPSILON * mean.abs() { largest } else { f64::INFINITY })
        };
        let scalings: Vec<(f64, f64)> = columns.iter().map(scaling).collect();
        let mut rows = Vec::new();
        for kept in self.first.iter().chain(self.second) {
            let view = first_rows(kept.matrix.view(), kept.rows)?;
            rows.extend((0..kept.rows).map(|row| view.row(row)));
        }
        machine.pool().install(|| {
            block.data_mut().par_chunks_mut(width).zip(&rows).for_each(|(centred, row)| {
                centred.fill(S::ZERO);
                for ((centred, &column), (mean, largest)) in centred.iter_mut().zip(columns).zip(&scalings) {
                    *centred = S::from_f64((row[column].to_f64() - mean) / largest);
                }
            });
        });
        Ok(())
    }
}

/// Labels of `count` permutations from the number `first` on: 1 for the `n1` epochs that are called target. Every permutation
/// has a stream of its own, so that chunks do not matter.
fn permute<S: Scalar>(labels: &mut Dense<S>, n1: usize, seed: u64, first: usize, count: usize) {
    let epochs = labels.cols();
    labels.data_mut().par_chunks_mut(epochs).take(count).enumerate().for_each(|(row, labels)| {
        labels.fill(S::ZERO);
        labels[..n1].fill(S::ONE);
        Random::new(seed, (first + row) as u64).shuffle(labels);
    });
}

/// Welch's t² of columns from the sums of the epochs that are called target.
struct Welch {
    n1: f64,
    n2: f64,
    /// Sums and sums of squares of all epochs.
    totals: Vec<(f64, f64)>,
}

impl Welch {
    fn new<S: Scalar>(
        block: &Dense<S>,
        squared: &Dense<S>,
        (n1, n2): (usize, usize),
        columns: usize,
    ) -> Self {
        let mut totals = vec![(0.0, 0.0); columns];
        for row in 0..block.rows() {
            let numbers = block.view().row(row).iter().zip(squared.view().row(row));
            for ((sum, sum_of_squares), (x, square)) in totals.iter_mut().map(|(a, b)| (a, b)).zip(numbers) {
                *sum += x.to_f64();
                *sum_of_squares += square.to_f64();
            }
        }
        Welch { n1: n1 as f64, n2: n2 as f64, totals }
    }

    /// The largest t² of a permutation, infinite where both groups are constant and differ. Columns that do not vary at all
    /// have none.
    fn largest_square<S: Scalar>(&self, sums: &[S], sums_of_squares: &[S]) -> f64 {
        let (n1, n2) = (self.n1, self.n2);
        let mut largest = 0.0;
        for ((&(all, all_squares), sum), squares) in self.totals.iter().zip(sums).zip(sums_of_squares) {
            let (sum1, squares1) = (sum.to_f64(), squares.to_f64());
            let (sum2, squares2) = (all - sum1, all_squares - squares1);
            let variance =
                |n: f64, sum: f64, squares: f64| (squares - sum * sum / n).max(0.0) / (n * (n - 1.0));
            let difference = sum1 / n1 - sum2 / n2;
            let square =
                difference * difference / (variance(n1, sum1, squares1) + variance(n2, sum2, squares2));
            if square > largest {
                largest = square;
            }
        }
        largest
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::significance::Interval;
    use ordito::column_stats::column_stats;
    use ordito::matrix::random_dense;

    fn kept(matrix: Dense<f64>) -> Vec<Kept<f64>> {
        vec![Kept { rows: matrix.rows(), matrix }]
    }

    fn recording(columns: usize) -> Recording {
        let sensors = vec!["A".to_string()];
        Recording { sensors, samples: columns, rate_hz: 1.0, start_s: 0.0, unit: String::new() }
    }

    /// Welch's t of two samples, straight from its definition.
    fn welch(a: &[f64], b: &[f64]) -> f64 {
        let mean = |x: &[f64]| x.iter().sum::<f64>() / x.len() as f64;
        let error = |x: &[f64]| {
            let squares: f64 = x.iter().map(|number| (number - mean(x)).powi(2)).sum();
            squares / ((x.len() - 1) * x.len()) as f64
        };
        (mean(a) - mean(b)) / (error(a) + error(b)).sqrt()
    }

    #[test]
    fn the_products_say_what_a_naive_loop_says() {
        const COLUMNS: usize = 7;
        let (n1, n2, count, seed) = (6, 9, 700, 5);
        let mut all = random_dense::<f64>(n1 + n2, COLUMNS, 1).unwrap();
        all.data_mut().iter_mut().step_by(COLUMNS).for_each(|x| *x = 0.1); // a column that does not vary
        all.data_mut().iter_mut().for_each(|x| *x += 1000.0);
        all.data_mut()[..n1 * COLUMNS].iter_mut().skip(2).step_by(COLUMNS).for_each(|x| *x += 2.0);
        let column = |column: usize, rows: &[usize]| -> Vec<f64> {
            rows.iter().map(|row| all.data()[row * COLUMNS + column]).collect()
        };
        let t_of =
            |c: usize, targets: &[usize], others: &[usize]| welch(&column(c, targets), &column(c, others));
        let rows: Vec<usize> = (0..n1 + n2).collect();
        let t: Vec<f64> = (1..COLUMNS).map(|c| t_of(c, &rows[..n1], &rows[n1..])).collect();
        let mut maxima = Vec::new();
        for permutation in 0..count {
            let mut labels = vec![0.0; n1 + n2];
            labels[..n1].fill(1.0);
            Random::new(seed, permutation as u64).shuffle(&mut labels);
            let (targets, others): (Vec<usize>, Vec<usize>) =
                rows.iter().partition(|row| labels[**row] == 1.0);
            maxima.push((1..COLUMNS).map(|c| t_of(c, &targets, &others).abs()).fold(0.0, f64::max));
        }
        let reached = |t: f64| maxima.iter().filter(|largest| **largest >= t.abs() * (1.0 - 1e-9)).count();
        let p: Vec<f64> = t.iter().map(|&t| (1 + reached(t)) as f64 / (count + 1) as f64).collect();

        maxima.sort_by(f64::total_cmp);
        // The same in any unit, also where squares would overflow or vanish.
        for unit in [1.0, 1e-170, 1e150] {
            let in_unit = |rows: std::ops::Range<usize>| {
                let numbers = all.data()[rows.start * COLUMNS..rows.end * COLUMNS].iter().map(|x| x * unit);
                Dense::from_rows(rows.len(), COLUMNS, numbers.collect()).unwrap()
            };
            let whole = column_stats(in_unit(0..n1 + n2).view(), &Machine::with_threads(1).unwrap()).unwrap();
            let (first, second) = (kept(in_unit(0..n1)), kept(in_unit(n1..n1 + n2)));
            // The column that does not vary is column 0; its t is none.
            let wave: Vec<usize> = (0..COLUMNS).collect();
            let labelled = Labelled { first: &first, second: &second, columns: &wave, whole: &whole };
            let observed: Vec<f64> = [f64::NAN].into_iter().chain(t.clone()).collect();
            let at = (Machine::with_threads(2).unwrap(), String::new());
            let (test, _) = test(&labelled, &recording(COLUMNS), &observed, (count, seed), &at).unwrap();
            assert_eq!(test.p[0], 1.0, "what does not vary is never significant");
            assert_eq!(test.p[1..], p);
            assert_eq!(test.intervals, [Interval { sensor: 0, from: 2, to: 2, p: test.p[2] }]);
            let critical = maxima[count - 35]; // 35 = 5 % of 701, rounded down
            assert!((test.critical_t / critical - 1.0).abs() < 1e-9, "{unit}: {}", test.critical_t);
        }
    }
}
