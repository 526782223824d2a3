//! What stands before the first row: marks of other kinds of files, comments, a line of names.

use crate::io::number;
use crate::io::number::NumberFault;
use crate::io::source::next_line;
use crate::io::text_matrix::grid::{LineKind, line_kind};
use crate::io::text_matrix::separator::{TextSeparator, count_fields, fields, fields_by_tab, is_blank};
use std::borrow::Cow;

/// So many bytes of the first line are looked at to tell text from something else.
const LOOKED_AT: usize = 4096;

const DECIMAL_COMMAS: &str =
    "its first row looks like numbers with decimal commas; write them with a decimal point";

/// How files start that are taken for text by mistake, and what to do.
const SIGNATURES: &[(&[u8], &str)] = &[
    (b"\x93NUMPY", "this is a NumPy file; its name should end in .npy"),
    (b"PK\x03\x04", "this is a ZIP archive (.npz, .xlsx); take the numbers out as text or .npy first"),
    (b"\x1f\x8b", "this is gzip inside gzip; decompress it once"),
    (b"\xff\xfe", "this is UTF-16 text; save it as UTF-8"),
    (b"\xfe\xff", "this is UTF-16 text; save it as UTF-8"),
    (b"\x89HDF", "this is an HDF5 file; export the numbers as text or .npy first"),
    (b"MATLAB 5.0 MAT-file", "this is a MATLAB file; export the numbers as text or .npy first"),
];

/// Where the text starts, or what the file is instead.
pub(super) fn start_of_text(file: &[u8]) -> Result<usize, Cow<'static, str>> {
    if let Some((_, what)) = SIGNATURES.iter().find(|(signature, _)| file.starts_with(signature)) {
        return Err(Cow::Borrowed(what));
    }
    let start = if file.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
    let is_binary = |byte: &u8| matches!(byte, 0..=8 | 0x0e..=0x1f);
    let first_line = &file[..next_line(file, 0).min(LOOKED_AT)];
    match first_line.iter().position(is_binary) {
        Some(at) => {
            Err(Cow::Owned(format!("this looks like a binary file (byte {} at position {at})", file[at])))
        }
        None => Ok(start),
    }
}

/// The search for the first row, which may take several pieces of text.
#[derive(Debug, Default)]
pub(super) struct Opening {
    /// What must stand between numbers, if that was said.
    expected: Option<TextSeparator>,
    header: Option<Vec<u8>>,
    /// Lines before the first row.
    pub(super) lines: u64,
}

/// The first row.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct FirstRow {
    /// Where it starts.
    pub(super) at: usize,
    /// Its length with the end of the line.
    pub(super) bytes: usize,
    pub(super) separator: TextSeparator,
    pub(super) cols: usize,
    /// The names above it.
    pub(super) header: Option<Vec<String>>,
}

impl Opening {
    pub(super) fn expecting(separator: Option<TextSeparator>) -> Self {
        Opening { expected: separator, ..Opening::default() }
    }

    /// Looks through whole lines. `None`: no row so far.
    pub(super) fn look(&mut self, text: &[u8]) -> Result<Option<FirstRow>, String> {
        let mut at = 0;
        while at < text.len() {
            let end = next_line(text, at);
            let line = &text[at..end];
            if line_kind(text, at) == LineKind::Row {
                if line.trim_ascii().is_empty() {
                    let line = self.lines + 1;
                    return Err(format!(
                        "line {line} holds nothing but control characters; expected numbers"
                    ));
                }
                if self.header.is_some() || !is_header(line) {
                    return self.first_row(line, at).map(Some);
                }
                self.header = Some(line.to_vec());
            }
            self.lines += 1;
            at = end;
        }
        Ok(None)
    }

    fn first_row(&self, line: &[u8], at: usize) -> Result<FirstRow, String> {
        let separator = TextSeparator::of(line);
        if has_decimal_commas(line, separator) {
            return Err(DECIMAL_COMMAS.to_owned());
        }
        let cols = count_fields(line, separator) as usize;
        // Of a single number anything may be said.
        if let Some(expected) = self.expected.filter(|expected| cols > 1 && *expected != separator) {
            let (found, expected) = (separator.name(), expected.name());
            return Err(format!("{found} stand between the numbers of the first row, {expected} expected"));
        }
        let header = self.header.as_ref().map(|header| names(header, cols)).transpose()?;
        Ok(FirstRow { at, bytes: line.len(), separator, cols, header })
    }

    /// Why there is nothing to read in a file that ended without a row.
    pub(super) fn nothing_found(&self) -> &'static str {
        match (self.lines, &self.header) {
            (0, _) => "the file is empty; expected rows of numbers",
            (_, None) => "the file holds only comments or empty lines; expected rows of numbers",
            (_, Some(_)) => "the file holds a line of text and no numbers; expected rows of numbers",
        }
    }
}

