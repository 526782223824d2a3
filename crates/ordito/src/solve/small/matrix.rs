//! A dense matrix of as many rows as a block has columns: a few kilobytes of f64, one column after the other.

use crate::machine::{Vectorized, vectorized};
use crate::simd::Vectors;
use std::ops::{Add, AddAssign, Index, IndexMut, Mul, MulAssign, Neg, Sub, SubAssign};

/// Numbers by columns. Sizes that do not fit are a fault of the caller, and panic as indices do.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Small {
    rows: usize,
    cols: usize,
    numbers: Vec<f64>,
}

impl Small {
    pub(crate) fn zeros(rows: usize, cols: usize) -> Self {
        Small { rows, cols, numbers: vec![0.0; rows * cols] }
    }
    /// 1 on the diagonal.
    pub(crate) fn identity(rows: usize, cols: usize) -> Self {
        Self::from_fn(rows, cols, |row, col| f64::from(row == col))
    }
    /// A square with these numbers on its diagonal.
    pub(crate) fn diagonal(numbers: &[f64]) -> Self {
        let n = numbers.len();
        Self::from_fn(n, n, |row, col| if row == col { numbers[row] } else { 0.0 })
    }
    pub(crate) fn from_fn(rows: usize, cols: usize, of: impl Fn(usize, usize) -> f64) -> Self {
        let mut numbers = Vec::with_capacity(rows * cols);
        for col in 0..cols {
            numbers.extend((0..rows).map(|row| of(row, col)));
        }
        Small { rows, cols, numbers }
    }
    /// The same number everywhere.
    pub(crate) fn filled(rows: usize, cols: usize, number: f64) -> Self {
        Small { rows, cols, numbers: vec![number; rows * cols] }
    }
    /// Of numbers by columns.
    pub(crate) fn from_columns(rows: usize, cols: usize, numbers: Vec<f64>) -> Self {
        assert_eq!(numbers.len(), rows * cols);
        Small { rows, cols, numbers }
    }
    /// Of numbers by rows.
    pub(crate) fn from_rows(rows: usize, cols: usize, numbers: &[f64]) -> Self {
        assert_eq!(numbers.len(), rows * cols);
        Self::from_fn(rows, cols, |row, col| numbers[row * cols + col])
    }

