//! The CPU's way: a grid of row blocks × stripes of columns that depends on the shape only. Each cell is added up by itself
//! and the cells of a stripe from top to bottom, so that any number of threads, and any vector width, gives the same bits.

use crate::Scalar;
use crate::column_stats::reduction::Shape;
use crate::cpu::SimdLevel;
use crate::machine::Machine;
use crate::matrix::DenseView;
use std::ops::Range;

/// Columns of a stripe: pivot, sums and extremes of so many, 20 KiB in f64, stay in a first-level cache. Fewer would read
/// memory in pieces that are too short to be fetched ahead.
const COLS_PER_STRIPE: usize = 512;
/// Rows of a block, at least: enough that handing a cell to a thread and merging it do not count (a full cell of so many
/// rows takes 8 µs).
const LEAST_ROWS: usize = 64;
/// Blocks, at most: enough for any number of threads together with the stripes, and their sums stay small beside the data.
const MOST_BLOCKS: usize = 64;
/// Rows that are added at once: what is kept of a column is loaded and stored once for all of them.
const ROWS_AT_ONCE: usize = 8;

/// What is kept of each column of a stripe in a block, beside its pivot.
struct Cell<S> {
    rows: Range<usize>,
    cols: Range<usize>,
    sum: Vec<f64>,
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
                    sum: sums.clone(),
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
        add(&mut self.sum, &other.sum);
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
            let (sum, squares) = (self.sum[c], self.squares[c]);
            let offset = sum / count;
            let rest = squares - sum * offset;
            results[col] = pivot(data.row(0)[col]) + offset;
            // Rounding may leave a little less than nothing.
            results[all + col] = if rest < 0.0 { 0.0 } else { rest } / (count - 1.0);
            // No infinity makes a NaN of a sum of squares: there was one among the numbers.
            let or_nan = |extreme: S| if squares.is_nan() { f64::NAN } else { extreme.to_f64() };
            results[2 * all + col] = or_nan(self.least[c]);
            results[3 * all + col] = or_nan(self.most[c]);
        }
    }
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
    cell.squares.fill(0.0);
    cell.least.copy_from_slice(first);
    cell.most.copy_from_slice(first);
    let mut kept = Kept {
        pivots: &pivots[..width],
        sum: &mut cell.sum[..width],
        squares: &mut cell.squares[..width],
        least: &mut cell.least[..width],
        most: &mut cell.most[..width],
    };
    let row = |row: usize| &data.row(row)[cell.cols.clone()];
    let whole = cell.rows.len() / ROWS_AT_ONCE * ROWS_AT_ONCE;
    for at in cell.rows.clone().take(whole).step_by(ROWS_AT_ONCE) {
        kept.add::<ROWS_AT_ONCE>(std::array::from_fn(|i| row(at + i)));
    }
    for at in cell.rows.clone().skip(whole) {
        kept.add([row(at)]);
    }
}

/// Slices of equal length: a cell while it is filled.
struct Kept<'a, S> {
    pivots: &'a [f64],
    sum: &'a mut [f64],
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
        let (sum, squares) = (&mut self.sum[..width], &mut self.squares[..width]);
        let (least, most) = (&mut self.least[..width], &mut self.most[..width]);
        for c in 0..width {
            let (mut s, mut q, mut low, mut high) = (sum[c], squares[c], least[c], most[c]);
            for row in rows {
                let x = row[c];
                let d = x.to_f64() - self.pivots[c];
                s += d;
                q += d * d;
                low = if x < low { x } else { low };
                high = if x > high { x } else { high };
            }
            (sum[c], squares[c], least[c], most[c]) = (s, q, low, high);
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
        RowBlocks::new(shape).reduce(simd.min(SimdLevel::supported()), Some(&machine), data, &mut results);
        results.iter().map(|result| result.to_bits()).collect()
    }

    #[test]
    fn threads_and_vector_width_do_not_change_a_bit() {
        for (rows, cols) in [(1, 1), (358, 300), (1027, 1030), (20_000, 7)] {
            let data = random_dense::<f32>(rows, cols, 5).unwrap();
            let one = reduced(SimdLevel::Portable, 1, data.view());
            for (simd, threads) in [(SimdLevel::Avx2, 1), (SimdLevel::Avx512, 2), (SimdLevel::Avx512, 5)] {
                assert_eq!(reduced(simd, threads, data.view()), one, "{rows}x{cols}, {threads} threads");
            }
        }
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
