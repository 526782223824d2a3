//! What AVX-512 adds to a register of 64 bytes: masks of any lanes, lanes that change places, narrow columns, and parts. For
//! kernels that put rows, not columns of X, side by side; those of other instruction sets are plain loops.

use crate::simd::avx512::{F32x4, F32x8, F32x16, F64x2, F64x4, F64x8};
use crate::simd::each::{eight, eight_near, four, four_near};
use crate::simd::{Gather, Lanes};
use std::arch::x86_64::*;

/// A register of 64 bytes. Masks are bits here, the lowest for the first lane, whatever the precision.
///
/// # Safety
/// As for [`Lanes`]: memory of lanes that a mask lacks is never touched. As for [`Gather`]: columns are below 2³¹. They may stand at any
/// address.
#[allow(clippy::missing_safety_doc)] // said above, once for all
pub trait AnyLanes<S>: Gather<S> {
    /// The mask of all lanes.
    const ALL: u16 = ((1u32 << Self::COUNT) - 1) as u16;
    /// For every lane the number of the lane it takes its value from.
    type Places: Copy;
    /// Half of the register.
    type Half: Lanes<S>;
    /// A quarter.
    type Quarter: Lanes<S>;

    /// The mask as the instructions want it.
    fn mask(lanes: u16) -> Self::Mask;
    /// The first `count` lanes; all where there are fewer.
    #[inline(always)]
    fn first_lanes(count: usize) -> u16 {
        if count >= Self::COUNT { Self::ALL } else { ((1u32 << count) - 1) as u16 }
    }
    /// Those that the mask has; the others are 0.
    #[inline(always)]
    unsafe fn load_lanes(from: *const S, lanes: u16) -> Self {
        // SAFETY: the caller's promise.
        unsafe { Self::load_masked(from, Self::mask(lanes)) }
    }
    /// Those that the mask has.
    #[inline(always)]
    unsafe fn store_lanes(self, to: *mut S, lanes: u16) {
        // SAFETY: the caller's promise.
        unsafe { self.store_masked(to, Self::mask(lanes)) }
    }
    /// Eight numbers, in the first lanes.
    unsafe fn load_eight(from: *const S) -> Self;
    /// Consecutive numbers into the lanes that the mask has, 0 into the others.
    unsafe fn expand(from: *const S, lanes: u16) -> Self;
    /// `from[columns[lane]]` in every lane that the mask has, 0 in the others.
    unsafe fn gather_lanes(from: *const S, columns: *const u32, lanes: u16) -> Self;
    /// `from[columns[lane]]` likewise, by 16-bit columns.
    unsafe fn gather_near(from: *const S, columns: *const u16, lanes: u16) -> Self;
    /// As [`gather_lanes`](Self::gather_lanes), but loaded one by one; where the mask has a lane, the number at `from` is read, too.
    unsafe fn each_lanes(from: *const S, columns: *const u32, lanes: u16) -> Self;
    /// Likewise, by 16-bit columns.
    unsafe fn each_near(from: *const S, columns: *const u16, lanes: u16) -> Self;
    /// To `to[places[lane]]` every lane that the mask has; there is a place for every lane.
    unsafe fn scatter_near(self, to: *mut S, places: *const u16, lanes: u16);
    /// The lanes whose length is above `step`; there is a length for every lane.
    unsafe fn lanes_above(lengths: *const u16, step: u16) -> u16;

    /// Is some number of either not a number?
    unsafe fn is_unordered(self, other: Self) -> bool;

    /// Places below the number of lanes.
    unsafe fn places(place_of: impl Fn(usize) -> usize) -> Self::Places;
    /// One for every lane, below the number of lanes.
    unsafe fn load_places(places: *const u16) -> Self::Places;
    /// Every lane from the place that is given for it.
    unsafe fn permute(self, places: Self::Places) -> Self;

