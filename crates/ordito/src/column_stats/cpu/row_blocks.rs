//! The CPU's way: a grid of row blocks × stripes of columns that depends on the shape only. Each cell is added up by itself
//! and the cells of a stripe from top to bottom, so that any number of threads, and any vector width, gives the same bits.
//!
//! What is rounded off a sum is kept beside it, once for every run of 64 rows: a mean is as exact as one of pairwise sums, of any
//! number of rows. Where a sum overflows and the statistics need not, the column is read once more, in larger units.

use crate::Scalar;
use crate::column_stats::reduction::Shape;
use crate::cpu::SimdLevel;
use crate::machine::Machine;
use crate::matrix::DenseView;
use std::ops::Range;

/// Columns of a stripe: pivot, sums and extremes of so many, 24 KiB in f64, stay in a first-level cache. Fewer would read
/// memory in pieces that are too short to be fetched ahead.
const COLS_PER_STRIPE: usize = 512;
/// Rows of a block, at least: enough that handing a cell to a thread and merging it do not count (a full cell of so many
/// rows takes 8 µs).
const LEAST_ROWS: usize = 64;
/// Blocks, at most: enough for any number of threads together with the stripes, and their sums stay small beside the data.
const MOST_BLOCKS: usize = 64;
/// Rows that are added at once: what is kept of a column is loaded and stored once for all of them.
const ROWS_AT_ONCE: usize = 8;

/// Rows whose sum is added to what is kept exactly. So few that their own rounding is that of pairwise sums, so many that the
/// exact addition does not count.
const ROWS_PER_RUN: usize = 64;

/// What is kept of each column of a stripe in a block, beside its pivot.
struct Cell<S> {
    rows: Range<usize>,
    cols: Range<usize>,
    /// Of the rows of the present run.
    run: Vec<f64>,
    sum: Vec<f64>,
    /// What was rounded off the sum.
    rest: Vec<f64>,
    squares: Vec<f64>,
    least: Vec<S>,
    most: Vec<S>,
}

/// The grid for one shape.
pub(crate) struct RowBlocks<S> {
    /// Block after block; in each, stripe after stripe.
    cells: Vec<Cell<S>>,
    stripes: usize,
}

impl<S: Scalar> RowBlocks<S> {
    pub(crate) fn new(shape: Shape) -> Self {
        let Shape { rows, cols } = shape;
        let rows_per_block = rows.div_ceil(MOST_BLOCKS).max(LEAST_ROWS);
        let mut cells = Vec::new();
        for first_row in (0..rows).step_by(rows_per_block) {
            for first_col in (0..cols).step_by(COLS_PER_STRIPE) {
                let cols = first_col..cols.min(first_col + COLS_PER_STRIPE);
                let (sums, extremes) = (vec![0.0; cols.len()], vec![S::ZERO; cols.len()]);
                cells.push(Cell {
                    rows: first_row..rows.min(first_row + rows_per_block),
                    cols,
                    run: sums.clone(),
                    sum: sums.clone(),
                    rest: sums.clone(),
                    squares: sums,
                    least: extremes.clone(),
                    most: extremes,
                });
            }
        }
        RowBlocks { cells, stripes: cols.div_ceil(COLS_PER_STRIPE) }
    }

    /// All means, then all variances, all least and all greatest elements; on the calling thread, or on those of
    /// `threads`.
    pub(crate) fn reduce(
        &mut self,
        simd: SimdLevel,
        threads: Option<&Machine>,
        data: DenseView<'_, S>,
        results: &mut [f64],
    ) {
        if data.rows() == 0 {
            return results.fill(f64::NAN);
        }
        let fill = |cell: &mut Cell<S>| fill(simd, cell, data);
        match threads {
            Some(machine) => machine.pool().run_shares(self.cells.iter_mut().collect(), fill),
            None => self.cells.iter_mut().for_each(fill),
        }
        for stripe in 0..self.stripes {
            let (above, below) = self.cells.split_at_mut(stripe + 1);
            let first = &mut above[stripe];
            below.iter().skip(self.stripes - 1).step_by(self.stripes).for_each(|cell| first.take_in(cell));
            first.finish(data, results);
        }
    }
}

