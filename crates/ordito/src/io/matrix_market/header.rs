//! The banner and the size line: what a Matrix Market file says it holds.

use crate::io::error::ReadError;
use crate::io::error::quoted;
use crate::io::matrix_market::lines::{Line, Lines, is_blank};
use crate::io::matrix_market::numbers::{Words, unsigned};
use crate::matrix::MAX_DIMENSION;
use std::fmt;
use std::io::Read;

macro_rules! keywords {
    ($(#[$about:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident = $word:literal),+ $(,)? }) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum $name {
            $($(#[$doc])* $variant),+
        }
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(match self { $($name::$variant => $word),+ })
            }
        }
    };
}

keywords! {
    /// What the file is about. A vector of N numbers is read as an N×1 matrix.
    Object {
        /// Rows and columns.
        Matrix = "matrix",
        /// One column, without column indices.
        Vector = "vector",
    }
}
keywords! {
    /// How places are given.
    Format {
        /// Row and column of every entry.
        Coordinate = "coordinate",
        /// Every element, column after column.
        Array = "array",
    }
}
keywords! {
    /// What stands at a place.
    Field {
        /// Numbers. Also called `double` and `float`.
        Real = "real",
        /// Whole numbers. Also called `unsigned-integer`.
        Integer = "integer",
        /// Nothing: every entry is 1.
        Pattern = "pattern",
    }
}
keywords! {
    /// What the file leaves out.
    Symmetry {
        /// Nothing.
        General = "general",
        /// Entries above the diagonal, equal to those below it.
        Symmetric = "symmetric",
        /// Entries above the diagonal, the negatives of those below it; the diagonal is 0.
        SkewSymmetric = "skew-symmetric",
    }
}

/// What a Matrix Market file says about itself in its first lines.
///
/// ```
/// use ordito::io::{ReadOptions, read_matrix_market_from};
/// let text = "%%MatrixMarket matrix coordinate pattern symmetric\n2 2 1\n2 1\n";
/// let file = read_matrix_market_from::<f64>(text.as_bytes(), "example".as_ref(), &ReadOptions::default())?;
/// assert_eq!(file.header.to_string(), "matrix coordinate pattern symmetric");
/// assert_eq!((file.header.entries, file.coo.nnz()), (1, 2));
/// # Ok::<(), ordito::io::ReadError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    /// Matrix or vector.
    pub object: Object,
    /// Coordinates or array.
    pub format: Format,
    /// What stands at a place.
    pub field: Field,
    /// What is left out.
    pub symmetry: Symmetry,
    /// Rows.
    pub rows: usize,
    /// Columns; 1 for a vector.
    pub cols: usize,
    /// Entries that the file lists: before symmetry is expanded and duplicates are summed.
    pub entries: u64,
}

impl fmt::Display for Header {
    /// The four words of the banner.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {} {}", self.object, self.format, self.field, self.symmetry)
    }
}

const BANNER: &str =
    "%%MatrixMarket matrix coordinate|array real|integer|pattern general|symmetric|skew-symmetric";

const COMPLEX: &str =
    "complex matrices are not computed with here; write the real and the imaginary part as two real files";
const HERMITIAN: &str = "hermitian is a symmetry of complex matrices, which are not computed with here; \
                         a real one is called symmetric: change the word if this is one";

