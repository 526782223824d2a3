//! Lines as programs write them, at full speed: digits eight at a time, no search for the end of the line. Whatever looks
//! different is left to [`crate::io::matrix_market::line`], which says the same of these.

use crate::Scalar;
use crate::io::matrix_market::header::{Field, Header, Symmetry};
use crate::io::matrix_market::lines::is_blank;
use crate::io::{decimal, number};

/// More digits of a whole number are left to others, which see whether they fit 64 bits.
const MOST_INTEGER_DIGITS: usize = 18;

/// Row, column and value on the line that starts at `at`, and where the next line starts.
#[inline(always)]
pub(super) fn coordinate<S: Scalar>(
    text: &[u8],
    at: usize,
    header: &Header,
    value: impl Fn(&[u8], usize) -> Option<(S, usize)>,
) -> Option<(u32, u32, S, usize)> {
    let (row, end) = index(text, skip_blanks(text, at)?, header.rows)?;
    let (col, end) = index(text, next_word(text, end)?, header.cols)?;
    let (value, end) = value(text, end)?;
    if header.symmetry == Symmetry::SkewSymmetric && row == col {
        return None;
    }
    Some((row, col, value, next_line(text, end)?))
}

/// A usual line of an array, which names no place: that of the first element stands for it.
#[inline(always)]
pub(super) fn element<S: Scalar>(text: &[u8], at: usize, field: Field) -> Option<(u32, u32, S, usize)> {
    let start = skip_blanks(text, at)?;
    let (value, end) = if field == Field::Integer { whole(text, start) } else { number::usual(text, start) }?;
    Some((0, 0, value, next_line(text, end)?))
}

/// A real number behind the indices, which end at `at`.
#[inline(always)]
pub(super) fn real<S: Scalar>(text: &[u8], at: usize) -> Option<(S, usize)> {
    number::usual(text, next_word(text, at)?)
}

/// A whole number there.
#[inline(always)]
pub(super) fn integer<S: Scalar>(text: &[u8], at: usize) -> Option<(S, usize)> {
    whole(text, next_word(text, at)?)
}

/// Nothing there.
#[inline(always)]
pub(super) fn pattern<S: Scalar>(_: &[u8], at: usize) -> Option<(S, usize)> {
    Some((S::ONE, at))
}

#[inline(always)]
fn whole<S: Scalar>(text: &[u8], at: usize) -> Option<(S, usize)> {
    let sign = *text.get(at)?;
    let start = at + usize::from(matches!(sign, b'-' | b'+'));
    let (size, end) = number::digits(text, 0, start)?;
    if end == start || end - start > MOST_INTEGER_DIGITS {
        return None;
    }
    // Not through f64, which would round twice on the way to f32.
    Some((decimal::round(sign == b'-', size, 0)?, end))
}

/// An index from 1 to `bound`, counted from 0 hereafter, and where it ends.
#[inline(always)]
fn index(text: &[u8], at: usize, bound: usize) -> Option<(u32, usize)> {
    let (value, end) = number::digits(text, 0, at)?;
    let index = value.wrapping_sub(1); // of no digits: too large
    (index < bound as u64 && end - at <= number::MOST_DIGITS).then_some((index as u32, end))
}

/// Where the next word starts; the last one ends at `at`.
#[inline(always)]
fn next_word(text: &[u8], at: usize) -> Option<usize> {
    is_blank(*text.get(at)?).then(|| skip_blanks(text, at + 1))?
}

#[inline(always)]
fn skip_blanks(text: &[u8], mut at: usize) -> Option<usize> {
    // Nothing that belongs to a number is below a blank: one comparison for nearly all.
    while *text.get(at)? <= b' ' {
        if !is_blank(text[at]) {
            return None;
        }
        at += 1;
    }
    Some(at)
}

/// Where the next line starts, if nothing but blanks is left on this one.
#[inline(always)]
fn next_line(text: &[u8], mut at: usize) -> Option<usize> {
    while *text.get(at)? != b'\n' {
        if !is_blank(text[at]) {
            return None;
        }
        at += 1;
    }
    Some(at + 1)
}
