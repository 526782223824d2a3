//! Text to numbers, in place. Each function takes what it reads off the front of a line.

use crate::Scalar;
use crate::io::matrix_market::lines::is_blank;
use crate::io::number::{NumberFault, unusual};

/// Words separated by blanks.
pub(super) struct Words<'a>(pub(super) &'a [u8]);

impl<'a> Iterator for Words<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        skip_blanks(&mut self.0);
        let length = self.0.iter().position(|&byte| is_blank(byte)).unwrap_or(self.0.len());
        let (word, rest) = self.0.split_at(length);
        self.0 = rest;
        (!word.is_empty()).then_some(word)
    }
}

/// Why a value was not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ValueFault {
    Missing,
    NoNumber,
    NoInteger,
    TooLargeForF32,
    TooLargeForF64,
}

#[inline(always)]
pub(super) fn skip_blanks(text: &mut &[u8]) {
    while let [first, rest @ ..] = *text
        && is_blank(*first)
    {
        *text = rest;
    }
}

/// Does a word end here?
#[inline(always)]
fn word_ends(text: &[u8]) -> bool {
    text.first().is_none_or(|&byte| is_blank(byte))
}

/// Digits without a sign; `None` when the next word is anything else or does not fit 64 bits.
#[inline(always)]
pub(super) fn unsigned(text: &mut &[u8]) -> Option<u64> {
    /// So many digits always fit: nothing has to be checked while they are read.
    const SAFE_DIGITS: usize = 19;
    skip_blanks(text);
    let (mut value, mut length) = (0u64, 0);
    while let Some(digit) = text.get(length).map(|byte| byte.wrapping_sub(b'0'))
        && digit < 10
    {
        value = value.wrapping_mul(10).wrapping_add(digit.into());
        length += 1;
    }
    if length == 0 || !word_ends(&text[length..]) {
        return None;
    }
    let digits = &text[..length];
    *text = &text[length..];
    if length <= SAFE_DIGITS { Some(value) } else { many_digits(digits) }
}

#[cold]
fn many_digits(digits: &[u8]) -> Option<u64> {
    digits.iter().try_fold(0u64, |value, digit| value.checked_mul(10)?.checked_add((digit - b'0').into()))
}

/// A number, correctly rounded to `S`.
#[inline(always)]
pub(super) fn real<S: Scalar>(text: &mut &[u8]) -> Result<S, ValueFault> {
    skip_blanks(text);
    if let Some((value, length)) = S::parse_prefix(text)
        && word_ends(&text[length..])
        && Scalar::is_finite(value)
    {
        *text = &text[length..];
        return Ok(value);
    }
    unusual_real(text)
}

/// Infinities, NaN, numbers that are too large, Fortran's `1.5D+03`, and what is no number.
#[cold]
fn unusual_real<S: Scalar>(text: &mut &[u8]) -> Result<S, ValueFault> {
    let word = Words(text).next().ok_or(ValueFault::Missing)?;
    *text = &text[word.len()..];
    unusual(word).map_err(|fault| match fault {
        NumberFault::NotANumber => ValueFault::NoNumber,
        NumberFault::TooLarge if unusual::<f64>(word).is_ok() => ValueFault::TooLargeForF32,
        NumberFault::TooLarge => ValueFault::TooLargeForF64,
    })
}

/// A whole number of 64 bits, with or without sign; also `inf` and `nan`, which GraphBLAS writes there.
#[inline(always)]
pub(super) fn integer<S: Scalar>(text: &mut &[u8]) -> Result<S, ValueFault> {
    skip_blanks(text);
    let word = Words(text).next().ok_or(ValueFault::Missing)?;
    let (negative, digits) = match word {
        [b'-', digits @ ..] => (true, digits),
        [b'+', digits @ ..] => (false, digits),
        digits => (false, digits),
    };
    let largest = if negative { i64::MIN.unsigned_abs() } else { u64::MAX };
    let is_word = digits.first().is_some_and(u8::is_ascii_alphabetic);
    if is_word || unsigned(&mut { digits }).is_some_and(|size| size <= largest) {
        // The text once more: going through f64 would round twice on the way to f32.
        real(text).map_err(|_| ValueFault::NoInteger)
    } else {
        Err(ValueFault::NoInteger)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all<T, E>(read: impl Fn(&mut &[u8]) -> Result<T, E>, text: &str) -> Result<T, E> {
        let mut rest = text.as_bytes();
        let value = read(&mut rest)?;
        assert!(word_ends(rest), "{text:?} was not read to its end");
        Ok(value)
    }

    #[test]
    fn unsigned_numbers_are_digits_that_fit() {
        let read = |text: &str| unsigned(&mut text.as_bytes());
        assert_eq!(read("  007 x"), Some(7));
        assert_eq!(read("18446744073709551615"), Some(u64::MAX));
        assert_eq!(read("000000000000000000000000000012"), Some(12));
        for text in
            ["", " ", "18446744073709551616", "-1", "+1", "1.0", "1e3", "x", "1x", "99999999999999999999999"]
        {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn reals_are_rounded_once_and_must_fit() {
        for text in ["1", "+1.5", "-.5", "5.", "1e-5", "4.9e-324", "1e-999", "0.1", "1.7976931348623157e308"]
        {
            assert_eq!(all(real::<f64>, text).unwrap().to_bits(), text.parse::<f64>().unwrap().to_bits());
        }
        // Halfway between two f32 but for the last digit: f64 would round to the tie first.
        let text = "1.00000017881393432617187499";
        assert_eq!(all(real::<f32>, text), Ok(text.parse().unwrap()));
        assert_eq!(all(real::<f64>, "1.5D+03"), Ok(1500.0));
        assert_eq!(all(real::<f64>, " -2d0 "), Ok(-2.0));
        assert_eq!(all(real::<f64>, "-Infinity"), Ok(f64::NEG_INFINITY));
        assert!(all(real::<f32>, "NaN").unwrap().is_nan());
        assert_eq!(all(real::<f64>, "1E310"), Err(ValueFault::TooLargeForF64));
        assert_eq!(all(real::<f64>, "-1D310"), Err(ValueFault::TooLargeForF64));
        assert_eq!(all(real::<f32>, "3.5e38"), Err(ValueFault::TooLargeForF32));
        assert_eq!(all(real::<f32>, "1E9999"), Err(ValueFault::TooLargeForF64));
        assert_eq!(all(real::<f64>, "  "), Err(ValueFault::Missing));
        for text in ["x", "1x", "1e", "--1", "1.0.0", "1,5", "0x10", "infx", "inf1", "d", "\u{ff11}"] {
            assert_eq!(all(real::<f64>, text), Err(ValueFault::NoNumber), "{text}");
        }
    }

    #[test]
    fn integers_have_64_bits_in_either_sign() {
        assert_eq!(all(integer::<f64>, "-9223372036854775808"), Ok(-9223372036854775808.0));
        assert_eq!(all(integer::<f64>, "18446744073709551615"), Ok(18446744073709551615.0));
        assert_eq!(all(integer::<f32>, "+16777217"), Ok(16777216.0));
        assert_eq!(all(integer::<f64>, "-inf"), Ok(f64::NEG_INFINITY));
        for text in ["1.5", "1e3", "18446744073709551616", "-9223372036854775809", "-", "x", "1x"] {
            assert_eq!(all(integer::<f64>, text), Err(ValueFault::NoInteger), "{text}");
        }
        assert_eq!(all(integer::<f64>, ""), Err(ValueFault::Missing));
    }
}
