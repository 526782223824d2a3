//! Eigenvalues and eigenvectors of a small symmetric matrix: Householder's reflections make it tridiagonal, implicit QL steps make
//! that diagonal.
//!
//! Every reflection and every step goes along whole columns, which the compiler makes registers of: about as fast as nalgebra's, which would
//! be 20 of 340 seconds of a first build.

use super::matrix::{Small, dot, norm};
use crate::machine::{Vectorized, vectorized};
use crate::simd::Vectors;
use crate::solve::error::SolveError;

/// Steps for each row at most, all rows taken together; two or three are used. A single eigenvalue may take many where others fall
/// out of its block meanwhile.
const MOST_STEPS: usize = 60;

/// What is nothing beside 1, and whose square is still a number.
const NOTHING: f64 = 1e-150;

/// Eigenvalues in rising order, and their vectors.
pub(crate) struct Eigen {
    pub(crate) values: Vec<f64>,
    pub(crate) vectors: Small,
}

/// Of a symmetric matrix; only nearly so is made so.
pub(crate) fn symmetric_eigen(a: &Small, what: &'static str) -> Result<Eigen, SolveError> {
    turned(a, what, turned_back)
}

/// The same with nothing of the vectors but their last rows, for a fraction of the work.
pub(crate) fn ends_of_eigenvectors(a: &Small, rows: usize, what: &'static str) -> Result<Eigen, SolveError> {
    turned(a, what, |reflections| last_rows_turned_back(reflections, rows))
}

/// `start`: rows of Q, of the reflections that made A tridiagonal, which are turned along to rows of the eigenvectors.
fn turned(a: &Small, what: &'static str, start: impl FnOnce(&Small) -> Small) -> Result<Eigen, SolveError> {
    let n = a.nrows();
    if !a.is_finite() {
        return Err(SolveError::NotFinite(what));
    }
    // The largest number becomes about 1, by a power of two: no square overflows.
    let size = a.amax();
    let unit = if size == 0.0 { 1.0 } else { size.log2().floor().min(1023.0).exp2() };
    let mut a = Small::from_fn(n, n, |i, j| 0.5 * (a[(i, j)] / unit + a[(j, i)] / unit));
    let mut tridiagonal = reduce(&mut a);
    let mut vectors = start(&a);
    tridiagonal
        .diagonalize(&mut vectors)
        .ok_or_else(|| SolveError::Unsuited(format!("a dense eigenproblem of {n} rows did not converge")))?;
    let found = tridiagonal.diagonal;
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&i, &j| found[i].total_cmp(&found[j]));
    let values = order.iter().map(|&i| found[i] * unit).collect();
    Ok(Eigen { values, vectors: super::columns(&vectors, &order) })
}

/// A symmetric matrix that has nothing but its diagonal and the numbers beside it.
struct Tridiagonal {
    diagonal: Vec<f64>,
    /// One for each pair of neighbours, and a 0 behind them.
    beside: Vec<f64>,
}

/// QᵀAQ, with Q the product of reflections I − v·vᵀ; v of column `k` is left below its diagonal, zeros where there is nothing to
/// reflect.
fn reduce(a: &mut Small) -> Tridiagonal {
    let n = a.nrows();
    let mut beside = vec![0.0; n];
    let (mut v, mut w) = (vec![0.0; n], vec![0.0; n]);
    for k in 0..n.saturating_sub(1) {
        let below = &mut a.column_mut(k)[k + 1..];
        let length = norm(below);
        // What is already where it should be is left there.
        if norm(&below[1..]) <= NOTHING {
            beside[k] = below[0];
            below.fill(0.0);
            continue;
        }
        let to = -length.copysign(below[0]);
        beside[k] = to;
        // v·vᵀ with |v|² = 2: the first element's subtraction adds two numbers of one sign.
        below[0] -= to;
        let scale = 1.0 / (length * below[0].abs()).sqrt();
        below.iter_mut().for_each(|x| *x *= scale);
        let (v, w) = (&mut v[k + 1..], &mut w[k + 1..]);
        v.copy_from_slice(below);
        let rest = a.columns_from_mut(k + 1);
        vectorized(Reflect { rest, rows: n, skipped: k + 1, v, w });
    }
    Tridiagonal { diagonal: (0..n).map(|i| a[(i, i)]).collect(), beside }
}