/// Where differences are taken from: the column's first element. From an infinite one every difference would be NaN.
fn pivot<S: Scalar>(first: S) -> f64 {
    if first.is_finite() { first.to_f64() } else { 0.0 }
}

impl<S: Scalar> Cell<S> {
    /// Adds the cell of further rows of the same columns.
    fn take_in(&mut self, other: &Cell<S>) {
        let add = |to: &mut [f64], from: &[f64]| to.iter_mut().zip(from).for_each(|(to, from)| *to += from);
        add(&mut self.rest, &other.rest);
        for ((sum, rest), &from) in self.sum.iter_mut().zip(&mut self.rest).zip(&other.sum) {
            add_exactly(sum, rest, from);
        }
        add(&mut self.squares, &other.squares);
        self.least
            .iter_mut()
            .zip(&other.least)
            .for_each(|(to, &from)| *to = if from < *to { from } else { *to });
        self.most
            .iter_mut()
            .zip(&other.most)
            .for_each(|(to, &from)| *to = if from > *to { from } else { *to });
    }

    /// Writes the statistics of the columns.
    fn finish(&self, data: DenseView<'_, S>, results: &mut [f64]) {
        let (all, count) = (data.cols(), data.rows() as f64);
        for (c, col) in self.cols.clone().enumerate() {
            // What is rounded off an infinite sum is no number.
            let rest = if self.rest[c].is_finite() { self.rest[c] } else { 0.0 };
            let (sum, squares) = (self.sum[c] + rest, self.squares[c]);
            let offset = sum / count;
            let left = squares - sum * offset;
            let mean = mean(pivot(data.row(0)[col]), self.sum[c], rest, count);
            // Rounding may leave a little less than nothing.
            let variance = if left < 0.0 { 0.0 } else { left } / (count - 1.0);
            let finite = self.least[c].is_finite() && self.most[c].is_finite() && !squares.is_nan();
            let overflow = !mean.is_finite() || count > 1.0 && !variance.is_finite();
            (results[col], results[all + col]) =
                if finite && overflow { in_large_units(data, col) } else { (mean, variance) };
            // No infinity makes a NaN of a sum of squares: there was one among the numbers.
            let or_nan = |extreme: S| if squares.is_nan() { f64::NAN } else { extreme.to_f64() };
            results[2 * all + col] = or_nan(self.least[c]);
            results[3 * all + col] = or_nan(self.most[c]);
        }
    }
}

/// Adds to a sum, and to `rest` what is rounded off (Knuth's two-sum: exact, whichever is larger).
#[inline(always)]
fn add_exactly(sum: &mut f64, rest: &mut f64, add: f64) {
    let next = *sum + add;
    let added = next - *sum;
    *rest += (*sum - (next - added)) + (add - added);
    *sum = next;
}

/// pivot + (sum + rest) / count, rounded once: where the two nearly cancel, what division rounds off would be most of it.
fn mean(pivot: f64, sum: f64, rest: f64, count: f64) -> f64 {
    let offset = (sum + rest) / count;
    if !offset.is_finite() {
        return pivot + offset;
    }
    let (mut mean, mut left) = (pivot, ((-offset).mul_add(count, sum) + rest) / count);
    add_exactly(&mut mean, &mut left, offset);
    mean + left
}

/// Mean and variance of a column of finite numbers whose sums overflow: in units of 2⁶⁰⁰, of which no sum of squares of as many
/// numbers as there can be does. What is lost is far below the last bit of numbers so large.
#[cold]
fn in_large_units<S: Scalar>(data: DenseView<'_, S>, col: usize) -> (f64, f64) {
    let unit = f64::from_bits((1023 + 600) << 52);
    let count = data.rows() as f64;
    let numbers = || (0..data.rows()).map(|row| data.row(row)[col].to_f64() / unit);
    let (mut sum, mut rest) = (0.0, 0.0);
    numbers().for_each(|x| add_exactly(&mut sum, &mut rest, x));
    let mean = (sum + rest) / count;
    let (mut squares, mut rest) = (0.0, 0.0);
    numbers().for_each(|x| add_exactly(&mut squares, &mut rest, (x - mean) * (x - mean)));
    (mean * unit, (squares + rest) / (count - 1.0) * unit * unit)
}

