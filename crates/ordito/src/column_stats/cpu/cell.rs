//! What is kept of the columns of a stripe in a block of rows, and what the statistics are made of.

use crate::Scalar;
use crate::matrix::DenseView;
use std::ops::Range;

/// Columns of a stripe: pivot, sums and extremes of so many, 24 KiB in f64, stay in a first-level cache. Fewer would read
/// memory in pieces that are too short to be fetched ahead.
pub(crate) const COLS_PER_STRIPE: usize = 512;

/// Some rows of some columns. Where columns are few, several rows lie abreast in one line, and each of them has a place of its
/// own for every column: `abreast` times the columns.
pub(crate) struct Cell<S> {
    pub(crate) rows: Range<usize>,
    pub(crate) cols: Range<usize>,
    /// Rows of a line, a power of two; more than 1 only with strands.
    pub(crate) abreast: usize,
    /// Are lines that are added at once taken from all over the cell?
    pub(crate) strands: bool,
    /// Of the lines of the present run.
    pub(crate) run: Vec<f64>,
    pub(crate) sum: Vec<f64>,
    /// What was rounded off the sum.
    pub(crate) rest: Vec<f64>,
    pub(crate) squares: Vec<f64>,
    pub(crate) least: Vec<S>,
    pub(crate) most: Vec<S>,
}

/// Of places side by side: slices of equal length.
struct Places<'a, S> {
    sum: &'a mut [f64],
    rest: &'a mut [f64],
    squares: &'a mut [f64],
    least: &'a mut [S],
    most: &'a mut [S],
}

impl<S: Scalar> Cell<S> {
    pub(crate) fn new(rows: Range<usize>, cols: Range<usize>, abreast: usize, strands: bool) -> Self {
        debug_assert!(strands || abreast == 1);
        let (sums, extremes) = (vec![0.0; abreast * cols.len()], vec![S::ZERO; abreast * cols.len()]);
        Cell {
            rows,
            cols,
            abreast,
            strands,
            run: sums.clone(),
            sum: sums.clone(),
            rest: sums.clone(),
            squares: sums,
            least: extremes.clone(),
            most: extremes,
        }
    }

    /// Adds up what stands abreast, halves upon halves, into the places of the first row.
    pub(crate) fn fold(&mut self) {
        let mut abreast = self.abreast;
        while abreast > 1 {
            abreast /= 2;
            let half = abreast * self.cols.len();
            let (mut first, second) = self.places().split_at(half);
            first.take_in(&second);
        }
    }

    /// Adds the cell of further rows of the same columns. Both have been folded.
    pub(crate) fn take_in(&mut self, other: &mut Cell<S>) {
        let columns = self.cols.len();
        self.places().split_at(columns).0.take_in(&other.places().split_at(columns).0);
    }

    fn places(&mut self) -> Places<'_, S> {
        Places {
            sum: &mut self.sum,
            rest: &mut self.rest,
            squares: &mut self.squares,
            least: &mut self.least,
            most: &mut self.most,
        }
    }

    /// Writes the statistics of the columns.
    pub(crate) fn finish(&self, data: DenseView<'_, S>, results: &mut [f64]) {
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

impl<'a, S: Scalar> Places<'a, S> {
    fn split_at(self, place: usize) -> (Self, Self) {
        let (sum, rest) = (self.sum.split_at_mut(place), self.rest.split_at_mut(place));
        let squares = self.squares.split_at_mut(place);
        let (least, most) = (self.least.split_at_mut(place), self.most.split_at_mut(place));
        (
            Places { sum: sum.0, rest: rest.0, squares: squares.0, least: least.0, most: most.0 },
            Places { sum: sum.1, rest: rest.1, squares: squares.1, least: least.1, most: most.1 },
        )
    }

    /// Adds as many, or the first of more.
    fn take_in(&mut self, other: &Places<'_, S>) {
        let add = |to: &mut [f64], from: &[f64]| to.iter_mut().zip(from).for_each(|(to, from)| *to += from);
        add(self.rest, other.rest);
        for ((sum, rest), &from) in self.sum.iter_mut().zip(&mut *self.rest).zip(&*other.sum) {
            add_exactly(sum, rest, from);
        }
        add(self.squares, other.squares);
        for (to, &from) in self.least.iter_mut().zip(&*other.least) {
            *to = if from < *to { from } else { *to };
        }
        for (to, &from) in self.most.iter_mut().zip(&*other.most) {
            *to = if from > *to { from } else { *to };
        }
    }
}

/// Where differences are taken from: the column's first element. From an infinite one every difference would be NaN.
pub(crate) fn pivot<S: Scalar>(first: S) -> f64 {
    if first.is_finite() { first.to_f64() } else { 0.0 }
}

/// Adds to a sum, and to `rest` what is rounded off (Knuth's two-sum: exact, whichever is larger).
#[inline(always)]
pub(crate) fn add_exactly(sum: &mut f64, rest: &mut f64, add: f64) {
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
