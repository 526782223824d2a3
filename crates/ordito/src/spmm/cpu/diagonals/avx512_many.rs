//! Any number of columns of X, in tiles of NV vectors: the sums of H rows stay in registers. Where diagonals are neighbours,
//! each row of X is loaded once for all rows of Y that it belongs to.

#![allow(clippy::needless_range_loop)] // several arrays of registers are walked side by side

use crate::Scalar;
use crate::simd::Lanes;
use crate::simd::avx512::{AnyLanes, Vector};
use crate::spmm::cpu::diagonals::Part;
use crate::spmm::cpu::diagonals::rows_avx512::{add_rows, has_nan};
use crate::spmm::cpu::formats::Run;
use crate::spmm::cpu::kernels::target::Target;

/// The most vectors of a tile.
const MOST_VECTORS: usize = 4;

/// Rows of Y for `k` columns.
///
/// # Safety
/// The processor has AVX-512. X has the matrix's columns as rows, each of `k` numbers, `distance` apart.
#[target_feature(enable = "avx512f,avx512vl,avx512dq,avx512bw,avx2,fma,bmi1,bmi2,popcnt")]
pub(crate) unsafe fn multiply<S: Scalar>(
    part: Part<'_, S>,
    x: *const S,
    distance: usize,
    k: usize,
    y: Target<'_, S>,
) {
    let lanes = Vector::<S>::COUNT;
    let mut row = part.first_row;
    for run in part.runs {
        let chunks = if let Run::Diagonals { chunks, .. } = run { chunks } else { 1 };
        for chunk in 0..chunks {
            let mut first = 0;
            while first < k {
                let vectors = (k - first).div_ceil(lanes).min(MOST_VECTORS);
                let rows = part.end_row.min(row + lanes) - row;
                let tile = Tile { row, rows, cols: part.cols, x, distance, first, k, y };
                // SAFETY: as the caller promises. 16 sums at most, and what is loaded, fit 32 registers. (With 24 some were kept in memory: 0.6 of the speed.)
                unsafe {
                    match vectors {
                        1 => tile.multiply::<1, 8>(run, chunk),
                        2 => tile.multiply::<2, 8>(run, chunk),
                        3 => tile.multiply::<3, 4>(run, chunk),
                        _ => tile.multiply::<4, 4>(run, chunk),
                    }
                }
                first += vectors * lanes;
            }
            row += lanes;
        }
    }
}

/// The columns from `first` on of a chunk's rows.
struct Tile<'a, S> {
    row: usize,
    rows: usize,
    /// Columns of the matrix.
    cols: usize,
    x: *const S,
    distance: usize,
    first: usize,
    k: usize,
    y: Target<'a, S>,
}

impl<S: Scalar> Tile<'_, S> {
    /// A chunk of the run: NV vectors of columns, H rows at a time.
    #[inline(always)]
    unsafe fn multiply<const NV: usize, const H: usize>(&self, run: Run<'_, S>, chunk: usize) {
        let lanes = Vector::<S>::COUNT;
        let mut masks = [Vector::<S>::ALL; NV];
        masks[NV - 1] = Vector::<S>::first_lanes(self.k - self.first - (NV - 1) * lanes);
        let x = self.x.wrapping_add(self.first);
        // SAFETY: rows of X that the chunk names are there, with the lanes of the masks from `first` on.
        unsafe {
            match run {
                Run::Rows { lengths, columns, values } => {
                    let (mut columns, mut values) = (columns.as_ptr(), values.as_ptr());
                    for (lane, &length) in lengths.iter().enumerate() {
                        let length = length as usize;
                        let sums = add_rows(columns, values, length, x, self.distance, masks);
                        self.y.write(self.row + lane, self.first, sums, masks);
                        (columns, values) = (columns.add(length), values.add(length));
                    }
                }
                Run::Diagonals { diagonals, masks: lanes_of, values, .. } => {
                    let places = chunk * diagonals.len();
                    let values = values.as_ptr().add(places * lanes);
                    let lanes_of = lanes_of.get(places..places + diagonals.len());
                    let is_inside = run.chunks_inside(self.cols).contains(&chunk);
                    for lane in (0..self.rows).step_by(H) {
                        let empty = Sums::<S, NV, H> {
                            sums: [[Vector::<S>::zero(); NV]; H],
                            x: x.wrapping_add((chunk * lanes + lane) * self.distance),
                            distance: self.distance,
                            masks,
                        };
                        let (mut sums, values) = (empty, values.wrapping_add(lane));
                        if is_inside {
                            sums.add_full(diagonals, values);
                        }
                        // Zeros that stand for no nonzero make a difference where X is not finite, and then the sum is not a number.
                        if let Some(lanes_of) = lanes_of
                            && (!is_inside || has_nan::<S, NV, H>(&sums.sums))
                        {
                            sums = empty;
                            sums.add_masked(diagonals, lanes_of, values, lane);
                        }
                        for row in 0..H.min(self.rows - lane) {
                            self.y.write(self.row + lane + row, self.first, sums.sums[row], masks);
                        }
                    }
                }
            }
        }
    }
}

/// The sums of H rows, and where the row of X lies that stands under lane 0 of diagonal 0.
#[derive(Clone, Copy)]
struct Sums<S: Scalar, const NV: usize, const H: usize> {
    sums: [[Vector<S>; NV]; H],
    x: *const S,
    distance: usize,
    masks: [u16; NV],
}

