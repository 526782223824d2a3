//! Stretches of rows for few columns: those of two or four rows lie side by side in one vector of 64 bytes, and the values of
//! eight rows, read at once, are spread over them in registers. (Over MKL at K = 4 in f64 and 4 and 8 in f32, beside eight
//! narrow registers: cage10 1.70, 1.26, 1.18 instead of 1.21, 0.91, 0.92.)

#![allow(clippy::needless_range_loop)] // several arrays of registers are walked side by side

use crate::Scalar;
use crate::simd::Vectors;
use crate::spmm::cpu::formats::SIDE_BY_SIDE;
use crate::spmm::cpu::kernels::row_kernel::{Operands, SHORT, Writing, sum};
use crate::spmm::cpu::kernels::span::Part;
use crate::spmm::cpu::kernels::stretch_kernel::Stretches;
use crate::spmm::cpu::kernels::vector512::{Places, Vector};

/// Does it if the columns of two or four rows fit a vector; `false` if they do not.
///
/// # Safety
/// The processor has AVX-512; the promises of whoever made the stretches.
pub(crate) unsafe fn multiply<S: Scalar>(stretches: Stretches<S>) -> bool {
    let (k, lanes) = (stretches.operands.k, Vector::<S>::LANES);
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
        let mask = if FULL { u16::MAX } else { (1 << k) - 1 };
        let mut places = [Places::<S>::new(|_| 0); 4];
        for i in 0..SIDE_BY_SIDE / ROWS {
            places[i] = Places::new(|lane| i * ROWS + lane * ROWS / Vector::<S>::LANES);
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
                        let eight = Vector::load_eight(values);
                        for i in 0..SIDE_BY_SIDE / ROWS {
                            let mut from = [x; ROWS];
                            for row in 0..ROWS {
                                from[row] = x.add(*columns.add(i * ROWS + row) as usize * x_distance);
                            }
                            let x = Vector::load_parts::<ROWS, FULL>(from, mask);
                            sums[i] = eight.permute(places[i]).mul_add(x, sums[i]);
                        }
                        (columns, values) = (columns.add(SIDE_BY_SIDE), values.add(SIDE_BY_SIDE));
                    }
                    for i in 0..SIDE_BY_SIDE / ROWS {
                        write::<S, ROWS, FULL>(&operands, order.add(place + i * ROWS), sums[i], mask);
                    }
                    place += SIDE_BY_SIDE;
                }
            } else {
                while place < end {
                    let span = Part::<S, <S::Avx512 as Vectors<S>>::Half>::of(k);
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

/// Writes the sums of `ROWS` rows by the rules of BLAS.
///
/// # Safety
/// As above; there are so many rows.
#[inline(always)]
unsafe fn write<S: Scalar, const ROWS: usize, const FULL: bool>(
    operands: &Operands<S>,
    rows: *const u32,
    mut sums: Vector<S>,
    mask: u16,
) {
    let Operands { y, y_distance, alpha, beta, writing, .. } = *operands;
    // SAFETY: the caller's promises.
    unsafe {
        let mut to = [y; ROWS];
        for row in 0..ROWS {
            to[row] = y.add(*rows.add(row) as usize * y_distance);
        }
        if writing == Writing::Combined {
            sums = sums.mul(Vector::splat(&alpha));
            // Multiplied apart and then added, as `host::update` does; with β = 0 Y is not read, so that NaN there does not
            // spread.
            if beta != S::ZERO {
                let y = Vector::load_parts::<ROWS, FULL>(to.map(<*mut S>::cast_const), mask);
                sums = sums.add(y.mul(Vector::splat(&beta)));
            }
        }
        sums.store_parts::<ROWS, FULL>(to, mask);
    }
}
