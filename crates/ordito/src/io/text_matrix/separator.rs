//! What stands between the fields of a line, whatever these hold.

use memchr::{memchr, memchr2};

/// What stands between two numbers of a text file. The first row decides, and holds for the whole file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum TextSeparator {
    /// Spaces and tabs, as many as there are.
    Blanks,
    /// One comma, with or without blanks around it. One more at the end of a line is no number.
    Comma,
    /// One semicolon, likewise.
    Semicolon,
}

impl TextSeparator {
    /// The one that this byte stands for, if any: a space or a tab for blanks.
    ///
    /// ```
    /// use ordito::io::TextSeparator;
    /// assert_eq!(TextSeparator::from_byte(b'\t'), Some(TextSeparator::Blanks));
    /// assert_eq!(TextSeparator::from_byte(b'|'), None);
    /// ```
    pub fn from_byte(byte: u8) -> Option<Self> {
        match byte {
            b' ' | b'\t' => Some(TextSeparator::Blanks),
            b',' => Some(TextSeparator::Comma),
            b';' => Some(TextSeparator::Semicolon),
            _ => None,
        }
    }

    /// The one that a line uses.
    pub(super) fn of(line: &[u8]) -> Self {
        match memchr2(b',', b';', line).map(|at| line[at]) {
            Some(b',') => TextSeparator::Comma,
            Some(_) => TextSeparator::Semicolon,
            None => TextSeparator::Blanks,
        }
    }

    /// What it is called.
    pub(super) fn name(self) -> &'static str {
        match self {
            TextSeparator::Blanks => "blanks or tabs",
            TextSeparator::Comma => "commas",
            TextSeparator::Semicolon => "semicolons",
        }
    }

    /// The byte to look for after blanks were skipped; a space never stands there.
    #[inline(always)]
    pub(super) fn byte(self) -> u8 {
        match self {
            TextSeparator::Blanks => b' ',
            TextSeparator::Comma => b',',
            TextSeparator::Semicolon => b';',
        }
    }
}

#[inline(always)]
pub(super) fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

/// The fields of a line, without the blanks around them. An empty one after the last separator is none.
pub(super) fn fields(line: &[u8], separator: TextSeparator) -> impl Iterator<Item = &[u8]> {
    fields_by(line, move |rest| match separator {
        TextSeparator::Blanks => memchr2(b' ', b'\t', rest),
        TextSeparator::Comma | TextSeparator::Semicolon => memchr(separator.byte(), rest),
    })
}

/// The same between tabs alone, so that fields may hold blanks.
pub(super) fn fields_by_tab(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    fields_by(line, |rest| memchr(b'\t', rest))
}

/// Up to where something is found in the rest of the line.
fn fields_by(line: &[u8], find: impl Fn(&[u8]) -> Option<usize>) -> impl Iterator<Item = &[u8]> {
    let mut rest = line.trim_ascii();
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let length = find(rest).unwrap_or(rest.len());
        let field = &rest[..length];
        rest = rest[(length + 1).min(rest.len())..].trim_ascii_start();
        Some(field.trim_ascii_end())
    })
}

/// How many fields a line has.
pub(super) fn count_fields(line: &[u8], separator: TextSeparator) -> u64 {
    fields(line, separator).count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_a_line() {
        let split = |line: &str| -> Vec<String> {
            let line = line.as_bytes();
            fields(line, TextSeparator::of(line))
                .map(|field| String::from_utf8_lossy(field).into_owned())
                .collect()
        };
        assert_eq!(split(" a  b\tc \r\n"), ["a", "b", "c"]);
        assert_eq!(split("a b, c ,,d,"), ["a b", "c", "", "d"]);
        assert_eq!(split(""), [""; 0]);
    }
}
