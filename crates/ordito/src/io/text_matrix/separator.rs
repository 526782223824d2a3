//! What stands between the fields of a line, whatever these hold.

use memchr::{memchr, memchr2};

/// What stands between two numbers. The first row decides, and holds for the whole file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Separator {
    /// Spaces and tabs, as many as there are.
    Blanks,
    /// One comma or one semicolon, with or without blanks around it. One more at the end of a line is no number.
    Byte(u8),
}

impl Separator {
    /// The one that a line uses.
    pub(super) fn of(line: &[u8]) -> Self {
        memchr2(b',', b';', line).map_or(Separator::Blanks, |at| Separator::Byte(line[at]))
    }

    /// The one that somebody names by a byte.
    pub(super) fn named(byte: u8) -> Self {
        if matches!(byte, b',' | b';') { Separator::Byte(byte) } else { Separator::Blanks }
    }

    /// What it is called.
    pub(super) fn name(self) -> &'static str {
        match self {
            Separator::Blanks => "blanks or tabs",
            Separator::Byte(b',') => "commas",
            Separator::Byte(_) => "semicolons",
        }
    }

    /// The byte to look for after blanks were skipped; a space never stands there.
    #[inline(always)]
    pub(super) fn byte(self) -> u8 {
        match self {
            Separator::Blanks => b' ',
            Separator::Byte(byte) => byte,
        }
    }
}

#[inline(always)]
pub(super) fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

/// The fields of a line, without the blanks around them. An empty one after the last separator is none.
pub(super) fn fields(line: &[u8], separator: Separator) -> impl Iterator<Item = &[u8]> {
    let mut rest = line.trim_ascii();
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let end = match separator {
            Separator::Blanks => memchr2(b' ', b'\t', rest),
            Separator::Byte(separator) => memchr(separator, rest),
        };
        let length = end.unwrap_or(rest.len());
        let field = &rest[..length];
        rest = rest[(length + 1).min(rest.len())..].trim_ascii_start();
        Some(field.trim_ascii_end())
    })
}

/// How many fields a line has.
pub(super) fn count_fields(line: &[u8], separator: Separator) -> u64 {
    fields(line, separator).count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_a_line() {
        let split = |line: &str| -> Vec<String> {
            let line = line.as_bytes();
            fields(line, Separator::of(line))
                .map(|field| String::from_utf8_lossy(field).into_owned())
                .collect()
        };
        assert_eq!(split(" a  b\tc \r\n"), ["a", "b", "c"]);
        assert_eq!(split("a b, c ,,d,"), ["a b", "c", "", "d"]);
        assert_eq!(split(""), [""; 0]);
    }
}
