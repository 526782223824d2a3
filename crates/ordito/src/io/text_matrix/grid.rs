//! A piece of text, cut on a fixed grid of bytes into chunks of whole lines that threads read at once. Neither the
//! numbers nor the error depend on the grid or on the threads: every row is read by itself, and of all faults the first
//! in the file is reported.

use crate::Scalar;
use crate::cpu::parallel;
use crate::io::source::next_line;
use crate::io::text_matrix::row::{RowFault, RowForm, is_line_end, read_row, skip_blanks};
use memchr::memchr;
use std::ops::Range;

/// How many bytes are worked on at once.
#[derive(Debug, Clone, Copy)]
pub(super) struct Grain {
    /// Of the text that all threads share before they wait for each other: enough work for many.
    pub(super) segment_bytes: usize,
    /// Of what one thread takes at a time.
    pub(super) chunk_bytes: usize,
}

impl Default for Grain {
    fn default() -> Self {
        Grain::of_chunks(1 << 20)
    }
}

impl Grain {
    /// For chunks of that many bytes, a whole number of which make a segment.
    pub(super) fn of_chunks(chunk_bytes: usize) -> Self {
        const SEGMENT_BYTES: usize = 16 << 20;
        let chunk_bytes = chunk_bytes.max(1);
        let chunks = SEGMENT_BYTES.div_ceil(chunk_bytes);
        Grain { segment_bytes: chunks.saturating_mul(chunk_bytes), chunk_bytes }
    }
}

/// How far a file was read.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Progress {
    /// Bytes so far.
    pub(super) bytes: u64,
    /// Rows so far.
    pub(super) rows: u64,
    /// Lines so far, those without a row too.
    pub(super) lines: u64,
    /// An empty line after the last row: the end of the file, or a fault when another row follows.
    empty_line: Option<u64>,
}

/// A fault and where it is, both counted from 0 at the start of the file.
#[derive(Debug)]
pub(super) struct Fault {
    pub(super) row: u64,
    pub(super) line: u64,
    pub(super) what: FaultKind,
}

/// What is wrong.
#[derive(Debug)]
pub(super) enum FaultKind {
    Row(RowFault),
    EmptyLine,
    /// The rows are not those that were counted a moment ago.
    FileChanged,
    /// There is no memory for so many numbers.
    TooLarge {
        entries: usize,
    },
}

/// What a line holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LineKind {
    Row,
    Comment,
    Empty,
}

/// Judged by its first character.
#[inline(always)]
pub(super) fn line_kind(text: &[u8], at: usize) -> LineKind {
    let first = skip_blanks(text, at);
    match text.get(first) {
        Some(b'#' | b'%') => LineKind::Comment,
        _ if is_line_end(text, first) => LineKind::Empty,
        _ => LineKind::Row,
    }
}

/// Chunks, and where the rows of each belong.
#[derive(Debug)]
pub(super) struct Grid<'a> {
    pub(super) chunks: Vec<TextChunk<'a>>,
    /// Rows of all chunks together.
    pub(super) rows: usize,
    /// Bytes of the file that they take.
    place: Range<u64>,
    /// The first empty line between rows.
    pub(super) empty_line: Option<Fault>,
}

/// Whole lines that one thread reads.
#[derive(Debug)]
pub(super) struct TextChunk<'a> {
    pub(super) text: &'a [u8],
    /// What lies before it.
    pub(super) start: Progress,
    pub(super) rows: usize,
}

