//! Stretches of rows for few columns: those of two or four rows lie side by side in one vector of 64 bytes, and the values of
//! eight rows, read at once, are spread over them in registers. (Over MKL at K = 4 in f64 and 4 and 8 in f32, beside eight
//! narrow registers: cage10 1.70, 1.26, 1.18 instead of 1.21, 0.91, 0.92.)

#![allow(clippy::needless_range_loop)] // several arrays of registers are walked side by side

use crate::Scalar;
use crate::simd::Lanes;
use crate::simd::avx512::{AnyLanes, SideBySide, Vector};
use crate::spmm::cpu::formats::SIDE_BY_SIDE;
use crate::spmm::cpu::kernels::epilogue::Slot;
use crate::spmm::cpu::kernels::row_kernel::{Operands, SHORT, sum};
use crate::spmm::cpu::kernels::span::Part;
use crate::spmm::cpu::kernels::stretch_kernel::Stretches;

/// Does it if the columns of two or four rows fit a vector; `false` if they do not.
///
/// # Safety
/// The processor has AVX-512; the promises of whoever made the stretches.
pub(crate) unsafe fn multiply<S: Scalar>(stretches: Stretches<S>) -> bool {
    let (k, lanes) = (stretches.operands.k, Vector::<S>::COUNT);
    // SAFETY: the caller's promises.
    unsafe {
        match k {
            0 => {}
            _ if k == lanes / 4 => in_vectors::<S, 4, true>(stretches),
            _ if k < lanes / 4 => in_vectors::<S, 4, false>(stretches),
            _ if k == lanes / 2 => in_vectors::<S, 2, true>(stretches),
            _ if k < lanes / 2 => in_vectors::<S, 2, false>(stretches),
            _ => return false,
        }
    }
    true
}

/// `ROWS` rows in a vector, whose parts are `FULL` or not.
///
/// # Safety
/// As above; the columns are at most the lanes of a part.
#[target_feature(enable = "avx512f,avx512vl,avx512dq,avx512bw,avx2,fma,bmi1,bmi2")]
unsafe fn in_vectors<S: Scalar, const ROWS: usize, const FULL: bool>(stretches: Stretches<S>) {
    let Stretches { stretches, first, end, order, columns, values, operands } = stretches;
    let Operands { x, x_distance, k, .. } = operands;
    // SAFETY: the promises of whoever made it.
    unsafe {
        let side_by_side = SideBySide::<S, ROWS, FULL>::new(k);
        let mut places = [Vector::<S>::places(|_| 0); 4];
        for i in 0..SIDE_BY_SIDE / ROWS {
            places[i] = Vector::<S>::places(|lane| i * ROWS + lane * ROWS / Vector::<S>::COUNT);
        }
        for i in first..end {
            let (stretch, next) = (*stretches.add(i), *stretches.add(i + 1));
            let (mut place, end) = (stretch.place as usize, next.place as usize);
            let (mut columns, mut values) =
                (columns.add(stretch.entry as usize), values.add(stretch.entry as usize));
            let n = stretch.length as usize;
            if end - place >= SIDE_BY_SIDE {
                while place < end {
                    let mut sums = [Vector::<S>::zero(); 4];
                    for _ in 0..n {
                        let eight = Vector::<S>::load_eight(values);
                        for i in 0..SIDE_BY_SIDE / ROWS {
                            let mut from = [x; ROWS];
                            for row in 0..ROWS {
                                from[row] =
                                    x.wrapping_add(*columns.add(i * ROWS + row) as usize * x_distance);
                            }
                            let x = side_by_side.load(from);
                            sums[i] = eight.permute(places[i]).mul_add(x, sums[i]);
                        }
                        (columns, values) = (columns.add(SIDE_BY_SIDE), values.add(SIDE_BY_SIDE));
                    }
                    for i in 0..SIDE_BY_SIDE / ROWS {
                        let mut y = [operands.y; ROWS];
                        for row in 0..ROWS {
                            let target = *order.add(place + i * ROWS + row) as usize;
                            y[row] = operands.y.wrapping_add(target * operands.y_distance);
                        }
                        operands.epilogue.write(RowsOfY { side_by_side, y }, sums[i]);
                    }
                    place += SIDE_BY_SIDE;
                }
            } else {
                while place < end {
                    let span = Part::<S, <Vector<S> as AnyLanes<S>>::Half>::of(k);
                    let sums = match n < SHORT {
                        true => sum::<S, _, 1>(span, columns, values, n, x, x_distance),
                        false => sum::<S, _, 4>(span, columns, values, n, x, x_distance),
                    };
                    operands.write(span, *order.add(place) as usize, 0, sums);
                    (columns, values) = (columns.add(n), values.add(n));
                    place += 1;
                }
            }
        }
    }
}

/// `ROWS` rows of Y.
#[derive(Clone, Copy)]
struct RowsOfY<S: Scalar, const ROWS: usize, const FULL: bool> {
    side_by_side: SideBySide<S, ROWS, FULL>,
    y: [*mut S; ROWS],
}

#[allow(clippy::undocumented_unsafe_blocks)] // each is the promise that `Slot` asks its callers for
impl<S: Scalar, const ROWS: usize, const FULL: bool> Slot<S> for RowsOfY<S, ROWS, FULL> {
    type Numbers = Vector<S>;

    #[inline(always)]
    unsafe fn load(self) -> Vector<S> {
        unsafe { self.side_by_side.load(self.y.map(<*mut S>::cast_const)) }
    }
    #[inline(always)]
    unsafe fn store(self, numbers: Vector<S>) {
        unsafe { self.side_by_side.store(self.y, numbers) }
    }
    #[inline(always)]
    unsafe fn mul(factor: S, numbers: Vector<S>) -> Vector<S> {
        unsafe { numbers.mul(Vector::<S>::splat(factor)) }
    }
    #[inline(always)]
    unsafe fn add(a: Vector<S>, b: Vector<S>) -> Vector<S> {
        unsafe { a.add(b) }
    }
}
