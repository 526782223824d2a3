//! From segments of text to rows of numbers, and from faults to errors.

use crate::Scalar;
use crate::io::error::ReadError;
use crate::io::error::ticked;
use crate::io::source::{Delivered, Failure, Source, read_file};
use crate::io::text_matrix::blocks::{Spare, TextBlock};
use crate::io::text_matrix::fixed::FixedForm;
use crate::io::text_matrix::grid::{Fault, FaultKind, Grain, Grid, Progress};
use crate::io::text_matrix::opening::{Opening, start_of_text};
use crate::io::text_matrix::row::{RowFault, RowForm};
use crate::io::text_matrix::store::{Store, too_large};
use crate::io::text_matrix::{TextFacts, TextMatrix, TextOptions};
use crate::matrix::Dense;
use crate::units;
use std::path::Path;
use std::time::Instant;

pub(super) fn read_whole<S: Scalar>(
    path: &Path,
    options: &TextOptions,
    grain: Grain,
) -> Result<TextMatrix<S>, ReadError> {
    let start = Instant::now();
    read_file(path, |source| read_all(source, start, path, options, grain))
}

fn read_all<S: Scalar>(
    source: Source,
    start: Instant,
    path: &Path,
    options: &TextOptions,
    grain: Grain,
) -> Result<TextMatrix<S>, ReadError> {
    let opened_ns = start.elapsed().as_nanos() as f64;
    let mut reader = Reader::new(path, options, grain);
    let mut store = Store::new(options.max_bytes);
    let known_bytes = source.known_bytes();
    let delivered = source.for_each_segment(grain.segment_bytes, most_line_bytes(options), |text| {
        let mut keep = |grid: Grid<'_>, form: &RowForm| {
            if let Some(bytes) = known_bytes {
                let numbers = grid.rows_expected(bytes).saturating_mul(form.cols as u64);
                // A number and what separates it take two bytes.
                store.expect(numbers.min(bytes / 2 + 1) as usize);
            }
            let room = store.room(grid.rows, form.cols, path)?;
            let count = room.len();
            let outcome = grid.read(form, room);
            if outcome.is_err() {
                store.take_back(count);
            }
            Ok(outcome)
        };
        reader.feed::<S, ()>(text, &mut keep).map(drop)
    })?;
    let facts = reader.facts(delivered, opened_ns)?;
    let matrix = Dense::from_rows(facts.rows as usize, facts.cols, store.into_numbers())
        .map_err(|error| reader.refusal(error.to_string()))?;
    let TextFacts { header, bytes, read_ns, parse_ns, .. } = facts;
    Ok(TextMatrix { matrix, header, bytes, read_ns, parse_ns })
}

pub(super) fn read_blocks<S: Scalar, T: Send, E: From<ReadError>>(
    path: &Path,
    options: &TextOptions,
    grain: Grain,
    work: impl Fn(TextBlock<'_, S>) -> T + Sync,
    mut take: impl FnMut(T) -> Result<(), E>,
) -> Result<TextFacts, E> {
    let start = Instant::now();
    read_file(path, |source| {
        let opened_ns = start.elapsed().as_nanos() as f64;
        let mut reader = Reader::new(path, options, grain);
        let spare = Spare::new(options.max_bytes);
        let delivered = source.for_each_segment(grain.segment_bytes, most_line_bytes(options), |text| {
            let mut map = |grid: Grid<'_>, form: &RowForm| Ok(spare.map(grid, form, &work));
            let results = reader.feed::<S, Vec<T>>(text, &mut map)?;
            results.into_iter().flatten().try_for_each(&mut take)
        })?;
        Ok(reader.facts(delivered, opened_ns)?)
    })
}

/// A line that is not mapped lies in two buffers, either of which may have grown to twice its length, and its numbers take up to
/// four times as much as its text.
fn most_line_bytes(options: &TextOptions) -> u64 {
    options.max_bytes / 8
}

/// So much of a text is looked at for its first row, before as much again is.
const FIRST_ROW_BYTES: usize = 64 << 10;

pub(super) fn read_columns(path: &Path, options: &TextOptions) -> Result<usize, ReadError> {
    read_file(path, |source| first_columns(source, path, options))
}

fn first_columns(source: Source, path: &Path, options: &TextOptions) -> Result<usize, ReadError> {
    let mut reader = Reader::new(path, options, Grain::default());
    // Stopping is an error to the source, and what is found is none to us.
    let stopped = source.for_each_segment(FIRST_ROW_BYTES, most_line_bytes(options), |mut text| match reader
        .form(&mut text)
    {
        Ok(None) => Ok(()),
        Ok(Some(form)) => Err(Ok(form.cols)),
        Err(error) => Err(Err(error)),
    });
    match stopped {
        Err(found) => found,
        Ok(delivered) => reader.facts(delivered, 0.0).map(|facts| facts.cols),
    }
}

/// What is known between two segments.
struct Reader<'a> {
    path: &'a Path,
    options: &'a TextOptions,
    grain: Grain,
    at_start: bool,
    opening: Opening,
    header: Option<Vec<String>>,
    /// Known from the first row on.
    form: Option<RowForm>,
    progress: Progress,
    parse_ns: f64,
}

