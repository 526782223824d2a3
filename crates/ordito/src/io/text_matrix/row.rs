//! One row of numbers, and what is wrong where a row is not as it should be.

use crate::Scalar;
use crate::io::number;
use crate::io::number::NumberFault;
use crate::io::source::next_line;
use crate::io::text_matrix::NonFinite;
use crate::io::text_matrix::fixed::FixedForm;
use crate::io::text_matrix::separator::{TextSeparator, count_fields, is_blank};

/// What every row must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RowForm {
    pub(super) separator: TextSeparator,
    pub(super) cols: usize,
    pub(super) non_finite: NonFinite,
    /// What the numbers of the first row look like. Others may differ.
    pub(super) fixed: Option<FixedForm>,
    /// Every row is believed to be at least so long, until one is found that is not.
    pub(super) least_bytes: usize,
}

/// What is wrong with a row. Columns are counted from 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum RowFault {
    /// Too many or too few numbers.
    Count { found: u64 },
    /// A field that holds nothing, between two separators.
    EmptyField { column: usize },
    /// A field that holds something else than a number.
    NotANumber { column: usize, field: Vec<u8> },
    /// A number that is infinite once it is rounded.
    TooLarge { column: usize, field: Vec<u8> },
    /// `inf` or `nan`, and they were not asked for.
    NotFinite { column: usize, field: Vec<u8> },
}

/// The first place from `at` on that is not blank.
#[inline(always)]
pub(super) fn skip_blanks(text: &[u8], mut at: usize) -> usize {
    while text.get(at).is_some_and(|&byte| is_blank(byte)) {
        at += 1;
    }
    at
}

/// Does the line end here? In `\n`, `\r\n`, or with the text.
#[inline(always)]
pub(super) fn is_line_end(text: &[u8], at: usize) -> bool {
    match text.get(at) {
        None | Some(b'\n') => true,
        Some(b'\r') => matches!(text.get(at + 1), None | Some(b'\n')),
        _ => false,
    }
}

/// So many numbers are read one by one before eight at once are tried again.
const AT_A_TIME: usize = 8;

/// Reads the numbers of the line that starts at `at` into `row`, and says where the line ends.
#[inline(always)]
pub(super) fn read_row<S: Scalar>(
    text: &[u8],
    at: usize,
    form: &RowForm,
    row: &mut [S],
) -> Result<usize, RowFault> {
    let (mut at, mut column) = (skip_blanks(text, at), 0);
    while column < row.len() {
        if let Some(fixed) = form.fixed {
            let (count, next) = fixed.read_eights(text, at, &mut row[column..]);
            (at, column) = (skip_blanks(text, next), column + count);
        }
        // Those it stopped at, or the last ones; after them it may go on.
        for (column, slot) in row.iter_mut().enumerate().skip(column).take(AT_A_TIME) {
            (*slot, at) = read_field(text, at, form, column)?;
        }
        column += AT_A_TIME;
    }
    if is_line_end(text, at) {
        return Ok(at);
    }
    let more = count_fields(&text[at..next_line(text, at)], form.separator);
    Err(RowFault::Count { found: row.len() as u64 + more })
}

/// The number that starts at `at`, and where the next one does.
#[inline(always)]
fn read_field<S: Scalar>(
    text: &[u8],
    at: usize,
    form: &RowForm,
    column: usize,
) -> Result<(S, usize), RowFault> {
    let separator = form.separator.byte();
    let fixed = form.fixed.and_then(|fixed| fixed.read(text, at));
    let (value, end) = match fixed.or_else(|| number::usual(text, at)) {
        Some((value, end)) if ends_number(text, end, separator) => (value, end),
        _ => read_unusual(text, at, form, column)?,
    };
    let next = skip_blanks(text, end);
    match text.get(next) {
        // A space was skipped: this is a comma or a semicolon.
        Some(&byte) if byte == separator => Ok((value, skip_blanks(text, next + 1))),
        _ if separator == b' ' || is_line_end(text, next) => Ok((value, next)),
        _ => Err(not_a_number(text, end, form.separator, column)),
    }
}

/// May a number end here?
#[inline(always)]
fn ends_number(text: &[u8], at: usize, separator: u8) -> bool {
    match text.get(at) {
        Some(&byte) => is_blank(byte) || byte == separator || is_line_end(text, at),
        None => true,
    }
}