    pub(crate) fn nrows(&self) -> usize {
        self.rows
    }
    pub(crate) fn ncols(&self) -> usize {
        self.cols
    }
    /// All numbers, by columns.
    pub(crate) fn iter(&self) -> std::slice::Iter<'_, f64> {
        self.numbers.iter()
    }
    pub(crate) fn is_finite(&self) -> bool {
        self.iter().all(|number| number.is_finite())
    }
    pub(crate) fn column(&self, col: usize) -> &[f64] {
        &self.numbers[col * self.rows..(col + 1) * self.rows]
    }
    pub(crate) fn column_mut(&mut self, col: usize) -> &mut [f64] {
        &mut self.numbers[col * self.rows..(col + 1) * self.rows]
    }
    /// Two different columns, the first one first.
    pub(crate) fn two_columns_mut(&mut self, first: usize, second: usize) -> (&mut [f64], &mut [f64]) {
        assert!(first < second);
        let (before, after) = self.numbers.split_at_mut(second * self.rows);
        (&mut before[first * self.rows..][..self.rows], &mut after[..self.rows])
    }
    /// Those from `first` on, as they lie in memory.
    pub(super) fn columns_from_mut(&mut self, first: usize) -> &mut [f64] {
        &mut self.numbers[first * self.rows..]
    }
    pub(crate) fn columns(&self) -> impl Iterator<Item = &[f64]> {
        (0..self.cols).map(|col| self.column(col))
    }
    pub(crate) fn columns_mut(&mut self) -> impl Iterator<Item = &mut [f64]> {
        let rows = self.rows.max(1); // without rows there is nothing in any column
        self.numbers.chunks_exact_mut(rows)
    }
    pub(crate) fn push_column(&mut self, column: &[f64]) {
        assert_eq!(column.len(), self.rows);
        self.numbers.extend_from_slice(column);
        self.cols += 1;
    }

    /// So many rows and columns, from these on.
    pub(crate) fn part(&self, (row, col): (usize, usize), (rows, cols): (usize, usize)) -> Self {
        assert!(row + rows <= self.rows && col + cols <= self.cols);
        let mut numbers = Vec::with_capacity(rows * cols);
        (col..col + cols).for_each(|col| numbers.extend_from_slice(&self.column(col)[row..row + rows]));
        Small { rows, cols, numbers }
    }
    pub(crate) fn rows_from(&self, row: usize, count: usize) -> Self {
        self.part((row, 0), (count, self.cols))
    }
    pub(crate) fn first_columns(&self, count: usize) -> Self {
        self.part((0, 0), (self.rows, count))
    }
    /// Writes a matrix into this one, from this row and column on.
    pub(crate) fn put(&mut self, (row, col): (usize, usize), part: &Small) {
        assert!(row + part.rows <= self.rows && col + part.cols <= self.cols);
        for (j, column) in part.columns().enumerate() {
            self.column_mut(col + j)[row..row + part.rows].copy_from_slice(column);
        }
    }
    pub(crate) fn transpose(&self) -> Self {
        let mut numbers = Vec::with_capacity(self.numbers.len());
        (0..self.rows).for_each(|row| numbers.extend(self.numbers.iter().skip(row).step_by(self.rows)));
        Small { rows: self.cols, cols: self.rows, numbers }
    }

    /// The largest size of a number.
    pub(crate) fn amax(&self) -> f64 {
        self.iter().fold(0.0, |largest, number| largest.max(number.abs()))
    }
    /// The square root of the sum of all squares.
    pub(crate) fn norm(&self) -> f64 {
        norm(&self.numbers)
    }
    fn map(mut self, of: impl Fn(f64) -> f64) -> Self {
        self.numbers.iter_mut().for_each(|number| *number = of(*number));
        self
    }
    fn with(mut self, other: &Self, of: impl Fn(f64, f64) -> f64) -> Self {
        assert_eq!((self.rows, self.cols), (other.rows, other.cols));
        for (number, other) in self.numbers.iter_mut().zip(&other.numbers) {
            *number = of(*number, *other);
        }
        self
    }
    fn times(&self, other: &Self) -> Self {
        assert_eq!(self.cols, other.rows);
        let mut product = Self::zeros(self.rows, other.cols);
        vectorized(Times { left: self, right: other, product: &mut product });
        product
    }
}

/// The inner product of two columns, in eight sums side by side: one alone would wait for every addition.
#[inline(always)]
pub(crate) fn dot(x: &[f64], y: &[f64]) -> f64 {
    let mut sums = [0.0; 8];
    let (x_eights, y_eights) = (x.chunks_exact(8), y.chunks_exact(8));
    let rest: f64 = x_eights.remainder().iter().zip(y_eights.remainder()).map(|(x, y)| x * y).sum();
    for (x, y) in x_eights.zip(y_eights) {
        for lane in 0..8 {
            sums[lane] += x[lane] * y[lane];
        }
    }
    sums.iter().sum::<f64>() + rest
}

/// The length of a column.
pub(crate) fn norm(x: &[f64]) -> f64 {
    dot(x, x).sqrt()
}

/// The product of two matrices. Plain loops over arrays of a fixed length: the compiler keeps them in registers.
struct Times<'a> {
    left: &'a Small,
    right: &'a Small,
    product: &'a mut Small,
}

impl Vectorized<f64> for Times<'_> {
    #[inline(always)]
    unsafe fn run<V: Vectors<f64>>(mut self) {
        let rows = self.left.rows;
        let mut row = 0;
        while row + 16 <= rows {
            self.some_rows::<16>(row);
            row += 16;
        }
        while row + 4 <= rows {
            self.some_rows::<4>(row);
            row += 4;
        }
        for row in row..rows {
            self.some_rows::<1>(row);
        }
    }
}

impl Times<'_> {
    #[inline(always)]
    fn some_rows<const ROWS: usize>(&mut self, row: usize) {
        let cols = self.right.cols;
        let mut col = 0;
        while col + 4 <= cols {
            self.tile::<ROWS, 4>(row, col);
            col += 4;
        }
        for col in col..cols {
            self.tile::<ROWS, 1>(row, col);
        }
    }

    /// The sums of a few rows and columns.
    #[inline(always)]
    fn tile<const ROWS: usize, const COLS: usize>(&mut self, row: usize, col: usize) {
        let (rows, inner) = (self.left.rows, self.left.cols);
        let factors = &self.right.numbers[col * inner..(col + COLS) * inner];
        let mut sums = [[0.0; ROWS]; COLS];
        for k in 0..inner {
            let column = &self.left.numbers[k * rows + row..][..ROWS];
            for (j, sums) in sums.iter_mut().enumerate() {
                let factor = factors[j * inner + k];
                for (sum, x) in sums.iter_mut().zip(column) {
                    *sum += x * factor;
                }
            }
        }
        for (j, sums) in sums.iter().enumerate() {
            self.product.numbers[(col + j) * rows + row..][..ROWS].copy_from_slice(sums);
        }
    }
}

