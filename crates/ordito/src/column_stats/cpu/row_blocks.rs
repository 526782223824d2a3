//! The CPU's way: a grid of row blocks × stripes of columns that depends on the shape only. Each cell is added up by itself
//! and the cells of a stripe from top to bottom, so that any number of threads, and any vector width, gives the same bits.
//!
//! What is rounded off a sum is kept beside it, once for every run of 64 lines: a mean is as exact as one of pairwise sums, of any
//! number of rows. Where a sum overflows and the statistics need not, the column is read once more, in larger units.

use crate::Scalar;
use crate::column_stats::cpu::cell::{COLS_PER_STRIPE, Cell};
use crate::column_stats::cpu::fill::fill;
use crate::column_stats::reduction::Shape;
use crate::cpu::SimdLevel;
use crate::machine::Machine;
use crate::matrix::DenseView;

/// Numbers of a line in which rows lie abreast, at most. With so many, 16 rows or more of up to 16 columns are a line: whole
/// registers, whatever the number of columns. More would gain nothing.
const MOST_ABREAST: usize = 256;
/// Lines, at least, for rows to lie abreast: adding up in the end what stood abreast must not count.
const LEAST_LINES_ABREAST: usize = 32;
/// Lines of a block, at least: enough that handing a cell to a thread and merging it do not count (a full cell of so many
/// lines takes 8 µs).
const LEAST_LINES: usize = 64;
/// Blocks, at most: enough for any number of threads together with the stripes, and their sums stay small beside the data.
const MOST_BLOCKS: usize = 64;

/// The grid for one shape.
pub(crate) struct RowBlocks<S> {
    /// Block after block; in each, stripe after stripe.
    cells: Vec<Cell<S>>,
    stripes: usize,
}

impl<S: Scalar> RowBlocks<S> {
    pub(crate) fn new(shape: Shape) -> Self {
        let Shape { rows, cols } = shape;
        let abreast = rows_abreast(shape);
        // Fewer rows have no strands worth the name.
        let strands = cols <= COLS_PER_STRIPE && rows >= 2 * LEAST_LINES_ABREAST;
        let lines_per_block = rows.div_ceil(abreast).div_ceil(MOST_BLOCKS).max(LEAST_LINES);
        let rows_per_block = lines_per_block * abreast;
        let mut cells = Vec::new();
        for first_row in (0..rows).step_by(rows_per_block) {
            for first_col in (0..cols).step_by(COLS_PER_STRIPE) {
                let cols = first_col..cols.min(first_col + COLS_PER_STRIPE);
                let rows = first_row..rows.min(first_row + rows_per_block);
                cells.push(Cell::new(rows, cols, abreast, strands));
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
        let fill = |cell: &mut Cell<S>| {
            fill(simd, cell, data);
            cell.fold();
        };
        match threads {
            Some(machine) => machine.pool().run_shares(self.cells.iter_mut().collect(), fill),
            None => self.cells.iter_mut().for_each(fill),
        }
        for stripe in 0..self.stripes {
            let (above, below) = self.cells.split_at_mut(stripe + 1);
            let first = &mut above[stripe];
            below
                .iter_mut()
                .skip(self.stripes - 1)
                .step_by(self.stripes)
                .for_each(|cell| first.take_in(cell));
            first.finish(data, results);
        }
    }
}

/// How many rows lie abreast in a line: a power of two.
fn rows_abreast(Shape { rows, cols }: Shape) -> usize {
    let mut abreast = 1;
    // Neither product overflows: `abreast` is small, and so are columns of which two rows fit.
    while cols > 0 && cols <= MOST_ABREAST / (2 * abreast) && rows / LEAST_LINES_ABREAST >= 2 * abreast {
        abreast *= 2;
    }
    abreast
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

    /// Few columns and many, rows that fill lines, strands and blocks, and rows that do not.
    const SHAPES: [(usize, usize); 12] = [
        (1, 1),
        (63, 3),
        (64, 16),
        (358, 300),
        (1027, 1030),
        (2050, 100),
        (4099, 12),
        (20_000, 7),
        (30_011, 5),
        (32_768, 2),
        (70_001, 1),
        (70_001, 16),
    ];

    fn same_bits<S: Scalar>() {
        for (rows, cols) in SHAPES {
            let data = random_dense::<S>(rows, cols, 5).unwrap();
            let one = reduced(SimdLevel::Portable, 1, data.view());
            for (simd, threads) in [(SimdLevel::Avx2, 1), (SimdLevel::Avx512, 2), (SimdLevel::Avx512, 5)] {
                assert_eq!(reduced(simd, threads, data.view()), one, "{rows}x{cols}, {threads} threads");
            }
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "takes minutes")]
    fn threads_and_vector_width_do_not_change_a_bit() {
        same_bits::<f32>();
        same_bits::<f64>();
    }

    fn gaps_are_left_alone<S: Scalar>() {
        for (rows, cols) in SHAPES {
            let data = random_dense::<S>(rows, cols, 6).unwrap();
            let without = reduced(SimdLevel::supported(), 2, data.view());
            for gap in [1, 5] {
                let distance = cols + gap;
                let mut apart = vec![S::from_f64(f64::NAN); (rows - 1) * distance + cols];
                for row in 0..rows {
                    apart[row * distance..][..cols].copy_from_slice(data.view().row(row));
                }
                let apart = DenseView::new(&apart, rows, cols, distance).unwrap();
                assert_eq!(
                    reduced(SimdLevel::supported(), 2, apart),
                    without,
                    "{rows}x{cols}, gaps of {gap}"
                );
            }
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "takes minutes")]
    fn gaps_do_not_change_a_bit() {
        gaps_are_left_alone::<f32>();
        gaps_are_left_alone::<f64>();
    }

    #[test]
    fn few_columns_fill_registers() {
        for cols in 1..=16 {
            let abreast = rows_abreast(Shape { rows: 1_000_000, cols });
            assert!(abreast.is_power_of_two() && (abreast * cols).is_multiple_of(16), "{cols}: {abreast}");
            assert!((MOST_ABREAST / 2 + 1..=MOST_ABREAST).contains(&(abreast * cols)), "{cols}: {abreast}");
        }
        for (rows, cols) in [(0, 1), (63, 1), (1_000_000, 129), (1_000_000, usize::MAX), (usize::MAX, 0)] {
            assert_eq!(rows_abreast(Shape { rows, cols }), 1, "{rows}x{cols}");
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
        for (rows, cols) in
            [(0, 3), (3, 0), (1, 1), (257, 512), (258, 513), (358, 5248), (100_000, 1), (100_003, 7)]
        {
            let grid = RowBlocks::<f64>::new(Shape { rows, cols });
            let covered: usize = grid.cells.iter().map(|cell| cell.rows.len() * cell.cols.len()).sum();
            assert_eq!(covered, rows * cols);
            assert!(grid.cells.len() <= MOST_BLOCKS * grid.stripes);
        }
    }
}
