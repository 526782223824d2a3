//! AVX2 with FMA: 256-bit registers; masks are vectors whose sign bits count.

use crate::simd::{Gather, Lanes, OnRegisters, Vectors};
use std::arch::x86_64::*;

/// 256-bit registers with fused multiply-add: AVX2, FMA, BMI1 and BMI2.
#[derive(Debug)]
pub struct Avx2;

impl Vectors<f64> for Avx2 {
    type Wide = F64x4;
    type Half = F64x4;
    type Narrow = F64x2;
    const REGISTERS: usize = 16;

    #[target_feature(enable = "avx2,fma,bmi1,bmi2")]
    #[inline(never)]
    unsafe fn run(work: impl OnRegisters) {
        // SAFETY: the caller's promise; compiled for the set.
        unsafe { work.run() }
    }
}
impl Vectors<f32> for Avx2 {
    type Wide = F32x8;
    type Half = F32x8;
    type Narrow = F32x4;
    const REGISTERS: usize = 16;

    #[target_feature(enable = "avx2,fma,bmi1,bmi2")]
    #[inline(never)]
    unsafe fn run(work: impl OnRegisters) {
        // SAFETY: the caller's promise; compiled for the set.
        unsafe { work.run() }
    }
}

/// Eight times all bits set, eight times none: a mask of the first n is what begins n numbers before the middle.
static MASKS: [i32; 16] = [-1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0];