    /// Two halves, the lower lanes first.
    unsafe fn of_halves(low: Self::Half, high: Self::Half) -> Self;
    /// Its halves.
    unsafe fn halves(self) -> (Self::Half, Self::Half);
    /// Two quarters, as a half.
    unsafe fn of_quarters(low: Self::Quarter, high: Self::Quarter) -> Self::Half;
    /// The quarters of a half.
    unsafe fn quarters(half: Self::Half) -> (Self::Quarter, Self::Quarter);
}

#[allow(clippy::undocumented_unsafe_blocks)] // each is the promise that `AnyLanes` asks its callers for
impl AnyLanes<f64> for F64x8 {
    type Places = __m512i;
    type Half = F64x4;
    type Quarter = F64x2;

    #[inline(always)]
    fn mask(lanes: u16) -> __mmask8 {
        lanes as u8
    }
    #[inline(always)]
    unsafe fn load_eight(from: *const f64) -> Self {
        unsafe { Self::load(from) }
    }
    #[inline(always)]
    unsafe fn expand(from: *const f64, lanes: u16) -> Self {
        F64x8(unsafe { _mm512_maskz_expandloadu_pd(lanes as u8, from) })
    }
    #[inline(always)]
    unsafe fn gather_lanes(from: *const f64, columns: *const u32, lanes: u16) -> Self {
        unsafe {
            let columns = _mm256_maskz_loadu_epi32(lanes as u8, columns.cast());
            F64x8(_mm512_mask_i32gather_pd::<8>(_mm512_setzero_pd(), lanes as u8, columns, from))
        }
    }
    #[inline(always)]
    unsafe fn gather_near(from: *const f64, columns: *const u16, lanes: u16) -> Self {
        unsafe {
            let columns = _mm256_cvtepu16_epi32(_mm_maskz_loadu_epi16(lanes as u8, columns.cast()));
            F64x8(_mm512_mask_i32gather_pd::<8>(_mm512_setzero_pd(), lanes as u8, columns, from))
        }
    }
    #[inline(always)]
    unsafe fn each_lanes(from: *const f64, columns: *const u32, lanes: u16) -> Self {
        unsafe {
            if lanes == Self::ALL {
                return Self::of_halves(F64x4(four(from, columns)), F64x4(four(from, columns.add(4))));
            }
            Self::each_of(from, _mm256_maskz_loadu_epi32(lanes as u8, columns.cast()), lanes)
        }
    }
    #[inline(always)]
    unsafe fn each_near(from: *const f64, columns: *const u16, lanes: u16) -> Self {
        unsafe {
            if lanes == Self::ALL {
                let high = F64x4(four_near(from, columns.add(4)));
                return Self::of_halves(F64x4(four_near(from, columns)), high);
            }
            let columns = _mm256_cvtepu16_epi32(_mm_maskz_loadu_epi16(lanes as u8, columns.cast()));
            Self::each_of(from, columns, lanes)
        }
    }
    #[inline(always)]
    unsafe fn scatter_near(self, to: *mut f64, places: *const u16, lanes: u16) {
        unsafe {
            let places = _mm256_cvtepu16_epi32(_mm_loadu_si128(places.cast()));
            _mm512_mask_i32scatter_pd::<8>(to, lanes as u8, places, self.0);
        }
    }
    #[inline(always)]
    unsafe fn lanes_above(lengths: *const u16, step: u16) -> u16 {
        unsafe {
            u16::from(_mm_cmpgt_epu16_mask(_mm_loadu_si128(lengths.cast()), _mm_set1_epi16(step as i16)))
        }
    }
    #[inline(always)]
    unsafe fn is_unordered(self, other: Self) -> bool {
        unsafe { _mm512_cmp_pd_mask::<_CMP_UNORD_Q>(self.0, other.0) != 0 }
    }
    #[inline(always)]
    unsafe fn places(place_of: impl Fn(usize) -> usize) -> __m512i {
        let mut places = [0u64; 8];
        places.iter_mut().enumerate().for_each(|(lane, place)| *place = place_of(lane) as u64);
        unsafe { _mm512_loadu_si512(places.as_ptr().cast()) }
    }
    #[inline(always)]
    unsafe fn load_places(places: *const u16) -> __m512i {
        unsafe { _mm512_cvtepu16_epi64(_mm_loadu_si128(places.cast())) }
    }
    #[inline(always)]
    unsafe fn permute(self, places: __m512i) -> Self {
        F64x8(unsafe { _mm512_permutexvar_pd(places, self.0) })
    }
    #[inline(always)]
    unsafe fn of_halves(low: F64x4, high: F64x4) -> Self {
        F64x8(unsafe { _mm512_insertf64x4::<1>(_mm512_castpd256_pd512(low.0), high.0) })
    }
    #[inline(always)]
    unsafe fn halves(self) -> (F64x4, F64x4) {
        unsafe { (F64x4(_mm512_castpd512_pd256(self.0)), F64x4(_mm512_extractf64x4_pd::<1>(self.0))) }
    }
    #[inline(always)]
    unsafe fn of_quarters(low: F64x2, high: F64x2) -> F64x4 {
        F64x4(unsafe { _mm256_insertf128_pd::<1>(_mm256_castpd128_pd256(low.0), high.0) })
    }
    #[inline(always)]
    unsafe fn quarters(half: F64x4) -> (F64x2, F64x2) {
        unsafe { (F64x2(_mm256_castpd256_pd128(half.0)), F64x2(_mm256_extractf128_pd::<1>(half.0))) }
    }
}

