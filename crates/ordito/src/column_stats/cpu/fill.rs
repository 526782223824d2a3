//! The loop over a cell, line by line; a line is a row, or several that lie abreast.
//!
//! Few columns are no hindrance so: registers are as full as those of a wide matrix. Lines that are added at once come from strands
//! that are far apart in the cell. Each of them is read on and on, and memory serves eight such streams faster than one. In
//! wide matrices, of which a stripe is a part of every row, they follow each other: strands gained nothing there from 1024
//! columns on.

use crate::Scalar;
use crate::column_stats::cpu::cell::{COLS_PER_STRIPE, Cell, add_exactly, pivot};
use crate::cpu::SimdLevel;
use crate::matrix::DenseView;
use std::ops::Range;

/// Lines that are added at once: what is kept of a place is loaded and stored once for all of them. With 4 or 16
/// fewer bytes were read in a second.
const STRANDS: usize = 8;
/// Lines whose sum is added to what is kept exactly. So few that their own rounding is that of pairwise sums, so many that the
/// exact addition does not count.
const LINES_PER_RUN: usize = 64;

/// The same loop compiled for what the processor has. Multiplications and additions are not fused: the results are
/// the same everywhere.
pub(crate) fn fill<S: Scalar>(simd: SimdLevel, cell: &mut Cell<S>, data: DenseView<'_, S>) {
    if cell.strands { fill_at::<S, true>(simd, cell, data) } else { fill_at::<S, false>(simd, cell, data) }
}

