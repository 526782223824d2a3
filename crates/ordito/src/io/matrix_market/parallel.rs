//! The body of a file on all threads of the current rayon pool.
//!
//! Text comes in segments of whole lines. A segment is cut into chunks at line starts; the lines of each are counted,
//! which says where its entries belong, and then read into that place. Lines that are not as usual are looked at one by
//! one, on the same thread. Where a segment does not hold what it should, it is read once more line after line: that says
//! where the fault is, and is the only code that does.

use crate::Scalar;
use crate::cpu::parallel;
use crate::io::error::ReadError;
use crate::io::matrix_market::entries::{Entries, Room};
#[cfg(target_arch = "x86_64")]
use crate::io::matrix_market::header::Symmetry;
use crate::io::matrix_market::header::{Field, Format, Header, Object};
use crate::io::matrix_market::line;
use crate::io::matrix_market::lines::{BUFFER_BYTES, Lines, first_character};
use crate::io::matrix_market::places::Places;
use crate::io::matrix_market::read;
use crate::io::matrix_market::usual_line;
#[cfg(target_arch = "x86_64")]
use crate::io::matrix_market::usual_line_avx512::Windows;
use crate::io::source::{next_line, segments};
use memchr::memchr_iter;
use std::path::Path;

/// Text of one task: enough that its start costs nothing, and little enough for the L2 cache, where it lies when it is
/// read after its lines were counted.
const CHUNK_BYTES: usize = 256 << 10;

/// So many lines are read as usual before the faster way is tried again: some files have nothing for it.
#[cfg(target_arch = "x86_64")]
const LINES_BETWEEN_TRIES: usize = 8;

/// A body that is being read.
pub(super) struct Body<'a, S> {
    path: &'a Path,
    header: &'a Header,
    pub(super) entries: Entries<S>,
    /// Lines of the file that were read, those of the header too.
    pub(super) lines: u64,
    chunk_bytes: usize,
    #[cfg(target_arch = "x86_64")]
    windows: Option<Windows>,
}

impl<'a, S: Scalar> Body<'a, S> {
    pub(super) fn new(path: &'a Path, header: &'a Header, entries: Entries<S>, lines: u64) -> Self {
        Body {
            path,
            header,
            entries,
            lines,
            chunk_bytes: CHUNK_BYTES,
            #[cfg(target_arch = "x86_64")]
            windows: Windows::new().filter(|_| has_common_lines(header)),
        }
    }

    /// Reads whole lines.
    pub(super) fn read(&mut self, text: &[u8]) -> Result<(), ReadError> {
        let chunks: Vec<&[u8]> = segments(text, self.chunk_bytes).collect();
        let lines = count_all(&chunks, count_lines);
        // Comments and blank lines are no entries, and few files have any behind the header: only then are they told apart.
        if !self.fill(text, &chunks, &lines)? && !self.fill(text, &chunks, &count_all(&chunks, count_data))? {
            let mut closely = Lines::resume(text, self.path, self.lines);
            read::read_lines(&mut closely, self.header, &mut self.entries)?;
        }
        self.lines += lines.iter().sum::<usize>() as u64;
        Ok(())
    }

    /// At the end of the file: was everything there?
    pub(super) fn finish(mut self) -> Result<Entries<S>, ReadError> {
        let mut nothing = Lines::resume(&b""[..], self.path, self.lines);
        read::read_lines(&mut nothing, self.header, &mut self.entries)?;
        read::check_end(&nothing, self.header, &self.entries)?;
        Ok(self.entries)
    }

    /// Reads chunks with so many entries each. `false`: they have others, or a fault, and nothing was read.
    fn fill(&mut self, text: &[u8], chunks: &[&[u8]], counts: &[usize]) -> Result<bool, ReadError> {
        let (total, first) = (counts.iter().sum(), self.entries.listed());
        if total as u64 > self.header.entries - first {
            return Ok(false);
        }
        let mut room = self.entries.room(self.path, total)?;
        let mut tasks = Vec::with_capacity(chunks.len());
        let (mut start, mut entry) = (0, first);
        for (chunk, &count) in chunks.iter().zip(counts) {
            let end = start + chunk.len();
            // What follows the chunk is seen too: digits are looked at eight at a time, whatever they are.
            let chunk = LineChunk {
                text,
                start,
                end,
                first: entry,
                #[cfg(target_arch = "x86_64")]
                windows: self.windows,
            };
            tasks.push((chunk, room.split_off(count)));
            (start, entry) = (end, entry + count as u64);
        }
        let header = self.header;
        let filled = parallel::all(tasks, |(chunk, mut room)| chunk.read(header, &mut room));
        self.entries.add(if filled { total } else { 0 });
        Ok(filled)
    }
}

/// Lines of a text, the last of which may lack its end; counted by all threads.
pub(super) fn lines_of(text: &[u8]) -> u64 {
    count_all(&segments(text, CHUNK_BYTES).collect::<Vec<_>>(), count_lines).iter().sum::<usize>() as u64
}

