//! One number of a text. The common forms are read eight digits at a time in a 64-bit register; whatever is unusual
//! (more than 19 digits, far exponents, `inf`, `nan`, the last bytes of the text) goes to `fast-float2`.

use crate::Scalar;
use crate::io::decimal;

/// So many digits always fit 64 bits.
pub(super) const MOST_DIGITS: usize = 19;

/// Enough for every exponent that is read here, with a zero or two in front.
const MOST_EXPONENT_DIGITS: usize = 4;

pub(super) const POWERS_OF_TEN: [u64; 8] = [1, 10, 100, 1000, 10_000, 100_000, 1_000_000, 10_000_000];

/// Reads the number that starts at `at` and says where it ends; what follows is for the caller to check. `None`: there
/// is none, or [`unusual`] has to look at it.
#[inline(always)]
pub(super) fn usual<S: Scalar>(text: &[u8], at: usize) -> Option<(S, usize)> {
    let sign = *text.get(at)?;
    let negative = sign == b'-';
    // Arithmetic, not a branch: the signs of measured data cannot be predicted.
    let start = at + usize::from(negative | (sign == b'+'));
    // One digit before the point, as in every number with an exponent: a branch that is predicted spares the search.
    let first = text.get(start)?.wrapping_sub(b'0');
    let (mut mantissa, mut end) = match text.get(start + 1) == Some(&b'.') && first <= 9 {
        true => (first.into(), start + 1),
        false => digits(text, 0, start)?,
    };
    let mut digit_count = end - start;
    let mut exponent = 0;
    if *text.get(end)? == b'.' {
        let fraction = end + 1;
        (mantissa, end) = digits(text, mantissa, fraction)?;
        digit_count += end - fraction;
        exponent = -((end - fraction) as i64);
    }
    if digit_count == 0 || (digit_count > MOST_DIGITS && significant(&text[start..end]) > MOST_DIGITS) {
        return None;
    }
    if matches!(*text.get(end)? | 0x20, b'e' | b'd') {
        let sign = *text.get(end + 1)?;
        let start = end + 1 + usize::from(matches!(sign, b'+' | b'-'));
        let (mut written, mut exponent_end) = (0, start);
        // One by one: nearly always two, which is predicted.
        while let digit @ 0..=9 = text.get(exponent_end)?.wrapping_sub(b'0') {
            written = 10 * written + i64::from(digit);
            exponent_end += 1;
            if exponent_end - start > MOST_EXPONENT_DIGITS {
                return None;
            }
        }
        if exponent_end == start {
            return None;
        }
        exponent += if sign == b'-' { -written } else { written };
        end = exponent_end;
    }
    Some((decimal::round(negative, mantissa, exponent)?, end))
}

/// Digits of a number behind its leading zeros: 0.00123 with seventeen of them is no long number.
#[cold]
fn significant(digits: &[u8]) -> usize {
    let behind_zeros = digits.iter().skip_while(|byte| matches!(byte, b'0' | b'.'));
    behind_zeros.filter(|&&byte| byte != b'.').count()
}

/// Appends the digits from `at` on to `value`, modulo 2⁶⁴, and says where they end. `None` close to the text's end.
#[inline(always)]
pub(super) fn digits(text: &[u8], mut value: u64, mut at: usize) -> Option<(u64, usize)> {
    loop {
        let eight = word(text, at)?;
        let others = non_digits(eight);
        if others != 0 {
            let count = others.trailing_zeros() as usize / 8;
            // Zeros in front; two steps, because shifting 64 bits at once is not defined.
            let padded = eight << (4 * (8 - count)) << (4 * (8 - count));
            let value = value.wrapping_mul(POWERS_OF_TEN[count]).wrapping_add(eight_digits(padded));
            return Some((value, at + count));
        }
        value = value.wrapping_mul(100_000_000).wrapping_add(eight_digits(eight));
        at += 8;
    }
}

/// Eight bytes, each a digit's value where it is a digit.
#[inline(always)]
pub(super) fn word(text: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(text.get(at..at + 8)?.try_into().ok()?) ^ 0x3030_3030_3030_3030)
}

