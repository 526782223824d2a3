//! One line of the body: an entry, checked against the header, or what is wrong with it.

use crate::Scalar;
use crate::io::matrix_market::header::{Field, Format, Header, Object, Symmetry};
use crate::io::matrix_market::lines::is_blank;
use crate::io::matrix_market::numbers::{ValueFault, Words, integer, real, unsigned};
use crate::io::matrix_market::places::Places;

/// What is wrong with a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    Row,
    Column,
    Value(ValueFault),
    Extra,
    SkewDiagonal,
}

/// The entry that a line holds. The places of an array come from `places`, one for each line.
#[inline]
pub(super) fn entry<S: Scalar>(
    text: &[u8],
    header: &Header,
    places: &mut Places,
) -> Result<(u32, u32, S), Fault> {
    let mut rest = text;
    let (row, col) = match (header.format, header.object) {
        (Format::Array, _) => places.next().ok_or(Fault::Extra)?,
        (Format::Coordinate, Object::Vector) => (index(&mut rest, header.rows).ok_or(Fault::Row)?, 0),
        (Format::Coordinate, Object::Matrix) => {
            let row = index(&mut rest, header.rows).ok_or(Fault::Row)?;
            (row, index(&mut rest, header.cols).ok_or(Fault::Column)?)
        }
    };
    let value = match header.field {
        Field::Real => real(&mut rest).map_err(Fault::Value)?,
        Field::Integer => integer(&mut rest).map_err(Fault::Value)?,
        Field::Pattern => S::ONE,
    };
    if !rest.iter().all(|&byte| is_blank(byte)) {
        return Err(Fault::Extra);
    }
    if header.symmetry == Symmetry::SkewSymmetric && row == col && value != S::ZERO {
        return Err(Fault::SkewDiagonal);
    }
    Ok((row, col, value))
}

/// An index from 1 to `bound`, counted from 0 hereafter.
#[inline(always)]
fn index(rest: &mut &[u8], bound: usize) -> Option<u32> {
    let index = unsigned(rest)?.wrapping_sub(1);
    (index < bound as u64).then_some(index as u32)
}

/// Bytes of the shortest line: indices and values of one digit, a blank or line end after each.
pub(super) fn shortest(header: &Header) -> u64 {
    let indices = match (header.format, header.object) {
        (Format::Array, _) => 0,
        (Format::Coordinate, Object::Vector) => 1,
        (Format::Coordinate, Object::Matrix) => 2,
    };
    2 * (indices + u64::from(header.field != Field::Pattern))
}

impl Fault {
    /// What should stand on the line. The line itself is shown beside it.
    pub(super) fn expected(self, text: &[u8], header: &Header) -> String {
        let index = |what, position, bound| {
            let is_zero = Words(text).nth(position).is_some_and(|word| word.iter().all(|&byte| byte == b'0'));
            let note =
                if is_zero { ": Matrix Market counts from 1, and this file looks zero-based" } else { "" };
            format!("a {what} from 1 to {bound}{note}")
        };
        match self {
            Fault::Row => index("row", 0, header.rows),
            Fault::Column => index("column", 1, header.cols),
            Fault::Value(ValueFault::Missing) => format!("a value, since the field is {}", header.field),
            Fault::Value(ValueFault::NoNumber) => "a number".to_owned(),
            Fault::Value(ValueFault::NoInteger) => {
                "a whole number of at most 64 bits, since the field is integer".to_owned()
            }
            Fault::Value(ValueFault::TooLargeForF32) => {
                "a number that fits f32 (at most 3.4e38); f64 holds this one".to_owned()
            }
            Fault::Value(ValueFault::TooLargeForF64) => "a number that fits f64 (at most 1.8e308)".to_owned(),
            Fault::Extra if header.field == Field::Pattern => {
                "nothing after the indices, since the field is pattern".to_owned()
            }
            Fault::Extra => "nothing after the value".to_owned(),
            Fault::SkewDiagonal => "0 on the diagonal, since the file is skew-symmetric".to_owned(),
        }
    }
}
