//! Matrices as plain text, the way measuring programs, MATLAB and `numpy.savetxt` write them: a row per line.
//!
//! Numbers may be whole, plain or with an exponent (`12`, `-.5`, `5.`, `+1.5e-3`, Fortran's `1.5D+03`), with any count of
//! digits; each is rounded once, correctly, to f32 or f64. They are separated by blanks and tabs, by commas or by semicolons;
//! the first row decides which. Lines end in `\n` or `\r\n`; the last may lack it. Lines that start with `#` or `%` are
//! comments, a first line without any number is a header of names, a byte order mark is skipped. Gzip is known by its
//! first bytes. What is refused, each with its place:
//!
//! - rows of different lengths, empty fields (`1,,2`), empty lines between rows (before and after them they are harmless);
//! - `inf` and `nan`, unless [`NonFinite::Allow`] is set, and numbers too large for the type, always;
//! - decimal commas, binary files, UTF-16.
//!
//! A file is mapped into memory and read where it lies: it is never there twice. Chunks of whole lines, on a fixed grid
//! of bytes, are read by the threads of the current rayon pool; neither numbers nor errors depend on how many there are.
//! [`read_text_matrix`] keeps all numbers, [`read_text_blocks`] what the caller makes of the chunks.
//! What `numpy.savetxt` writes is read eight numbers at a time where the processor has AVX-512.

mod blocks;
#[cfg(target_arch = "x86_64")]
mod decimal_avx512;
mod fixed;
#[cfg(target_arch = "x86_64")]
mod fixed_avx512;
mod grid;
mod opening;
#[cfg(target_arch = "x86_64")]
mod prefetch;
mod reader;
mod row;
mod separator;
mod store;
#[cfg(test)]
mod tests;

pub use crate::io::text_matrix::blocks::TextBlock;
pub use crate::io::text_matrix::separator::TextSeparator;
use crate::precision::compiled_here;

use crate::Scalar;
use crate::io::error::ReadError;
use crate::io::text_matrix::grid::Grain;
use crate::matrix::Dense;
use std::path::Path;

/// What becomes of `inf` and `nan`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum NonFinite {
    /// They are errors that say where they are.
    #[default]
    Refuse,
    /// They are numbers like others.
    Allow,
}

/// How text is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextOptions {
    /// What becomes of `inf` and `nan`.
    pub non_finite: NonFinite,
    /// A file in which something else stands between numbers is refused. None: the first row decides.
    pub separator: Option<TextSeparator>,
    /// More bytes of numbers than this at once are refused before they are stored.
    pub max_bytes: u64,
    /// Text that becomes one block of [`read_text_blocks`]: the lines that start in so many bytes.
    pub block_bytes: usize,
}

impl Default for TextOptions {
    /// Only finite numbers, as many as there are, in blocks of 4 MiB of text. The statistics of 48 MB took two cores 13.4 ms
    /// of their time in such blocks and in blocks of 8 MiB, 17.0 in blocks of one, whose own results count by then, and 14.9
    /// in blocks of twelve, which leave the second-level cache.
    fn default() -> Self {
        TextOptions {
            non_finite: NonFinite::Refuse,
            separator: None,
            max_bytes: u64::MAX,
            block_bytes: 4 << 20,
        }
    }
}

/// What a text file held.
#[derive(Debug, Clone, PartialEq)]
pub struct TextMatrix<S> {
    /// The numbers.
    pub matrix: Dense<S>,
    /// The names above the columns, one for each.
    pub header: Option<Vec<String>>,
    /// Bytes of text, after decompression.
    pub bytes: u64,
    /// Time to open the file and to wait for what cannot be mapped; a `.gz` is decompressed while it is parsed.
    pub read_ns: f64,
    /// Time to make numbers of the text.
    pub parse_ns: f64,
}

/// What is known of a text file once all its blocks were handed out.
#[derive(Debug, Clone, PartialEq)]
pub struct TextFacts {
    /// Rows of all blocks together.
    pub rows: u64,
    /// Columns of each.
    pub cols: usize,
    /// The names above the columns, one for each.
    pub header: Option<Vec<String>>,
    /// Bytes of text, after decompression.
    pub bytes: u64,
    /// Time to open the file and to wait for what cannot be mapped.
    pub read_ns: f64,
    /// Time to make numbers of the text, and of what the caller makes of them.
    pub parse_ns: f64,
}

/// Reads a whole file, or what comes through a pipe.
///
/// That another program shortens the file meanwhile is an error.
///
/// ```
/// # let path = std::env::temp_dir().join(format!("ordito-text-{}.txt", std::process::id()));
/// # std::fs::write(&path, "# two epochs\n-1.32063e+01 4.5\n 2 1.5D+03\n")?;
/// use ordito::io::{TextOptions, read_text_matrix};
/// let text = read_text_matrix::<f64>(&path, &TextOptions::default())?;
/// assert_eq!(text.matrix.view().row(1), &[2.0, 1500.0]);
/// # std::fs::write(&path, "1 2 3\n4 5\n")?;
/// let error = read_text_matrix::<f64>(&path, &TextOptions::default()).unwrap_err(); // another file
/// assert!(error.to_string().ends_with("row 2 has 2 numbers, 3 expected"));
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn read_text_matrix<S: Scalar>(path: &Path, options: &TextOptions) -> Result<TextMatrix<S>, ReadError> {
    type Read<S> = fn(&Path, &TextOptions) -> Result<TextMatrix<S>, ReadError>;
    compiled_here!(S, read_whole, Read)(path, options)
}

fn read_whole<S: Scalar>(path: &Path, options: &TextOptions) -> Result<TextMatrix<S>, ReadError> {
    reader::read_whole(path, options, Grain::default())
}

/// Makes something of every block of whole rows, so that a file larger than memory can be reduced, and one that is not need
/// not pass through it. The threads of the current rayon pool read blocks into memory that they use again, and each calls
/// `work` with what it has read, in some cases twice; `take` gets what comes out, once and in the order of the file, and may
/// stop with an error of its own.
///
/// Which rows make a block depends on the text and on [`TextOptions::block_bytes`] alone, not on the number of threads, nor on
/// whether the text is compressed. An error of the file comes instead of the blocks around it.
///
/// ```
/// # let path = std::env::temp_dir().join(format!("ordito-blocks-{}.txt", std::process::id()));
/// # std::fs::write(&path, "1 2\n3 4\n5 6\n")?;
/// use ordito::io::{ReadError, TextBlock, TextOptions, read_text_blocks};
/// let sum_of = |block: TextBlock<'_, f64>| block.numbers.as_view().data().iter().sum::<f64>();
/// let mut sum = 0.0;
/// let facts = read_text_blocks(&path, &TextOptions::default(), sum_of, |of_block| {
///     sum += of_block;
///     Ok::<(), ReadError>(())
/// })?;
/// assert_eq!((facts.rows, facts.cols, sum), (3, 2, 21.0));
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn read_text_blocks<S: Scalar, T: Send, E: From<ReadError>>(
    path: &Path,
    options: &TextOptions,
    work: impl Fn(TextBlock<'_, S>) -> T + Sync,
    take: impl FnMut(T) -> Result<(), E>,
) -> Result<TextFacts, E> {
    reader::read_blocks(path, options, Grain::of_chunks(options.block_bytes), work, take)
}

/// How many numbers the first row has. Nothing behind it is looked at.
pub fn read_text_columns(path: &Path, options: &TextOptions) -> Result<usize, ReadError> {
    reader::read_columns(path, options)
}
