//! Numbers that all have the same form, such as `-1.320630000000000000e+01` of `numpy.savetxt`: one digit, a point, as many
//! digits as in every other number, `e`, a sign, two digits. Nothing but the sign changes where the next number starts, so
//! the processor reads on before it knows what this one is.

use crate::Scalar;
use crate::io::decimal;
use crate::io::number::{POWERS_OF_TEN, eight_digits, non_digits, word};
#[cfg(target_arch = "x86_64")]
use crate::io::text_matrix::fixed_avx512::{self, Eights};
use crate::io::text_matrix::separator::{TextSeparator, fields};

/// The longest fraction whose digits, with the one before them, fit 64 bits.
const LONGEST_FRACTION: usize = 18;
/// So many numbers of the first row tell the form.
const LOOKED_AT: usize = 64;
/// Room for every such number without its sign, and for reading eight bytes at a time.
const WINDOW_BYTES: usize = 32;

/// What every number is like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FixedForm {
    /// Digits behind the point.
    fraction: usize,
    /// Reads eight at a time, where form and processor allow it.
    #[cfg(target_arch = "x86_64")]
    eights: Option<Eights>,
}

impl FixedForm {
    /// The form that the first numbers of a line have, if it is one. Numbers that differ later are read another way.
    pub(super) fn of(line: &[u8], separator: TextSeparator) -> Option<Self> {
        let fraction_of = |field: &[u8]| {
            let digits = field.strip_prefix(b"-").unwrap_or(field).len().checked_sub("d.e+dd".len())?;
            let mut padded = field.to_vec();
            padded.resize(field.len() + WINDOW_BYTES, b' ');
            let read =
                (1..=LONGEST_FRACTION).contains(&digits).then(|| read_with::<f64>(digits, &padded, 0))??;
            (read.1 == field.len()).then_some(digits)
        };
        let mut fractions = fields(line, separator).take(LOOKED_AT).map(fraction_of);
        let fraction = fractions.next()??;
        let form = FixedForm {
            fraction,
            #[cfg(target_arch = "x86_64")]
            eights: match fraction {
                fixed_avx512::FRACTION => separator_byte(line).and_then(Eights::new),
                _ => None,
            },
        };
        fractions.all(|other| other == Some(fraction)).then_some(form)
    }

    /// The shortest row of so many numbers: none is negative.
    pub(super) fn least_bytes(self, cols: usize) -> usize {
        cols.saturating_mul(self.fraction + "d.e+dd ".len()) - 1
    }

    /// Reads the first numbers of a row from `at` on, as long as eight at a time can be read. How many there were, and where
    /// to read on.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "x86_64"), allow(unused_variables))]
    pub(super) fn read_eights<S: Scalar>(self, text: &[u8], at: usize, row: &mut [S]) -> (usize, usize) {
        #[cfg(target_arch = "x86_64")]
        if let Some(eights) = self.eights {
            return eights.read(text, at, row);
        }
        (0, at)
    }

    /// Reads the number that starts at `at` and says where it ends; `None` when it has another form.
    #[inline(always)]
    pub(super) fn read<S: Scalar>(self, text: &[u8], at: usize) -> Option<(S, usize)> {
        match self.fraction {
            LONGEST_FRACTION => read_with(LONGEST_FRACTION, text, at), // known to the compiler: no loops, no checks
            fraction => read_with(fraction, text, at),
        }
    }
}

/// The byte behind the first number of a line.
#[cfg(target_arch = "x86_64")]
fn separator_byte(line: &[u8]) -> Option<u8> {
    line.trim_ascii_start().iter().copied().find(|byte| matches!(byte, b' ' | b'\t' | b',' | b';'))
}

