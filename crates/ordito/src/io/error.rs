//! What can go wrong with files and names, each a sentence on one line.

use crate::files::printable;
use crate::units;
use std::io;
use std::path::{Path, PathBuf};

/// Why no matrix came out of a name or a file. Its text is one line, whatever the file holds.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The file cannot be opened or read.
    #[error("{}: {reason}", printable(.path))]
    Io {
        /// Which file.
        path: PathBuf,
        /// What the system said.
        reason: io::Error,
    },
    /// Reading stopped in the middle: a damaged or truncated `.gz`, a failing disk.
    #[error("{}: line {line}: the file is damaged or cut off here: {reason}", printable(.path))]
    Interrupted {
        /// Which file.
        path: PathBuf,
        /// The line that could not be read to its end, counted from 1.
        line: u64,
        /// What the system or the decompressor said.
        reason: io::Error,
    },
    /// A line does not say what it should.
    #[error("{}: line {line}: expected {expected}, found {found}", printable(.path))]
    Line {
        /// Which file.
        path: PathBuf,
        /// Which line, counted from 1.
        line: u64,
        /// The offending text, shortened and in quotes, or "the end of the file".
        found: String,
        /// What should stand there.
        expected: String,
    },
    /// The file is sound, but holds something that is not computed with here.
    #[error("{}: line {line}: {reason}", printable(.path))]
    Unsupported {
        /// Which file.
        path: PathBuf,
        /// The line that says so, counted from 1.
        line: u64,
        /// What it is, and what to do about it.
        reason: String,
    },
    /// A binary file is not what it should be.
    #[error("{}: {problem}", printable(.path))]
    Binary {
        /// Which file.
        path: PathBuf,
        /// What is wrong and what was expected.
        problem: String,
    },
    /// A text file is no matrix of numbers as a whole: empty, binary, in another spelling.
    #[error("{}: {problem}", printable(.path))]
    Text {
        /// Which file.
        path: PathBuf,
        /// What it is instead, or what it lacks.
        problem: String,
    },
    /// A row of a text matrix does not have as many numbers as the first one.
    #[error("{}: row {row}{} has {found} number{}, {expected} expected", printable(.path), line_text(*.row, *.line),
        if *.found == 1 { "" } else { "s" })]
    RaggedRow {
        /// Which file.
        path: PathBuf,
        /// Which row, counted from 1.
        row: u64,
        /// The line it stands on, counted from 1: comments and headers are no rows.
        line: u64,
        /// How many numbers it has.
        found: u64,
        /// How many the first row has.
        expected: u64,
    },
    /// A line between two rows of a text matrix is empty.
    #[error("{}: row {row}{} is an empty line, and more rows follow; remove it, or write its numbers",
        printable(.path), line_text(*.row, *.line))]
    EmptyLine {
        /// Which file.
        path: PathBuf,
        /// The row that it would be, counted from 1.
        row: u64,
        /// Which line, counted from 1.
        line: u64,
    },
    /// A field of a text matrix is not a number that can be taken.
    #[error("{}: row {row}{}, column {column}: {problem}", printable(.path), line_text(*.row, *.line))]
    Field {
        /// Which file.
        path: PathBuf,
        /// Which row, counted from 1.
        row: u64,
        /// The line it stands on, counted from 1.
        line: u64,
        /// Which column, counted from 1.
        column: u64,
        /// Its text, and what is wrong with it.
        problem: String,
    },
    /// The name is neither a file nor a synthetic matrix.
    #[error("no matrix {name:?}: {tried}; synthetic matrices are {kinds}{suggestion}")]
    UnknownName {
        /// What was asked for.
        name: String,
        /// Where it was looked for.
        tried: String,
        /// Every synthetic name.
        kinds: String,
        /// "; did you mean …?", or nothing.
        suggestion: String,
    },
    /// A synthetic name with parameters that make no matrix.
    #[error("{name:?}: {problem}; the form is {form} ({about})")]
    SyntheticName {
        /// What was asked for.
        name: String,
        /// What is wrong with it.
        problem: String,
        /// How such a name is written.
        form: &'static str,
        /// What the name makes.
        about: &'static str,
    },
    /// The matrix would not fit.
    #[error("{}: {entries} entries take {}, {}", printable(Path::new(.name)), units::bytes(*.bytes), limit_text(*.limit))]
    TooLarge {
        /// The file or the synthetic name.
        name: String,
        /// Entries that would be stored.
        entries: u64,
        /// Bytes they take as triplets; what 64 bits do not hold stands as their largest number.
        bytes: u64,
        /// The limit that was set; `None`: the system has no such memory.
        limit: Option<u64>,
    },
}

/// Most characters of a file that an error repeats.
const QUOTED_CHARACTERS: usize = 40;

/// Text of a file for an error: quoted, escaped, and short.
pub(super) fn quoted(text: &[u8]) -> String {
    let text = text.trim_ascii();
    // No character has more than four bytes: what is cut off here would not be shown.
    let shown = String::from_utf8_lossy(&text[..text.len().min(4 * QUOTED_CHARACTERS + 4)]);
    match shown.char_indices().nth(QUOTED_CHARACTERS) {
        Some((cut, _)) => format!("{:?}…", &shown[..cut]),
        None => format!("{shown:?}"),
    }
}

/// In the quotes of code: how a single word of a file is shown.
pub(super) fn ticked(word: &[u8]) -> String {
    let quoted = quoted(word);
    let (inside, more) = match quoted.strip_suffix('…') {
        Some(inside) => (inside, "…"),
        None => (quoted.as_str(), ""),
    };
    format!("`{}`{more}", inside.trim_matches('"'))
}

/// The line, where it is not told by the row.
fn line_text(row: u64, line: u64) -> String {
    if line == row { String::new() } else { format!(" (line {line})") }
}

fn limit_text(limit: Option<u64>) -> String {
    match limit {
        Some(limit) => format!("more than the limit of {}", units::bytes(limit)),
        None => "more memory than the system gives".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoted_text_is_short_and_stays_on_its_line() {
        assert_eq!(quoted(b"  1 2 x\r"), r#""1 2 x""#);
        assert_eq!(quoted(b"a\nb\x07\xff"), "\"a\\nb\\u{7}\u{fffd}\"");
        assert_eq!(quoted(&[b'7'; 1000]), format!("\"{}\"…", "7".repeat(40)));
        assert_eq!(quoted("ä".repeat(41).as_bytes()), format!("\"{}\"…", "ä".repeat(40)));
    }

    #[test]
    fn words_are_shown_as_code() {
        assert_eq!(ticked(b"1.2.3"), "`1.2.3`");
        assert_eq!(ticked(b"a\x00\"b"), r#"`a\0\"b`"#);
        assert_eq!(ticked(&[b'7'; 1000]), format!("`{}`…", "7".repeat(40)));
    }
}
