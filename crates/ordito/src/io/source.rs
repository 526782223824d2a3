//! Where the text comes from: a file mapped into memory, or bytes that arrive one after the other (pipes, `.gz`). Either
//! way it is handed on in segments of whole lines, which end where a line reaches a multiple of `segment_bytes`: whatever
//! is computed of pieces of a text is the same for both.

use crate::cpu::parallel;
use crate::io::error::ReadError;
use crate::io::mapped_file::MappedFile;
use flate2::read::MultiGzDecoder;
use memchr::{memchr, memrchr};
use std::fs::File;
use std::io::{self, Cursor, Read};
use std::path::Path;
use std::time::Instant;

/// The first bytes of every gzip stream.
pub(super) const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];

/// Segments of a mapped file are so many times as large: they need no memory, and all threads wait at the end of each.
const MAPPED_SEGMENTS: usize = 16;

/// Text to be read.
pub(super) enum Source {
    /// What is left of it, in the pages of the file.
    Mapped(Cursor<MappedFile>),
    /// As it comes.
    Stream(Box<dyn Read + Send>),
}

/// How reading went.
#[derive(Debug, Default)]
pub(super) struct Delivered {
    /// Bytes of text, after decompression.
    pub(super) bytes: u64,
    /// Time spent waiting for them.
    pub(super) read_ns: f64,
    /// Why the text ends before its end.
    pub(super) failure: Option<Failure>,
}

/// Why no more text came.
#[derive(Debug)]
pub(super) enum Failure {
    /// The system or the decompressor gave no more.
    Io(io::Error),
    /// A line is longer than it may be, which keeps memory bounded: so many bytes.
    LongLine(u64),
}

/// Opens a file, decompressed if it starts like a gzip stream, whatever its name, and has it read. When a part of it went away
/// meanwhile, that is the error: what was read instead, and what was said of that, means nothing.
pub(super) fn read_file<T, E: From<ReadError>>(
    path: &Path,
    read: impl FnOnce(Source) -> Result<T, E>,
) -> Result<T, E> {
    let failed = |reason| E::from(ReadError::Io { path: path.to_owned(), reason });
    let (source, map) = open(path).map_err(failed)?;
    let outcome = read(source);
    match map.is_some_and(|map| map.is_cut()) {
        true => Err(failed(was_cut())),
        false => outcome,
    }
}

/// What is said of a file of which a part went away.
pub(super) fn was_cut() -> io::Error {
    io::Error::other("the file was shortened, or its disk failed, while it was read")
}

/// The text of a file, and the mapping that it lies in, where there is one.
pub(super) fn open(path: &Path) -> io::Result<(Source, Option<MappedFile>)> {
    let mut file = File::open(path)?;
    let metadata = file.metadata()?;
    if metadata.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    // Files that the system makes up while they are read (/proc) have no length and cannot be mapped.
    let map = if metadata.is_file() && metadata.len() > 0 { MappedFile::new(&file) } else { None };
    let source = match map.clone() {
        Some(map) if map.as_ref().starts_with(&GZIP_MAGIC) => {
            Source::Stream(Box::new(MultiGzDecoder::new(Cursor::new(map))))
        }
        Some(map) => Source::Mapped(Cursor::new(map)),
        None => {
            let mut start = Vec::with_capacity(GZIP_MAGIC.len());
            file.by_ref().take(GZIP_MAGIC.len() as u64).read_to_end(&mut start)?;
            let is_gzip = start == GZIP_MAGIC;
            let whole = Cursor::new(start).chain(file);
            Source::Stream(if is_gzip { Box::new(MultiGzDecoder::new(whole)) } else { Box::new(whole) })
        }
    };
    Ok((source, map))
}

impl Source {
    /// Bytes of text that are left, where that is known before they are read.
    pub(super) fn known_bytes(&self) -> Option<u64> {
        match self {
            Source::Mapped(text) => Some(text.get_ref().as_ref().len() as u64 - text.position()),
            Source::Stream(_) => None,
        }
    }

    /// What was read of it and is wanted once more comes first again.
    pub(super) fn after(self, read: Vec<u8>) -> Self {
        match self {
            Source::Mapped(mut text) => {
                text.set_position(text.position() - read.len() as u64);
                Source::Mapped(text)
            }
            Source::Stream(rest) => Source::Stream(Box::new(Cursor::new(read).chain(rest))),
        }
    }

