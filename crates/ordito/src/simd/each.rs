//! Numbers from anywhere in memory, loaded one by one into a register of x86-64. That is what gather instructions do, too, but not as
//! fast everywhere: on a Cascade Lake one takes some 30 cycles, however few numbers it brings.
//! One column, f64, one thread of a Cascade Lake, gathers over these: 1.65 to 1.88 (`sell-threads-slices`), f32 1.19 to 1.24.

use std::arch::x86_64::*;

/// Functions for columns of one type.
macro_rules! each {
    ($four:ident, $eight:ident, $column:ty) => {
        /// `from[columns[lane]]` in four lanes.
        ///
        /// # Safety
        /// The CPU has AVX; all four columns are there, at any address, and what they name.
        #[inline(always)]
        pub(super) unsafe fn $four(from: *const f64, columns: *const $column) -> __m256d {
            // SAFETY: the caller's promise.
            unsafe {
                macro_rules! number {
                    ($lane:literal) => {
                        from.add(columns.add($lane).read_unaligned() as usize)
                    };
                }
                let low = _mm_loadh_pd(_mm_load_sd(number!(0)), number!(1));
                let high = _mm_loadh_pd(_mm_load_sd(number!(2)), number!(3));
                _mm256_insertf128_pd::<1>(_mm256_castpd128_pd256(low), high)
            }
        }

        /// `from[columns[lane]]` in eight lanes.
        ///
        /// # Safety
        /// The CPU has AVX; all eight columns are there, at any address, and what they name.
        #[inline(always)]
        pub(super) unsafe fn $eight(from: *const f32, columns: *const $column) -> __m256 {
            // SAFETY: the caller's promise.
            unsafe {
                macro_rules! number {
                    ($lane:expr) => {
                        _mm_load_ss(from.add(columns.add($lane).read_unaligned() as usize))
                    };
                }
                macro_rules! half {
                    ($lane:literal) => {{
                        let two = _mm_insert_ps::<0x10>(number!($lane), number!($lane + 1));
                        _mm_insert_ps::<0x30>(
                            _mm_insert_ps::<0x20>(two, number!($lane + 2)),
                            number!($lane + 3),
                        )
                    }};
                }
                _mm256_insertf128_ps::<1>(_mm256_castps128_ps256(half!(0)), half!(4))
            }
        }
    };
}

each!(four, eight, u32);
each!(four_near, eight_near, u16);
