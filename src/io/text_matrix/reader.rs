//! From segments of text to rows of numbers, and from faults to errors.

use super::fixed::FixedForm;
use super::grid::{Fault, FaultKind, Grain, Grid, Progress};
use super::opening::{Opening, start_of_text};
use super::row::{RowFault, RowForm};
use super::source::{Delivered, Source};
use super::store::Store;
use super::{TextFacts, TextMatrix, TextOptions};
use crate::Scalar;
use crate::io::ReadError;
use crate::io::error::ticked;
use crate::matrix::Dense;
use std::path::Path;
use std::time::Instant;

pub(super) fn read_whole<S: Scalar>(
    path: &Path,
    options: &TextOptions,
    grain: Grain,
) -> Result<TextMatrix<S>, ReadError> {
    let start = Instant::now();
    let source = Source::open(path)?;
    let opened_ns = start.elapsed().as_nanos() as f64;
    let mut reader = Reader::new(path, options, grain);
    reader.known_bytes = source.known_bytes();
    let delivered = source.for_each_segment(grain.segment_bytes, |text| reader.feed(text))?;
    let facts = reader.facts(delivered, opened_ns)?;
    let matrix = dense(path, facts.rows as usize, facts.cols, reader.store.into_numbers())?;
    let TextFacts { header, bytes, read_ns, parse_ns, .. } = facts;
    Ok(TextMatrix { matrix, header, bytes, read_ns, parse_ns })
}

pub(super) fn read_blocks<S: Scalar, E: From<ReadError>>(
    path: &Path,
    options: &TextOptions,
    grain: Grain,
    rows_per_block: usize,
    mut take: impl FnMut(Dense<S>) -> Result<(), E>,
) -> Result<TextFacts, E> {
    let rows_per_block = rows_per_block.max(1);
    let start = Instant::now();
    let source = Source::open(path)?;
    let opened_ns = start.elapsed().as_nanos() as f64;
    let mut reader = Reader::<S>::new(path, options, grain);
    let delivered = source.for_each_segment(grain.segment_bytes, |text| {
        // Rows before a fault are not worth more than the fault.
        reader.feed(text)?;
        let Some(form) = reader.form else { return Ok(()) };
        let numbers_per_block = form.cols.saturating_mul(rows_per_block);
        reader
            .store
            .drain(numbers_per_block, |numbers| take(dense(path, rows_per_block, form.cols, numbers)?))
    })?;
    let facts = reader.facts(delivered, opened_ns)?;
    let rest = reader.store.into_numbers();
    if !rest.is_empty() {
        take(dense(path, rest.len() / facts.cols, facts.cols, rest)?)?;
    }
    Ok(facts)
}

fn dense<S: Scalar>(path: &Path, rows: usize, cols: usize, numbers: Vec<S>) -> Result<Dense<S>, ReadError> {
    Dense::from_rows(rows, cols, numbers)
        .map_err(|error| ReadError::Text { path: path.to_owned(), problem: error.to_string() })
}

/// What is known between two segments.
struct Reader<'a, S> {
    path: &'a Path,
    options: &'a TextOptions,
    grain: Grain,
    /// Bytes of the whole text, if it is known and all numbers are kept.
    known_bytes: Option<usize>,
    at_start: bool,
    opening: Opening,
    header: Option<Vec<String>>,
    /// Known from the first row on.
    form: Option<RowForm>,
    progress: Progress,
    store: Store<S>,
    parse_ns: f64,
}

impl<'a, S: Scalar> Reader<'a, S> {
    fn new(path: &'a Path, options: &'a TextOptions, grain: Grain) -> Self {
        Reader {
            path,
            options,
            grain,
            known_bytes: None,
            at_start: true,
            opening: Opening::default(),
            header: None,
            form: None,
            progress: Progress::default(),
            store: Store::new(options.max_bytes),
            parse_ns: 0.0,
        }
    }

    /// Reads the next whole lines into the store.
    fn feed(&mut self, mut text: &[u8]) -> Result<(), ReadError> {
        let start = Instant::now();
        if std::mem::take(&mut self.at_start) {
            text = &text[start_of_text(text).map_err(|problem| self.refusal(problem.into_owned()))?..];
        }
        let form = match self.form {
            Some(form) => form,
            None => match self.find_first_row(&mut text)? {
                Some(form) => form,
                None => return Ok(()),
            },
        };
        let outcome = match self.read_rows(text, &form)? {
            Ok(()) => Ok(()),
            // Lines may have been missed when they were counted, and places are wrong then: once more, counting every one.
            Err(_) if form.least_bytes > 0 => {
                let form = RowForm { least_bytes: 0, ..form };
                self.form = Some(form);
                self.read_rows(text, &form)?
            }
            fault => fault,
        };
        outcome.map_err(|fault| error_of::<S>(fault, &form, self.path))?;
        self.parse_ns += start.elapsed().as_nanos() as f64;
        Ok(())
    }