#[allow(clippy::undocumented_unsafe_blocks)] // as above
impl AnyLanes<f32> for F32x16 {
    type Places = __m512i;
    type Half = F32x8;
    type Quarter = F32x4;

    #[inline(always)]
    fn mask(lanes: u16) -> __mmask16 {
        lanes
    }
    #[inline(always)]
    unsafe fn load_eight(from: *const f32) -> Self {
        F32x16(unsafe { _mm512_castps256_ps512(_mm256_loadu_ps(from)) })
    }
    #[inline(always)]
    unsafe fn expand(from: *const f32, lanes: u16) -> Self {
        F32x16(unsafe { _mm512_maskz_expandloadu_ps(lanes, from) })
    }
    #[inline(always)]
    unsafe fn gather_lanes(from: *const f32, columns: *const u32, lanes: u16) -> Self {
        unsafe {
            let columns = _mm512_maskz_loadu_epi32(lanes, columns.cast());
            F32x16(_mm512_mask_i32gather_ps::<4>(_mm512_setzero_ps(), lanes, columns, from))
        }
    }
    #[inline(always)]
    unsafe fn gather_near(from: *const f32, columns: *const u16, lanes: u16) -> Self {
        unsafe {
            let columns = _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(lanes, columns.cast()));
            F32x16(_mm512_mask_i32gather_ps::<4>(_mm512_setzero_ps(), lanes, columns, from))
        }
    }
    #[inline(always)]
    unsafe fn each_lanes(from: *const f32, columns: *const u32, lanes: u16) -> Self {
        unsafe {
            if lanes == Self::ALL {
                return Self::of_halves(F32x8(eight(from, columns)), F32x8(eight(from, columns.add(8))));
            }
            Self::each_of(from, _mm512_maskz_loadu_epi32(lanes, columns.cast()), lanes)
        }
    }
    #[inline(always)]
    unsafe fn each_near(from: *const f32, columns: *const u16, lanes: u16) -> Self {
        unsafe {
            if lanes == Self::ALL {
                let high = F32x8(eight_near(from, columns.add(8)));
                return Self::of_halves(F32x8(eight_near(from, columns)), high);
            }
            let columns = _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(lanes, columns.cast()));
            Self::each_of(from, columns, lanes)
        }
    }
    #[inline(always)]
    unsafe fn scatter_near(self, to: *mut f32, places: *const u16, lanes: u16) {
        unsafe {
            let places = _mm512_cvtepu16_epi32(_mm256_loadu_si256(places.cast()));
            _mm512_mask_i32scatter_ps::<4>(to, lanes, places, self.0);
        }
    }
    #[inline(always)]
    unsafe fn lanes_above(lengths: *const u16, step: u16) -> u16 {
        unsafe { _mm256_cmpgt_epu16_mask(_mm256_loadu_si256(lengths.cast()), _mm256_set1_epi16(step as i16)) }
    }
    #[inline(always)]
    unsafe fn is_unordered(self, other: Self) -> bool {
        unsafe { _mm512_cmp_ps_mask::<_CMP_UNORD_Q>(self.0, other.0) != 0 }
    }
    #[inline(always)]
    unsafe fn places(place_of: impl Fn(usize) -> usize) -> __m512i {
        let mut places = [0u32; 16];
        places.iter_mut().enumerate().for_each(|(lane, place)| *place = place_of(lane) as u32);
        unsafe { _mm512_loadu_si512(places.as_ptr().cast()) }
    }
    #[inline(always)]
    unsafe fn load_places(places: *const u16) -> __m512i {
        unsafe { _mm512_cvtepu16_epi32(_mm256_loadu_si256(places.cast())) }
    }
    #[inline(always)]
    unsafe fn permute(self, places: __m512i) -> Self {
        F32x16(unsafe { _mm512_permutexvar_ps(places, self.0) })
    }
    #[inline(always)]
    unsafe fn of_halves(low: F32x8, high: F32x8) -> Self {
        F32x16(unsafe { _mm512_insertf32x8::<1>(_mm512_castps256_ps512(low.0), high.0) })
    }
    #[inline(always)]
    unsafe fn halves(self) -> (F32x8, F32x8) {
        unsafe { (F32x8(_mm512_castps512_ps256(self.0)), F32x8(_mm512_extractf32x8_ps::<1>(self.0))) }
    }
    #[inline(always)]
    unsafe fn of_quarters(low: F32x4, high: F32x4) -> F32x8 {
        F32x8(unsafe { _mm256_insertf128_ps::<1>(_mm256_castps128_ps256(low.0), high.0) })
    }
    #[inline(always)]
    unsafe fn quarters(half: F32x8) -> (F32x4, F32x4) {
        unsafe { (F32x4(_mm256_castps256_ps128(half.0)), F32x4(_mm256_extractf128_ps::<1>(half.0))) }
    }
}

