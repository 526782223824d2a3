//! The same product by plain loops, for rows of X at any distance.

use crate::Scalar;
use crate::matrix::DenseView;
use crate::spmm::cpu::formats::{Part, Window};
use crate::spmm::cpu::kernels::target::Target;

/// The rows of a window's slices, compiled for AVX2.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,bmi1,bmi2,popcnt")]
pub(crate) fn multiply_avx2<S: Scalar>(window: Window<'_, S>, x: DenseView<'_, S>, y: Target<'_, S>) {
    multiply::<S, true>(window, x, y);
}

/// The rows of a window's slices, with the fused multiply-add that every AArch64 has.
#[cfg(target_arch = "aarch64")]
pub(crate) fn multiply_neon<S: Scalar>(window: Window<'_, S>, x: DenseView<'_, S>, y: Target<'_, S>) {
    multiply::<S, true>(window, x, y);
}

/// The rows of a window's slices.
pub(crate) fn multiply_portable<S: Scalar>(window: Window<'_, S>, x: DenseView<'_, S>, y: Target<'_, S>) {
    multiply::<S, false>(window, x, y);
}

#[inline(always)]
fn multiply<S: Scalar, const FUSED: bool>(window: Window<'_, S>, x: DenseView<'_, S>, y: Target<'_, S>) {
    let lanes = 64 / size_of::<S>();
    let mut entry = 0;
    for (index, slice) in window.slices.iter().enumerate() {
        let (places, lengths) =
            (&window.places[index * lanes..][..lanes], &window.lengths[index * lanes..][..lanes]);
        let mut sums = [S::ZERO; 16];
        let mut active = lanes;
        for step in 0..slice.longest {
            while lengths[active - 1] <= step {
                active -= 1; // the first lane is the longest, so one is left
            }
            for sum in &mut sums[..active] {
                let x = x.row(window.column(entry) as usize)[0];
                let value = window.values.get(entry);
                *sum = if FUSED { value.mul_add(x, *sum) } else { *sum + value * x };
                entry += 1;
            }
        }
        for (place, &at) in places.iter().enumerate().take(lanes.min(window.rows - index * lanes)) {
            let (row, lane) = if slice.consecutive {
                (slice.first_row as usize + place, at as usize)
            } else {
                (at as usize, place)
            };
            // SAFETY: a row of these slices, which no other thread writes.
            unsafe { y.write_element(window.first_row + row, 0, sums[lane]) };
        }
    }
}

/// The sum of a piece of a long row: four sums side by side.
pub(crate) fn piece<S: Scalar>(columns: &[u32], values: Part<'_, S>, x: DenseView<'_, S>) -> S {
    let mut sums = [S::ZERO; 4];
    for (entry, &col) in columns.iter().enumerate() {
        sums[entry % 4] += values.get(entry) * x.row(col as usize)[0];
    }
    (sums[0] + sums[1]) + (sums[2] + sums[3])
}
