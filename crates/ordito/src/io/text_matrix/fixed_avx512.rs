//! Eight numbers of the form that `numpy.savetxt` writes, `-1.320630000000000000e+01`, at a time: one digit, a point,
//! eighteen digits, `e`, a sign, two digits, and one separator that never changes.
//!
//! Nothing but the sign changes where the next number starts, so all eight starts are known at once. The 25 bytes of a
//! number lie in half a vector. Every byte is compared with what may stand in its place, all digits are added up by
//! multiplying neighbours (pairs, then fours, then eights), and the product with the power of ten is computed in two f64
//! whose error is bounded: where the bound leaves two answers, or a byte is not as it should be, eight numbers are left to
//! [`crate::io::text_matrix::fixed`], which reads them one by one. Six times its speed on text that is in the cache.

use crate::Scalar;
use crate::io::text_matrix::decimal_avx512::{SIGN_STEP, round, rounds_to_one_f32};
use crate::io::text_matrix::prefetch;
use crate::simd::SimdLevel;
use std::arch::x86_64::*;

/// Numbers at a time, as many as f64 in a vector.
const LANES: usize = 8;
/// Digits behind the point.
pub(super) const FRACTION: usize = 18;
/// A number and its separator, without a minus.
const NUMBER_BYTES: usize = "d.".len() + FRACTION + "e+dd ".len();
/// What is loaded of every number.
const WINDOW_BYTES: usize = 32;
/// What eight numbers may take, and the load of the last one.
const GROUP_BYTES: usize = LANES * (NUMBER_BYTES + 1) + WINDOW_BYTES;

/// Proof that this processor has the instructions, and what stands between two numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Eights {
    separator: u8,
}

impl Eights {
    /// `None` where AVX-512 is not in use.
    pub(super) fn new(separator: u8) -> Option<Self> {
        (SimdLevel::in_use() >= SimdLevel::Avx512).then_some(Eights { separator })
    }

    /// Reads numbers from `at` on, eight at a time, as long as they have the form and more than eight are wanted: the
    /// last one of a row has no separator behind it. How many there were, and where the next one starts.
    pub(super) fn read<S: Scalar>(self, text: &[u8], at: usize, row: &mut [S]) -> (usize, usize) {
        // SAFETY: `new` saw that the processor has what `read_groups` is compiled for.
        unsafe { read_groups(self.separator, text, at, row) }
    }
}

#[target_feature(enable = "avx512f,avx512dq,avx512bw")]
fn read_groups<S: Scalar>(separator: u8, text: &[u8], mut at: usize, row: &mut [S]) -> (usize, usize) {
    let places = Places::new(separator);
    let mut count = 0;
    while row.len() - count > LANES
        && let Some(group) = text.get(at..).and_then(|rest| rest.first_chunk::<GROUP_BYTES>())
        && let Some((values, end)) = read_eight::<S>(&places, group)
        && let Some(slots) = row.get_mut(count..count + LANES)
    {
        for (slot, value) in slots.iter_mut().zip(values) {
            *slot = S::from_f64(value);
        }
        prefetch::ask_ahead::<GROUP_BYTES>(text, at);
        (count, at) = (count + LANES, at + end);
    }
    (count, at)
}

/// What may stand in every place of two windows: bytes from `lowest` to `lowest + span`.
struct Places {
    lowest: __m512i,
    span: __m512i,
}