#[inline(always)]
fn read_with<S: Scalar>(fraction: usize, text: &[u8], at: usize) -> Option<(S, usize)> {
    let negative = *text.get(at)? == b'-';
    let start = at + usize::from(negative);
    let window: &[u8; WINDOW_BYTES] = text.get(start..start + WINDOW_BYTES)?.try_into().ok()?;
    let mut mantissa = u64::from(window[0].wrapping_sub(b'0'));
    let mut wrong = u64::from(mantissa > 9) | u64::from(window[1] != b'.');
    let (mut place, mut left) = (2, fraction);
    while left >= 8 {
        let eight = word(window, place)?;
        wrong |= non_digits(eight);
        mantissa = mantissa.wrapping_mul(100_000_000).wrapping_add(eight_digits(eight));
        (place, left) = (place + 8, left - 8);
    }
    // Zeros in front; two steps, because shifting 64 bits at once is not defined.
    let last = word(window, place)? << (4 * (8 - left)) << (4 * (8 - left));
    wrong |= non_digits(last);
    mantissa = mantissa.wrapping_mul(POWERS_OF_TEN[left]).wrapping_add(eight_digits(last));
    let &[e, sign, tens, ones] = window.get(place + left..)?.first_chunk()?;
    let (tens, ones) = (tens.wrapping_sub(b'0'), ones.wrapping_sub(b'0'));
    wrong |= u64::from((e | 0x20) != b'e') | u64::from(tens > 9) | u64::from(ones > 9);
    wrong |= u64::from((sign != b'+') & (sign != b'-'));
    if wrong != 0 {
        return None;
    }
    let written = 10 * i64::from(tens) + i64::from(ones);
    let exponent = if sign == b'-' { -written } else { written } - fraction as i64;
    Some((decimal::round(negative, mantissa, exponent)?, start + place + left + 4))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::Random;

    #[test]
    fn a_form_is_what_the_numbers_of_a_line_share() {
        let fraction =
            |line: &str| FixedForm::of(line.as_bytes(), TextSeparator::Blanks).map(|form| form.fraction);
        assert_eq!(fraction("-5.700000000000000000e+01 4.123456789012345678E-00\r\n"), Some(18));
        assert_eq!(fraction("1.5e+00 -1.5e+00"), Some(1));
        for line in [
            "",
            "1",
            "1.e+00",
            "1.5e+00 1.50e+00",
            "1.5e+00 1.5e+0",
            "15.5e+00",
            "1.5e+00 x",
            "1.5e+000",
            "1.5d+00",
            "1.1234567890123456789e+00",
            "+1.5e+00",
            "1.5e+00 x.5e+00",
            "1.5e+00 1.xe+00",
            "1.5e+00 1.5e 00",
        ] {
            assert_eq!(fraction(line), None, "{line}");
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "takes minutes")]
    fn every_length_is_rounded_like_the_standard_library() {
        let mut random = Random::new(5, 1);
        for fraction in 1..=LONGEST_FRACTION {
            for _ in 0..20_000 {
                let exponent = random.below(30) as i64 - 15;
                let size = 10.0 * random.unit() * if random.below(2) == 0 { -1.0 } else { 1.0 };
                let (sign, distance) = (if exponent < 0 { '-' } else { '+' }, exponent.abs());
                let size = format!("{size:.fraction$}");
                if size.trim_start_matches('-').find('.') != Some(1) {
                    continue; // rounded up to 10
                }
                let text = format!("{size}e{sign}{distance:02}");
                let padded = format!("{text} {}", "9".repeat(WINDOW_BYTES));
                let double = read_with::<f64>(fraction, padded.as_bytes(), 0).unwrap();
                assert_eq!(
                    (double.0.to_bits(), double.1),
                    (text.parse::<f64>().unwrap().to_bits(), text.len())
                );
                let single = read_with::<f32>(fraction, padded.as_bytes(), 0).unwrap();
                assert_eq!(
                    (single.0.to_bits(), single.1),
                    (text.parse::<f32>().unwrap().to_bits(), text.len())
                );
                // Any other byte at any place, and it is no number of this form, or another number.
                let at = random.below(text.len() as u64) as usize;
                let mut other = padded.into_bytes();
                other[at] = random.below(256) as u8;
                if let Some((value, end)) = read_with::<f64>(fraction, &other, 0) {
                    let changed = std::str::from_utf8(&other[..end]).unwrap();
                    assert_eq!(value.to_bits(), changed.parse::<f64>().unwrap().to_bits(), "{changed}");
                }
            }
        }
    }
}