    /// Calls `work` with segments, each ending with a line, until the text or an error ends it. Of what is not mapped a line may
    /// have `most_line_bytes`: it must be in memory as a whole.
    pub(super) fn for_each_segment<E>(
        self,
        segment_bytes: usize,
        most_line_bytes: u64,
        work: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<Delivered, E> {
        match self {
            Source::Mapped(text) => {
                let segment_bytes = segment_bytes.saturating_mul(MAPPED_SEGMENTS);
                let text = &text.get_ref().as_ref()[text.position() as usize..];
                segments(text, segment_bytes).try_for_each(work)?;
                Ok(Delivered { bytes: text.len() as u64, ..Delivered::default() })
            }
            Source::Stream(source) => {
                Stream::new(source, segment_bytes, most_line_bytes).for_each_segment(work)
            }
        }
    }
}

impl Read for Source {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self {
            Source::Mapped(text) => text.read(into),
            Source::Stream(stream) => stream.read(into),
        }
    }
}

/// The place after the `\n` that ends the line, or the end of the text.
#[inline(always)]
pub(super) fn next_line(text: &[u8], at: usize) -> usize {
    match memchr(b'\n', &text[at.min(text.len())..]) {
        Some(length) => at + length + 1,
        None => text.len(),
    }
}

/// A text in segments of whole lines.
pub(super) fn segments(text: &[u8], segment_bytes: usize) -> impl Iterator<Item = &[u8]> {
    let mut start = 0usize;
    std::iter::from_fn(move || {
        let nominal = start.saturating_add(to_next_multiple(start as u64, segment_bytes));
        let end = if nominal < text.len() { next_line(text, nominal - 1) } else { text.len() };
        let segment = &text[std::mem::replace(&mut start, end)..end];
        (!segment.is_empty()).then_some(segment)
    })
}

/// From a place in the text to the next multiple of `bytes` behind it.
fn to_next_multiple(place: u64, bytes: usize) -> usize {
    bytes - (place % bytes as u64) as usize
}

/// Bytes that arrive one after the other. While a segment is worked on the next one is fetched.
struct Stream {
    source: Box<dyn Read + Send>,
    segment_bytes: usize,
    most_line_bytes: u64,
    ended: bool,
    delivered: Delivered,
}

impl Stream {
    fn new(source: Box<dyn Read + Send>, segment_bytes: usize, most_line_bytes: u64) -> Self {
        Stream { source, segment_bytes, most_line_bytes, ended: false, delivered: Delivered::default() }
    }

    fn for_each_segment<E>(mut self, mut work: impl FnMut(&[u8]) -> Result<(), E>) -> Result<Delivered, E> {
        let (mut current, mut next) = (Vec::new(), Vec::new());
        let mut lines_end = self.fetch(&mut current, &[]);
        while lines_end > 0 {
            let (lines, begun_line) = current.split_at(lines_end);
            let (stream, next_end) = (&mut self, &mut lines_end);
            parallel::beside(|| *next_end = stream.fetch(&mut next, begun_line), || work(lines))?;
            std::mem::swap(&mut current, &mut next);
        }
        Ok(self.delivered)
    }

    /// Puts `begun` and what follows it into `buffer`, and says where the segment ends; 0 at the end.
    fn fetch(&mut self, buffer: &mut Vec<u8>, begun: &[u8]) -> usize {
        let start = Instant::now();
        buffer.clear();
        buffer.extend_from_slice(begun);
        let nominal = to_next_multiple(self.delivered.bytes, self.segment_bytes);
        // The line that ends the segment has this byte, or starts behind it.
        let mut searched = nominal - 1;
        let lines_end = loop {
            if let Some(newline) = buffer.get(searched..).and_then(|rest| memchr(b'\n', rest)) {
                break searched + newline + 1;
            }
            searched = searched.max(buffer.len());
            if self.ended {
                break match &self.delivered.failure {
                    None => buffer.len(),
                    Some(_) => memrchr(b'\n', buffer).map_or(0, |newline| newline + 1),
                };
            }
            // All that lies behind is one line.
            if buffer.len().saturating_sub(nominal) as u64 > self.most_line_bytes {
                self.delivered.failure = Some(Failure::LongLine(self.most_line_bytes));
                self.ended = true;
                continue;
            }
            self.read_more(buffer, nominal);
        };
        self.delivered.bytes += lines_end as u64;
        self.delivered.read_ns += start.elapsed().as_nanos() as f64;
        lines_end
    }

    /// Reads to `nominal` and a little farther, where a line should end. As much again as there is behind it already: a
    /// line of any length costs a few steps.
    fn read_more(&mut self, buffer: &mut Vec<u8>, nominal: usize) {
        let behind = buffer.len().saturating_sub(nominal).max(self.segment_bytes / 16 + 1);
        let wanted = nominal.saturating_sub(buffer.len()).saturating_add(behind);
        match self.source.by_ref().take(wanted as u64).read_to_end(buffer) {
            Ok(count) => self.ended = count < wanted,
            Err(failure) => (self.ended, self.delivered.failure) = (true, Some(Failure::Io(failure))),
        }
    }
}
