//! Digits · 10^power of eight numbers at a time, correctly rounded: the twin of [`crate::io::decimal`]. The product is computed
//! as the sum of two f64 with a bound on its error; where the bound leaves two answers it says so.

use crate::io::decimal::power_of_ten;
use crate::io::text_matrix::fixed_avx512::FRACTION;
use std::arch::x86_64::*;

/// Between the powers with `+` (0), a comma (1) and `-` (2) in the table.
pub(super) const SIGN_STEP: i16 = 128;
const POWERS: usize = 3 * SIGN_STEP as usize;

/// The power of ten of the last digit, the upper and the lower half of each in two arrays; NaN where there is none.
static POWERS_OF_TEN: [[f64; POWERS]; 2] = {
    let mut table = [[f64::NAN; POWERS]; 2];
    let mut written = 0;
    while written < 100 {
        let plus = power_of_ten(written as i64 - FRACTION as i64);
        let minus = power_of_ten(-(written as i64) - FRACTION as i64);
        (table[0][written], table[1][written]) = plus;
        (table[0][2 * SIGN_STEP as usize + written], table[1][2 * SIGN_STEP as usize + written]) = minus;
        written += 1;
    }
    table
};

/// The nearest f64 of digits · power, and for which of them that is certain. `powers` are places in the table.
///
/// Let u = 2⁻⁵³, the rounding of one operation, and V the exact product. The digits are d + d′ exactly, |d′| ≤ u·d, and the
/// power is p + p′, |p′| ≤ u·p, so V = d·p + d·p′ + d′·p + d′·p′. The first product is known exactly: `product`, and at most
/// u·V `missing`. Wrong, in units of u²·V, are
/// - p + p′, by 2, and d′·p′, left out, by 1;
/// - d′·p, rounded, by 1; its sum with d·p′, at most 2u·V, by 2; the sum of that with `missing`, at most 3u·V, by 3;
/// - the sums of that with the bound, by 3.
///
/// That is 12, and 16 leaves room for what the words "at most u" leave out. Rounding never changes an order: what both ends
/// of the interval round to, V rounds to as well. Powers from 1e-54 to 1e54 keep everything normal, even `missing`.
#[inline]
#[target_feature(enable = "avx512f,avx512dq")]
pub(super) fn round(digits: __m512i, powers: __m512i) -> (__m512d, __mmask8) {
    let places = _mm512_min_epu64(powers, _mm512_set1_epi64(POWERS as i64 - 1));
    let [power, power_rest] = POWERS_OF_TEN.each_ref().map(|table| {
        // SAFETY: every place lies in the table, as the line above sees to.
        unsafe { _mm512_i64gather_pd::<8>(places, table.as_ptr()) }
    });
    let rounded = _mm512_cvtepu64_pd(digits);
    let rest = _mm512_cvtepi64_pd(_mm512_sub_epi64(digits, _mm512_cvtpd_epu64(rounded)));
    let product = _mm512_mul_pd(rounded, power);
    let missing = _mm512_fmsub_pd(rounded, power, product);
    let rests = _mm512_fmadd_pd(rounded, power_rest, _mm512_mul_pd(rest, power));
    let correction = _mm512_add_pd(missing, rests);
    const BOUND: f64 = 16.0 / (1u64 << 53) as f64 / (1u64 << 53) as f64;
    let bound = _mm512_mul_pd(product, _mm512_set1_pd(BOUND));
    let least = _mm512_add_pd(product, _mm512_sub_pd(correction, bound));
    let most = _mm512_add_pd(product, _mm512_add_pd(correction, bound));
    (least, _mm512_cmp_pd_mask::<_CMP_EQ_OQ>(least, most))
}

/// For which of them it does not matter that they were rounded to f64 before. None is infinite.
#[inline]
#[target_feature(enable = "avx512f,avx512dq")]
pub(super) fn rounds_to_one_f32(value: __m512d) -> __mmask8 {
    let next_to = |factor| _mm512_cvtpd_ps(_mm512_mul_pd(value, _mm512_set1_pd(factor)));
    let (least, most) = (next_to(1.0 - f64::EPSILON), next_to(1.0 + f64::EPSILON));
    // As f64, for comparing f32 of this width takes one more extension of the instructions.
    let (least, most) = (_mm512_cvtps_pd(least), _mm512_cvtps_pd(most));
    _mm512_cmp_pd_mask::<_CMP_EQ_OQ>(least, most)
        & _mm512_cmp_pd_mask::<_CMP_LT_OQ>(most, _mm512_set1_pd(f64::INFINITY))
}
