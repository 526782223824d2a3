//! A file that several read together, each a part of it: processes that have no memory in common.
//!
//! One of them opens it ([`open`]) and tells the others what it found ([`Start`]). Text is cut into ranges of bytes ([`TextPart`]), at
//! the starts of lines: a line belongs to the range in which it starts. What is compressed, or cannot be mapped, is read by one of
//! them ([`StreamReader`]). Entries come in batches, in the order of the file, as it lists them: nothing is mirrored or summed.
//!
//! Entries, bits and errors are those of [`read_matrix_market`](super::read_matrix_market).

use crate::Scalar;
use crate::io::error::ReadError;
use crate::io::mapped_file::MappedFile;
use crate::io::matrix_market::entries::Entries;
use crate::io::matrix_market::header::Header;
use crate::io::matrix_market::lines::Lines;
use crate::io::matrix_market::parallel::{Body, data_lines_of, lines_of};
use crate::io::matrix_market::{MOST_LINE_BYTES, STREAM_SEGMENT_BYTES, interrupted, read};
use crate::io::source::{self, Source, next_line, segments};
use crate::precision::compiled_here;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Entries that follow each other in the file.
#[derive(Debug, Clone, Copy)]
pub struct Batch<'a, S> {
    /// Their rows, counted from 0.
    pub rows: &'a [u32],
    /// Their columns, counted from 0.
    pub cols: &'a [u32],
    /// Their values.
    pub values: &'a [S],
}

/// What the one that opened a text tells the others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Start {
    /// What the file says about itself.
    pub header: Header,
    /// Where the body begins, in bytes.
    body_at: u64,
    file_bytes: u64,
    /// Lines before the body.
    lines: u64,
}

/// A file whose header was read.
pub enum Opened {
    /// Text that all can read.
    Text(Start),
    /// What only this one can read.
    Stream(StreamReader),
}

fn failed(path: &Path, reason: io::Error) -> ReadError {
    ReadError::Io { path: path.to_owned(), reason }
}

/// Reads the header of a file.
pub fn open(path: &Path) -> Result<Opened, ReadError> {
    let (source, map) = source::open(path).map_err(|reason| failed(path, reason))?;
    let mut lines = Lines::new(source, path);
    let header = Header::read(&mut lines);
    if map.as_ref().is_some_and(MappedFile::is_cut) {
        return Err(failed(path, source::was_cut()));
    }
    let header = header?;
    let (looked_at, behind, lines) = lines.into_rest();
    let rest = behind.after(looked_at);
    Ok(match (rest.known_bytes(), &map) {
        (Some(body), Some(map)) => {
            let file_bytes = map.as_ref().len() as u64;
            Opened::Text(Start { header, body_at: file_bytes - body, file_bytes, lines })
        }
        _ => Opened::Stream(StreamReader { path: path.to_owned(), header, rest, map, lines }),
    })
}

impl Start {
    /// To be sent.
    pub fn to_text(&self) -> String {
        format!("{} {} {}\n{}", self.body_at, self.file_bytes, self.lines, header_to_text(&self.header))
    }

    /// What [`Start::to_text`] wrote.
    pub fn from_text(text: &str) -> Option<Self> {
        let (numbers, header) = text.split_once('\n')?;
        let mut numbers = numbers.split(' ').map(|number| number.parse().ok());
        let mut number = || numbers.next().flatten();
        let (body_at, file_bytes, lines) = (number()?, number()?, number()?);
        Some(Start { header: header_from_text(header)?, body_at, file_bytes, lines })
    }

    /// Lines before the body.
    pub fn lines(&self) -> u64 {
        self.lines
    }
}

/// A header, to be sent.
pub fn header_to_text(header: &Header) -> String {
    header.to_text()
}

/// What [`header_to_text`] wrote.
pub fn header_from_text(text: &str) -> Option<Header> {
    Header::read(&mut Lines::new(text.as_bytes(), Path::new(""))).ok()
}

/// The error that a file ends after so many lines and entries, where the header declares more.
pub fn missing_entries(path: &Path, header: &Header, lines: u64, entries: u64) -> Option<ReadError> {
    let mut end = Lines::resume(&b""[..], path, lines);
    let mut held = Entries::<f64>::after(entries);
    read::read_lines(&mut end, header, &mut held).and_then(|()| read::check_end(&end, header, &held)).err()
}

/// One of several ranges of a text.
pub struct TextPart<S> {
    path: PathBuf,
    header: Header,
    map: MappedFile,
    /// What is left of it.
    range: Range<usize>,
    /// Lines of the file before that.
    lines: u64,
    entries: Entries<S>,
}

