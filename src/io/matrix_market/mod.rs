//! [Matrix Market](https://math.nist.gov/MatrixMarket/formats.html) files, plain or compressed.
//!
//! What is read: coordinate and array; real (also `double`, `float`), integer (also `unsigned-integer`), pattern;
//! general, symmetric, skew-symmetric; vectors as N×1 matrices. Any case, any spacing, either line end, comments
//! and blank lines anywhere; gzip is known by its first bytes, not by the name. Complex and hermitian are refused.
//!
//! Where the format leaves room, this is what happens here:
//!
//! - Numbers are rounded once, to the type asked for; `inf` and `nan` are read (GraphBLAS writes them, even into
//!   integer files), as are Fortran's `1.5D+03`. A number too large for the type is an error, one too small is 0.
//! - Explicit zeros stay, also those of an array: how many entries a matrix has is the file's decision. Pattern
//!   entries are 1.
//! - Symmetric files are expanded: first what the file lists in its order, then the mirror images in that order.
//!   An entry above the diagonal is taken like one below it. A skew-symmetric file may list zeros on its diagonal,
//!   and nothing else.
//! - Entries at the same place are summed (then the matrix is sorted by row and column) or kept, see
//!   [`ReadOptions::duplicates`]. In a symmetric file that lists both (i, j) and (j, i), these are such entries.

mod duplicates;
mod entries;
mod header;
mod lines;
mod numbers;
mod read;
mod write;

pub use header::{Field, Format, Header, Object, Symmetry};
pub use write::{Layout, MAX_ARRAY_ELEMENTS, WriteOptions, write_matrix_market};

use super::{ReadError, ReadOptions};
use crate::Scalar;
use crate::matrix::{Coo, Duplicates};
use flate2::read::MultiGzDecoder;
use lines::Lines;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// What a Matrix Market file held.
#[derive(Debug, Clone, PartialEq)]
pub struct MatrixMarket<S> {
    /// The matrix, symmetry expanded.
    pub coo: Coo<S>,
    /// What the file said about itself.
    pub header: Header,
    /// Entries that vanished because others at the same place took them up.
    pub merged_duplicates: usize,
}

/// Reads a file.
///
/// ```
/// # let path = std::env::temp_dir().join(format!("ordito-read-{}.mtx", std::process::id()));
/// # std::fs::write(&path, "%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n1 1 4\n2 1 0.5\n")?;
/// use ordito::io::{ReadOptions, read_matrix_market};
/// let file = read_matrix_market::<f64>(&path, &ReadOptions::default())?;
/// assert_eq!(file.coo.entries().collect::<Vec<_>>(), [(0, 0, 4.0), (1, 0, 0.5), (0, 1, 0.5)]);
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn read_matrix_market<S: Scalar>(
    path: &Path,
    options: &ReadOptions,
) -> Result<MatrixMarket<S>, ReadError> {
    let opened = File::open(path).and_then(|file| Ok((file.metadata()?, file)));
    let (metadata, file) = opened.map_err(|reason| ReadError::Io { path: path.to_owned(), reason })?;
    if metadata.is_dir() {
        return Err(ReadError::Io { path: path.to_owned(), reason: io::ErrorKind::IsADirectory.into() });
    }
    read_source(file, metadata.len(), path, options)
}

/// Reads from anything that gives bytes, compressed or not; `label` stands for the path in errors.
///
/// ```
/// use ordito::io::{ReadOptions, read_matrix_market_from};
/// let text = "%%MatrixMarket matrix coordinate real general\n2 2 1\n0 1 5.0\n";
/// let error = read_matrix_market_from::<f64>(text.as_bytes(), "my.mtx".as_ref(), &ReadOptions::default());
/// assert!(error.unwrap_err().to_string().starts_with("my.mtx: line 3: expected a row from 1 to 2"));
/// ```
pub fn read_matrix_market_from<S: Scalar>(
    source: impl Read,
    label: &Path,
    options: &ReadOptions,
) -> Result<MatrixMarket<S>, ReadError> {
    read_source(source, 0, label, options)
}

/// `bytes` is the length of the source, if it is known: a promise of entries is believed as far as they could fit.
fn read_source<S: Scalar>(
    mut source: impl Read,
    bytes: u64,
    path: &Path,
    options: &ReadOptions,
) -> Result<MatrixMarket<S>, ReadError> {
    let mut start = Vec::with_capacity(GZIP_MAGIC.len());
    let looked = source.by_ref().take(GZIP_MAGIC.len() as u64).read_to_end(&mut start);
    looked.map_err(|reason| ReadError::Io { path: path.to_owned(), reason })?;
    let is_gzip = start == GZIP_MAGIC;
    let whole = io::Cursor::new(start).chain(source);
    if is_gzip {
        read_text(
            Lines::new(MultiGzDecoder::new(whole), path),
            bytes.saturating_mul(TYPICAL_COMPRESSION),
            options,
        )
    } else {
        read_text(Lines::new(whole, path), bytes, options)
    }
}

/// The first bytes of every gzip stream.
const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];
/// Matrices shrink to between a half and an eighth. Only what is reserved at first depends on it.
const TYPICAL_COMPRESSION: u64 = 4;

fn read_text<S: Scalar, R: Read>(
    mut lines: Lines<R>,
    bytes: u64,
    options: &ReadOptions,
) -> Result<MatrixMarket<S>, ReadError> {
    let header = Header::read(&mut lines)?;
    let mut entries = read::read_entries::<S, R>(&mut lines, &header, bytes, options)?;
    let unique = entries.are_clearly_unique(header.symmetry);
    entries.expand(header.symmetry, lines.path(), options)?;
    let coo = Coo::new(header.rows, header.cols, entries.rows, entries.cols, entries.values);
    // Every index was compared with the header on its line.
    let coo = coo.map_err(|error| lines.error_at_end(error.to_string()))?;
    if unique || options.duplicates == Duplicates::Keep {
        return Ok(MatrixMarket { coo, header, merged_duplicates: 0 });
    }
    let (coo, merged_duplicates) = duplicates::sum(coo);
    Ok(MatrixMarket { coo, header, merged_duplicates })
}