impl Places {
    #[target_feature(enable = "avx512f")]
    fn new(separator: u8) -> Self {
        let (mut lowest, mut span) = ([0; WINDOW_BYTES], [u8::MAX; WINDOW_BYTES]); // anything behind the separator
        lowest[..NUMBER_BYTES].copy_from_slice(b"0.000000000000000000e+00 ");
        span[..NUMBER_BYTES].fill(0);
        for (span, lowest) in span.iter_mut().zip(lowest) {
            match lowest {
                b'0' => *span = 9,
                b'+' => *span = b'-' - b'+', // and a comma, which has no power of ten
                _ => {}
            }
        }
        lowest[NUMBER_BYTES - 1] = separator;
        Places { lowest: twice(lowest), span: twice(span) }
    }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn twice(window: [u8; WINDOW_BYTES]) -> __m512i {
    // SAFETY: the array has the 32 bytes that are loaded.
    _mm512_broadcast_i64x4(unsafe { _mm256_loadu_si256(window.as_ptr().cast()) })
}

/// The numbers, and where the one after them starts.
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512bw")]
fn read_eight<S: Scalar>(places: &Places, group: &[u8; GROUP_BYTES]) -> Option<([f64; LANES], usize)> {
    // The signs of three numbers lie in 64 bytes, wherever they start: which of the bytes are minuses is looked up in a
    // register, because loads that each wait for the one before made the whole a sixth slower.
    let minuses_from = |number: usize| {
        // SAFETY: 64 bytes from the seventh number on, at 6 · NUMBER_BYTES, still lie in the group.
        let bytes = unsafe { _mm512_loadu_si512(group.as_ptr().add(number * NUMBER_BYTES).cast()) };
        _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8(b'-' as i8))
    };
    let minuses = [minuses_from(0), minuses_from(3), minuses_from(6)];
    let (mut starts, mut count, mut negative) = ([0; LANES], 0, 0);
    for (lane, start) in starts.iter_mut().enumerate() {
        let is_minus = minuses[lane / 3] >> (lane % 3 * NUMBER_BYTES) >> count & 1;
        negative |= (is_minus as u8) << lane;
        count += is_minus as usize;
        *start = lane * NUMBER_BYTES + count;
    }
    let end = LANES * NUMBER_BYTES + count;
    let load = |first: usize, second: usize| {
        // SAFETY: a start is at most (LANES - 1) · (NUMBER_BYTES + 1) + 1, and WINDOW_BYTES more are still in the group.
        let [first, second] =
            [first, second].map(|start| unsafe { _mm256_loadu_si256(group.as_ptr().add(start).cast()) });
        let bytes = _mm512_inserti64x4::<1>(_mm512_castsi256_si512(first), second);
        let digits = _mm512_sub_epi8(bytes, places.lowest);
        (digits, _mm512_cmpgt_epu8_mask(digits, places.span))
    };
    // In this order the halves of a vector come out as neighbours below.
    let (first, first_wrong) = load(starts[0], starts[2]);
    let (second, second_wrong) = load(starts[1], starts[3]);
    let (third, third_wrong) = load(starts[4], starts[6]);
    let (fourth, fourth_wrong) = load(starts[5], starts[7]);
    if first_wrong | second_wrong | third_wrong | fourth_wrong != 0 {
        return None;
    }
    let (digits, powers) = add_up([first, second, third, fourth]);
    let (value, mut is_certain) = round(digits, powers);
    if size_of::<S>() == size_of::<f32>() {
        is_certain &= rounds_to_one_f32(value);
    }
    if is_certain != u8::MAX {
        return None;
    }
    let mut values = [0.0; LANES];
    let signed = _mm512_mask_xor_pd(value, negative, value, _mm512_set1_pd(-0.0));
    // SAFETY: eight f64 are 64 bytes.
    unsafe { _mm512_storeu_pd(values.as_mut_ptr(), signed) };
    Some((values, end))
}

