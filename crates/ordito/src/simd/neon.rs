//! NEON: 128-bit registers, which every AArch64 has: all is compiled for them, closures too. There are no masks, so one is the
//! number of lanes, loaded and stored piece by piece; no gathers, and no non-temporal stores of one register.

use crate::simd::{Gather, Lanes, OnRegisters, Vectors};
use std::arch::aarch64::*;

/// 128-bit registers with fused multiply-add.
#[derive(Debug)]
pub struct Neon;

macro_rules! lanes {
    ($name:ident, $scalar:ty, $vector:ty, $count:literal, $splat:ident, $load:ident, $load_first:ident,
     $store:ident, $store_first:ident, $mul_add:ident, $add:ident, $mul:ident, $sum:ident) => {
        impl Vectors<$scalar> for Neon {
            type Wide = $name;
            type Half = $name;
            type Narrow = $name;
            const REGISTERS: usize = 32;

            #[inline(never)]
            unsafe fn run(work: impl OnRegisters) {
                // SAFETY: the caller's promise; everything is compiled for the set.
                unsafe { work.run() }
            }
        }

        #[doc = concat!(stringify!($count), " numbers.")]
        #[derive(Debug, Clone, Copy)]
        #[repr(transparent)]
        pub struct $name($vector);

        #[allow(clippy::undocumented_unsafe_blocks)] // each is the promise that `Lanes` asks its callers for
        impl Lanes<$scalar> for $name {
            const COUNT: usize = $count;
            type Mask = usize;

            #[inline(always)]
            unsafe fn first(n: usize) -> usize {
                n
            }
            #[inline(always)]
            unsafe fn zero() -> Self {
                unsafe { Self::splat(0.0) }
            }
            #[inline(always)]
            unsafe fn splat(value: $scalar) -> Self {
                $name(unsafe { $splat(value) })
            }
            #[inline(always)]
            unsafe fn load(from: *const $scalar) -> Self {
                $name(unsafe { $load(from) })
            }
            #[inline(always)]
            unsafe fn load_masked(from: *const $scalar, n: usize) -> Self {
                $name(unsafe { $load_first(from, n) })
            }
            #[inline(always)]
            unsafe fn store(self, to: *mut $scalar) {
                unsafe { $store(to, self.0) }
            }
            #[inline(always)]
            unsafe fn store_masked(self, to: *mut $scalar, n: usize) {
                unsafe { $store_first(to, self.0, n) }
            }
            #[inline(always)]
            unsafe fn stream(self, to: *mut $scalar) {
                unsafe { self.store(to) }
            }
            #[inline(always)]
            unsafe fn mul_add(self, factor: Self, addend: Self) -> Self {
                $name(unsafe { $mul_add(addend.0, self.0, factor.0) })
            }
            #[inline(always)]
            unsafe fn add(self, other: Self) -> Self {
                $name(unsafe { $add(self.0, other.0) })
            }
            #[inline(always)]
            unsafe fn mul(self, factor: Self) -> Self {
                $name(unsafe { $mul(self.0, factor.0) })
            }
        }

        #[allow(clippy::undocumented_unsafe_blocks)] // as above
        impl Gather<$scalar> for $name {
            #[inline(always)]
            unsafe fn gather(from: *const $scalar, indices: *const u32) -> Self {
                let number = |lane| unsafe { *from.add(*indices.add(lane) as usize) };
                unsafe { Self::load(std::array::from_fn::<_, $count, _>(number).as_ptr()) }
            }
            #[inline(always)]
            unsafe fn gather_first(from: *const $scalar, indices: *const u32, n: usize) -> Self {
                let number =
                    |lane| if lane < n { unsafe { *from.add(*indices.add(lane) as usize) } } else { 0.0 };
                unsafe { Self::load(std::array::from_fn::<_, $count, _>(number).as_ptr()) }
            }
            #[inline(always)]
            unsafe fn sum(self) -> $scalar {
                unsafe { $sum(self.0) }
            }
        }
    };
}

#[rustfmt::skip]
mod registers {
    use super::*;
    lanes!(F64x2, f64, float64x2_t, 2, vdupq_n_f64, vld1q_f64, load_first_f64, vst1q_f64, store_first_f64, vfmaq_f64, vaddq_f64,
        vmulq_f64, vaddvq_f64);
    lanes!(F32x4, f32, float32x4_t, 4, vdupq_n_f32, vld1q_f32, load_first_f32, vst1q_f32, store_first_f32, vfmaq_f32, vaddq_f32,
        vmulq_f32, vaddvq_f32);
}
pub use registers::{F32x4, F64x2};

/// # Safety
/// Of these four: the first `n` numbers, at most those of a register, may be read or written.
#[inline(always)]
#[allow(clippy::undocumented_unsafe_blocks)] // each is the caller's promise
unsafe fn load_first_f64(from: *const f64, n: usize) -> float64x2_t {
    unsafe {
        match n {
            0 => vdupq_n_f64(0.0),
            1 => vcombine_f64(vld1_f64(from), vdup_n_f64(0.0)),
            _ => vld1q_f64(from),
        }
    }
}
#[inline(always)]
#[allow(clippy::undocumented_unsafe_blocks, clippy::missing_safety_doc)] // as above
unsafe fn store_first_f64(to: *mut f64, numbers: float64x2_t, n: usize) {
    unsafe {
        match n {
            0 => {}
            1 => vst1q_lane_f64::<0>(to, numbers),
            _ => vst1q_f64(to, numbers),
        }
    }
}
#[inline(always)]
#[allow(clippy::undocumented_unsafe_blocks, clippy::missing_safety_doc)] // as above
unsafe fn load_first_f32(from: *const f32, n: usize) -> float32x4_t {
    unsafe {
        match n {
            0 => vdupq_n_f32(0.0),
            1 => vld1q_lane_f32::<0>(from, vdupq_n_f32(0.0)),
            2 => vcombine_f32(vld1_f32(from), vdup_n_f32(0.0)),
            3 => vld1q_lane_f32::<2>(from.add(2), vcombine_f32(vld1_f32(from), vdup_n_f32(0.0))),
            _ => vld1q_f32(from),
        }
    }
}
#[inline(always)]
#[allow(clippy::undocumented_unsafe_blocks, clippy::missing_safety_doc)] // as above
unsafe fn store_first_f32(to: *mut f32, numbers: float32x4_t, n: usize) {
    unsafe {
        match n {
            0 => {}
            1 => vst1q_lane_f32::<0>(to, numbers),
            2 => vst1_f32(to, vget_low_f32(numbers)),
            3 => {
                vst1_f32(to, vget_low_f32(numbers));
                vst1q_lane_f32::<2>(to.add(2), numbers);
            }
            _ => vst1q_f32(to, numbers),
        }
    }
}
