//! Rows that are not kept: every chunk is read into memory that is used again, and `work` makes something smaller of it
//! while it is still in the cache of the thread that read it.

use crate::Scalar;
use crate::cpu::parallel;
use crate::io::text_matrix::grid::{Fault, FaultKind, Grid, TextChunk};
use crate::io::text_matrix::row::RowForm;
use crate::matrix::DenseViewMut;
use std::sync::{Mutex, PoisonError};

/// Whole rows that lie together in a file.
#[derive(Debug)]
pub struct TextBlock<'a, S> {
    /// Rows before them.
    pub first_row: u64,
    /// Their numbers, to do with as one likes.
    pub numbers: DenseViewMut<'a, S>,
}

/// Memory for chunks, as many as threads work at once.
pub(super) struct Spare<S> {
    unused: Mutex<Vec<Vec<S>>>,
    /// Bytes that one chunk may take.
    max_bytes: u64,
}

impl<S: Scalar> Spare<S> {
    pub(super) fn new(max_bytes: u64) -> Self {
        Spare { unused: Mutex::default(), max_bytes }
    }

    /// What `work` makes of every chunk, in order; or the first fault in the file.
    pub(super) fn map<T: Send>(
        &self,
        grid: Grid<'_>,
        form: &RowForm,
        work: impl Fn(TextBlock<'_, S>) -> T + Sync,
    ) -> Result<Vec<T>, Fault> {
        let chunks: Vec<&TextChunk<'_>> = grid.chunks.iter().filter(|chunk| chunk.rows > 0).collect();
        // Each by itself: there are few of them, and whoever is done first takes the next.
        let results = parallel::map(chunks, |chunk| self.read(chunk, form, &work));
        // The first fault of the first chunk that has one.
        let results: Result<Vec<T>, Fault> = results.into_iter().collect();
        match (results, grid.empty_line) {
            (Err(fault), Some(empty_line)) if fault.line < empty_line.line => Err(fault),
            (_, Some(empty_line)) => Err(empty_line),
            (results, None) => results,
        }
    }

    fn read<T>(
        &self,
        chunk: &TextChunk<'_>,
        form: &RowForm,
        work: impl Fn(TextBlock<'_, S>) -> T,
    ) -> Result<T, Fault> {
        let (first_row, line) = (chunk.start.rows, chunk.start.lines);
        let fault = |what| Fault { row: first_row, line, what };
        // A number and what separates it take two bytes: in more rows than that a fault is found before they are read.
        let rows = chunk.rows.min(chunk.text.len() / 2 / form.cols + 1);
        let entries = rows.saturating_mul(form.cols);
        let too_large = || fault(FaultKind::TooLarge { entries });
        if (entries as u64).saturating_mul(size_of::<S>() as u64) > self.max_bytes {
            return Err(too_large());
        }
        let mut numbers = self.lock().pop().unwrap_or_default();
        numbers.try_reserve(entries.saturating_sub(numbers.len())).map_err(|_| too_large())?;
        numbers.resize(entries, S::ZERO);
        chunk.read(form, &mut numbers)?;
        if rows < chunk.rows {
            return Err(fault(FaultKind::FileChanged));
        }
        let block = DenseViewMut::new(&mut numbers, rows, form.cols, form.cols).map_err(|_| too_large())?;
        let result = work(TextBlock { first_row, numbers: block });
        self.lock().push(numbers);
        Ok(result)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Vec<S>>> {
        // Whoever panicked has taken its memory along: what is left is whole.
        self.unused.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::error::ReadError;
    use crate::io::text_matrix::{TextOptions, read_text_blocks, read_text_columns};
    use std::path::Path;

    /// Rows of every block.
    fn lengths(path: &Path, options: &TextOptions) -> Result<Vec<usize>, String> {
        let mut lengths = Vec::new();
        let work = |block: TextBlock<'_, f64>| block.numbers.rows();
        let read = read_text_blocks(path, options, work, |rows| {
            lengths.push(rows);
            Ok::<_, ReadError>(())
        });
        read.map(|_| lengths).map_err(|error| error.to_string())
    }

    #[test]
    fn blocks_are_what_starts_in_so_many_bytes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("text");
        std::fs::write(&path, "\n# x\n1 2\n3 4\n5 6\n% y\n7 8\n9 10").unwrap();
        let lengths =
            |block_bytes| lengths(&path, &TextOptions { block_bytes, ..TextOptions::default() }).unwrap();
        // Rows start at bytes 5, 9, 13, 21 and 25.
        assert_eq!(lengths(10), [2, 1, 2]);
        assert_eq!(lengths(13), [2, 3]);
        assert_eq!(lengths(14), [3, 2]);
        assert_eq!(lengths(usize::MAX), [5]);
        assert_eq!(lengths(0), [1; 5]);
        assert_eq!(read_text_columns(&path, &TextOptions::default()).unwrap(), 2);
    }

    #[test]
    #[cfg_attr(miri, ignore = "takes minutes")]
    fn short_rows_take_no_memory_for_long_ones() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("text");
        // A million rows of a million numbers, if all were as long as the first.
        let text = format!("{}\n{}", "1 ".repeat(1_000_000), "1\n".repeat(1_000_000));
        std::fs::write(&path, text).unwrap();
        let said = lengths(&path, &TextOptions::default()).unwrap_err();
        assert!(said.ends_with(": row 2 has 1 number, 1000000 expected"), "{said}");
        let tight = TextOptions { max_bytes: 7_999_999, ..TextOptions::default() };
        let said = lengths(&path, &tight).unwrap_err();
        assert!(said.contains("more than the limit of 8.00 MB"), "{said}");
    }
}