/// What is right of and below the diagonal's element, reflected from both sides: A − v·wᵀ − w·vᵀ, with w = A·v − ½(vᵀA·v)·v.
struct Reflect<'a> {
    /// Columns, of so many rows, the first of which are not touched.
    rest: &'a mut [f64],
    rows: usize,
    skipped: usize,
    v: &'a [f64],
    w: &'a mut [f64],
}

impl Vectorized<f64> for Reflect<'_> {
    #[inline(always)]
    unsafe fn run<V: Vectors<f64>>(self) {
        let Reflect { rest, rows, skipped, v, w } = self;
        w.fill(0.0);
        for (column, factor) in rest.chunks_exact(rows).zip(v) {
            for (sum, x) in w.iter_mut().zip(&column[skipped..]) {
                *sum += x * factor;
            }
        }
        let half = 0.5 * dot(v, w);
        for (w, v) in w.iter_mut().zip(v) {
            *w -= half * v;
        }
        for (col, column) in rest.chunks_exact_mut(rows).enumerate() {
            let (of_v, of_w) = (v[col], w[col]);
            for ((x, v), w) in column[skipped..].iter_mut().zip(v).zip(&*w) {
                *x -= v * of_w + w * of_v;
            }
        }
    }
}

/// Q, of the reflections that `reduce` left behind.
fn turned_back(reflections: &Small) -> Small {
    let n = reflections.nrows();
    let mut q = Small::identity(n, n);
    // The last reflection first: what it touches grows by a row and a column at a time.
    for k in (0..n.saturating_sub(1)).rev() {
        let v = &reflections.column(k)[k + 1..];
        vectorized(Turn { rest: q.columns_from_mut(k + 1), rows: n, skipped: k + 1, v });
    }
    q
}

/// The last rows of Q.
fn last_rows_turned_back(reflections: &Small, rows: usize) -> Small {
    let n = reflections.nrows();
    let mut q = Small::from_fn(rows, n, |row, col| f64::from(n - rows + row == col));
    let mut overlaps = vec![0.0; rows];
    for k in 0..n.saturating_sub(1) {
        let v = &reflections.column(k)[k + 1..];
        overlaps.fill(0.0);
        for (column, factor) in q.columns_from_mut(k + 1).chunks_exact(rows.max(1)).zip(v) {
            overlaps.iter_mut().zip(column).for_each(|(sum, x)| *sum += x * factor);
        }
        for (column, factor) in q.columns_from_mut(k + 1).chunks_exact_mut(rows.max(1)).zip(v) {
            column.iter_mut().zip(&overlaps).for_each(|(x, overlap)| *x -= overlap * factor);
        }
    }
    q
}

/// Columns without twice what they have of a direction: (I − v·vᵀ)·Q.
struct Turn<'a> {
    rest: &'a mut [f64],
    rows: usize,
    skipped: usize,
    v: &'a [f64],
}

impl Vectorized<f64> for Turn<'_> {
    #[inline(always)]
    unsafe fn run<V: Vectors<f64>>(self) {
        for column in self.rest.chunks_exact_mut(self.rows) {
            let column = &mut column[self.skipped..];
            let overlap = dot(self.v, column);
            for (x, v) in column.iter_mut().zip(self.v) {
                *x -= overlap * v;
            }
        }
    }
}

/// Columns `i` and `i + 1` become c·a − s·b and s·a + c·b.
#[derive(Clone, Copy)]
struct Rotation {
    c: f64,
    s: f64,
}