macro_rules! lanes {
    ($name:ident, $scalar:ty, $vector:ty, $mask:ty, $count:literal, $load_mask:ident, $zero:ident, $splat:ident, $load:ident,
     $load_masked:ident, $store:ident, $store_masked:ident, $stream:ident, $mul_add:ident, $add:ident, $mul:ident) => {
        #[doc = concat!(stringify!($count), " numbers.")]
        #[derive(Debug, Clone, Copy)]
        #[repr(transparent)]
        pub struct $name($vector);

        #[allow(clippy::undocumented_unsafe_blocks)] // each is the promise that `Lanes` asks its callers for
        impl Lanes<$scalar> for $name {
            const COUNT: usize = $count;
            type Mask = $mask;

            #[inline(always)]
            unsafe fn first(n: usize) -> $mask {
                const WORDS: usize = size_of::<$scalar>() / size_of::<i32>();
                unsafe { $load_mask(MASKS.as_ptr().add(8 - WORDS * n).cast()) }
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
                $name(unsafe { $load_masked(from, mask) })
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
mod registers {
    use super::*;
    use crate::simd::each::{eight, four};
    lanes!(F64x4, f64, __m256d, __m256i, 4, _mm256_loadu_si256, _mm256_setzero_pd, _mm256_set1_pd, _mm256_loadu_pd, _mm256_maskload_pd,
        _mm256_storeu_pd, _mm256_maskstore_pd, _mm256_stream_pd, _mm256_fmadd_pd, _mm256_add_pd, _mm256_mul_pd);
    lanes!(F64x2, f64, __m128d, __m128i, 2, _mm_loadu_si128, _mm_setzero_pd, _mm_set1_pd, _mm_loadu_pd, _mm_maskload_pd,
        _mm_storeu_pd, _mm_maskstore_pd, _mm_stream_pd, _mm_fmadd_pd, _mm_add_pd, _mm_mul_pd);
    lanes!(F32x8, f32, __m256, __m256i, 8, _mm256_loadu_si256, _mm256_setzero_ps, _mm256_set1_ps, _mm256_loadu_ps, _mm256_maskload_ps,
        _mm256_storeu_ps, _mm256_maskstore_ps, _mm256_stream_ps, _mm256_fmadd_ps, _mm256_add_ps, _mm256_mul_ps);
    lanes!(F32x4, f32, __m128, __m128i, 4, _mm_loadu_si128, _mm_setzero_ps, _mm_set1_ps, _mm_loadu_ps, _mm_maskload_ps,
        _mm_storeu_ps, _mm_maskstore_ps, _mm_stream_ps, _mm_fmadd_ps, _mm_add_ps, _mm_mul_ps);

    #[allow(clippy::undocumented_unsafe_blocks)] // as for `Lanes`
    impl Gather<f64> for F64x4 {
        const BY_INSTRUCTION: bool = true;

        #[inline(always)]
        unsafe fn gather(from: *const f64, indices: *const u32) -> Self {
            F64x4(unsafe { _mm256_i32gather_pd::<8>(from, _mm_loadu_si128(indices.cast())) })
        }
        #[inline(always)]
        unsafe fn gather_first(from: *const f64, indices: *const u32, n: usize) -> Self {
            unsafe {
                let mask = Self::first(n);
                let indices = _mm_maskload_epi32(indices.cast(), F32x4::first(n));
                F64x4(_mm256_mask_i32gather_pd::<8>(_mm256_setzero_pd(), from, indices, _mm256_castsi256_pd(mask)))
            }
        }
        #[inline(always)]
        unsafe fn each(from: *const f64, indices: *const u32) -> Self {
            F64x4(unsafe { four(from, indices) })
        }
        #[inline(always)]
        unsafe fn each_first(from: *const f64, indices: *const u32, n: usize) -> Self {
            unsafe {
                if n == 0 {
                    return Self::zero();
                }
                let mut all = [0u32; 4];
                _mm_storeu_si128(all.as_mut_ptr().cast(), _mm_maskload_epi32(indices.cast(), F32x4::first(n)));
                F64x4(_mm256_and_pd(_mm256_castsi256_pd(Self::first(n)), four(from, all.as_ptr())))
            }
        }
        #[inline(always)]
        unsafe fn sum(self) -> f64 {
            unsafe {
                let halves = _mm_add_pd(_mm256_castpd256_pd128(self.0), _mm256_extractf128_pd::<1>(self.0));
                _mm_cvtsd_f64(_mm_add_sd(halves, _mm_unpackhi_pd(halves, halves)))
            }
        }
    }

    #[allow(clippy::undocumented_unsafe_blocks)] // as for `Lanes`
    impl Gather<f32> for F32x8 {
        const BY_INSTRUCTION: bool = true;

        #[inline(always)]
        unsafe fn gather(from: *const f32, indices: *const u32) -> Self {
            F32x8(unsafe { _mm256_i32gather_ps::<4>(from, _mm256_loadu_si256(indices.cast())) })
        }
        #[inline(always)]
        unsafe fn gather_first(from: *const f32, indices: *const u32, n: usize) -> Self {
            unsafe {
                let mask = Self::first(n);
                let indices = _mm256_maskload_epi32(indices.cast(), mask);
                F32x8(_mm256_mask_i32gather_ps::<4>(_mm256_setzero_ps(), from, indices, _mm256_castsi256_ps(mask)))
            }
        }
        #[inline(always)]
        unsafe fn each(from: *const f32, indices: *const u32) -> Self {
            F32x8(unsafe { eight(from, indices) })
        }
        #[inline(always)]
        unsafe fn each_first(from: *const f32, indices: *const u32, n: usize) -> Self {
            unsafe {
                if n == 0 {
                    return Self::zero();
                }
                let (mut all, mask) = ([0u32; 8], Self::first(n));
                _mm256_storeu_si256(all.as_mut_ptr().cast(), _mm256_maskload_epi32(indices.cast(), mask));
                F32x8(_mm256_and_ps(_mm256_castsi256_ps(mask), eight(from, all.as_ptr())))
            }
        }
        #[inline(always)]
        unsafe fn sum(self) -> f32 {
            unsafe {
                let halves = _mm_add_ps(_mm256_castps256_ps128(self.0), _mm256_extractf128_ps::<1>(self.0));
                let pairs = _mm_add_ps(halves, _mm_movehl_ps(halves, halves));
                _mm_cvtss_f32(_mm_add_ss(pairs, _mm_shuffle_ps::<1>(pairs, pairs)))
            }
        }
    }
}
pub use registers::{F32x4, F32x8, F64x2, F64x4};
