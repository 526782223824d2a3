//! Lines of two indices and a real number without exponent, as most are, at once: one vector holds the line, and where its
//! words begin and end is seen by comparing all bytes, not by walking from one to the next. What then remains to be done
//! for the words does not wait for each other. Everything else is left to [`crate::io::matrix_market::usual_line`].

use crate::Scalar;
use crate::io::decimal;
use crate::io::number::{MOST_DIGITS, eight_digits, word};
use crate::simd::SimdLevel;
use std::arch::x86_64::*;

/// The longest line, its end included.
const WINDOW_BYTES: usize = 64;

static POWERS_OF_TEN: [u64; MOST_DIGITS + 1] = {
    let mut powers = [1; MOST_DIGITS + 1];
    let mut power = 1;
    while power <= MOST_DIGITS {
        powers[power] = 10 * powers[power - 1];
        power += 1;
    }
    powers
};

/// Proof that this processor has the instructions.
#[derive(Debug, Clone, Copy)]
pub(super) struct Windows(());

impl Windows {
    /// `None` where AVX-512 is not in use.
    pub(super) fn new() -> Option<Self> {
        (SimdLevel::in_use() >= SimdLevel::Avx512).then_some(Windows(()))
    }

    /// Reads lines from `at` on as long as they have the form and there is room. How many there were, and where the next
    /// one starts.
    pub(super) fn read<S: Scalar>(
        self,
        text: &[u8],
        at: usize,
        bounds: (usize, usize),
        places: (&mut [u32], &mut [u32]),
        values: &mut [S],
    ) -> (usize, usize) {
        // SAFETY: `new` saw that the processor has what `read_lines` is compiled for.
        unsafe { read_lines(text, at, bounds, places, values) }
    }
}

#[target_feature(enable = "avx512f,avx512bw,bmi1,bmi2")]
fn read_lines<S: Scalar>(
    text: &[u8],
    mut at: usize,
    bounds: (usize, usize),
    (rows, cols): (&mut [u32], &mut [u32]),
    values: &mut [S],
) -> (usize, usize) {
    let mut count = 0;
    for ((row, col), value) in rows.iter_mut().zip(cols).zip(values) {
        let Some((found, next)) = read_line(text, at, bounds) else { break };
        ((*row, *col, *value), at) = (found, next);
        count += 1;
    }
    (count, at)
}

/// The line that starts at `at`, and where the next one does.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,bmi1,bmi2")]
fn read_line<S: Scalar>(text: &[u8], at: usize, bounds: (usize, usize)) -> Option<((u32, u32, S), usize)> {
    let window = text.get(at..)?.first_chunk::<WINDOW_BYTES>()?;
    // SAFETY: the window has as many bytes as a vector.
    let bytes = unsafe { _mm512_loadu_si512(window.as_ptr().cast()) };
    let equal = |byte: u8| _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8(byte as i8));
    let line_ends = equal(b'\n');
    if line_ends == 0 {
        return None;
    }
    let end = line_ends.trailing_zeros() as usize;
    let on_line = (1 << end) - 1;
    let values_of_digits = _mm512_sub_epi8(bytes, _mm512_set1_epi8(b'0' as i8));
    let others = _mm512_cmpgt_epu8_mask(values_of_digits, _mm512_set1_epi8(9)) & on_line;
    // Two blanks, a minus or none, and a point: nothing else.
    let behind_first = others & others.wrapping_sub(1);
    let behind_second = behind_first & behind_first.wrapping_sub(1);
    let (first, second) = (others.trailing_zeros() as usize, behind_first.trailing_zeros() as usize);
    if behind_second == 0 || (others ^ behind_second) & !equal(b' ') != 0 {
        return None;
    }
    let minus = equal(b'-') & (2 << second);
    let point_mask = behind_second & !minus;
    let point = point_mask.trailing_zeros() as usize;
    if point_mask != equal(b'.') & on_line || point_mask & point_mask.wrapping_sub(1) != 0 {
        return None;
    }
    let start = second + 1 + usize::from(minus != 0);
    let row = index(text, at, first, bounds.0)?;
    let col = index(text, at + first + 1, second - first - 1, bounds.1)?;
    let (before, behind) = (point.wrapping_sub(start), end.wrapping_sub(point + 1));
    if behind == 0 || before.wrapping_add(behind) > MOST_DIGITS {
        return None;
    }
    let whole = leading(text, at + start, before)?;
    let fraction = (trailing(text, at + end, 2, behind)? * 100_000_000
        + trailing(text, at + end, 1, behind)?)
        * 100_000_000
        + trailing(text, at + end, 0, behind)?;
    let mantissa = whole * POWERS_OF_TEN[behind] + fraction;
    let value = decimal::round(minus != 0, mantissa, -(behind as i64))?;
    Some(((row, col, value), at + end + 1))
}

