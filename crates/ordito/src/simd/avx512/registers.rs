//! The registers of three widths, as every instruction set has them.

use crate::simd::avx512::AnyLanes;
use crate::simd::{Gather, Lanes};
use std::arch::x86_64::*;

macro_rules! lanes {
    ($name:ident, $scalar:ty, $vector:ty, $mask:ty, $count:literal, $zero:ident, $splat:ident, $load:ident, $load_masked:ident,
     $store:ident, $store_masked:ident, $stream:ident, $mul_add:ident, $add:ident, $mul:ident) => {
        #[doc = concat!(stringify!($count), " numbers.")]
        #[derive(Debug, Clone, Copy)]
        #[repr(transparent)]
        pub struct $name(pub(in crate::simd::avx512) $vector);

        #[allow(clippy::undocumented_unsafe_blocks)] // each is the promise that `Lanes` asks its callers for
        impl Lanes<$scalar> for $name {
            const COUNT: usize = $count;
            type Mask = $mask;

            #[inline(always)]
            unsafe fn first(n: usize) -> $mask {
                ((1u32 << n) - 1) as $mask
            }
            #[inline(always)]
            unsafe fn zero() -> Self {
                $name(unsafe { $zero() })
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
            unsafe fn load_masked(from: *const $scalar, mask: $mask) -> Self {
                $name(unsafe { $load_masked(mask, from) })
            }
            #[inline(always)]
            unsafe fn store(self, to: *mut $scalar) {
                unsafe { $store(to, self.0) }
            }
            #[inline(always)]
            unsafe fn store_masked(self, to: *mut $scalar, mask: $mask) {
                unsafe { $store_masked(to, mask, self.0) }
            }
            #[inline(always)]
            unsafe fn stream(self, to: *mut $scalar) {
                unsafe { $stream(to, self.0) }
            }
            #[inline(always)]
            unsafe fn mul_add(self, factor: Self, addend: Self) -> Self {
                $name(unsafe { $mul_add(self.0, factor.0, addend.0) })
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
    };
}

#[rustfmt::skip]
mod every_width {
    use super::*;
    lanes!(F64x8, f64, __m512d, __mmask8, 8, _mm512_setzero_pd, _mm512_set1_pd, _mm512_loadu_pd, _mm512_maskz_loadu_pd,
        _mm512_storeu_pd, _mm512_mask_storeu_pd, _mm512_stream_pd, _mm512_fmadd_pd, _mm512_add_pd, _mm512_mul_pd);
    lanes!(F64x4, f64, __m256d, __mmask8, 4, _mm256_setzero_pd, _mm256_set1_pd, _mm256_loadu_pd, _mm256_maskz_loadu_pd,
        _mm256_storeu_pd, _mm256_mask_storeu_pd, _mm256_stream_pd, _mm256_fmadd_pd, _mm256_add_pd, _mm256_mul_pd);
    lanes!(F64x2, f64, __m128d, __mmask8, 2, _mm_setzero_pd, _mm_set1_pd, _mm_loadu_pd, _mm_maskz_loadu_pd,
        _mm_storeu_pd, _mm_mask_storeu_pd, _mm_stream_pd, _mm_fmadd_pd, _mm_add_pd, _mm_mul_pd);
    lanes!(F32x16, f32, __m512, __mmask16, 16, _mm512_setzero_ps, _mm512_set1_ps, _mm512_loadu_ps, _mm512_maskz_loadu_ps,
        _mm512_storeu_ps, _mm512_mask_storeu_ps, _mm512_stream_ps, _mm512_fmadd_ps, _mm512_add_ps, _mm512_mul_ps);
    lanes!(F32x8, f32, __m256, __mmask8, 8, _mm256_setzero_ps, _mm256_set1_ps, _mm256_loadu_ps, _mm256_maskz_loadu_ps,
        _mm256_storeu_ps, _mm256_mask_storeu_ps, _mm256_stream_ps, _mm256_fmadd_ps, _mm256_add_ps, _mm256_mul_ps);
    lanes!(F32x4, f32, __m128, __mmask8, 4, _mm_setzero_ps, _mm_set1_ps, _mm_loadu_ps, _mm_maskz_loadu_ps,
        _mm_storeu_ps, _mm_mask_storeu_ps, _mm_stream_ps, _mm_fmadd_ps, _mm_add_ps, _mm_mul_ps);
}
pub use every_width::*;

#[allow(clippy::undocumented_unsafe_blocks)] // as for `Lanes`
impl Gather<f64> for F64x8 {
    const BY_INSTRUCTION: bool = true;

    #[inline(always)]
    unsafe fn gather(from: *const f64, indices: *const u32) -> Self {
        F64x8(unsafe { _mm512_i32gather_pd::<8>(_mm256_loadu_si256(indices.cast()), from) })
    }
    #[inline(always)]
    unsafe fn gather_first(from: *const f64, indices: *const u32, n: usize) -> Self {
        unsafe { Self::gather_lanes(from, indices, ((1u32 << n) - 1) as u16) }
    }
    #[inline(always)]
    unsafe fn each(from: *const f64, indices: *const u32) -> Self {
        unsafe { Self::each_lanes(from, indices, Self::ALL) }
    }
    #[inline(always)]
    unsafe fn each_first(from: *const f64, indices: *const u32, n: usize) -> Self {
        unsafe { Self::each_lanes(from, indices, ((1u32 << n) - 1) as u16) }
    }
    #[inline(always)]
    unsafe fn sum(self) -> f64 {
        unsafe { _mm512_reduce_add_pd(self.0) }
    }
}

#[allow(clippy::undocumented_unsafe_blocks)] // as for `Lanes`
impl Gather<f32> for F32x16 {
    const BY_INSTRUCTION: bool = true;

    #[inline(always)]
    unsafe fn gather(from: *const f32, indices: *const u32) -> Self {
        F32x16(unsafe { _mm512_i32gather_ps::<4>(_mm512_loadu_si512(indices.cast()), from) })
    }
    #[inline(always)]
    unsafe fn gather_first(from: *const f32, indices: *const u32, n: usize) -> Self {
        unsafe { Self::gather_lanes(from, indices, ((1u32 << n) - 1) as u16) }
    }
    #[inline(always)]
    unsafe fn each(from: *const f32, indices: *const u32) -> Self {
        unsafe { Self::each_lanes(from, indices, Self::ALL) }
    }
    #[inline(always)]
    unsafe fn each_first(from: *const f32, indices: *const u32, n: usize) -> Self {
        unsafe { Self::each_lanes(from, indices, ((1u32 << n) - 1) as u16) }
    }
    #[inline(always)]
    unsafe fn sum(self) -> f32 {
        unsafe { _mm512_reduce_add_ps(self.0) }
    }
}
