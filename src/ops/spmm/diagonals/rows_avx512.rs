//! A row's entries, one after the other: for chunks that are stored as rows.

#![allow(clippy::needless_range_loop)] // several arrays of registers are walked side by side

use crate::Scalar;
use crate::ops::spmm::vector512::{Vector, first_lanes};

/// The row's sums for NV vectors of columns, of which the masks say the lanes.
///
/// # Safety
/// The processor has AVX-512; there are `length` columns and values; X has the lanes of the masks in every row that the
/// columns name, rows being `distance` apart.
#[inline(always)]
pub(super) unsafe fn add_rows<S: Scalar, const NV: usize>(
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
        let (mut sums, mut more) = ([Vector::zero(); NV], [Vector::zero(); NV]);
        let add = |sums: &mut [Vector<S>; NV], entry: usize| {
            let x = x.add(*columns.add(entry) as usize * distance);
            let value = Vector::splat(values.add(entry));
            for j in 0..NV {
                sums[j] = value
                    .mul_add(Vector::load_lanes(x.wrapping_add(j * Vector::<S>::LANES), masks[j]), sums[j]);
            }
        };
        let mut entry = 0;
        while entry + 2 <= length {
            add(&mut sums, entry);
            add(&mut more, entry + 1);
            entry += 2;
        }
        if entry < length {
            add(&mut sums, entry);
        }
        for j in 0..NV {
            sums[j] = sums[j].add(more[j]);
        }
        sums
    }
}

/// The row's sum for one column of X without gaps: as many entries at a time as a vector has lanes.
///
/// # Safety
/// The processor has AVX-512; there are `length` columns, below 2³¹ and in X, and values.
#[inline(always)]
pub(super) unsafe fn gather_row<S: Scalar>(
    columns: *const u32,
    values: *const S,
    length: usize,
    x: *const S,
) -> S {
    let lanes = Vector::<S>::LANES;
    // SAFETY: the caller's promise.
    unsafe {
        let mut sums = Vector::zero();
        for entry in (0..length).step_by(lanes) {
            let mask = first_lanes::<S>(length - entry);
            let x = Vector::gather(x, columns.wrapping_add(entry), mask);
            sums = Vector::load_lanes(values.wrapping_add(entry), mask).mul_add(x, sums);
        }
        sums.sum()
    }
}