    /// Reads rows into the store, or leaves everything as it was.
    fn read_rows(&mut self, text: &[u8], form: &RowForm) -> Result<Result<(), Fault>, ReadError> {
        let mut progress = self.progress;
        let grid = Grid::new(text, self.grain.chunk_bytes, form.least_bytes, &mut progress);
        let room = self.store.room(grid.rows, form.cols, self.path)?;
        let count = room.len();
        let outcome = grid.read(form, room);
        match outcome {
            Ok(()) => self.progress = progress,
            Err(_) => self.store.take_back(count),
        }
        Ok(outcome)
    }

    /// Learns from the first row what all rows are like, and lets `text` start with it.
    fn find_first_row(&mut self, text: &mut &[u8]) -> Result<Option<RowForm>, ReadError> {
        let found = self.opening.look(text).map_err(|problem| self.refusal(problem))?;
        self.progress.lines = self.opening.lines;
        let Some(first) = found else { return Ok(None) };
        *text = &text[first.at..];
        let fixed = FixedForm::of(&text[..first.bytes], first.separator);
        let form = RowForm {
            separator: first.separator,
            cols: first.cols,
            non_finite: self.options.non_finite,
            fixed,
            least_bytes: fixed.map_or(0, |fixed| fixed.least_bytes(first.cols)),
        };
        if let Some(bytes) = self.known_bytes {
            // Rows of measured numbers are about equally long; a few more than the first one promises.
            let rows = bytes / first.bytes + bytes / first.bytes / 16 + 1;
            // A number and what separates it take two bytes.
            self.store.expect(rows.saturating_mul(first.cols).min(bytes / 2 + 1));
        }
        (self.form, self.header) = (Some(form), first.header);
        Ok(self.form)
    }

    /// What was read, once all of it was.
    fn facts(&mut self, delivered: Delivered, opened_ns: f64) -> Result<TextFacts, ReadError> {
        let path = self.path.to_owned();
        if let Some(reason) = delivered.failure {
            return Err(ReadError::Interrupted { path, line: self.progress.lines + 1, reason });
        }
        let Some(form) = self.form else {
            return Err(self.refusal(self.opening.nothing_found().to_owned()));
        };
        Ok(TextFacts {
            rows: self.progress.rows,
            cols: form.cols,
            header: self.header.take(),
            bytes: delivered.bytes,
            read_ns: opened_ns + delivered.read_ns,
            parse_ns: self.parse_ns,
        })
    }

    fn refusal(&self, problem: String) -> ReadError {
        ReadError::Text { path: self.path.to_owned(), problem }
    }
}

fn error_of<S: Scalar>(fault: Fault, form: &RowForm, path: &Path) -> ReadError {
    let (path, row, line) = (path.to_owned(), fault.row + 1, fault.line + 1);
    let (column, problem) = match fault.what {
        FaultKind::EmptyLine => return ReadError::EmptyLine { path, row, line },
        FaultKind::FileChanged => {
            let problem = "the file changed while it was read; try again".to_owned();
            return ReadError::Text { path, problem };
        }
        FaultKind::Row(RowFault::Count { found }) => {
            return ReadError::RaggedRow { path, row, line, found, expected: form.cols as u64 };
        }
        FaultKind::Row(RowFault::EmptyField { column }) => {
            (column, "the field is empty; a number must stand between two separators".to_owned())
        }
        FaultKind::Row(RowFault::NotANumber { column, field }) => {
            let binary = if field.contains(&0) { "; this looks like a binary or damaged file" } else { "" };
            (column, format!("{} is not a number{binary}", ticked(&field)))
        }
        FaultKind::Row(RowFault::TooLarge { column, field }) => {
            (column, format!("{} is too large for {}", ticked(&field), S::NAME))
        }
        FaultKind::Row(RowFault::NotFinite { column, field }) => {
            (column, format!("{} is not finite, and only finite numbers are allowed", ticked(&field)))
        }
    };
    ReadError::Field { path, row, line, column: column as u64 + 1, problem }
}