impl<'a> Grid<'a> {
    /// Counts the rows of `text`, whole lines that follow on what `progress` counted, and moves `progress` to its end. Cells
    /// start at multiples of `chunk_bytes` from the start of the file, of which `progress` has seen so much. So many bytes of
    /// every row are believed to hold no line end, and not looked at (a seventh of the whole time); when a row is shorter,
    /// [`Grid::read`] fails.
    pub(super) fn new(
        text: &'a [u8],
        chunk_bytes: usize,
        least_row_bytes: usize,
        progress: &mut Progress,
    ) -> Self {
        let before = (progress.bytes % chunk_bytes as u64) as usize;
        let cells = (before + text.len()).div_ceil(chunk_bytes);
        let counts = parallel::map_index(cells, |cell| {
            let start = (cell * chunk_bytes).saturating_sub(before);
            let end = text.len().min((cell + 1) * chunk_bytes - before);
            Lines::count(text, start..end, least_row_bytes)
        });
        let counts: Vec<(usize, Lines)> = counts.into_iter().flatten().collect();
        let place = progress.bytes..progress.bytes + text.len() as u64;
        progress.bytes = place.end;
        let ends = counts.iter().skip(1).map(|&(start, _)| start).chain([text.len()]).collect::<Vec<_>>();
        let (first_row, mut empty_line) = (progress.rows, None);
        let chunks = counts.into_iter().zip(ends).map(|((at, lines), end)| {
            let start = *progress;
            if empty_line.is_none() {
                empty_line = lines.fault_after(&start);
            }
            progress.rows += lines.rows as u64;
            progress.lines += lines.lines;
            if lines.rows > 0 {
                progress.empty_line = None;
            }
            if progress.empty_line.is_none() {
                progress.empty_line = lines.empty_at_end.map(|line| start.lines + line);
            }
            TextChunk { text: &text[at..end], start, rows: lines.rows }
        });
        let chunks = chunks.collect();
        Grid { chunks, rows: (progress.rows - first_row) as usize, place, empty_line }
    }

    /// Rows from here to the end of a file of so many bytes: exactly, if this is the end, else a few more than are likely,
    /// for rows of measured numbers are about equally long.
    pub(super) fn rows_expected(&self, file_bytes: u64) -> u64 {
        let (rows, rest) = (self.rows as u64, file_bytes.saturating_sub(self.place.end));
        let likely = rows as f64 / (self.place.end - self.place.start) as f64 * rest as f64;
        rows + (likely * 17.0 / 16.0).ceil() as u64
    }

    /// Reads every row, `rows · cols` numbers. The first fault in the file, if there is one.
    pub(super) fn read<S: Scalar>(self, form: &RowForm, mut numbers: &mut [S]) -> Result<(), Fault> {
        let mut shares = Vec::with_capacity(self.chunks.len());
        for chunk in self.chunks {
            let (share, rest) = numbers.split_at_mut(chunk.rows * form.cols);
            numbers = rest;
            shares.push((chunk, share));
        }
        // Whoever is done takes the next: nobody waits for long at the end.
        let faults = parallel::map(shares, |(chunk, share)| chunk.read(form, share).err());
        let first = faults.into_iter().flatten().min_by_key(|fault| fault.line);
        match first.into_iter().chain(self.empty_line).min_by_key(|fault| fault.line) {
            Some(fault) => Err(fault),
            None => Ok(()),
        }
    }
}

impl TextChunk<'_> {
    /// Reads the first rows, as many as there are numbers for.
    pub(super) fn read<S: Scalar>(&self, form: &RowForm, numbers: &mut [S]) -> Result<(), Fault> {
        let (mut at, mut line) = (0, 0);
        for (index, row) in numbers.chunks_exact_mut(form.cols).enumerate() {
            let fault = |line: u64, what| Fault {
                row: self.start.rows + index as u64,
                line: self.start.lines + line,
                what,
            };
            while at < self.text.len() && line_kind(self.text, at) != LineKind::Row {
                at = next_line(self.text, at);
                line += 1;
            }
            if at >= self.text.len() {
                return Err(fault(line, FaultKind::FileChanged));
            }
            let end = read_row(self.text, at, form, row).map_err(|what| fault(line, FaultKind::Row(what)))?;
            if end - at < form.least_bytes {
                return Err(fault(line, FaultKind::FileChanged));
            }
            at = next_line(self.text, end);
            line += 1;
        }
        Ok(())
    }
}