impl Index<(usize, usize)> for Small {
    type Output = f64;

    fn index(&self, (row, col): (usize, usize)) -> &f64 {
        &self.column(col)[row]
    }
}

impl IndexMut<(usize, usize)> for Small {
    fn index_mut(&mut self, (row, col): (usize, usize)) -> &mut f64 {
        &mut self.column_mut(col)[row]
    }
}

impl Neg for Small {
    type Output = Small;

    fn neg(self) -> Small {
        self.map(|number| -number)
    }
}

impl Neg for &Small {
    type Output = Small;

    fn neg(self) -> Small {
        -self.clone()
    }
}

impl Mul<f64> for Small {
    type Output = Small;

    fn mul(self, factor: f64) -> Small {
        self.map(|number| number * factor)
    }
}

impl Mul<f64> for &Small {
    type Output = Small;

    fn mul(self, factor: f64) -> Small {
        self.clone() * factor
    }
}

/// An operator of two matrices, given away or lent.
macro_rules! of_two {
    ($operator:ident, $name:ident, $assign:ident, $assign_name:ident, $of:expr) => {
        impl $operator<&Small> for &Small {
            type Output = Small;

            fn $name(self, other: &Small) -> Small {
                let of: fn(&Small, &Small) -> Small = $of;
                of(self, other)
            }
        }
        impl $operator<Small> for &Small {
            type Output = Small;

            fn $name(self, other: Small) -> Small {
                self.$name(&other)
            }
        }
        impl $operator<&Small> for Small {
            type Output = Small;

            fn $name(self, other: &Small) -> Small {
                (&self).$name(other)
            }
        }
        impl $operator<Small> for Small {
            type Output = Small;

            fn $name(self, other: Small) -> Small {
                (&self).$name(&other)
            }
        }
        impl $assign<&Small> for Small {
            fn $assign_name(&mut self, other: &Small) {
                *self = (&*self).$name(other);
            }
        }
    };
}

of_two!(Add, add, AddAssign, add_assign, |a, b| a.clone().with(b, |x, y| x + y));
of_two!(Sub, sub, SubAssign, sub_assign, |a, b| a.clone().with(b, |x, y| x - y));
of_two!(Mul, mul, MulAssign, mul_assign, Small::times);

#[cfg(test)]
mod tests {
    use super::*;

    fn example(rows: usize, cols: usize, salt: usize) -> Small {
        Small::from_fn(rows, cols, |i, j| ((i * 7 + j * 3 + salt) % 11) as f64 - 5.0)
    }

    #[test]
    fn products_are_sums_of_products() {
        for (m, n, k) in [(0, 3, 2), (3, 0, 2), (3, 2, 0), (1, 1, 1), (5, 3, 4), (9, 6, 7), (33, 17, 21)] {
            let (a, b) = (example(m, k, 1), example(k, n, 4));
            let expected = Small::from_fn(m, n, |i, j| (0..k).map(|l| a[(i, l)] * b[(l, j)]).sum());
            assert_eq!(&a * &b, expected);
            assert_eq!((b.transpose() * a.transpose()).transpose(), expected);
        }
    }

    #[test]
    fn parts_are_cut_out_and_put_back() {
        let a = example(6, 5, 0);
        let part = a.part((1, 2), (4, 3));
        assert_eq!(part[(0, 0)], a[(1, 2)]);
        let mut b = Small::zeros(6, 5);
        b.put((1, 2), &part);
        assert_eq!(b[(4, 4)], a[(4, 4)]);
        assert_eq!(b.column(0), [0.0; 6]);
        assert_eq!(&a - &a, Small::zeros(6, 5));
        assert_eq!(&a + &-&a, Small::zeros(6, 5));
        assert_eq!(&a * 2.0, &a + &a);
    }
}
