//! The entries of a Matrix Market file: one line each, checked against the header as they come.

use super::entries::{Entries, check_limit};
use super::header::{Field, Format, Header, Object, Symmetry};
use super::lines::{Lines, is_blank};
use super::numbers::{ValueFault, Words, integer, real, unsigned};
use crate::Scalar;
use crate::io::error::quoted;
use crate::io::{ReadError, ReadOptions};
use std::io::Read;

/// What is wrong with a line.
#[derive(Clone, Copy)]
enum Fault {
    Row,
    Column,
    Value(ValueFault),
    Extra,
    SkewDiagonal,
}

/// Reads as many entries as the header declares, and no more.
pub(super) fn read_entries<S: Scalar, R: Read>(
    lines: &mut Lines<R>,
    header: &Header,
    bytes: u64,
    options: &ReadOptions,
) -> Result<Entries<S>, ReadError> {
    let mut entries = Entries::default();
    check_limit::<S>(lines.path(), header.entries, options)?;
    // No more is reserved than the file could hold, whatever it declares.
    entries.reserve(lines.path(), header.entries.min(bytes / shortest_line(header)))?;
    match (header.format, header.field) {
        (Format::Array, Field::Integer) => array(lines, header, &mut entries, integer)?,
        (Format::Array, _) => array(lines, header, &mut entries, real)?,
        (Format::Coordinate, Field::Real) => coordinates(lines, header, &mut entries, real)?,
        (Format::Coordinate, Field::Integer) => coordinates(lines, header, &mut entries, integer)?,
        (Format::Coordinate, Field::Pattern) => coordinates(lines, header, &mut entries, |_| Ok(S::ONE))?,
    }
    let Some(line) = lines.next_data()? else { return Ok(entries) };
    let (number, found) = (line.number, quoted(line.text));
    Err(lines.error(number, found, format!("the end of the file after {} entries", header.entries)))
}

/// Bytes of the shortest line: indices and values of one digit, a blank or line end after each.
fn shortest_line(header: &Header) -> u64 {
    let indices = match (header.format, header.object) {
        (Format::Array, _) => 0,
        (Format::Coordinate, Object::Vector) => 1,
        (Format::Coordinate, Object::Matrix) => 2,
    };
    2 * (indices + u64::from(header.field != Field::Pattern))
}

fn coordinates<S: Scalar, R: Read>(
    lines: &mut Lines<R>,
    header: &Header,
    entries: &mut Entries<S>,
    value: impl Fn(&mut &[u8]) -> Result<S, ValueFault> + Copy,
) -> Result<(), ReadError> {
    for read in 0..header.entries {
        let Some(line) = lines.next_data()? else { return Err(ended_early(lines, header, read)) };
        match coordinate(line.text, header, value) {
            Ok((row, col, value)) => entries.push(row, col, value),
            Err(fault) => {
                let (number, found, expected) =
                    (line.number, quoted(line.text), fault.expected(line.text, header));
                return Err(lines.error(number, found, expected));
            }
        }
    }
    Ok(())
}