/// From values of bytes to the nineteen digits of each number, and the places of its power of ten in the table.
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512bw")]
fn add_up(windows: [__m512i; 4]) -> (__m512i, __m512i) {
    // Two bytes become 16 bits, two of these 32, in every quarter of a vector by itself. A window is two quarters:
    //   d . d d d d d d d d d d d d d d | d d d d e ± d d _
    //   1   2   2   2   2   2   2   2   | 2   2   ±   2       digits
    //     3       4       4       4     |   4     ±·128+2
    const PAIRS: [u8; 32] = [
        1, 0, 10, 1, 10, 1, 10, 1, 10, 1, 10, 1, 10, 1, 10, 1, 10, 1, 10, 1, 0, 1, 10, 1, 0, 0, 0, 0, 0, 0,
        0, 0,
    ];
    const FOURS: [i16; 16] = [100, 1, 100, 1, 100, 1, 100, 1, 100, 1, SIGN_STEP, 1, 0, 0, 0, 0];
    let pairs = twice(PAIRS);
    let fours = twice(bytemuck::cast(FOURS));
    let [first, second, third, fourth] =
        windows.map(|digits| _mm512_madd_epi16(_mm512_maddubs_epi16(digits, pairs), fours));
    // Then 16 bits of two windows side by side:
    //   3 4 4 4 3 4 4 4 | 4 ± 0 0 4 ± 0 0
    //    7   8   7   8  |  4±  0   4±  0
    const EIGHTS: [i16; 16] =
        [10_000, 1, 10_000, 1, 10_000, 1, 10_000, 1, 1, 1 << 14, 0, 0, 1, 1 << 14, 0, 0];
    let eights = twice(bytemuck::cast(EIGHTS));
    let lower = _mm512_madd_epi16(_mm512_packus_epi32(first, second), eights);
    let upper = _mm512_madd_epi16(_mm512_packus_epi32(third, fourth), eights);
    let fifteen = _mm512_permutex2var_epi64(lower, _mm512_setr_epi64(0, 1, 4, 5, 8, 9, 12, 13), upper);
    let rest = _mm512_permutex2var_epi64(lower, _mm512_setr_epi64(2, 3, 6, 7, 10, 11, 14, 15), upper);
    let last_four = _mm512_and_si512(rest, _mm512_set1_epi64((1 << 14) - 1));
    let fifteen = _mm512_add_epi64(
        _mm512_mul_epu32(fifteen, _mm512_set1_epi64(100_000_000)),
        _mm512_srli_epi64::<32>(fifteen),
    );
    let digits = _mm512_add_epi64(_mm512_mullo_epi64(fifteen, _mm512_set1_epi64(10_000)), last_four);
    (digits, _mm512_srli_epi64::<14>(rest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::text_matrix::fixed::FixedForm;
    use crate::io::text_matrix::separator::TextSeparator;
    use crate::matrix::Random;

    /// A group of the same number, read at once; where a processor cannot, there is nothing to test.
    fn read<S: Scalar>(number: &str) -> Option<S> {
        let text = format!("{number} ").repeat(LANES) + &"9".repeat(2 * WINDOW_BYTES);
        let mut row = [S::from_f64(f64::NAN); LANES + 1];
        let (count, end) = Eights::new(b' ')?.read(text.as_bytes(), 0, &mut row);
        if count == 0 {
            return None;
        }
        assert_eq!((count, end), (LANES, LANES * (number.len() + 1)), "{number}");
        assert!(
            row[..LANES].iter().all(|value| value.to_f64().to_bits() == row[0].to_f64().to_bits()),
            "{number}"
        );
        Some(row[0])
    }

    /// The same bits as the standard library, or left to others: which of f32 and f64 were read.
    fn compare(negative: bool, digits: u64, exponent: i64) -> [bool; 2] {
        let digits = format!("{digits:019}");
        let sign = if negative { "-" } else { "" };
        let text = format!("{sign}{}.{}e{exponent:+03}", &digits[..1], &digits[1..]);
        let (single, double) = (read::<f32>(&text), read::<f64>(&text));
        if let Some(single) = single {
            assert_eq!(single.to_bits(), text.parse::<f32>().unwrap().to_bits(), "{text}");
        }
        if let Some(double) = double {
            assert_eq!(double.to_bits(), text.parse::<f64>().unwrap().to_bits(), "{text}");
        }
        [single.is_some(), double.is_some()]
    }

    const MOST_DIGITS: u64 = 9_999_999_999_999_999_999;

    #[test]
    #[cfg_attr(miri, ignore = "takes minutes")]
    fn random_digits_round_like_the_standard_library() {
        let mut random = Random::new(7, 1);
        let mut left_over = 0;
        const NUMBERS: usize = 500_000;
        for _ in 0..NUMBERS {
            let digits = random.next_bits() % (MOST_DIGITS + 1);
            // Few digits and zeros behind them are what measured data have.
            let unit = 10u64.pow(random.below(19) as u32);
            let negative = random.below(2) == 0;
            let exponent = random.below(100) as i64 - 50;
            let [_, double] = compare(negative, digits / unit * unit, exponent);
            left_over += usize::from(!double && (-36..=72).contains(&exponent));
        }
        // Those exactly between two others, of which there are many among large integers.
        assert!(left_over < NUMBERS / 100 || Eights::new(b' ').is_none(), "{left_over}");
        for digits in [0, 1, 9999, 10_000, MOST_DIGITS] {
            for exponent in -99..=99 {
                compare(digits % 2 == 0, digits, exponent);
            }
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "takes minutes")]
    fn numbers_halfway_between_two_others_and_their_neighbours() {
        let mut random = Random::new(8, 1);
        let mut decided = 0;
        for _ in 0..100_000 {
            // One bit more than f64, or f32, keeps, divided by 2^power, which is times 5^power and 10^-power.
            let bits = [54, 25][random.below(2) as usize];
            let odd = (random.next_bits() >> (64 - bits)) | 1 | 1 << (bits - 1);
            let halfway = odd * 5u64.pow(random.below(4) as u32);
            // The first digit stands before the point.
            let places = 18 - i64::from(halfway.ilog10());
            let digits = halfway * 10u64.pow(places as u32);
            for near in digits - 1..=digits + 1 {
                let [_, double] = compare(false, near, random.below(20) as i64 - 3);
                decided += usize::from(double);
                compare(true, near, 18 - places);
            }
        }
        assert!(decided > 200_000 || Eights::new(b' ').is_none());
    }

    /// Any byte changed: what is read at once is what is read one by one.
    #[test]
    #[cfg_attr(miri, ignore = "takes minutes")]
    fn damaged_groups_are_left_to_others_or_read_alike() {
        let (mut random, mut read) = (Random::new(9, 1), 0);
        let line = "-5.700000000000000000e+01,1.234567890123456789e-02,".repeat(LANES);
        let form = FixedForm::of(line.as_bytes(), TextSeparator::Comma).unwrap();
        for _ in 0..300_000 {
            let mut text = line.clone().into_bytes();
            let place = random.below(text.len() as u64) as usize;
            text[place] =
                [random.below(256) as u8, b"0123456789+-.,eE "[random.below(17) as usize]][place % 2];
            let mut row = [0.0f64; 2 * LANES];
            let (count, end) = form.read_eights(&text, 0, &mut row);
            let mut at = 0;
            for &value in &row[..count] {
                let (alone, end) = form.read::<f64>(&text, at).unwrap();
                assert_eq!((alone.to_bits(), text[end]), (value.to_bits(), b','), "{}", text.escape_ascii());
                at = end + 1;
            }
            assert_eq!(at, end, "{}", text.escape_ascii());
            read += count;
        }
        assert!(read > 100_000 || Eights::new(b',').is_none(), "{read}");
    }
}
