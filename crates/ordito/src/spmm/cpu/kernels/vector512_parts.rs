//! Vectors of 64 bytes by AVX-512 whose halves or quarters come from different places in memory: the columns of two or four
//! rows of X or Y side by side. Inlined and called as `vector512` says.

use crate::Scalar;
use crate::spmm::cpu::kernels::vector512::Vector;
use std::arch::x86_64::*;

/// # Safety
/// The processor has AVX-512. Of every part the lanes that the mask has may be read or written, or all where it is `FULL`;
/// others are never touched.
#[allow(clippy::undocumented_unsafe_blocks)] // each is the promise that is asked of callers
impl<S: Scalar> Vector<S> {
    /// Eight numbers, in the first lanes.
    #[inline(always)]
    pub(crate) unsafe fn load_eight(from: *const S) -> Self {
        unsafe {
            match size_of::<S>() {
                8 => Self::load(from),
                _ => Self::from_register(_mm512_castps256_ps512(_mm256_loadu_ps(from.cast()))),
            }
        }
    }

    /// Two halves or four quarters; lanes that the mask lacks are 0.
    #[inline(always)]
    pub(crate) unsafe fn load_parts<const PARTS: usize, const FULL: bool>(
        from: [*const S; PARTS],
        mask: u16,
    ) -> Self {
        unsafe {
            let (low, high) = if PARTS == 2 {
                (load_half::<S, FULL>(from[0], mask), load_half::<S, FULL>(from[1], mask))
            } else {
                (
                    load_quarters::<S, FULL>(from[0], from[1], mask),
                    load_quarters::<S, FULL>(from[2], from[3], mask),
                )
            };
            Self::from_register(_mm512_insertf32x8::<1>(_mm512_castps256_ps512(low), high))
        }
    }

    /// The same the other way round.
    #[inline(always)]
    pub(crate) unsafe fn store_parts<const PARTS: usize, const FULL: bool>(
        self,
        to: [*mut S; PARTS],
        mask: u16,
    ) {
        unsafe {
            let (low, high) =
                (_mm512_castps512_ps256(self.register()), _mm512_extractf32x8_ps::<1>(self.register()));
            if PARTS == 2 {
                store_half::<S, FULL>(to[0], low, mask);
                store_half::<S, FULL>(to[1], high, mask);
            } else {
                store_quarters::<S, FULL>(to[0], to[1], low, mask);
                store_quarters::<S, FULL>(to[2], to[3], high, mask);
            }
        }
    }
}

/// # Safety
/// As above, for all that follow.
#[inline(always)]
#[allow(clippy::undocumented_unsafe_blocks)]
unsafe fn load_half<S, const FULL: bool>(from: *const S, mask: u16) -> __m256 {
    unsafe {
        match (FULL, size_of::<S>()) {
            (true, _) => _mm256_loadu_ps(from.cast()),
            (false, 8) => _mm256_castpd_ps(_mm256_maskz_loadu_pd(mask as u8, from.cast())),
            (false, _) => _mm256_maskz_loadu_ps(mask as u8, from.cast()),
        }
    }
}

#[inline(always)]
#[allow(clippy::undocumented_unsafe_blocks)]
unsafe fn load_quarters<S, const FULL: bool>(low: *const S, high: *const S, mask: u16) -> __m256 {
    unsafe {
        let (low, high) = match (FULL, size_of::<S>()) {
            (true, _) => (_mm_loadu_ps(low.cast()), _mm_loadu_ps(high.cast())),
            (false, 8) => (
                _mm_castpd_ps(_mm_maskz_loadu_pd(mask as u8, low.cast())),
                _mm_castpd_ps(_mm_maskz_loadu_pd(mask as u8, high.cast())),
            ),
            (false, _) => {
                (_mm_maskz_loadu_ps(mask as u8, low.cast()), _mm_maskz_loadu_ps(mask as u8, high.cast()))
            }
        };
        _mm256_insertf128_ps::<1>(_mm256_castps128_ps256(low), high)
    }
}

#[inline(always)]
#[allow(clippy::undocumented_unsafe_blocks)]
unsafe fn store_half<S, const FULL: bool>(to: *mut S, half: __m256, mask: u16) {
    unsafe {
        match (FULL, size_of::<S>()) {
            (true, _) => _mm256_storeu_ps(to.cast(), half),
            (false, 8) => _mm256_mask_storeu_pd(to.cast(), mask as u8, _mm256_castps_pd(half)),
            (false, _) => _mm256_mask_storeu_ps(to.cast(), mask as u8, half),
        }
    }
}

#[inline(always)]
#[allow(clippy::undocumented_unsafe_blocks)]
unsafe fn store_quarters<S, const FULL: bool>(to_low: *mut S, to_high: *mut S, half: __m256, mask: u16) {
    unsafe {
        let (low, high) = (_mm256_castps256_ps128(half), _mm256_extractf128_ps::<1>(half));
        match (FULL, size_of::<S>()) {
            (true, _) => {
                _mm_storeu_ps(to_low.cast(), low);
                _mm_storeu_ps(to_high.cast(), high);
            }
            (false, 8) => {
                _mm_mask_storeu_pd(to_low.cast(), mask as u8, _mm_castps_pd(low));
                _mm_mask_storeu_pd(to_high.cast(), mask as u8, _mm_castps_pd(high));
            }
            (false, _) => {
                _mm_mask_storeu_ps(to_low.cast(), mask as u8, low);
                _mm_mask_storeu_ps(to_high.cast(), mask as u8, high);
            }
        }
    }
}