impl F64x8 {
    /// `from[columns[lane]]` in the lanes that the mask has, 0 in the others, whose columns are 0: `from[0]` is read for them.
    ///
    /// # Safety
    /// As for [`AnyLanes`].
    #[inline(always)]
    unsafe fn each_of(from: *const f64, columns: __m256i, lanes: u16) -> Self {
        // SAFETY: the caller's promise; with no lane nothing is read.
        unsafe {
            if lanes == 0 {
                return Self::zero();
            }
            let mut all = [0u32; 8];
            _mm256_storeu_si256(all.as_mut_ptr().cast(), columns);
            let low = _mm512_castpd256_pd512(four(from, all.as_ptr()));
            let numbers = match lanes & 0xf0 {
                0 => low,
                _ => _mm512_insertf64x4::<1>(low, four(from, all.as_ptr().add(4))),
            };
            F64x8(_mm512_maskz_mov_pd(lanes as u8, numbers))
        }
    }
}

impl F32x16 {
    /// `from[columns[lane]]` in the lanes that the mask has, 0 in the others, whose columns are 0: `from[0]` is read for them.
    ///
    /// # Safety
    /// As for [`AnyLanes`].
    #[inline(always)]
    unsafe fn each_of(from: *const f32, columns: __m512i, lanes: u16) -> Self {
        // SAFETY: the caller's promise; with no lane nothing is read.
        unsafe {
            if lanes == 0 {
                return Self::zero();
            }
            let mut all = [0u32; 16];
            _mm512_storeu_si512(all.as_mut_ptr().cast(), columns);
            let low = _mm512_castps256_ps512(eight(from, all.as_ptr()));
            let numbers = match lanes & 0xff00 {
                0 => low,
                _ => _mm512_insertf32x8::<1>(low, eight(from, all.as_ptr().add(8))),
            };
            F32x16(_mm512_maskz_mov_ps(lanes, numbers))
        }
    }
}
