//! Why a file was not written: a sentence on one line.

use crate::text::is_unsafe;
use std::borrow::Cow;
use std::io;
use std::path::{Path, PathBuf};

/// Why a file was not written. Nothing is left behind: the old file, if there was one, is still there.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// The system refused.
    #[error("cannot write {}: {reason}", printable(.path))]
    Io {
        /// Which file.
        path: PathBuf,
        /// What the system said.
        reason: io::Error,
    },
    /// There is no such folder.
    #[error("cannot write {}: there is no folder {}", printable(.path), printable(.folder))]
    NoFolder {
        /// Which file.
        path: PathBuf,
        /// Where it was to be.
        folder: PathBuf,
    },
    /// What is there must not be written.
    #[error("cannot write {}: it is read-only; make it writable, or choose another name", printable(.path))]
    ReadOnly {
        /// Which file.
        path: PathBuf,
    },
    /// What is there belongs to somebody else, and the new file could not.
    #[error("cannot write {}: it belongs to another user or group, and what replaces it would not; remove it, or choose another name", printable(.path))]
    NotOurs {
        /// Which file.
        path: PathBuf,
    },
    /// A link that leads nowhere.
    #[error("cannot write {}: it is a link to {}, which does not exist; remove the link, or write to that name", printable(.path), printable(.to))]
    DanglingLink {
        /// The link.
        path: PathBuf,
        /// Where it leads.
        to: PathBuf,
    },
    /// A file of only the lower triangle was asked for, but the upper one differs.
    #[error("cannot write {} as symmetric: entry ({row}, {col}), counted from 1, differs from its mirror image", printable(.path))]
    NotSymmetric {
        /// Which file.
        path: PathBuf,
        /// Row of the first such entry, counted from 1.
        row: u64,
        /// Its column, counted from 1.
        col: u64,
    },
    /// Only square matrices can be symmetric.
    #[error("cannot write {} as symmetric: {rows} × {cols} is not square", printable(.path))]
    NotSquare {
        /// Which file.
        path: PathBuf,
        /// Rows.
        rows: usize,
        /// Columns.
        cols: usize,
    },
    /// A dense file has one number per place.
    #[error("cannot write {} as array: several entries at ({row}, {col}), counted from 1; sum them first", printable(.path))]
    Duplicate {
        /// Which file.
        path: PathBuf,
        /// Row, counted from 1.
        row: u64,
        /// Column, counted from 1.
        col: u64,
    },
    /// A dense file of this matrix would be absurdly large.
    #[error("cannot write {} as array: {rows} × {cols} is more than {limit} numbers", printable(.path))]
    TooManyElements {
        /// Which file.
        path: PathBuf,
        /// Rows.
        rows: usize,
        /// Columns.
        cols: usize,
        /// The most that is written.
        limit: u64,
    },
}

/// The path as the user typed it, or quoted and escaped where it would not stay on one line.
pub(crate) fn printable(path: &Path) -> Cow<'_, str> {
    let text = path.to_string_lossy();
    if text.chars().any(is_unsafe) { Cow::Owned(format!("{text:?}")) } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_stay_on_one_line() {
        assert_eq!(printable(Path::new("a b.mtx")), "a b.mtx");
        assert_eq!(printable(Path::new("a\nb.mtx")), "\"a\\nb.mtx\"");
        assert_eq!(printable(Path::new("a\u{202e}b")), "\"a\\u{202e}b\"");
    }
}