impl<S: Scalar> TextPart<S> {
    /// Part `part` of `parts`, about as many bytes each.
    pub fn open(path: &Path, start: &Start, part: usize, parts: usize) -> Result<Self, ReadError> {
        let (_, map) = source::open(path).map_err(|reason| failed(path, reason))?;
        let unlike = |problem: &str| failed(path, io::Error::other(problem));
        let map = map.ok_or_else(|| unlike("the file cannot be mapped into memory here"))?;
        let bytes = map.as_ref().len();
        if bytes as u64 != start.file_bytes {
            return Err(unlike(&format!(
                "the file has {bytes} bytes here, and {} on rank 0",
                start.file_bytes
            )));
        }
        let body = start.body_at as usize;
        let border = |part: usize| {
            let nominal = body + ((bytes - body) as u128 * part as u128 / parts as u128) as usize;
            // The line that has the byte before it belongs to the part before.
            if nominal == body { body } else { next_line(map.as_ref(), nominal - 1) }
        };
        let range = border(part)..if part + 1 == parts { bytes } else { border(part + 1) };
        let entries = Entries::default();
        Ok(TextPart { path: path.to_owned(), header: start.header.clone(), map, range, lines: 0, entries })
    }

    /// Lines that are left.
    pub fn count_lines(&self) -> Result<u64, ReadError> {
        self.unless_cut(lines_of(&self.map.as_ref()[self.range.clone()]))
    }

    /// Those of them that are neither blank nor comments.
    pub fn count_entries(&self) -> Result<u64, ReadError> {
        self.unless_cut(data_lines_of(&self.map.as_ref()[self.range.clone()]))
    }

    /// So many lines and entries of the file stand before this part.
    pub fn begin(&mut self, lines: u64, entries: u64) {
        self.lines = lines;
        // Where parts before this one have more than there should be, the first line of this one is too much as well.
        self.entries = Entries::after(entries.min(self.header.entries));
    }

    /// The entries of the next segment of about so many bytes; `None` at the end of this part.
    pub fn next(&mut self, segment_bytes: usize) -> Result<Option<Batch<'_, S>>, ReadError> {
        type Next<S> = fn(&mut TextPart<S>, usize) -> Result<bool, ReadError>;
        let more = compiled_here!(S, read_segment, Next)(self, segment_bytes)?;
        let (rows, cols, values) = self.entries.held();
        Ok(more.then_some(Batch { rows, cols, values }))
    }

    fn unless_cut<T>(&self, value: T) -> Result<T, ReadError> {
        if self.map.is_cut() { Err(failed(&self.path, source::was_cut())) } else { Ok(value) }
    }
}

fn read_segment<S: Scalar>(part: &mut TextPart<S>, segment_bytes: usize) -> Result<bool, ReadError> {
    part.entries.hand_over();
    let rest = &part.map.as_ref()[part.range.clone()];
    let Some(segment) = segments(rest, segment_bytes).next() else { return Ok(false) };
    let mut body = Body::new(&part.path, &part.header, std::mem::take(&mut part.entries), part.lines);
    let read = body.read(segment);
    (part.lines, part.entries) = (body.lines, body.entries);
    part.range.start += segment.len();
    part.unless_cut(())?;
    read.map(|()| true)
}

/// What only one can read: a `.gz`, a pipe.
pub struct StreamReader {
    path: PathBuf,
    header: Header,
    rest: Source,
    map: Option<MappedFile>,
    lines: u64,
}

/// Why segments end before the text.
enum End {
    Fault(ReadError),
    Enough,
}

impl StreamReader {
    /// What the file says about itself.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Has `work` take batches until the end of the file, or until it says `false`.
    pub fn read<S: Scalar>(self, work: &mut dyn FnMut(Batch<'_, S>) -> bool) -> Result<(), ReadError> {
        type Read<S> = fn(StreamReader, &mut dyn FnMut(Batch<'_, S>) -> bool) -> Result<(), ReadError>;
        compiled_here!(S, read_stream, Read)(self, work)
    }
}

fn read_stream<S: Scalar>(
    reader: StreamReader,
    work: &mut dyn FnMut(Batch<'_, S>) -> bool,
) -> Result<(), ReadError> {
    let StreamReader { path, header, rest, map, lines } = reader;
    let mut body = Body::new(&path, &header, Entries::default(), lines);
    let delivered = rest.for_each_segment(STREAM_SEGMENT_BYTES, MOST_LINE_BYTES, |segment| {
        body.entries.hand_over();
        body.read(segment).map_err(End::Fault)?;
        let (rows, cols, values) = body.entries.held();
        if work(Batch { rows, cols, values }) { Ok(()) } else { Err(End::Enough) }
    });
    if map.is_some_and(|map| map.is_cut()) {
        return Err(failed(&path, source::was_cut()));
    }
    match delivered {
        Err(End::Enough) => Ok(()),
        Err(End::Fault(fault)) => Err(fault),
        Ok(delivered) => match delivered.failure {
            Some(failure) => Err(interrupted(&path, body.lines + 1, failure)),
            None => body.finish().map(drop),
        },
    }
}