/// A line without a single number is a header; one with some is a row with mistakes in it.
fn is_header(line: &[u8]) -> bool {
    let is_number = |field| number::unusual::<f64>(field) != Err(NumberFault::NotANumber);
    !fields(line, TextSeparator::of(line)).any(is_number)
}

/// `1,5;2,5` or `1,5 2,5`.
fn has_decimal_commas(line: &[u8], separator: TextSeparator) -> bool {
    let commas_and = |other: u8| line.contains(&b',') && line.contains(&other);
    let inner_blanks = |field: &[u8]| field.iter().any(|&byte| is_blank(byte));
    commas_and(b';') || (separator == TextSeparator::Comma && fields(line, separator).any(inner_blanks))
}

/// As many names as there are columns. With tabs between them they may hold blanks.
fn names(header: &[u8], cols: usize) -> Result<Vec<String>, String> {
    let by_separator: Vec<&[u8]> = fields(header, TextSeparator::of(header)).collect();
    let by_tab: Vec<&[u8]> = fields_by_tab(header).collect();
    let names = [&by_separator, &by_tab].into_iter().find(|names| names.len() == cols);
    let clean = |name: &&[u8]| String::from_utf8_lossy(name).trim_matches(['"', '\'']).trim().to_owned();
    names.map(|names| names.iter().map(clean).collect()).ok_or_else(|| {
        format!("the header has {} names, and the first row {cols} numbers", by_separator.len())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first(text: &str) -> Result<Option<FirstRow>, String> {
        Opening::default().look(text.as_bytes())
    }

    #[test]
    fn what_was_expected_between_numbers_must_stand_there() {
        let first = |separator, text: &str| Opening::expecting(Some(separator)).look(text.as_bytes());
        use TextSeparator::{Blanks, Comma, Semicolon};
        for (separator, text) in
            [(Comma, "1, 2\n"), (Semicolon, "1;2\n"), (Blanks, "1 2\n"), (Blanks, "1 \t2\n"), (Comma, "1\n")]
        {
            assert!(first(separator, text).unwrap().is_some());
        }
        assert_eq!(
            first(Comma, "1 2\n").unwrap_err(),
            "blanks or tabs stand between the numbers of the first row, commas expected"
        );
        assert!(first(Blanks, "1;2\n").is_err() && first(Semicolon, "1,2\n").is_err());
    }

    #[test]
    fn headers_are_lines_without_numbers() {
        let names = |text: &str| first(text).unwrap().unwrap().header;
        assert_eq!(names("1 2\n"), None);
        assert_eq!(names("nan inf\n"), None);
        for blank in ["\r\r\n1 2\n", "\u{c}\n\u{c}\n1 2\n"] {
            assert_eq!(
                first(blank).unwrap_err(),
                "line 1 holds nothing but control characters; expected numbers"
            );
        }
        assert_eq!(names("# a\n Fp1 \tFz\n1 2\n").unwrap(), ["Fp1", "Fz"]);
        assert_eq!(names("\"Fp 1\", 'Fz' ,\n1,2,\n").unwrap(), ["Fp 1", "Fz"]);
        assert_eq!(names("left ear\tright ear\n1\t2\n").unwrap(), ["left ear", "right ear"]);
        assert_eq!(names("time 1 2\n"), None, "a row with a mistake");
        assert!(
            first("a b c\n1 2\n")
                .unwrap_err()
                .contains("the header has 3 names, and the first row 2 numbers")
        );
    }

    #[test]
    fn the_first_row_tells_the_form() {
        let row = first("\n% x\n 1 ; 2;3;\r\n4;5;6").unwrap().unwrap();
        assert_eq!((row.at, row.bytes, row.separator, row.cols), (5, 11, TextSeparator::Semicolon, 3));
        assert_eq!(first("# only\n\n"), Ok(None));
        for text in ["1,5;2,5\n", "1,5 2,5\n", "-1,5\t2,5\n"] {
            assert_eq!(first(text), Err(DECIMAL_COMMAS.to_owned()));
        }
    }

    #[test]
    fn pieces_of_text_are_looked_through_one_after_the_other() {
        let mut opening = Opening::default();
        assert_eq!(opening.look(b"# x\na b\n"), Ok(None));
        let row = opening.look(b"\n1 2\n").unwrap().unwrap();
        assert_eq!((row.at, opening.lines, row.header), (1, 3, Some(vec!["a".to_owned(), "b".to_owned()])));
    }

    #[test]
    fn other_files_are_known_by_their_first_bytes() {
        assert_eq!(start_of_text(b"\xef\xbb\xbf1 2"), Ok(3));
        assert_eq!(start_of_text(b""), Ok(0));
        let refused = |file: &[u8]| start_of_text(file).unwrap_err();
        assert!(refused(b"\x93NUMPY\x01\x00").contains(".npy"));
        assert!(refused(b"\xff\xfe1\x00").contains("UTF-16"));
        assert_eq!(refused(b"1 2 3\x004\n"), "this looks like a binary file (byte 0 at position 5)");
    }
}
