//! One column of X without gaps: a gather for every step of a slice, rows in the lanes; by the instruction, or its numbers one by one.

use crate::Scalar;
use crate::simd::avx512::{AnyLanes, Vector};
use crate::simd::{Gather, Lanes, prefetch};
use crate::spmm::cpu::formats::{Part, Window};
use crate::spmm::cpu::kernels::target::Target;

/// Bytes of A that are asked for before they are needed: a page, at whose end the processor's own prefetching stops.
/// Measured, both precisions, 1 and 2 threads: 1.05 to 1.11 times as fast on mdual, 1.06 to 1.38 on powerlaw:200000x16; between
/// 0.85 (soc-Epinions1) and 1.12 on smaller ones, on a machine where single figures vary by as much. Where A lies in a cache of the core
/// it costs 1.03 to 1.1 times the time.
const AHEAD: usize = 4096;

/// The rows of a window's slices. `far`: A does not lie in a cache of the core, and is asked for ahead; so it is wherever Y
/// is scaled or has gaps.
///
/// # Safety
/// The processor has AVX-512; X has a number for every column of the matrix, of which there are at most 2³¹; no other thread
/// writes these rows of Y.
#[target_feature(enable = "avx512f,avx512vl,avx512dq,avx512bw,avx2,fma,bmi1,bmi2,popcnt")]
pub(crate) unsafe fn multiply<S: Scalar, const GATHERS: bool>(
    window: Window<'_, S>,
    far: bool,
    x: *const S,
    y: Target<'_, S>,
) {
    // SAFETY: the caller's promise; the window says how wide its columns are.
    unsafe {
        match (window.wide, far, y.is_plain(1)) {
            (false, false, true) => slices::<S, GATHERS, false, false, true>(window, x, y),
            (false, true, true) => slices::<S, GATHERS, false, true, true>(window, x, y),
            (true, false, true) => slices::<S, GATHERS, true, false, true>(window, x, y),
            (true, true, true) => slices::<S, GATHERS, true, true, true>(window, x, y),
            (false, _, false) => slices::<S, GATHERS, false, true, false>(window, x, y),
            (true, _, false) => slices::<S, GATHERS, true, true, false>(window, x, y),
        }
    }
}

#[inline(always)]
unsafe fn slices<S: Scalar, const GATHERS: bool, const WIDE: bool, const FAR: bool, const PLAIN: bool>(
    window: Window<'_, S>,
    x: *const S,
    y: Target<'_, S>,
) {
    let lanes = Vector::<S>::COUNT;
    let (mut column, mut value) = (window.columns.as_ptr(), window.values.as_ptr());
    // How far the values of the next step are: 0 where all are the same.
    let own = window.values.own();
    let (step_values, two_steps_values) = (lanes & own, (2 * lanes) & own);
    // SAFETY: entries of a slice follow each other as its lengths say; base and column together are below the number of
    // columns. Lanes of a slice are rows of these slices.
    unsafe {
        let x = x.add(window.base);
        let halves = if WIDE { 2 } else { 1 };
        for (index, slice) in window.slices.iter().enumerate() {
            let (places, lengths) =
                (window.places.as_ptr().add(index * lanes), window.lengths.as_ptr().add(index * lanes));
            let (mut sums, mut more) = (Vector::<S>::zero(), Vector::<S>::zero());
            let mut step = 0;
            // Two sums side by side: one alone would wait for every addition.
            while step + 2 <= slice.shortest {
                if FAR {
                    prefetch(value.wrapping_byte_add(AHEAD));
                    prefetch(value.wrapping_byte_add(AHEAD + 64));
                    prefetch(column.wrapping_byte_add(AHEAD));
                }
                sums = Vector::<S>::load(value)
                    .mul_add(fetch::<S, GATHERS, WIDE>(x, column, Vector::<S>::ALL), sums);
                let next = column.add(halves * lanes);
                more = Vector::<S>::load(value.add(step_values))
                    .mul_add(fetch::<S, GATHERS, WIDE>(x, next, Vector::<S>::ALL), more);
                (column, value, step) =
                    (column.add(2 * halves * lanes), value.add(two_steps_values), step + 2);
            }
            if step < slice.shortest {
                sums = Vector::<S>::load(value)
                    .mul_add(fetch::<S, GATHERS, WIDE>(x, column, Vector::<S>::ALL), sums);
                (column, value, step) = (column.add(halves * lanes), value.add(step_values), step + 1);
            }
            while step < slice.longest {
                let mask = Vector::<S>::lanes_above(lengths, step);
                let count = mask.count_ones() as usize;
                more = Vector::<S>::load_lanes(value, mask)
                    .mul_add(fetch::<S, GATHERS, WIDE>(x, column, mask), more);
                (column, value, step) = (column.add(halves * count), value.add(count & own), step + 1);
            }
            let sums = sums.add(more);
            if slice.consecutive {
                let row = window.first_row + slice.first_row as usize;
                let sums = match slice.in_order {
                    true => sums,
                    false => sums.permute(Vector::<S>::load_places(places)),
                };
                y.write_or_store_rows::<1, PLAIN>(row, [sums]);
            } else {
                let count = lanes.min(window.rows - index * lanes);
                y.scatter::<PLAIN>(window.first_row, places, count, sums);
            }
        }
    }
}

/// The elements of X that columns of 16 or 32 bits name.
#[inline(always)]
unsafe fn fetch<S: Scalar, const GATHERS: bool, const WIDE: bool>(
    x: *const S,
    columns: *const u16,
    mask: u16,
) -> Vector<S> {
    // SAFETY: the caller's promise.
    unsafe {
        match (GATHERS, WIDE) {
            (true, true) => Vector::<S>::gather_lanes(x, columns.cast(), mask),
            (true, false) => Vector::<S>::gather_near(x, columns, mask),
            (false, true) => Vector::<S>::each_lanes(x, columns.cast(), mask),
            (false, false) => Vector::<S>::each_near(x, columns, mask),
        }
    }
}

/// The sum of a piece of a long row.
///
/// # Safety
/// As for [`multiply`]; as many columns as values.
#[target_feature(enable = "avx512f,avx512vl,avx512dq,avx512bw,avx2,fma,bmi1,bmi2,popcnt")]
pub(crate) unsafe fn piece<S: Scalar, const GATHERS: bool>(
    columns: &[u32],
    values: Part<'_, S>,
    x: *const S,
) -> S {
    let lanes = Vector::<S>::COUNT;
    // SAFETY: the mask ends with the entries.
    unsafe {
        let mut sums = [Vector::<S>::zero(); 4];
        let add = |sum: &mut Vector<S>, entry: usize| {
            let mask = Vector::<S>::first_lanes(columns.len().saturating_sub(entry));
            let x = fetch::<S, GATHERS, true>(x, columns.as_ptr().wrapping_add(entry).cast(), mask);
            *sum = Vector::<S>::load_lanes(values.as_ptr().wrapping_add(entry & values.own()), mask)
                .mul_add(x, *sum);
        };
        for entry in (0..columns.len()).step_by(4 * lanes) {
            for (j, sum) in sums.iter_mut().enumerate() {
                add(sum, entry + j * lanes);
            }
        }
        sums[0].add(sums[1]).add(sums[2].add(sums[3])).sum()
    }
}