/// The high bit of every byte above 9, up to the first of them; a carry may reach those behind it.
#[inline(always)]
pub(super) fn non_digits(word: u64) -> u64 {
    (word.wrapping_add(0x7676_7676_7676_7676) | word) & 0x8080_8080_8080_8080
}

/// Eight digits, the first in the lowest byte: neighbours become pairs, pairs become fours and eights.
#[inline(always)]
pub(super) fn eight_digits(digits: u64) -> u64 {
    const PAIRS: u64 = 0x0000_00ff_0000_00ff;
    let pairs = digits.wrapping_mul(10).wrapping_add(digits >> 8);
    let first_and_third = (pairs & PAIRS).wrapping_mul(100 + (1_000_000 << 32));
    let second_and_fourth = ((pairs >> 16) & PAIRS).wrapping_mul(1 + (10_000 << 32));
    first_and_third.wrapping_add(second_and_fourth) >> 32
}

/// Why a word gives no number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NumberFault {
    /// It is none.
    NotANumber,
    /// It is one, but not of this type.
    TooLarge,
}

/// A whole word as a number: also infinities, NaN, any number of digits, and Fortran's `1.5D+03`.
#[cold]
pub(super) fn unusual<S: Scalar>(word: &[u8]) -> Result<S, NumberFault> {
    let has_digits = word.iter().any(u8::is_ascii_digit);
    let parsed = match word.iter().position(|byte| matches!(byte, b'd' | b'D')) {
        Some(at) if has_digits => {
            let mut spelled = word.to_vec();
            spelled[at] = b'e';
            S::parse(&spelled)
        }
        _ => S::parse(word),
    };
    let value = parsed.ok_or(NumberFault::NotANumber)?;
    // `inf` and `nan` have no digits; a number that became infinite has.
    if has_digits && !Scalar::is_finite(value) { Err(NumberFault::TooLarge) } else { Ok(value) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::Random;

    /// With room behind it, as in the middle of a text.
    fn read<S: Scalar>(text: &str) -> Option<(S, usize)> {
        usual(format!("{text} 99999999").as_bytes(), 0)
    }

    /// The same bits as the standard library, whoever of the two has to read it; was it the fast one?
    fn compare(text: &str) -> [bool; 2] {
        let standard = text.replace(['d', 'D'], "e");
        let (single, double) = (read::<f32>(text), read::<f64>(text));
        let single_expected: f32 = standard.parse().unwrap();
        let double_expected: f64 = standard.parse().unwrap();
        if let Some((found, end)) = single {
            assert_eq!((found.to_bits(), end), (single_expected.to_bits(), text.len()), "{text}");
        }
        if let Some((found, end)) = double {
            assert_eq!((found.to_bits(), end), (double_expected.to_bits(), text.len()), "{text}");
        }
        if single_expected.is_finite() {
            assert_eq!(
                unusual::<f32>(text.as_bytes()).unwrap().to_bits(),
                single_expected.to_bits(),
                "{text}"
            );
        }
        if double_expected.is_finite() {
            assert_eq!(
                unusual::<f64>(text.as_bytes()).unwrap().to_bits(),
                double_expected.to_bits(),
                "{text}"
            );
        }
        [single.is_some(), double.is_some()]
    }

    #[test]
    fn every_common_form_is_read_the_fast_way() {
        for text in [
            "0",
            "-0",
            "7",
            "+7",
            "-12.5",
            ".5",
            "5.",
            "-.25e1",
            "1e5",
            "1E-5",
            "1.5D+03",
            "1.5d3",
            "12345678",
            "123456789",
            "1234567890123456789",
            "0.1",
            "-5.700000000000000000e+01",
            "2.387117195129394531e+01",
            "1e0010",
            "0.000001",
            "00012",
            "1.e2",
            "99999999.99999999",
            "0.0012345678901234567",
            "-0.00001234567890123456e-3",
            "000000000000000000000012.5",
        ] {
            assert_eq!(compare(text), [true, true], "{text}");
        }
        for text in ["1e400", "-1e-400", "4.9e-324", "12345678901234567890", "1.00000017881393432617187499"] {
            compare(text);
        }
    }

    #[test]
    fn what_is_no_number_is_none() {
        for text in
            ["", "-", "+", ".", "-.", "e5", "x", "1e", "1e+", "1.5e-", "--1", "+-1", "1e99999", ".e1", "nan"]
        {
            assert_eq!(read::<f64>(text), None, "{text}");
        }
        // It stops where the number does; that nothing may follow is the caller's to see.
        assert_eq!(read::<f64>("1.2.3"), Some((1.2, 3)));
        assert_eq!(read::<f64>("12x"), Some((12.0, 2)));
        assert_eq!(usual::<f64>(b"12", 0), None, "too close to the end");
        assert_eq!(usual::<f64>(b"", 3), None);
    }

    #[test]
    fn unusual_words() {
        assert_eq!(unusual(b"-Infinity"), Ok(f64::NEG_INFINITY));
        assert!(unusual::<f32>(b"NaN").unwrap().is_nan());
        assert_eq!(unusual(b"-1.5D+03"), Ok(-1500.0));
        assert_eq!(unusual::<f64>(b"1D400"), Err(NumberFault::TooLarge));
        assert_eq!(unusual::<f32>(b"3.5e38"), Err(NumberFault::TooLarge));
        for word in
            ["", "x", "1x", "1e", "1.0.0", "1,5", "0x10", "infd", "d", "1d", "1d2d3", "1e2d3", "\u{ff11}"]
        {
            assert_eq!(unusual::<f64>(word.as_bytes()), Err(NumberFault::NotANumber), "{word}");
        }
    }

    /// Random spelling of random digits: 1 to 40 of them, the point anywhere, any exponent or none.
    fn spelled(random: &mut Random) -> String {
        let mut text = ["", "-", "+"][random.below(3) as usize].to_owned();
        let most = [5, 19, 20, 40][random.below(4) as usize];
        let digits = 1 + random.below(most);
        let point = random.below(digits + 2);
        for digit in 0..digits {
            if digit == point {
                text.push('.');
            }
            let zero_or_any = if random.below(3) == 0 { 1 } else { 10 };
            text.push(char::from(b'0' + random.below(zero_or_any) as u8));
        }
        if random.below(3) > 0 {
            text.push(['e', 'E', 'd', 'D'][random.below(4) as usize]);
            let range = [3, 30, 60, 350][random.below(4) as usize];
            let exponent = random.below(2 * range) as i64 - range as i64;
            let plus = if exponent >= 0 && random.below(2) == 0 { "+" } else { "" };
            text += &format!("{plus}{exponent}");
        }
        text
    }

    #[test]
    #[cfg_attr(miri, ignore = "takes minutes")]
    fn random_spellings_are_rounded_like_the_standard_library() {
        let mut random = Random::new(3, 1);
        let mut fast = [0; 2];
        for _ in 0..1_000_000 {
            let [single, double] = compare(&spelled(&mut random));
            fast = [fast[0] + usize::from(single), fast[1] + usize::from(double)];
        }
        assert!(fast[0] > 400_000 && fast[1] > 500_000, "{fast:?}");
    }

    #[test]
    #[cfg_attr(miri, ignore = "takes minutes")]
    fn what_programs_print_comes_back_bit_by_bit() {
        let mut random = Random::new(4, 1);
        for _ in 0..300_000 {
            let value = 100.0 * random.normal();
            for text in
                [format!("{value:.18e}"), format!("{value:e}"), format!("{value}"), format!("{value:.17e}")]
            {
                let fast = read::<f64>(&text);
                assert_eq!(unusual::<f64>(text.as_bytes()).map(f64::to_bits), Ok(value.to_bits()), "{text}");
                assert!(fast.is_none_or(|(found, _)| found.to_bits() == value.to_bits()), "{text}");
            }
            let value = f64::from_bits(random.next_bits());
            if value.is_finite() {
                compare(&format!("{value:e}"));
            }
        }
    }
}
