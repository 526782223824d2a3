//! Lines of a file of any size through one buffer: found with `memchr`, handed out in place, never copied.

use crate::io::error::ReadError;
use crate::io::error::quoted;
use memchr::memchr;
use std::io::{self, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Room for the longest data line. Few calls to the system, and the buffer stays in the L2 cache.
pub(super) const BUFFER_BYTES: usize = 1 << 20;

/// Reads lines and counts them.
pub(super) struct Lines<R> {
    source: R,
    path: PathBuf,
    buffer: Vec<u8>,
    /// What was read and not yet handed out is `buffer[start..end]`.
    start: usize,
    end: usize,
    ended: bool,
    number: u64,
}

/// One line without its end.
pub(super) struct Line<'a> {
    pub(super) number: u64,
    pub(super) text: &'a [u8],
}

/// What separates words. A carriage return is one of them, so that lines may end in either way.
#[inline(always)]
pub(super) fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | 0x0b | 0x0c)
}

impl<R: Read> Lines<R> {
    pub(super) fn new(source: R, path: &Path) -> Self {
        Lines::with_buffer(source, path, BUFFER_BYTES)
    }

    /// Goes on in the middle of a file, where so many lines were read before.
    pub(super) fn resume(source: R, path: &Path, lines_before: u64) -> Self {
        Lines { number: lines_before, ..Lines::new(source, path) }
    }

    /// What was read and not handed out, and where the rest comes from; how many lines there were before.
    pub(super) fn into_rest(mut self) -> (Vec<u8>, R, u64) {
        self.buffer.truncate(self.end);
        self.buffer.drain(..self.start);
        (self.buffer, self.source, self.number)
    }

    fn with_buffer(source: R, path: &Path, bytes: usize) -> Self {
        let buffer = vec![0; bytes];
        Lines { source, path: path.to_owned(), buffer, start: 0, end: 0, ended: false, number: 0 }
    }

    /// The next line that is not blank: the banner, which looks like a comment.
    pub(super) fn next_filled(&mut self) -> Result<Option<Line<'_>>, ReadError> {
        self.next_where(|first| first.is_some())
    }

    /// The next line that is neither blank nor a comment.
    #[inline]
    pub(super) fn next_data(&mut self) -> Result<Option<Line<'_>>, ReadError> {
        self.next_where(|first| !matches!(first, None | Some(b'%')))
    }

    /// The next line whose first character that is not blank (`None`: all are) is wanted.
    #[inline(always)]
    fn next_where(&mut self, wanted: impl Fn(Option<u8>) -> bool) -> Result<Option<Line<'_>>, ReadError> {
        loop {
            let Some(range) = self.next_range()? else { return Ok(None) };
            if wanted(first_character(&self.buffer[range.clone()])) {
                return Ok(Some(Line { number: self.number, text: &self.buffer[range] }));
            }
        }
    }

    #[inline(always)]
    fn next_range(&mut self) -> Result<Option<Range<usize>>, ReadError> {
        if let Some(length) = memchr(b'\n', &self.buffer[self.start..self.end]) {
            let range = self.start..self.start + length;
            self.start = range.end + 1;
            self.number += 1;
            return Ok(Some(range));
        }
        self.next_range_from_source()
    }

    /// The buffer holds no whole line any more: moves the rest to its front and reads on.
    #[cold]
    fn next_range_from_source(&mut self) -> Result<Option<Range<usize>>, ReadError> {
        self.number += 1;
        loop {
            let searched = self.end - self.start;
            if searched == self.buffer.len() {
                self.make_room()?;
                continue;
            }
            self.buffer.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, searched);
            let count = self.read()?;
            self.end += count;
            if let Some(length) = memchr(b'\n', &self.buffer[searched..self.end]) {
                self.start = searched + length + 1;
                return Ok(Some(0..searched + length));
            }
            if count == 0 {
                self.ended = true;
                self.start = self.end;
                return Ok((searched > 0).then_some(0..searched));
            }
        }
    }

    fn read(&mut self) -> Result<usize, ReadError> {
        while !self.ended {
            match self.source.read(&mut self.buffer[self.end..]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Ok(count) => return Ok(count),
                Err(reason) => {
                    return Err(ReadError::Interrupted {
                        path: self.path.clone(),
                        line: self.number,
                        reason,
                    });
                }
            }
        }
        Ok(0)
    }

    /// The line fills the buffer. Of a comment nothing needs to be kept but what makes it one.
    fn make_room(&mut self) -> Result<(), ReadError> {
        if first_character(&self.buffer) == Some(b'%') {
            self.buffer[0] = b'%';
            (self.start, self.end) = (0, 1);
            return Ok(());
        }
        let expected = format!("a line of at most {} bytes", self.buffer.len());
        Err(self.error(self.number, quoted(&self.buffer), expected))
    }

    /// The error that something else was `expected` on this line.
    pub(super) fn error(&self, line: u64, found: String, expected: String) -> ReadError {
        ReadError::Line { path: self.path.clone(), line, found, expected }
    }

    /// The error that the file ends where something was `expected`.
    pub(super) fn error_at_end(&self, expected: String) -> ReadError {
        self.error(self.number, "the end of the file".to_owned(), expected)
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

/// Of a line, what is not blank; `None`: all of it is.
#[inline(always)]
pub(super) fn first_character(text: &[u8]) -> Option<u8> {
    text.iter().copied().find(|&byte| !is_blank(byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hands out one byte at a time.
    struct Trickle<'a>(&'a [u8]);
    impl Read for Trickle<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let count = self.0.len().min(buffer.len()).min(1);
            buffer[..count].copy_from_slice(&self.0[..count]);
            self.0 = &self.0[count..];
            Ok(count)
        }
    }

    fn data_lines(source: impl Read, bytes: usize) -> Result<Vec<(u64, String)>, ReadError> {
        let mut lines = Lines::with_buffer(source, Path::new("test"), bytes);
        let mut found = Vec::new();
        while let Some(line) = lines.next_data()? {
            found.push((line.number, String::from_utf8_lossy(line.text).into_owned()));
        }
        Ok(found)
    }

    #[test]
    fn comments_and_blank_lines_are_counted_and_skipped() {
        let text = b"% one\n\n1 2\r\n  % indented\n \t\r\n3 4";
        let expected = vec![(3, "1 2\r".to_owned()), (6, "3 4".to_owned())];
        assert_eq!(data_lines(&text[..], 1 << 10).unwrap(), expected);
        assert_eq!(data_lines(Trickle(text), 16).unwrap(), expected);
        assert_eq!(data_lines(&b""[..], 16).unwrap(), vec![]);
    }

    #[test]
    fn only_comments_may_be_longer_than_the_buffer() {
        let text = format!("%{}\n1 2\n %{}\n3 4\n", "x".repeat(100), "\u{0}".repeat(99));
        let expected = vec![(2, "1 2".to_owned()), (4, "3 4".to_owned())];
        for bytes in [4, 5, 16, 101, 102, 1 << 10] {
            assert_eq!(data_lines(text.as_bytes(), bytes).unwrap(), expected);
            assert_eq!(data_lines(Trickle(text.as_bytes()), bytes).unwrap(), expected);
        }
        let error = data_lines(&b"1\n1234567890"[..], 8).unwrap_err();
        assert_eq!(
            error.to_string(),
            r#"test: line 2: expected a line of at most 8 bytes, found "12345678""#
        );
    }
}
