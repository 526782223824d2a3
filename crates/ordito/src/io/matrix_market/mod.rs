//! [Matrix Market](https://math.nist.gov/MatrixMarket/formats.html) files, plain or compressed.
//!
//! What is read: coordinate and array; real (also `double`, `float`), integer (also `unsigned-integer`), pattern;
//! general, symmetric, skew-symmetric; vectors as N×1 matrices. Any case, any spacing, either line end, comments
//! and blank lines anywhere; gzip is known by its first bytes, not by the name. Complex and hermitian are refused.
//!
//! A file is mapped into memory and read in chunks by the threads of the current rayon pool (`parallel.rs`); a `.gz` is
//! decompressed by one while the others read. Triplets, their order, bits and errors do not depend on how many there are.
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
mod line;
mod lines;
mod numbers;
mod parallel;
#[doc(hidden)] // for the crates of this workspace
pub mod parts;
mod places;
mod read;
mod usual_line;
#[cfg(target_arch = "x86_64")]
mod usual_line_avx512;
mod write;

pub use crate::io::matrix_market::header::{Field, Format, Header, Object, Symmetry};
pub use crate::io::matrix_market::write::{Layout, MAX_ARRAY_ELEMENTS, WriteOptions, write_matrix_market};

use crate::Scalar;
use crate::io::ReadOptions;
use crate::io::error::ReadError;
use crate::io::matrix_market::entries::{Entries, check_limit};
use crate::io::matrix_market::lines::Lines;
use crate::io::matrix_market::parallel::Body;
use crate::io::source::{self, Failure, GZIP_MAGIC, Source};
use crate::matrix::{Coo, Duplicates};
use crate::precision::compiled_here;
use flate2::read::MultiGzDecoder;
use std::io::{Cursor, Read};
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

/// Reads a file, on the threads of the current rayon pool, or outside of any on those of
/// [`Machine::all_cores`](crate::Machine::all_cores); what is read does not depend on how many there are.
///
/// That another program shortens the file meanwhile is an error.
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
    type ReadFile<S> = fn(&Path, &ReadOptions) -> Result<MatrixMarket<S>, ReadError>;
    compiled_here!(S, read_file, ReadFile)(path, options)
}

fn read_file<S: Scalar>(path: &Path, options: &ReadOptions) -> Result<MatrixMarket<S>, ReadError> {
    source::read_file(path, |source| read_segments(source, path, options))
}

/// Reads from anything that gives bytes, compressed or not, on one thread; `label` stands for the path in errors.
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
    let mut source = source;
    let mut start = Vec::with_capacity(GZIP_MAGIC.len());
    let looked = source.by_ref().take(GZIP_MAGIC.len() as u64).read_to_end(&mut start);
    looked.map_err(|reason| ReadError::Io { path: label.to_owned(), reason })?;
    let is_gzip = start == GZIP_MAGIC;
    let whole = Cursor::new(start).chain(source);
    if is_gzip {
        read_lines(Lines::new(MultiGzDecoder::new(whole), label), label, options)
    } else {
        read_lines(Lines::new(whole, label), label, options)
    }
}

/// Text of a mapped file that is worked on at a time is 16 times as much: what was looked at first is still in the cache at
/// the second look.
const MAPPED_SEGMENT_BYTES: usize = 1 << 20;
/// Text that is decompressed while the one before it is read.
const STREAM_SEGMENT_BYTES: usize = 4 << 20;
/// Lines of entries are short; comments may be long, but what is decompressed must be in memory for a while.
const MOST_LINE_BYTES: u64 = 16 << 20;

fn read_segments<S: Scalar>(
    source: Source,
    path: &Path,
    options: &ReadOptions,
) -> Result<MatrixMarket<S>, ReadError> {
    let mut lines = Lines::new(source, path);
    let header = Header::read(&mut lines)?;
    check_limit::<S>(path, header.entries, options)?;
    let (looked_at, behind, lines_read) = lines.into_rest();
    let rest = behind.after(looked_at);
    let (segment_bytes, entries) = match rest.known_bytes() {
        // No more room than the file could fill, whatever it declares.
        Some(bytes) => {
            let most = bytes / line::shortest(&header) + 1;
            (MAPPED_SEGMENT_BYTES, Entries::with_room(path, header.entries.min(most))?)
        }
        None => (STREAM_SEGMENT_BYTES, Entries::default()),
    };
    let mut body = Body::new(path, &header, entries, lines_read);
    let delivered = rest.for_each_segment(segment_bytes, MOST_LINE_BYTES, |segment| body.read(segment))?;
    if let Some(failure) = delivered.failure {
        return Err(interrupted(path, body.lines + 1, failure));
    }
    let entries = body.finish()?;
    assemble(entries, header, path, options)
}

/// The error that no more text came than up to this line.
fn interrupted(path: &Path, line: u64, failure: Failure) -> ReadError {
    let path = path.to_owned();
    match failure {
        Failure::Io(reason) => ReadError::Interrupted { path, line, reason },
        Failure::LongLine(most) => {
            let expected = format!("a line of at most {most} bytes");
            ReadError::Line { path, line, found: "a longer one".into(), expected }
        }
    }
}