/// A field that is not read the fast way: an unusual number, or a fault.
#[cold]
#[inline(never)]
fn read_unusual<S: Scalar>(
    text: &[u8],
    at: usize,
    form: &RowForm,
    column: usize,
) -> Result<(S, usize), RowFault> {
    if is_line_end(text, at) {
        return Err(RowFault::Count { found: column as u64 });
    }
    let separator = form.separator.byte();
    if text[at] == separator {
        return Err(RowFault::EmptyField { column });
    }
    let mut end = at;
    while !ends_number(text, end, separator) {
        end += 1;
    }
    let word = &text[at..end];
    match number::unusual::<S>(word) {
        Ok(value) if form.non_finite == NonFinite::Refuse && !Scalar::is_finite(value) => {
            Err(RowFault::NotFinite { column, field: word.to_vec() })
        }
        Ok(value) => Ok((value, end)),
        Err(NumberFault::TooLarge) => Err(RowFault::TooLarge { column, field: word.to_vec() }),
        Err(NumberFault::NotANumber) => Err(not_a_number(text, at, form.separator, column)),
    }
}

/// The fault of the field that `at` lies in, with its whole text.
#[cold]
fn not_a_number(text: &[u8], at: usize, separator: TextSeparator, column: usize) -> RowFault {
    let bounds = |place: usize| match separator {
        TextSeparator::Blanks => ends_number(text, place, b' '),
        TextSeparator::Comma | TextSeparator::Semicolon => {
            text.get(place) == Some(&separator.byte()) || is_line_end(text, place)
        }
    };
    let mut start = at;
    while start > 0 && !bounds(start - 1) {
        start -= 1;
    }
    let mut end = at;
    while !bounds(end) {
        end += 1;
    }
    RowFault::NotANumber { column, field: text[start..end].trim_ascii().to_vec() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, cols: usize) -> Result<Vec<f64>, RowFault> {
        let separator = TextSeparator::of(text.lines().next().unwrap_or_default().as_bytes());
        let form = RowForm { separator, cols, non_finite: NonFinite::Refuse, fixed: None, least_bytes: 0 };
        let mut row = vec![0.0; cols];
        // Once with room behind the row, where numbers are read the fast way, and once without.
        let mut padded = vec![0.0; cols];
        let result = read_row(text.as_bytes(), 0, &form, &mut row);
        let with_room = format!("{text}\n999999999999999");
        let other = read_row(with_room.as_bytes(), 0, &form, &mut padded);
        assert_eq!(result, other, "{text:?}");
        result.map(|end| {
            assert!(is_line_end(text.as_bytes(), end));
            assert_eq!(row, padded);
            row
        })
    }

    #[test]
    fn separators_may_have_blanks_around_them() {
        for text in [
            "1 2 3",
            "  1\t2   3  ",
            "1,2,3",
            "1 , 2\t, 3 ",
            "1;2;3",
            "1 2 3\r",
            "1,2,3,",
            "1;2;3 ; ",
            "1.0e0 +2 3.",
        ] {
            assert_eq!(read(text, 3), Ok(vec![1.0, 2.0, 3.0]), "{text:?}");
        }
    }

    #[test]
    fn too_few_and_too_many_are_counted() {
        for (text, found) in
            [("1 2", 2), ("1,2", 2), ("1,2,", 2), ("1 2 3 4 x", 5), ("1,2,3,,5", 5), ("1;2;3;4;", 4)]
        {
            assert_eq!(read(text, 3), Err(RowFault::Count { found }), "{text:?}");
        }
    }

    #[test]
    fn faults_name_their_column_and_text() {
        let not = |text: &str, column, field: &str| {
            assert_eq!(read(text, 3), Err(RowFault::NotANumber { column, field: field.into() }), "{text:?}");
        };
        not("1 1.2.3 3", 1, "1.2.3");
        not("1 2 x", 2, "x");
        not("1 2,3", 0, "1 2");
        not("1,2 3,4", 1, "2 3");
        not("1 2\r3 4", 1, "2\r3");
        not("1 # 3", 1, "#");
        not("1 2 3e", 2, "3e");
        not("1 2 3\u{0}", 2, "3\u{0}");
        assert_eq!(read("1,,3", 3), Err(RowFault::EmptyField { column: 1 }));
        assert_eq!(read(",2,3", 3), Err(RowFault::EmptyField { column: 0 }));
        assert_eq!(read("1 2 -inf", 3), Err(RowFault::NotFinite { column: 2, field: "-inf".into() }));
        assert_eq!(read("1 1e999 3", 3), Err(RowFault::TooLarge { column: 1, field: "1e999".into() }));
    }
}