impl Tridiagonal {
    /// Makes it diagonal, and turns the columns of `vectors` along; none where that does not come to an end.
    fn diagonalize(&mut self, vectors: &mut Small) -> Option<()> {
        let n = self.diagonal.len();
        let mut rotations = Vec::with_capacity(n);
        let mut steps = 0;
        for first in 0..n {
            loop {
                let last = self.end_of_block(first);
                if last == first {
                    break;
                }
                if steps == MOST_STEPS * n.max(4) {
                    return None;
                }
                steps += 1;
                rotations.clear();
                let begin = self.step(first, last, &mut rotations);
                let rows = vectors.nrows();
                let columns = &mut vectors.columns_from_mut(begin)[..(rotations.len() + 1) * rows];
                vectorized(Rotate { columns, rows, rotations: &rotations });
            }
        }
        Some(())
    }

    /// The first row from `first` on that nothing but rounding ties to the next.
    fn end_of_block(&self, first: usize) -> usize {
        let n = self.diagonal.len();
        let is_end = |row: &usize| {
            let size = self.diagonal[*row].abs() + self.diagonal[*row + 1].abs();
            self.beside[*row].abs() <= f64::EPSILON * size + NOTHING
        };
        (first..n - 1).find(is_end).unwrap_or(n - 1)
    }

    /// An implicit QL step with Wilkinson's shift, of the rows from `first` to `last`; its rotations, the last columns' first. The column that
    /// the last of them begins at.
    fn step(&mut self, first: usize, last: usize, rotations: &mut Vec<Rotation>) -> usize {
        let (d, e) = (&mut self.diagonal, &mut self.beside);
        let half = (d[first + 1] - d[first]) / (2.0 * e[first]);
        let shift = d[first] - e[first] / (half + (half * half + 1.0).sqrt().copysign(half));
        let (mut s, mut c, mut moved) = (1.0, 1.0, 0.0);
        let mut bulge = d[last] - shift;
        for i in (first..last).rev() {
            let (f, b) = (s * e[i], c * e[i]);
            let square = f * f + bulge * bulge;
            // Squares that underflow would leave no rotation.
            let r = if square > 1e-280 { square.sqrt() } else { f.hypot(bulge) };
            e[i + 1] = r;
            if r == 0.0 {
                // The block falls apart here.
                d[i + 1] -= moved;
                e[last] = 0.0;
                return i + 1;
            }
            (s, c) = (f / r, bulge / r);
            let g = d[i + 1] - moved;
            let t = (d[i] - g) * s + 2.0 * c * b;
            moved = s * t;
            d[i + 1] = g + moved;
            bulge = c * t - b;
            rotations.push(Rotation { c, s });
        }
        d[first] -= moved;
        e[first] = bulge;
        e[last] = 0.0;
        first
    }
}

/// Turns pairs of neighbouring columns, the last pair first.
struct Rotate<'a> {
    columns: &'a mut [f64],
    rows: usize,
    rotations: &'a [Rotation],
}

impl Vectorized<f64> for Rotate<'_> {
    #[inline(always)]
    unsafe fn run<V: Vectors<f64>>(mut self) {
        let mut row = 0;
        while row + 16 <= self.rows {
            self.some_rows::<16>(row);
            row += 16;
        }
        while row + 4 <= self.rows {
            self.some_rows::<4>(row);
            row += 4;
        }
        for row in row..self.rows {
            self.some_rows::<1>(row);
        }
    }
}

impl Rotate<'_> {
    /// All rotations of a few rows: what two neighbouring ones share stays in registers.
    #[inline(always)]
    fn some_rows<const ROWS: usize>(&mut self, row: usize) {
        let of = |col: usize| col * self.rows + row..col * self.rows + row + ROWS;
        let last = self.rotations.len();
        let mut shared = [0.0; ROWS];
        shared.copy_from_slice(&self.columns[of(last)]);
        for (Rotation { c, s }, col) in self.rotations.iter().zip((0..last).rev()) {
            let mut turned = [0.0; ROWS];
            let left = &self.columns[of(col)];
            for i in 0..ROWS {
                turned[i] = s * left[i] + c * shared[i];
                shared[i] = c * left[i] - s * shared[i];
            }
            self.columns[of(col + 1)].copy_from_slice(&turned);
        }
        self.columns[of(0)].copy_from_slice(&shared);
    }
}

#[cfg(test)]
mod tests;