/// Line after line.
fn read_lines<S: Scalar, R: Read>(
    mut lines: Lines<R>,
    path: &Path,
    options: &ReadOptions,
) -> Result<MatrixMarket<S>, ReadError> {
    let header = Header::read(&mut lines)?;
    check_limit::<S>(path, header.entries, options)?;
    let mut entries = Entries::default();
    read::read_lines(&mut lines, &header, &mut entries)?;
    read::check_end(&lines, &header, &entries)?;
    assemble(entries, header, path, options)
}

/// What was listed becomes a matrix.
fn assemble<S: Scalar>(
    mut entries: Entries<S>,
    header: Header,
    path: &Path,
    options: &ReadOptions,
) -> Result<MatrixMarket<S>, ReadError> {
    let unique = entries.are_clearly_unique(header.symmetry);
    entries.expand(header.symmetry, path, options)?;
    let (rows, cols, values) = entries.into_parts();
    // Every index was compared with the header on its line.
    let coo = Coo::new(header.rows, header.cols, rows, cols, values)
        .map_err(|error| ReadError::Binary { path: path.to_owned(), problem: error.to_string() })?;
    if unique || options.duplicates == Duplicates::Keep {
        return Ok(MatrixMarket { coo, header, merged_duplicates: 0 });
    }
    let (coo, merged_duplicates) = duplicates::sum(coo);
    Ok(MatrixMarket { coo, header, merged_duplicates })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// Entries in no order, some of them twice: more text than one chunk.
    fn scattered() -> Coo<f64> {
        let count = 60_000u32;
        let place = |entry: u32, salt: u32| entry.wrapping_mul(2_654_435_761).wrapping_add(salt) >> 18;
        let rows: Vec<u32> = (0..count).map(|entry| place(entry, 1)).collect();
        let cols: Vec<u32> = (0..count).map(|entry| place(entry, 99_999_999) % 40).collect();
        let values = (0..count).map(|entry| f64::from(entry).sqrt()).collect();
        Coo::new(1 << 14, 40, rows, cols, values).unwrap()
    }

    #[test]
    #[cfg_attr(miri, ignore = "takes minutes")]
    fn threads_and_compression_change_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let (plain, compressed) = (folder.path().join("a.mtx"), folder.path().join("a.mtx.gz"));
        let coo = scattered();
        for path in [&plain, &compressed] {
            write_matrix_market(&coo, path, &WriteOptions::default()).unwrap();
        }
        let text = fs::read(&plain).unwrap();
        let mut expected = None;
        for threads in [1, 2, 5] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            for duplicates in [Duplicates::Keep, Duplicates::Sum] {
                let options = ReadOptions { duplicates, ..ReadOptions::default() };
                let from_file = |path| pool.install(|| read_matrix_market::<f64>(path, &options)).unwrap();
                let found = from_file(&plain);
                assert_eq!(found, from_file(&compressed));
                assert_eq!(found, read_matrix_market_from(&text[..], &plain, &options).unwrap());
                match duplicates {
                    Duplicates::Keep => assert_eq!(found.coo, coo),
                    Duplicates::Sum => {
                        assert!(found.merged_duplicates > 1000);
                        assert_eq!(*expected.get_or_insert_with(|| found.clone()), found);
                    }
                }
            }
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri has no signals")]
    fn a_file_that_is_shortened_while_it_is_read_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.mtx");
        let line = "1 1 0.25\n";
        let count = (4 << 20) / line.len();
        let text =
            format!("%%MatrixMarket matrix coordinate real general\n1 1 {count}\n{}", line.repeat(count));
        for kept in [0, 10, 1 << 20, (1 << 20) + 4096 * 9] {
            fs::write(&path, &text).unwrap();
            let read = source::read_file(&path, |source| {
                fs::File::options().write(true).open(&path).unwrap().set_len(kept).unwrap();
                read_segments::<f64>(source, &path, &ReadOptions::default())
            });
            let error = read.unwrap_err().to_string();
            assert!(
                error.ends_with("a.mtx: the file was shortened, or its disk failed, while it was read"),
                "{error}"
            );
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "takes minutes")]
    fn symmetric_files_are_mirrored_in_their_order_by_any_number_of_threads() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.mtx");
        let count = 200_000u32; // more than one task
        let mut text =
            format!("%%MatrixMarket matrix coordinate real skew-symmetric\n{count} {count} {}\n", count - 1);
        (2..=count).for_each(|row| text += &format!("{row} {} 0.25\n", row / 2));
        fs::write(&path, text).unwrap();
        let below: Vec<(u32, u32, f64)> = (1..count).map(|row| (row, row.div_ceil(2) - 1, 0.25)).collect();
        let above = below.iter().map(|&(row, col, value)| (col, row, -value));
        let expected: Vec<_> = below.iter().copied().chain(above).collect();
        for threads in [1, 3] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let read = || read_matrix_market::<f64>(&path, &ReadOptions::default());
            assert!(pool.install(read).unwrap().coo.entries().eq(expected.iter().copied()));
        }
    }
}