/// What the lines of a chunk are. Lines are counted from the chunk's start.
#[derive(Debug, PartialEq, Eq, Default)]
struct Lines {
    rows: usize,
    lines: u64,
    /// The first empty line that a row of the chunk follows, and the rows before it.
    empty_before_row: Option<(u64, u64)>,
    /// The first empty line after the last row.
    empty_at_end: Option<u64>,
}

impl Lines {
    /// The lines that start in a cell of the grid, and where the first of them does. A cell in the middle of a long line
    /// has none.
    fn count(text: &[u8], cell: Range<usize>, least_row_bytes: usize) -> Option<(usize, Self)> {
        // A line starts behind the end of another.
        let next_start = |at: usize| {
            let place = memchr(b'\n', text.get(at..cell.end - 1)?)?;
            Some(at + place + 1)
        };
        let first = if cell.start == 0 { 0 } else { next_start(cell.start - 1)? };
        let mut counted = Lines::default();
        let mut start = Some(first);
        while let Some(at) = start {
            let mut searched = at;
            match line_kind(text, at) {
                LineKind::Row => {
                    searched = at.saturating_add(least_row_bytes);
                    if let Some(line) = counted.empty_at_end.take() {
                        counted.empty_before_row.get_or_insert((line, counted.rows as u64));
                    }
                    counted.rows += 1;
                }
                LineKind::Empty => _ = counted.empty_at_end.get_or_insert(counted.lines),
                LineKind::Comment => {}
            }
            counted.lines += 1;
            start = next_start(searched);
        }
        Some((first, counted))
    }

    /// The first empty line between rows, of this chunk or left over from those before it.
    fn fault_after(&self, start: &Progress) -> Option<Fault> {
        let what = FaultKind::EmptyLine;
        if let Some(line) = start.empty_line
            && self.rows > 0
        {
            return Some(Fault { row: start.rows, line, what });
        }
        let (line, rows) = self.empty_before_row?;
        Some(Fault { row: start.rows + rows, line: start.lines + line, what })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_are_whole_lines_and_together_the_text() {
        let text = b"1\n\n22\n333\n4444\n55555\n666666666666666666\n7";
        for chunk_bytes in 1..50 {
            let chunks = Grid::new(text, chunk_bytes, 0, &mut Progress::default()).chunks;
            let texts: Vec<&[u8]> = chunks.iter().map(|chunk| chunk.text).collect();
            assert_eq!(texts.concat(), text);
            assert!(texts.iter().rev().skip(1).all(|text| text.ends_with(b"\n")));
            for chunk in &chunks {
                let lines = chunk.text.split_inclusive(|&byte| byte == b'\n');
                assert_eq!(chunk.rows, lines.filter(|&line| line != b"\n").count());
            }
        }
        assert_eq!(Grid::new(text, 1, 0, &mut Progress::default()).chunks.len(), 8);
        assert!(Grid::new(b"", 5, 0, &mut Progress::default()).chunks.is_empty());
    }

    #[test]
    fn empty_lines_are_faults_only_between_rows() {
        let fault = |text: &str, chunk_bytes| {
            let mut progress = Progress::default();
            let grid = Grid::new(text.as_bytes(), chunk_bytes, 0, &mut progress);
            assert_eq!(progress.lines as usize, text.lines().count());
            assert_eq!(progress.rows as usize, grid.rows);
            grid.empty_line.map(|fault| (fault.row, fault.line))
        };
        for chunk_bytes in 1..30 {
            assert_eq!(fault("1\n# x\n2\n\n \t\r\n% y\n\n", chunk_bytes), None);
            assert_eq!(fault("1\n#\n2\n\n\n3\n\n4\n", chunk_bytes), Some((2, 3)));
            assert_eq!(fault("1\n\n#\n#\n3", chunk_bytes), Some((1, 1)));
        }
    }
}