/// The same loop compiled for what the processor has. Multiplications and additions are not fused: the results are
/// the same everywhere.
fn fill<S: Scalar>(simd: SimdLevel, cell: &mut Cell<S>, data: DenseView<'_, S>) {
    match simd {
        // SAFETY: a machine's level never exceeds `SimdLevel::supported`, which asks the processor for each of
        // these instruction sets.
        #[cfg(target_arch = "x86_64")]
        SimdLevel::Avx512 => unsafe { fill_avx512(cell, data) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        SimdLevel::Avx2 => unsafe { fill_avx2(cell, data) },
        _ => fill_portable(cell, data),
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512vl,avx512dq,avx512bw,avx2,bmi1,bmi2")]
fn fill_avx512<S: Scalar>(cell: &mut Cell<S>, data: DenseView<'_, S>) {
    fill_portable(cell, data);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2")]
fn fill_avx2<S: Scalar>(cell: &mut Cell<S>, data: DenseView<'_, S>) {
    fill_portable(cell, data);
}

/// Adds up the rows of the cell. Extremes start from the column's first element, which is one of its elements in any case.
#[inline(always)]
fn fill_portable<S: Scalar>(cell: &mut Cell<S>, data: DenseView<'_, S>) {
    let width = cell.cols.len();
    let first = &data.row(0)[cell.cols.clone()];
    let mut pivots = [0.0; COLS_PER_STRIPE];
    pivots.iter_mut().zip(first).for_each(|(to, &x)| *to = pivot(x));
    cell.sum.fill(0.0);
    cell.rest.fill(0.0);
    cell.squares.fill(0.0);
    cell.least.copy_from_slice(first);
    cell.most.copy_from_slice(first);
    let mut kept = Kept {
        pivots: &pivots[..width],
        run: &mut cell.run[..width],
        squares: &mut cell.squares[..width],
        least: &mut cell.least[..width],
        most: &mut cell.most[..width],
    };
    let row = |row: usize| &data.row(row)[cell.cols.clone()];
    for first in cell.rows.clone().step_by(ROWS_PER_RUN) {
        let rows = first..cell.rows.end.min(first + ROWS_PER_RUN);
        let whole = rows.len() / ROWS_AT_ONCE * ROWS_AT_ONCE;
        kept.run.fill(0.0);
        for at in rows.clone().take(whole).step_by(ROWS_AT_ONCE) {
            kept.add::<ROWS_AT_ONCE>(std::array::from_fn(|i| row(at + i)));
        }
        for at in rows.skip(whole) {
            kept.add([row(at)]);
        }
        for ((sum, rest), &run) in cell.sum.iter_mut().zip(&mut cell.rest).zip(&*kept.run) {
            add_exactly(sum, rest, run);
        }
    }
}

/// Slices of equal length: a cell while it is filled.
struct Kept<'a, S> {
    pivots: &'a [f64],
    run: &'a mut [f64],
    squares: &'a mut [f64],
    least: &'a mut [S],
    most: &'a mut [S],
}

impl<S: Scalar> Kept<'_, S> {
    /// Adds some rows, in order.
    #[inline(always)]
    fn add<const ROWS: usize>(&mut self, rows: [&[S]; ROWS]) {
        let width = self.pivots.len();
        let rows = rows.map(|row| &row[..width]);
        let (run, squares) = (&mut self.run[..width], &mut self.squares[..width]);
        let (least, most) = (&mut self.least[..width], &mut self.most[..width]);
        for c in 0..width {
            let (mut s, mut q, mut low, mut high) = (run[c], squares[c], least[c], most[c]);
            for row in rows {
                let x = row[c];
                let d = x.to_f64() - self.pivots[c];
                s += d;
                q += d * d;
                low = if x < low { x } else { low };
                high = if x > high { x } else { high };
            }
            (run[c], squares[c], least[c], most[c]) = (s, q, low, high);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::random_dense;

    fn reduced<S: Scalar>(simd: SimdLevel, threads: usize, data: DenseView<'_, S>) -> Vec<u64> {
        let machine = Machine::with_threads(threads).unwrap();
        let mut results = vec![f64::NAN; 4 * data.cols()];
        let shape = Shape { rows: data.rows(), cols: data.cols() };
        RowBlocks::new(shape).reduce(simd.or_supported(), Some(&machine), data, &mut results);
        results.iter().map(|result| result.to_bits()).collect()
    }

    #[test]
    #[cfg_attr(miri, ignore = "takes minutes")]
    fn threads_and_vector_width_do_not_change_a_bit() {
        for (rows, cols) in [(1, 1), (358, 300), (1027, 1030), (20_000, 7)] {
            let data = random_dense::<f32>(rows, cols, 5).unwrap();
            let one = reduced(SimdLevel::Portable, 1, data.view());
            for (simd, threads) in [(SimdLevel::Avx2, 1), (SimdLevel::Avx512, 2), (SimdLevel::Avx512, 5)] {
                assert_eq!(reduced(simd, threads, data.view()), one, "{rows}x{cols}, {threads} threads");
            }
        }
    }

    fn statistics(numbers: Vec<f64>) -> [f64; 4] {
        let data = crate::matrix::Dense::from_rows(numbers.len(), 1, numbers).unwrap();
        let results = reduced(SimdLevel::supported(), 2, data.view());
        std::array::from_fn(|row| f64::from_bits(results[row]))
    }

    #[test]
    #[cfg_attr(miri, ignore = "takes minutes")]
    fn nothing_overflows_that_need_not() {
        assert_eq!(statistics(vec![1e308, -1e308]), [0.0, f64::INFINITY, -1e308, 1e308]);
        assert_eq!(statistics(vec![1.5e308; 3]), [1.5e308, 0.0, 1.5e308, 1.5e308]);
        assert_eq!(statistics(vec![-1.7e308, 1.7e308, 1.7e308, -1.7e308])[0], 0.0);
        // Σd² would be 1e310: of ±1e152 the variance is n/(n − 1)·1e304.
        let count = 1_000_000;
        let [mean, variance, ..] =
            statistics((0..count).map(|row| if row % 2 == 0 { 1e152 } else { -1e152 }).collect());
        let expected = 1e152 * (1e152 / f64::from(count - 1) * f64::from(count));
        assert!(mean == 0.0 && (variance / expected - 1.0).abs() < 1e-12, "{mean} {variance}");
        assert_eq!(statistics(vec![1.0, f64::INFINITY])[0], f64::INFINITY);
        assert!(statistics(vec![f64::NEG_INFINITY, 1.0, f64::INFINITY])[0].is_nan());
        assert!(statistics(vec![1e308, f64::NAN]).iter().all(|statistic| statistic.is_nan()));
        assert_eq!(statistics(vec![1e308])[0], 1e308);
    }

    #[test]
    #[cfg_attr(miri, ignore = "takes minutes")]
    fn the_mean_of_a_million_drifting_rows_is_exact_though_they_cancel() {
        // From 512 down to −512, in whole multiples of 2⁻³⁰: integers say what the mean is, which is next to nothing.
        let (count, unit) = (1_000_000_i64, 2f64.powi(30));
        let steps = |row: i64| (1 << 39) - row * 1_099_511 - row * 7919 % 1009 * 1_000_003 % 65_537;
        let sum = (0..count).map(|row| i128::from(steps(row))).sum::<i128>();
        let mean = statistics((0..count).map(|row| steps(row) as f64 / unit).collect())[0];
        // In units of 2⁻⁷⁰.
        let (found, expected) = ((mean * 2f64.powi(70)) as i128, (sum << 40) / i128::from(count));
        let error = (found - expected) as f64 / 2f64.powi(70);
        assert!(error.abs() < 1e-15, "{mean} is off by {error:e}");
    }

    #[test]
    fn the_grid_covers_every_element_once() {
        for (rows, cols) in [(0, 3), (3, 0), (1, 1), (257, 512), (258, 513), (358, 5248), (100_000, 1)] {
            let grid = RowBlocks::<f64>::new(Shape { rows, cols });
            let covered: usize = grid.cells.iter().map(|cell| cell.rows.len() * cell.cols.len()).sum();
            assert_eq!(covered, rows * cols);
            assert!(grid.cells.len() <= MOST_BLOCKS * grid.stripes);
        }
    }
}