/// Those that are neither blank nor comments.
pub(super) fn data_lines_of(text: &[u8]) -> u64 {
    count_all(&segments(text, CHUNK_BYTES).collect::<Vec<_>>(), count_data).iter().sum::<usize>() as u64
}

fn count_all(chunks: &[&[u8]], count: fn(&[u8]) -> usize) -> Vec<usize> {
    parallel::map_index(chunks.len(), |chunk| count(chunks[chunk]))
}

/// Lines, the last of which may lack its end.
fn count_lines(text: &[u8]) -> usize {
    memchr_iter(b'\n', text).count() + usize::from(text.last().is_some_and(|&byte| byte != b'\n'))
}

/// Lines that are neither blank nor comments.
fn count_data(text: &[u8]) -> usize {
    let (mut at, mut count) = (0, 0);
    while at < text.len() {
        let next = next_line(text, at);
        count += usize::from(is_data(&text[at..next]));
        at = next;
    }
    count
}

/// Only comments may be longer than the buffer of [`Lines`]: a blank line that is counts, so that it is looked at.
fn is_data(line: &[u8]) -> bool {
    let text = line.strip_suffix(b"\n").unwrap_or(line);
    match first_character(&text[..text.len().min(BUFFER_BYTES)]) {
        Some(first) => first != b'%',
        None => text.len() >= BUFFER_BYTES,
    }
}

/// Are most lines of such a file two indices and a real number, with nothing to check but their bounds?
#[cfg(target_arch = "x86_64")]
fn has_common_lines(header: &Header) -> bool {
    (header.object, header.format, header.field) == (Object::Matrix, Format::Coordinate, Field::Real)
        && header.symmetry != Symmetry::SkewSymmetric
}

/// Lines of a text that one thread reads.
struct LineChunk<'a> {
    text: &'a [u8],
    start: usize,
    end: usize,
    /// Entries of the file before them.
    first: u64,
    /// Whether lines of the commonest form can be read faster.
    #[cfg(target_arch = "x86_64")]
    windows: Option<Windows>,
}

impl LineChunk<'_> {
    /// Fills the room; `false` where that is not what the lines hold.
    fn read<S: Scalar>(&self, header: &Header, room: &mut Room<'_, S>) -> bool {
        let text = self.text;
        match (header.format, header.object, header.field) {
            (Format::Array, _, field) => {
                let read = self.read_as(header, room, |at| usual_line::element(text, at, field));
                let places = room.rows.iter_mut().zip(&mut *room.cols);
                for ((row, col), place) in places.zip(Places::from(header, self.first)) {
                    (*row, *col) = place;
                }
                read
            }
            (_, Object::Vector, _) => self.read_as(header, room, |_| None),
            (_, _, Field::Real) => {
                self.read_as(header, room, |at| usual_line::coordinate(text, at, header, usual_line::real))
            }
            (_, _, Field::Integer) => {
                self.read_as(header, room, |at| usual_line::coordinate(text, at, header, usual_line::integer))
            }
            (_, _, Field::Pattern) => {
                self.read_as(header, room, |at| usual_line::coordinate(text, at, header, usual_line::pattern))
            }
        }
    }

    #[inline(always)]
    fn read_as<S: Scalar>(
        &self,
        header: &Header,
        room: &mut Room<'_, S>,
        usual: impl Fn(usize) -> Option<(u32, u32, S, usize)>,
    ) -> bool {
        let (mut at, mut done) = (self.start, 0);
        #[cfg(target_arch = "x86_64")]
        let mut next_try = 0;
        while done < room.rows.len() {
            #[cfg(target_arch = "x86_64")]
            if let Some(windows) = self.windows
                && done >= next_try
            {
                let (places, values) =
                    ((&mut room.rows[done..], &mut room.cols[done..]), &mut room.values[done..]);
                let (count, next) = windows.read(self.text, at, (header.rows, header.cols), places, values);
                (at, done, next_try) = (next, done + count, done + count + LINES_BETWEEN_TRIES);
                if done == room.rows.len() {
                    break;
                }
            }
            let usual = usual(at).filter(|&(_, _, _, next)| next - at <= BUFFER_BYTES);
            let Some((row, col, value, next)) = usual.or_else(|| self.read_closely(at, header, done)) else {
                return false;
            };
            (room.rows[done], room.cols[done], room.values[done]) = (row, col, value);
            (at, done) = (next, done + 1);
        }
        at <= self.end
    }

    /// The next entry at or behind `at`, and where the line behind it starts.
    #[cold]
    fn read_closely<S: Scalar>(
        &self,
        mut at: usize,
        header: &Header,
        done: usize,
    ) -> Option<(u32, u32, S, usize)> {
        while at < self.end {
            let next = next_line(self.text, at);
            let line = &self.text[at..next];
            let line = line.strip_suffix(b"\n").unwrap_or(line);
            if is_data(line) {
                if line.len() >= BUFFER_BYTES {
                    return None;
                }
                let mut places = Places::from(header, self.first + done as u64);
                let (row, col, value) = line::entry(line, header, &mut places).ok()?;
                return Some((row, col, value, next));
            }
            at = next;
        }
        None
    }
}

#[cfg(test)]
mod tests;