/// The number of one to eight digits that starts at `at`.
#[inline(always)]
fn leading(text: &[u8], at: usize, digits: usize) -> Option<u64> {
    // Without digits, and with more than eight: no shift.
    let others = 8usize.checked_sub(digits).filter(|&others| others < 8)?;
    Some(eight_digits(word(text, at)? << (8 * others)))
}

/// An index from 1 to `bound`, counted from 0 hereafter.
#[inline(always)]
fn index(text: &[u8], at: usize, digits: usize, bound: usize) -> Option<u32> {
    let index = leading(text, at, digits)?.wrapping_sub(1);
    (index < bound as u64).then_some(index as u32)
}

/// Of the `digits` digits that end at `end`, the last eight (of which 0), or the eight before them.
#[inline(always)]
fn trailing(text: &[u8], end: usize, of_which: usize, digits: usize) -> Option<u64> {
    let kept = digits.saturating_sub(8 * of_which).min(8) as u32;
    let eight = word(text, end.checked_sub(8 * (of_which + 1))?)?;
    Some(eight_digits(eight & u64::MAX.unbounded_shl(64 - 8 * kept)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::matrix_market::header::{Field, Format, Header, Object, Symmetry};
    use crate::io::matrix_market::usual_line;
    use crate::matrix::Random;

    /// The line, with enough text around it.
    fn read<S: Scalar>(line: &str) -> Option<(u32, u32, S, usize)> {
        let windows = Windows::new()?;
        let text = format!("{:64}\n{line}\n{:64}", "", "");
        let (mut row, mut col, mut value) = ([0], [0], [S::ZERO]);
        let bounds = (ROWS, ROWS);
        let (count, next) = windows.read(text.as_bytes(), 65, bounds, (&mut row, &mut col), &mut value);
        (count == 1).then_some((row[0], col[0], value[0], next))
    }

    const ROWS: usize = 50_000_000;

    /// Both read it alike, or the vectors leave it to the other; did they read it?
    fn compare(line: &str) -> bool {
        let header = Header {
            object: Object::Matrix,
            format: Format::Coordinate,
            field: Field::Real,
            symmetry: Symmetry::General,
            rows: ROWS,
            cols: ROWS,
            entries: 1,
        };
        let text = format!("{:64}\n{line}\n{:64}", "", "");
        let double = read::<f64>(line);
        if let Some(found) = double {
            let expected = usual_line::coordinate::<f64>(text.as_bytes(), 65, &header, usual_line::real);
            assert_eq!(Some(found), expected, "{line:?}");
        }
        if let Some(found) = read::<f32>(line) {
            let expected = usual_line::coordinate::<f32>(text.as_bytes(), 65, &header, usual_line::real);
            assert_eq!(Some(found), expected, "{line:?}");
        }
        double.is_some()
    }

    #[test]
    fn lines_of_the_form_are_read_like_others() {
        if Windows::new().is_none() {
            return; // this processor never calls it
        }
        for line in [
            "1 1 0.5",
            "49999999 12345678 -12345678.12345678901",
            "7 50000000 0.123456789012345678",
            "1 2 -0.0",
        ] {
            assert!(compare(line), "{line}");
        }
        for line in [
            "1 1 .5",
            "1 1 5.",
            "1 1 5",
            "1 1 1.5e3",
            "0 1 1.5",
            "50000001 1 1.5",
            "1 1  1.5",
            " 1 1 1.5",
            "1 1 1.5 ",
            "1 1 1.5\r",
            "1\t1 1.5",
            "1 1 +1.5",
            "1 1 --1.5",
            "1 1 1.5.5",
            "1 1 1-.5",
            "1 11.5",
            "1 1 -",
            "1 1 .",
            "1 1 -.5",
            "100000000 1 1.5",
            "1 1 123456789.5",
            "1 1 0.12345678901234567890",
            "",
            "1",
            "1 1",
            "% 1 1 1.5",
            "1 1 1 1.5",
        ] {
            assert!(!compare(line), "{line}");
        }
    }

    #[test]
    fn random_lines_are_read_alike_whole_and_damaged() {
        if Windows::new().is_none() {
            return;
        }
        let mut random = Random::new(9, 1);
        let mut taken = 0;
        for _ in 0..200_000 {
            let digits = random.below(20) as usize;
            let value = random.normal() * [1.0, 1e3, 1e-3][random.below(3) as usize];
            let (row, col) = (1 + random.below(ROWS as u64), 1 + random.below(1000));
            taken += usize::from(compare(&format!("{row} {col} {value:.digits$}")));
            let mut line = format!("{row} {col} {value:?}").into_bytes();
            let at = random.below(line.len() as u64) as usize;
            line[at] = b"09 .-+e\n\r%x"[random.below(11) as usize];
            compare(&String::from_utf8_lossy(&line));
        }
        assert!(taken > 150_000, "{taken}");
    }
}