fn fill_at<S: Scalar, const FAR: bool>(simd: SimdLevel, cell: &mut Cell<S>, data: DenseView<'_, S>) {
    match simd {
        // SAFETY: a machine's level never exceeds `SimdLevel::supported`, which asks the processor for each of
        // these instruction sets.
        #[cfg(target_arch = "x86_64")]
        SimdLevel::Avx512 => unsafe { fill_avx512::<S, FAR>(cell, data) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        SimdLevel::Avx2 => unsafe { fill_avx2::<S, FAR>(cell, data) },
        _ => fill_portable::<S, FAR>(cell, data),
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512vl,avx512dq,avx512bw,avx2,bmi1,bmi2")]
fn fill_avx512<S: Scalar, const FAR: bool>(cell: &mut Cell<S>, data: DenseView<'_, S>) {
    fill_portable::<S, FAR>(cell, data);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2")]
fn fill_avx2<S: Scalar, const FAR: bool>(cell: &mut Cell<S>, data: DenseView<'_, S>) {
    fill_portable::<S, FAR>(cell, data);
}

/// Adds up the rows of the cell. Extremes start from the column's first element, which is one of its elements in any case.
///
/// `FAR`: from strands that are far apart, and of rows that may lie abreast. The other kind is compiled apart: where the
/// two shared a loop, wide matrices took up to an eighth longer.
#[inline(always)]
fn fill_portable<S: Scalar, const FAR: bool>(cell: &mut Cell<S>, data: DenseView<'_, S>) {
    let (cols, abreast) = (cell.cols.clone(), if FAR { cell.abreast } else { 1 });
    let width = abreast * cols.len();
    let first = &data.row(0)[cols.clone()];
    let mut pivots = [0.0; COLS_PER_STRIPE];
    pivots.iter_mut().zip(first).for_each(|(to, &x)| *to = pivot(x));
    repeat(&mut pivots[..width], first.len());
    cell.run.fill(0.0);
    cell.sum.fill(0.0);
    cell.rest.fill(0.0);
    cell.squares.fill(0.0);
    for extremes in [&mut cell.least, &mut cell.most] {
        extremes[..first.len()].copy_from_slice(first);
        repeat(extremes, first.len());
    }
    let mut kept = Kept {
        pivots: &pivots[..width],
        run: &mut cell.run[..width],
        sum: &mut cell.sum[..width],
        rest: &mut cell.rest[..width],
        squares: &mut cell.squares[..width],
        least: &mut cell.least[..width],
        most: &mut cell.most[..width],
    };

    let lines = Lines { data, cols, abreast };
    let mut together = vec![S::ZERO; if lines.apart() { STRANDS * width } else { 0 }];
    let lines_per_strand = cell.rows.len() / abreast / STRANDS;
    for step in 0..lines_per_strand {
        let rows = |strand: usize| {
            let line = if FAR { strand * lines_per_strand + step } else { step * STRANDS + strand };
            let first = cell.rows.start + line * abreast;
            first..first + abreast
        };
        if lines.apart() {
            for (strand, to) in together.chunks_exact_mut(width).enumerate() {
                lines.copy(rows(strand), to);
            }
            kept.add::<STRANDS>(std::array::from_fn(|strand| &together[strand * width..][..width]));
        } else {
            kept.add::<STRANDS>(std::array::from_fn(|strand| lines.in_place(rows(strand))));
        }
        if (step + 1).is_multiple_of(LINES_PER_RUN / STRANDS) {
            kept.end_run();
        }
    }
    // Fewer lines than there are strands, and what does not fill a line.
    let done = cell.rows.start + STRANDS * lines_per_strand * abreast;
    for first in (done..cell.rows.end).step_by(abreast) {
        let rows = first..cell.rows.end.min(first + abreast);
        if lines.apart() {
            let line = &mut together[..rows.len() * lines.cols.len()];
            lines.copy(rows, line);
            kept.add([&*line]);
        } else {
            kept.add([lines.in_place(rows)]);
        }
    }
    kept.end_run();
}

/// The rows of a stripe, `abreast` in each line.
struct Lines<'a, S> {
    data: DenseView<'a, S>,
    cols: Range<usize>,
    abreast: usize,
}

impl<'a, S: Scalar> Lines<'a, S> {
    /// Are there gaps between the rows of a line? Then they are copied together first.
    #[inline(always)]
    fn apart(&self) -> bool {
        self.abreast > 1 && self.data.leading_dimension() > self.cols.len()
    }

    /// One row, or several without gaps.
    #[inline(always)]
    fn in_place(&self, rows: Range<usize>) -> &'a [S] {
        let start = rows.start * self.data.leading_dimension() + self.cols.start;
        &self.data.data()[start..start + rows.len() * self.cols.len()]
    }

    /// Rows of all columns, without their gaps.
    #[inline(always)]
    fn copy(&self, rows: Range<usize>, to: &mut [S]) {
        let width = self.cols.len();
        if width <= 2 {
            // A loop along so short a row would end before it is under way.
            for col in 0..width {
                let column = to[col..].iter_mut().step_by(width);
                rows.clone().zip(column).for_each(|(row, to)| *to = self.data.row(row)[col]);
            }
        } else {
            let line = to.chunks_exact_mut(width);
            rows.zip(line)
                .for_each(|(row, to)| to.iter_mut().zip(self.data.row(row)).for_each(|(to, &x)| *to = x));
        }
    }
}

/// The first `period` numbers again and again, to the end: a power of two times.
fn repeat<T: Copy>(numbers: &mut [T], period: usize) {
    let mut done = period;
    while done < numbers.len() {
        numbers.copy_within(..done, done);
        done *= 2;
    }
}

/// Slices of equal length: a cell while it is filled.
struct Kept<'a, S> {
    pivots: &'a [f64],
    run: &'a mut [f64],
    sum: &'a mut [f64],
    rest: &'a mut [f64],
    squares: &'a mut [f64],
    least: &'a mut [S],
    most: &'a mut [S],
}

impl<S: Scalar> Kept<'_, S> {
    /// Adds the run to the sums, exactly, and begins another.
    #[inline(always)]
    fn end_run(&mut self) {
        for ((sum, rest), run) in self.sum.iter_mut().zip(&mut *self.rest).zip(&mut *self.run) {
            add_exactly(sum, rest, *run);
            *run = 0.0;
        }
    }

    /// Adds some lines of the same length, in order. They may end before the places do.
    #[inline(always)]
    fn add<const LINES: usize>(&mut self, lines: [&[S]; LINES]) {
        let width = lines[0].len();
        let lines = lines.map(|line| &line[..width]);
        let pivots = &self.pivots[..width];
        let (run, squares) = (&mut self.run[..width], &mut self.squares[..width]);
        let (least, most) = (&mut self.least[..width], &mut self.most[..width]);
        for c in 0..width {
            let (mut s, mut q, mut low, mut high) = (run[c], squares[c], least[c], most[c]);
            for line in lines {
                let x = line[c];
                let d = x.to_f64() - pivots[c];
                s += d;
                q += d * d;
                low = if x < low { x } else { low };
                high = if x > high { x } else { high };
            }
            (run[c], squares[c], least[c], most[c]) = (s, q, low, high);
        }
    }
}
