//! Vectors of 64 bytes by AVX-512, of f32 or f64 alike, with masks for any of their lanes: what kernels that put rows, not
//! columns of X, side by side need. (`scalar::lanes` has what every instruction set can do: masks of the first lanes, no
//! expanding loads, no permutations. The kernels of other sets are plain loops.)
//!
//! Every function is inlined into a kernel that is compiled for AVX-512 (F, VL, DQ, BW) and is called only from there.

use crate::Scalar;
use std::arch::x86_64::*;
use std::marker::PhantomData;

/// Sixteen f32 or eight f64.
#[derive(Clone, Copy)]
pub(crate) struct Vector<S>(__m512, PhantomData<S>);

/// For every lane the number of the lane it takes its value from.
#[derive(Clone, Copy)]
pub(crate) struct Places<S>(__m512i, PhantomData<S>);

/// An intrinsic for each precision, the unused one compiled away. Casts between vector types cost nothing.
macro_rules! either {
    ($f64:expr, $f32:expr) => {
        if size_of::<S>() == 8 {
            Vector(unsafe { _mm512_castpd_ps($f64) }, PhantomData)
        } else {
            Vector(unsafe { $f32 }, PhantomData)
        }
    };
}

/// # Safety
/// For all functions: the processor has AVX-512. Pointers may be read or written at those lanes that the mask has, or at all
/// where there is none; lanes that a mask lacks are never touched.
#[allow(clippy::undocumented_unsafe_blocks)] // each is the promise that is asked of callers
impl<S: Scalar> Vector<S> {
    /// Numbers in a vector.
    pub(crate) const LANES: usize = 64 / size_of::<S>();
    /// The mask of all lanes.
    pub(crate) const ALL: u16 = ((1u32 << Self::LANES) - 1) as u16;

    #[inline(always)]
    pub(crate) fn from_register(register: __m512) -> Self {
        Vector(register, PhantomData)
    }
    #[inline(always)]
    pub(crate) fn register(self) -> __m512 {
        self.0
    }
    #[inline(always)]
    pub(crate) unsafe fn zero() -> Self {
        either!(_mm512_setzero_pd(), _mm512_setzero_ps())
    }
    /// The number at `from` in every lane.
    #[inline(always)]
    pub(crate) unsafe fn splat(from: *const S) -> Self {
        either!(_mm512_set1_pd(*from.cast()), _mm512_set1_ps(*from.cast()))
    }
    #[inline(always)]
    pub(crate) unsafe fn load(from: *const S) -> Self {
        either!(_mm512_loadu_pd(from.cast()), _mm512_loadu_ps(from.cast()))
    }
    /// Lanes that the mask lacks are 0.
    #[inline(always)]
    pub(crate) unsafe fn load_lanes(from: *const S, mask: u16) -> Self {
        either!(_mm512_maskz_loadu_pd(mask as u8, from.cast()), _mm512_maskz_loadu_ps(mask, from.cast()))
    }
    /// Consecutive numbers into the lanes that the mask has, 0 into the others.
    #[inline(always)]
    pub(crate) unsafe fn expand(from: *const S, mask: u16) -> Self {
        either!(
            _mm512_maskz_expandloadu_pd(mask as u8, from.cast()),
            _mm512_maskz_expandloadu_ps(mask, from.cast())
        )
    }
    #[inline(always)]
    pub(crate) unsafe fn store(self, to: *mut S) {
        // SAFETY: the caller's promise.
        unsafe { _mm512_storeu_ps(to.cast(), self.0) }
    }
    #[inline(always)]
    pub(crate) unsafe fn store_lanes(self, to: *mut S, mask: u16) {
        if size_of::<S>() == 8 {
            // SAFETY: the caller's promise.
            unsafe { _mm512_mask_storeu_pd(to.cast(), mask as u8, _mm512_castps_pd(self.0)) }
        } else {
            // SAFETY: the caller's promise.
            unsafe { _mm512_mask_storeu_ps(to.cast(), mask, self.0) }
        }
    }
    /// `self · factor + addend`, with one rounding.
    #[inline(always)]
    pub(crate) unsafe fn mul_add(self, factor: Self, addend: Self) -> Self {
        either!(
            _mm512_fmadd_pd(_mm512_castps_pd(self.0), _mm512_castps_pd(factor.0), _mm512_castps_pd(addend.0)),
            _mm512_fmadd_ps(self.0, factor.0, addend.0)
        )
    }
    #[inline(always)]
    pub(crate) unsafe fn add(self, other: Self) -> Self {
        either!(
            _mm512_add_pd(_mm512_castps_pd(self.0), _mm512_castps_pd(other.0)),
            _mm512_add_ps(self.0, other.0)
        )
    }
    #[inline(always)]
    pub(crate) unsafe fn mul(self, other: Self) -> Self {
        either!(
            _mm512_mul_pd(_mm512_castps_pd(self.0), _mm512_castps_pd(other.0)),
            _mm512_mul_ps(self.0, other.0)
        )
    }
    /// Every lane from the place that is given for it.
    #[inline(always)]
    pub(crate) unsafe fn permute(self, places: Places<S>) -> Self {
        either!(
            _mm512_permutexvar_pd(places.0, _mm512_castps_pd(self.0)),
            _mm512_permutexvar_ps(places.0, self.0)
        )
    }
    /// The sum of all lanes, always in the same order.
    #[inline(always)]
    pub(crate) unsafe fn sum(self) -> S {
        // SAFETY: the caller's promise.
        unsafe {
            if size_of::<S>() == 8 {
                bytemuck::cast_slice(&[_mm512_reduce_add_pd(_mm512_castps_pd(self.0))])[0]
            } else {
                bytemuck::cast_slice(&[_mm512_reduce_add_ps(self.0)])[0]
            }
        }
    }
    /// The numbers at `from + column` for every lane that the mask has, 0 in the others. Columns are below 2³¹.
    #[inline(always)]
    pub(crate) unsafe fn gather(from: *const S, columns: *const u32, mask: u16) -> Self {
        either!(
            {
                let columns = _mm256_maskz_loadu_epi32(mask as u8, columns.cast());
                _mm512_mask_i32gather_pd::<8>(_mm512_setzero_pd(), mask as u8, columns, from.cast())
            },
            {
                let columns = _mm512_maskz_loadu_epi32(mask, columns.cast());
                _mm512_mask_i32gather_ps::<4>(_mm512_setzero_ps(), mask, columns, from.cast())
            }
        )
    }
    /// The same by 16-bit columns.
    #[inline(always)]
    pub(crate) unsafe fn gather_near(from: *const S, columns: *const u16, mask: u16) -> Self {
        either!(
            {
                let columns = _mm256_cvtepu16_epi32(_mm_maskz_loadu_epi16(mask as u8, columns.cast()));
                _mm512_mask_i32gather_pd::<8>(_mm512_setzero_pd(), mask as u8, columns, from.cast())
            },
            {
                let columns = _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(mask, columns.cast()));
                _mm512_mask_i32gather_ps::<4>(_mm512_setzero_ps(), mask, columns, from.cast())
            }
        )
    }
}