/// Why a banner or size line is not accepted.
enum Fault {
    /// The whole line is not what it should be.
    Line(String),
    /// One word is not; empty when it is missing.
    Word { expected: &'static str, found: Vec<u8> },
    /// The words are fine, but say what is not computed with here.
    Unsupported(&'static str),
}

impl Header {
    /// Reads the banner and the size line.
    pub(super) fn read<R: Read>(lines: &mut Lines<R>) -> Result<Self, ReadError> {
        let Some(line) = lines.next_filled()? else {
            return Err(lines.error_at_end(format!("the banner {BANNER}")));
        };
        let header = match banner(line.text) {
            Ok(header) => header,
            Err(fault) => return Err(refusal(fault, line.into(), lines)),
        };
        let Some(line) = lines.next_data()? else {
            return Err(lines.error_at_end(header.size_line()));
        };
        match header.sized(line.text) {
            Ok(header) => Ok(header),
            Err(fault) => Err(refusal(fault, line.into(), lines)),
        }
    }

    /// The banner and the size line that say the same.
    pub(super) fn to_text(&self) -> String {
        let numbers = match (self.object, self.format) {
            (Object::Matrix, Format::Coordinate) => vec![self.rows as u64, self.cols as u64, self.entries],
            (Object::Matrix, Format::Array) => vec![self.rows as u64, self.cols as u64],
            (Object::Vector, Format::Coordinate) => vec![self.rows as u64, self.entries],
            (Object::Vector, Format::Array) => vec![self.rows as u64],
        };
        let numbers: Vec<String> = numbers.iter().map(u64::to_string).collect();
        format!("%%MatrixMarket {self}\n{}\n", numbers.join(" "))
    }

    fn size_line(&self) -> String {
        let words = match (self.object, self.format) {
            (Object::Matrix, Format::Coordinate) => "rows, columns and entries",
            (Object::Matrix, Format::Array) => "rows and columns",
            (Object::Vector, Format::Coordinate) => "length and entries",
            (Object::Vector, Format::Array) => "the length",
        };
        format!("the size line: {words}, as whole numbers of at most 64 bits")
    }

    /// This header with the numbers of the size line.
    fn sized(mut self, text: &[u8]) -> Result<Self, Fault> {
        let mut rest = text;
        let mut number = || unsigned(&mut rest).ok_or_else(|| Fault::Line(self.size_line()));
        let rows = number()?;
        let cols = if self.object == Object::Vector { 1 } else { number()? };
        let entries = if self.format == Format::Array { None } else { Some(number()?) };
        if !rest.iter().all(|&byte| is_blank(byte)) {
            return Err(Fault::Line(format!("nothing after {}", self.size_line())));
        }
        for dimension in [rows, cols] {
            if dimension > MAX_DIMENSION as u64 {
                let limit =
                    format!("at most {MAX_DIMENSION} rows and columns, which is what 32-bit indices reach");
                return Err(Fault::Line(limit));
            }
        }
        if self.symmetry != Symmetry::General && rows != cols {
            return Err(Fault::Line(format!("as many rows as columns, since the file is {}", self.symmetry)));
        }
        (self.rows, self.cols) = (rows as usize, cols as usize);
        // Both factors are below 2³²: the product fits 64 bits.
        self.entries = entries.unwrap_or(match self.symmetry {
            Symmetry::General => rows * cols,
            Symmetry::Symmetric => rows * (rows + 1) / 2,
            Symmetry::SkewSymmetric => rows * rows.saturating_sub(1) / 2,
        });
        Ok(self)
    }
}

/// A line that no longer borrows the buffer.
struct Kept {
    number: u64,
    text: String,
}

impl From<Line<'_>> for Kept {
    fn from(line: Line<'_>) -> Self {
        Kept { number: line.number, text: quoted(line.text) }
    }
}

fn refusal<R: Read>(fault: Fault, line: Kept, lines: &Lines<R>) -> ReadError {
    match fault {
        Fault::Line(expected) => lines.error(line.number, line.text, expected),
        Fault::Word { expected, found } if found.is_empty() => {
            lines.error(line.number, "the end of the line".to_owned(), expected.to_owned())
        }
        Fault::Word { expected, found } => lines.error(line.number, quoted(&found), expected.to_owned()),
        Fault::Unsupported(reason) => {
            let (path, reason) = (lines.path().to_owned(), reason.to_owned());
            ReadError::Unsupported { path, line: line.number, reason }
        }
    }
}

/// The five words of the first line, in any case. One `%` is enough, spaces and a byte order mark may precede it.
fn banner(text: &[u8]) -> Result<Header, Fault> {
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text).trim_ascii();
    let no_banner = || Fault::Line(format!("the banner {BANNER}"));
    let marked = text.strip_prefix(b"%").ok_or_else(no_banner)?;
    let mut words = Words(marked.strip_prefix(b"%").unwrap_or(marked));
    let mut word = || words.next().unwrap_or_default().to_ascii_lowercase();
    if word() != b"matrixmarket" {
        return Err(no_banner());
    }
    let wrong = |found: Vec<u8>, expected| Err(Fault::Word { expected, found });
    let [object, format, field, symmetry, extra] = [word(), word(), word(), word(), word()];
    let object = match &object[..] {
        b"matrix" => Object::Matrix,
        b"vector" => Object::Vector,
        _ => return wrong(object, "matrix or vector as the banner's second word"),
    };
    let format = match &format[..] {
        b"coordinate" => Format::Coordinate,
        b"array" => Format::Array,
        _ => return wrong(format, "coordinate or array as the banner's third word"),
    };
    let field = match &field[..] {
        b"real" | b"double" | b"float" => Field::Real,
        b"integer" | b"unsigned-integer" => Field::Integer,
        b"pattern" if format == Format::Array => return wrong(field, "real or integer: arrays have values"),
        b"pattern" => Field::Pattern,
        b"complex" => return Err(Fault::Unsupported(COMPLEX)),
        _ => return wrong(field, "real, integer or pattern as the banner's fourth word"),
    };
    let symmetry = match &symmetry[..] {
        b"general" => Symmetry::General,
        b"symmetric" | b"skew-symmetric" if object == Object::Vector => {
            return wrong(symmetry, "general: vectors have no symmetry");
        }
        b"symmetric" => Symmetry::Symmetric,
        b"skew-symmetric" if field == Field::Pattern => {
            return wrong(symmetry, "general or symmetric: patterns have no sign");
        }
        b"skew-symmetric" => Symmetry::SkewSymmetric,
        b"hermitian" => return Err(Fault::Unsupported(HERMITIAN)),
        _ => return wrong(symmetry, "general, symmetric or skew-symmetric as the banner's fifth word"),
    };
    if !extra.is_empty() {
        return wrong(extra, "nothing after the banner's five words");
    }
    Ok(Header { object, format, field, symmetry, rows: 0, cols: 0, entries: 0 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn header(text: &str) -> Result<Header, String> {
        Header::read(&mut Lines::new(text.as_bytes(), Path::new("test"))).map_err(|error| error.to_string())
    }

    #[test]
    fn banners_are_read_in_any_dress() {
        for banner in [
            "%%MatrixMarket matrix coordinate real general",
            "  %MatrixMarket  MATRIX Coordinate\tDouble GENERAL \r",
            "\u{feff}%%matrixmarket matrix coordinate float general",
            "\n\n%%MatrixMarket matrix coordinate real general",
        ] {
            let found = header(&format!("{banner}\n% comment\n\n 3 4 2 \r\n")).unwrap();
            assert_eq!(found.to_string(), "matrix coordinate real general");
            assert_eq!((found.rows, found.cols, found.entries), (3, 4, 2));
        }
    }

    #[test]
    fn headers_are_told_by_their_text() {
        for text in [
            "%%MatrixMarket matrix coordinate real symmetric\n4 4 9\n",
            "%%MatrixMarket matrix array integer general\n3 5\n",
            "%%MatrixMarket vector coordinate pattern general\n7 2\n",
            "%%MatrixMarket vector array real general\n7\n",
        ] {
            assert_eq!(header(text).unwrap().to_text(), text);
        }
    }

    #[test]
    fn arrays_count_what_they_list() {
        let entries = |symmetry: &str| {
            header(&format!("%%MatrixMarket matrix array integer {symmetry}\n4 4\n")).unwrap().entries
        };
        assert_eq!((entries("general"), entries("symmetric"), entries("skew-symmetric")), (16, 10, 6));
        assert_eq!(header("%%MatrixMarket matrix array real skew-symmetric\n0 0").unwrap().entries, 0);
        let largest = header("%%MatrixMarket matrix array real general\n4294967295 4294967295").unwrap();
        assert_eq!(largest.entries, 18446744065119617025);
    }

    #[test]
    fn every_fault_says_what_was_expected() {
        let fault = |text: &str| header(text).unwrap_err();
        assert!(fault("").starts_with("test: line 1: expected the banner %%MatrixMarket"));
        assert!(fault("3 3\n").ends_with("found \"3 3\""));
        assert!(
            fault("%%MatrixMarket matrix coordinate real\n")
                .contains("fifth word, found the end of the line")
        );
        assert!(fault("%%MatrixMarket matrix coordinate complex general\n").contains("line 1: complex"));
        assert!(fault("%%MatrixMarket matrix coordinate real Hermitian\n").contains("change the word"));
        assert!(
            fault("%%MatrixMarket vector coordinate real symmetric\n")
                .contains("vectors have no symmetry, found \"symmetric\"")
        );
        assert!(fault("%%MatrixMarket matrix array pattern general\n").contains("arrays have values"));
        let size = |line: &str| fault(&format!("%%MatrixMarket matrix coordinate real symmetric\n\n{line}"));
        assert!(size("").starts_with("test: line 3: expected the size line: rows, columns and entries"));
        for line in ["3", "3 3", "-3 3 3", "nan 3 3", "3 3 3.5", "3 3 1e3", "99999999999999999999 1 1"] {
            assert!(size(line).starts_with("test: line 3: expected the size line"), "{}", size(line));
        }
        assert!(size("3 3 3 3").contains("nothing after"));
        assert!(size("3 4 3").contains("as many rows as columns"));
        assert!(size("4294967296 4294967296 3").contains("32-bit"));
    }
}
