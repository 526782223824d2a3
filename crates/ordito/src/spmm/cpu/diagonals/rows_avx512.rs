//! What the kernels of few and of many columns share: a row's entries, one after the other, for chunks that are stored as rows.

#![allow(clippy::needless_range_loop)] // several arrays of registers are walked side by side

use crate::Scalar;
use crate::simd::avx512::{AnyLanes, Vector};
use crate::simd::{Gather, Lanes};

/// The row's sums for NV vectors of columns, of which the masks say the lanes.
///
/// # Safety
/// The processor has AVX-512; there are `length` columns and values; X has the lanes of the masks in every row that the
/// columns name, rows being `distance` apart.
#[inline(always)]
pub(crate) unsafe fn add_rows<S: Scalar, const NV: usize>(
    columns: *const u32,
    values: *const S,
    length: usize,
    x: *const S,
    distance: usize,
    masks: [u16; NV],
) -> [Vector<S>; NV] {
    // SAFETY: the caller's promise.
    unsafe {
        // Two sums side by side: one alone would wait for every addition.
        let (mut sums, mut more) = ([Vector::<S>::zero(); NV], [Vector::<S>::zero(); NV]);
        let row = |entry: usize| x.add(*columns.add(entry) as usize * distance);
        let mut entry = 0;
        while entry + 2 <= length {
            add(&mut sums, values.add(entry), row(entry), masks);
            add(&mut more, values.add(entry + 1), row(entry + 1), masks);
            entry += 2;
        }
        if entry < length {
            add(&mut sums, values.add(entry), row(entry), masks);
        }
        for j in 0..NV {
            sums[j] = sums[j].add(more[j]);
        }
        sums
    }
}

/// One entry times its row of X. (A function, since a closure that the compiler does not inline here is compiled without AVX-512:
/// f64 with four vectors was, and took 50 times as long.)
#[inline(always)]
unsafe fn add<S: Scalar, const NV: usize>(
    sums: &mut [Vector<S>; NV],
    value: *const S,
    x: *const S,
    masks: [u16; NV],
) {
    // SAFETY: the caller's promise.
    unsafe {
        let value = Vector::<S>::splat(*value);
        for j in 0..NV {
            let x = Vector::<S>::load_lanes(x.wrapping_add(j * Vector::<S>::COUNT), masks[j]);
            sums[j] = value.mul_add(x, sums[j]);
        }
    }
}

/// The row's sum for one column of X without gaps: as many entries at a time as a vector has lanes, gathered by the instruction or
/// loaded one by one.
///
/// # Safety
/// The processor has AVX-512; there are `length` columns, below 2³¹ and in X, and values.
#[inline(always)]
pub(crate) unsafe fn fetch_row<S: Scalar>(
    columns: *const u32,
    values: *const S,
    length: usize,
    x: *const S,
    gathers: bool,
) -> S {
    let lanes = Vector::<S>::COUNT;
    // SAFETY: the caller's promise.
    unsafe {
        let mut sums = Vector::<S>::zero();
        for entry in (0..length).step_by(lanes) {
            let mask = Vector::<S>::first_lanes(length - entry);
            let columns = columns.wrapping_add(entry);
            let x = match gathers {
                true => Vector::<S>::gather_lanes(x, columns, mask),
                false => Vector::<S>::each_lanes(x, columns, mask),
            };
            sums = Vector::<S>::load_lanes(values.wrapping_add(entry), mask).mul_add(x, sums);
        }
        sums.sum()
    }
}

/// Is one of the sums not a number?
///
/// # Safety
/// The processor has AVX-512.
#[inline(always)]
pub(crate) unsafe fn has_nan<S: Scalar, const NV: usize, const MANY: usize>(
    sums: &[[Vector<S>; NV]; MANY],
) -> bool {
    let mut found = false;
    for j in 0..NV {
        for pair in 0..MANY.div_ceil(2) {
            let (one, other) = (sums[2 * pair][j], sums[(2 * pair + 1).min(MANY - 1)][j]);
            // SAFETY: the caller's promise.
            found |= unsafe { one.is_unordered(other) };
        }
    }
    found
}