impl<S: Scalar> Places<S> {
    /// # Safety
    /// The processor has AVX-512; there is a place for every lane, below the number of lanes.
    #[inline(always)]
    pub(crate) unsafe fn load(places: *const u16) -> Self {
        // SAFETY: the caller's promise.
        unsafe {
            let wide = if size_of::<S>() == 8 {
                _mm512_cvtepu16_epi64(_mm_loadu_si128(places.cast()))
            } else {
                _mm512_cvtepu16_epi32(_mm256_loadu_si256(places.cast()))
            };
            Places(wide, PhantomData)
        }
    }
    /// # Safety
    /// The processor has AVX-512. Places are below the number of lanes.
    #[inline(always)]
    pub(crate) unsafe fn new(place_of: impl Fn(usize) -> usize) -> Self {
        let mut narrow = [0u32; 16];
        let mut wide = [0u64; 8];
        if size_of::<S>() == 8 {
            wide.iter_mut().enumerate().for_each(|(lane, place)| *place = place_of(lane) as u64);
            // SAFETY: eight numbers of 64 bits are 64 bytes.
            Places(unsafe { _mm512_loadu_si512(wide.as_ptr().cast()) }, PhantomData)
        } else {
            narrow.iter_mut().enumerate().for_each(|(lane, place)| *place = place_of(lane) as u32);
            // SAFETY: sixteen numbers of 32 bits are 64 bytes.
            Places(unsafe { _mm512_loadu_si512(narrow.as_ptr().cast()) }, PhantomData)
        }
    }
}

/// The first `count` lanes; all where there are fewer.
#[inline(always)]
pub(crate) fn first_lanes<S: Scalar>(count: usize) -> u16 {
    if count >= Vector::<S>::LANES { Vector::<S>::ALL } else { ((1u32 << count) - 1) as u16 }
}

/// The lanes whose length is above `step`.
///
/// # Safety
/// The processor has AVX-512; there is a length for every lane.
#[inline(always)]
pub(crate) unsafe fn lanes_above<S: Scalar>(lengths: *const u16, step: u16) -> u16 {
    // SAFETY: the caller's promise.
    unsafe {
        if size_of::<S>() == 8 {
            u16::from(_mm_cmpgt_epu16_mask(_mm_loadu_si128(lengths.cast()), _mm_set1_epi16(step as i16)))
        } else {
            _mm256_cmpgt_epu16_mask(_mm256_loadu_si256(lengths.cast()), _mm256_set1_epi16(step as i16))
        }
    }
}