impl<S: Scalar, const NV: usize, const H: usize> Sums<S, NV, H> {
    /// The row of X under lane 0 of a diagonal.
    #[inline(always)]
    fn row_of_x(&self, diagonal: u32) -> *const S {
        self.x.wrapping_offset(diagonal as i32 as isize * self.distance as isize)
    }

    #[inline(always)]
    unsafe fn load_x(&self, x: *const S) -> [Vector<S>; NV] {
        // SAFETY: the caller's promise that this row of X is there.
        unsafe {
            let mut row = [Vector::<S>::zero(); NV];
            for j in 0..NV {
                row[j] = Vector::<S>::load_lanes(x.wrapping_add(j * Vector::<S>::COUNT), self.masks[j]);
            }
            row
        }
    }

    /// All lanes of the diagonals. Those that are neighbours are found on the way.
    #[inline(always)]
    unsafe fn add_full(&mut self, diagonals: &[u32], values: *const S) {
        let lanes = Vector::<S>::COUNT;
        let mut done = 0;
        while done < diagonals.len() {
            let start = diagonals[done];
            let is_next =
                |&length: &usize| diagonals.get(done + length) == Some(&start.wrapping_add(length as u32));
            let length = 1 + (1..).take_while(is_next).count();
            // SAFETY: the caller has seen that every lane of the diagonals lies inside the matrix; each has a value for every lane.
            unsafe {
                let (x, values) = (self.row_of_x(start), values.add(done * lanes));
                if length >= H {
                    self.add_many_neighbours(length, x, values);
                } else if length == 3 {
                    self.add_three_neighbours(x, values);
                } else {
                    for diagonal in 0..length {
                        self.add_diagonal(x.add(diagonal * self.distance), values.add(diagonal * lanes));
                    }
                }
            }
            done += length;
        }
    }

    /// One diagonal: every row has a row of X of its own.
    #[inline(always)]
    unsafe fn add_diagonal(&mut self, x: *const S, values: *const S) {
        // SAFETY: the caller's promise.
        unsafe {
            for row in 0..H {
                let x = self.load_x(x.add(row * self.distance));
                self.add(row, values.add(row), x);
            }
        }
    }

    /// `value · x` to the sums of a row.
    #[inline(always)]
    unsafe fn add(&mut self, row: usize, value: *const S, x: [Vector<S>; NV]) {
        // SAFETY: the caller's promise.
        unsafe {
            let value = Vector::<S>::splat(*value);
            for j in 0..NV {
                self.sums[row][j] = value.mul_add(x[j], self.sums[row][j]);
            }
        }
    }

    /// A row of X belongs to those rows of Y whose distance to it is below the length of the run: at first to the first row,
    /// then to the first two, in the middle to all.
    #[inline(always)]
    unsafe fn add_many_neighbours(&mut self, length: usize, x: *const S, values: *const S) {
        let lanes = Vector::<S>::COUNT;
        // SAFETY: the caller's promise: the run has `length` diagonals with all lanes, so `length + H - 1` rows of X.
        unsafe {
            for step in 0..H - 1 {
                let x = self.load_x(x.add(step * self.distance));
                for row in 0..=step {
                    self.add(row, values.add((step - row) * lanes + row), x);
                }
            }
            for step in H - 1..length {
                let x = self.load_x(x.add(step * self.distance));
                for row in 0..H {
                    self.add(row, values.add((step - row) * lanes + row), x);
                }
            }
            for past in 0..H - 1 {
                let step = length + past;
                let x = self.load_x(x.add(step * self.distance));
                for row in past + 1..H {
                    self.add(row, values.add((step - row) * lanes + row), x);
                }
            }
        }
    }

    /// A run of three diagonals, as stencils have it: shorter than H rows, so no row of X belongs to all.
    #[inline(always)]
    unsafe fn add_three_neighbours(&mut self, x: *const S, values: *const S) {
        let lanes = Vector::<S>::COUNT;
        // SAFETY: the caller's promise.
        unsafe {
            for step in 0..H + 2 {
                let x = self.load_x(x.add(step * self.distance));
                for row in 0..H {
                    if row <= step && step < row + 3 {
                        self.add(row, values.add((step - row) * lanes + row), x);
                    }
                }
            }
        }
    }

    /// Lanes that hold a nonzero: others load nothing of X and add nothing.
    #[inline(always)]
    unsafe fn add_masked(
        &mut self,
        diagonals: &[u32],
        lanes_of: &[u16],
        values: *const S,
        first_lane: usize,
    ) {
        let lanes = Vector::<S>::COUNT;
        for (at, (&diagonal, &mask)) in diagonals.iter().zip(lanes_of).enumerate() {
            let x = self.row_of_x(diagonal);
            for row in 0..H {
                let there = mask >> (first_lane + row) & 1 == 1;
                // SAFETY: the diagonal lies inside the matrix at the lanes that it has; there is a value for every lane.
                unsafe {
                    let value = Vector::<S>::splat(*values.add(at * lanes + row));
                    for j in 0..NV {
                        let mask = if there { self.masks[j] } else { 0 };
                        let x = x.wrapping_add(row * self.distance + j * lanes);
                        self.sums[row][j] =
                            value.mul_add(Vector::<S>::load_lanes(x, mask), self.sums[row][j]);
                    }
                }
            }
        }
    }
}