impl<'a> Reader<'a> {
    fn new(path: &'a Path, options: &'a TextOptions, grain: Grain) -> Self {
        Reader {
            path,
            options,
            grain,
            at_start: true,
            opening: Opening::expecting(options.separator),
            header: None,
            form: None,
            progress: Progress::default(),
            parse_ns: 0.0,
        }
    }

    /// Has the next whole lines read; `read` may be asked twice, and then leaves everything as it was the first time.
    /// Nothing comes back from lines before the first row.
    fn feed<S: Scalar, R>(
        &mut self,
        mut text: &[u8],
        read: &mut impl FnMut(Grid<'_>, &RowForm) -> Result<Result<R, Fault>, ReadError>,
    ) -> Result<Option<R>, ReadError> {
        let start = Instant::now();
        let Some(mut form) = self.form(&mut text)? else { return Ok(None) };
        let mut attempt = |form: &RowForm| {
            let mut progress = self.progress;
            let grid = Grid::new(text, self.grain.chunk_bytes, form.least_bytes, &mut progress);
            Ok(read(grid, form)?.map(|result| (result, progress)))
        };
        let mut outcome = attempt(&form)?;
        // Lines may have been missed when they were counted, and places are wrong then: once more, counting every one.
        if outcome.is_err() && form.least_bytes > 0 {
            form.least_bytes = 0;
            outcome = attempt(&form)?;
        }
        let (result, progress) = outcome.map_err(|fault| self.error_of::<S>(fault, &form))?;
        (self.form, self.progress) = (Some(form), progress);
        self.parse_ns += start.elapsed().as_nanos() as f64;
        Ok(Some(result))
    }

    /// What all rows are like, learnt from the first one. `text` starts with a row then.
    fn form(&mut self, text: &mut &[u8]) -> Result<Option<RowForm>, ReadError> {
        let bytes = text.len();
        if std::mem::take(&mut self.at_start) {
            *text = &text[start_of_text(text).map_err(|problem| self.refusal(problem.into_owned()))?..];
        }
        if self.form.is_none() {
            self.find_first_row(text)?;
            self.progress.bytes += (bytes - text.len()) as u64;
        }
        Ok(self.form)
    }

    /// Lets `text` start with the first row, or end.
    fn find_first_row(&mut self, text: &mut &[u8]) -> Result<(), ReadError> {
        let found = self.opening.look(text).map_err(|problem| self.refusal(problem))?;
        self.progress.lines = self.opening.lines;
        let Some(first) = found else {
            *text = &[];
            return Ok(());
        };
        *text = &text[first.at..];
        let fixed = FixedForm::of(&text[..first.bytes], first.separator);
        self.form = Some(RowForm {
            separator: first.separator,
            cols: first.cols,
            non_finite: self.options.non_finite,
            fixed,
            least_bytes: fixed.map_or(0, |fixed| fixed.least_bytes(first.cols)),
        });
        self.header = first.header;
        Ok(())
    }

    /// What was read, once all of it was.
    fn facts(&mut self, delivered: Delivered, opened_ns: f64) -> Result<TextFacts, ReadError> {
        let path = self.path.to_owned();
        let line = self.progress.lines.max(self.opening.lines) + 1;
        match delivered.failure {
            None => {}
            Some(Failure::Io(reason)) => return Err(ReadError::Interrupted { path, line, reason }),
            Some(Failure::LongLine(most)) => {
                let most = units::bytes(most);
                return Err(
                    self.refusal(format!("line {line} is longer than {most}, which memory is allowed for"))
                );
            }
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

    fn error_of<S: Scalar>(&self, fault: Fault, form: &RowForm) -> ReadError {
        let (path, row, line) = (self.path.to_owned(), fault.row + 1, fault.line + 1);
        let (column, problem) = match fault.what {
            FaultKind::EmptyLine => return ReadError::EmptyLine { path, row, line },
            FaultKind::FileChanged => {
                return self.refusal("the file changed while it was read; try again".to_owned());
            }
            FaultKind::TooLarge { entries } => {
                return too_large::<S>(self.path, entries, self.options.max_bytes);
            }
            FaultKind::Row(RowFault::Count { found }) => {
                return ReadError::RaggedRow { path, row, line, found, expected: form.cols as u64 };
            }
            FaultKind::Row(RowFault::EmptyField { column }) => {
                (column, "the field is empty; a number must stand between two separators".to_owned())
            }
            FaultKind::Row(RowFault::NotANumber { column, field }) => {
                let binary =
                    if field.contains(&0) { "; this looks like a binary or damaged file" } else { "" };
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
}