#[inline(always)]
fn coordinate<S: Scalar>(
    text: &[u8],
    header: &Header,
    value: impl Fn(&mut &[u8]) -> Result<S, ValueFault> + Copy,
) -> Result<(u32, u32, S), Fault> {
    let mut rest = text;
    let row = index(&mut rest, header.rows).ok_or(Fault::Row)?;
    let col = match header.object {
        Object::Matrix => index(&mut rest, header.cols).ok_or(Fault::Column)?,
        Object::Vector => 0,
    };
    let value = value(&mut rest).map_err(Fault::Value)?;
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

/// Column after column; of a symmetric matrix from the diagonal down, of a skew-symmetric one from below it.
fn array<S: Scalar, R: Read>(
    lines: &mut Lines<R>,
    header: &Header,
    entries: &mut Entries<S>,
    value: impl Fn(&mut &[u8]) -> Result<S, ValueFault> + Copy,
) -> Result<(), ReadError> {
    let mut read = 0;
    // Four billion empty columns are nothing to go through.
    let cols = if header.entries == 0 { 0 } else { header.cols };
    for col in 0..cols {
        let first_row = match header.symmetry {
            Symmetry::General => 0,
            Symmetry::Symmetric => col,
            Symmetry::SkewSymmetric => col + 1,
        };
        for row in first_row..header.rows {
            let Some(line) = lines.next_data()? else { return Err(ended_early(lines, header, read)) };
            let mut rest = line.text;
            let fault = match value(&mut rest) {
                Ok(value) if rest.iter().all(|&byte| is_blank(byte)) => {
                    entries.push(row as u32, col as u32, value);
                    read += 1;
                    continue;
                }
                Ok(_) => Fault::Extra,
                Err(fault) => Fault::Value(fault),
            };
            let (number, found, expected) =
                (line.number, quoted(line.text), fault.expected(line.text, header));
            return Err(lines.error(number, found, expected));
        }
    }
    Ok(())
}

fn ended_early<R: Read>(lines: &Lines<R>, header: &Header, read: u64) -> ReadError {
    lines.error_at_end(format!("entry {} of the {} that the size line declares", read + 1, header.entries))
}

impl Fault {
    /// What should stand on the line. The line itself is shown beside it.
    fn expected(self, text: &[u8], header: &Header) -> String {
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
                "a number that fits f32 (at most 3.4e38); --dtype f64 reads this one".to_owned()
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

#[cfg(test)]
mod tests {
    use crate::io::{Duplicates, ReadError, ReadOptions, read_matrix_market_from};
    use crate::matrix::Coo;
    use std::path::Path;

    fn read(banner: &str, body: &str) -> Result<Coo<f64>, String> {
        let text = format!("%%MatrixMarket {banner}\n{body}");
        let options = ReadOptions { duplicates: Duplicates::Keep, ..ReadOptions::default() };
        let file = read_matrix_market_from(text.as_bytes(), Path::new("t"), &options);
        file.map(|file| file.coo).map_err(|error: ReadError| error.to_string())
    }

    fn entries(banner: &str, body: &str) -> Vec<(u32, u32, f64)> {
        read(banner, body).unwrap().entries().collect()
    }

    #[test]
    fn symmetries_are_expanded_after_what_is_listed() {
        let body = "3 3 3\n2 2 5\n3 1 7\n1 2 0\n";
        let symmetric = entries("matrix coordinate real symmetric", body);
        assert_eq!(symmetric, [(1, 1, 5.0), (2, 0, 7.0), (0, 1, 0.0), (0, 2, 7.0), (1, 0, 0.0)]);
        let skew = entries("matrix coordinate integer skew-symmetric", "3 3 2\n2 2 0\n3 1 7\n");
        assert_eq!(skew, [(1, 1, 0.0), (2, 0, 7.0), (0, 2, -7.0)]);
        let fault = read("matrix coordinate real skew-symmetric", "3 3 1\n2 2 1\n").unwrap_err();
        assert_eq!(
            fault,
            r#"t: line 3: expected 0 on the diagonal, since the file is skew-symmetric, found "2 2 1""#
        );
    }

    #[test]
    fn arrays_go_column_by_column() {
        let general = entries("matrix array real general", "2 2\n1\n0\n3\n4\n");
        assert_eq!(general, [(0, 0, 1.0), (1, 0, 0.0), (0, 1, 3.0), (1, 1, 4.0)]);
        let symmetric = entries("matrix array integer symmetric", "2 2\n1\n2\n3\n");
        assert_eq!(symmetric, [(0, 0, 1.0), (1, 0, 2.0), (1, 1, 3.0), (0, 1, 2.0)]);
        let skew = entries("matrix array real skew-symmetric", "2 2\n2\n");
        assert_eq!(skew, [(1, 0, 2.0), (0, 1, -2.0)]);
        assert_eq!(entries("vector array real general", "2\n1\n2\n"), [(0, 0, 1.0), (1, 0, 2.0)]);
        assert_eq!(entries("vector coordinate pattern general", "9 1\n4\n"), [(3, 0, 1.0)]);
    }

    #[test]
    fn every_fault_names_line_text_and_expectation() {
        let fault =
            |line: &str| read("matrix coordinate real general", &format!("3 4 1\n{line}\n")).unwrap_err();
        assert!(
            fault("0 1 1").starts_with("t: line 3: expected a row from 1 to 3: Matrix Market counts from 1")
        );
        assert!(fault("1 00 1").ends_with(r#"this file looks zero-based, found "1 00 1""#));
        assert!(fault("4 1 1").contains("a row from 1 to 3, found"));
        assert!(fault("1 5 1").contains("a column from 1 to 4"));
        assert!(fault("1 -1 1").contains("a column from 1 to 4"));
        assert!(fault("1").contains("a column from 1 to 4"));
        assert!(fault("99999999999999999999 1 1").contains("a row from 1 to 3"));
        assert!(fault("1 1").contains("a value, since the field is real"));
        assert!(fault("1 1 x").contains("expected a number, found"));
        assert!(fault("1 1 1 1").contains("nothing after the value"));
        assert!(fault("1 1 1e999").contains("fits f64"));
        assert_eq!(
            fault(""),
            "t: line 4: expected entry 1 of the 1 that the size line declares, found the end of the file"
        );
        assert_eq!(
            fault("1 1 1\n2 2 2"),
            r#"t: line 4: expected the end of the file after 1 entries, found "2 2 2""#
        );
        let fault = read("matrix coordinate pattern general", "1 1 1\n1 1 1").unwrap_err();
        assert!(fault.contains("since the field is pattern"));
        let fault = read("matrix coordinate integer general", "1 1 1\n1 1 1.5").unwrap_err();
        assert!(fault.contains("a whole number"));
        let fault = read("matrix array real general", "1 2\n1\n2 3\n").unwrap_err();
        assert!(fault.contains("line 4: expected nothing after the value"));
    }

    #[test]
    fn huge_promises_cost_nothing() {
        let fault = read("matrix coordinate real general", "9 9 1000000000000000000\n1 1 1\n").unwrap_err();
        assert!(fault.contains("line 4: expected entry 2 of the 1000000000000000000"), "{fault}");
        let fault = read("matrix array real general", "4294967295 4294967295\n1\n").unwrap_err();
        assert!(fault.contains("expected entry 2 of"), "{fault}");
        assert_eq!(
            read("matrix coordinate real general", "4294967295 4294967295 0\n").unwrap().rows(),
            4294967295
        );
    }
}
