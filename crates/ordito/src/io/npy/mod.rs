//! Dense matrices as `.npy`, the format of NumPy.
//!
//! What is read: f32 and f64, little- and big-endian, row by row (C) or column by column (Fortran), one dimension
//! (a column) or two. Everything else is refused in one sentence.

mod header;
mod rows;

#[doc(hidden)] // for the crates of this workspace
pub use rows::{NpyRows, header_of, header_of_columns};

use crate::Scalar;
use crate::files::{WriteError, write_atomically};
use crate::io::error::ReadError;
use crate::io::npy::header::{Header, fits};
use crate::matrix::{Dense, DenseView};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::Path;

/// What the numbers of a `.npy` file are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NpyDtype {
    /// 32-bit floating point.
    F32,
    /// 64-bit floating point.
    F64,
    /// Anything else, as the file spells it.
    Other(String),
}

impl NpyDtype {
    /// The one that holds numbers of this type.
    fn of<S: Scalar>() -> Self {
        if size_of::<S>() == size_of::<f32>() { NpyDtype::F32 } else { NpyDtype::F64 }
    }
}

/// May numbers change their type on the way in?
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Conversion {
    /// No: the file must hold the type asked for.
    #[default]
    Refuse,
    /// Yes: f32 becomes f64 exactly, f64 is rounded to f32 (too large numbers become infinite).
    Allow,
}

/// Looks what the numbers of a file are, without reading them.
pub fn read_npy_dtype(path: &Path) -> Result<NpyDtype, ReadError> {
    open(path).map(|(_, header)| header.dtype())
}

/// Looks how long the dimensions of a file are, without reading its numbers.
pub fn read_npy_shape(path: &Path) -> Result<Vec<usize>, ReadError> {
    let (_, header) = open(path)?;
    header.matrix_shape().map_err(|problem| bad(path, problem))?;
    Ok(header.shape())
}

/// Looks how many bytes reading a file takes at its peak, without reading its numbers: those of the file, and beside them
/// those that are put in another order or converted. `None` where not even 64 bits hold that.
#[doc(hidden)]
pub fn bytes_to_read_npy<S: Scalar>(path: &Path) -> Result<Option<u64>, ReadError> {
    let (_, header) = open(path)?;
    let of_file = match header.dtype() {
        NpyDtype::F32 => size_of::<f32>(),
        NpyDtype::F64 => size_of::<f64>(),
        NpyDtype::Other(_) => return Ok(Some(0)), // it will not be read
    };
    let reordered = if header.is_fortran { of_file } else { 0 };
    let converted = if header.dtype() == NpyDtype::of::<S>() { 0 } else { size_of::<S>() };
    let per_number = (of_file + reordered.max(converted)) as u64;
    let lengths = header.shape();
    Ok(lengths.iter().try_fold(per_number, |bytes, &length| bytes.checked_mul(length as u64)))
}

/// Has the file one dimension only? ([`read_npy`] makes a single column of it, [`write_npy_vector`] the way back.)
#[doc(hidden)]
pub fn is_npy_vector(path: &Path) -> Result<bool, ReadError> {
    open(path).map(|(_, header)| header.dimensions() == 1)
}

/// Reads a matrix. A file with one dimension becomes a single column, one without any a single element.
///
/// ```
/// use ordito::Dense;
/// use ordito::io::npy::{Conversion, NpyDtype};
/// use ordito::io::{read_npy, read_npy_dtype, write_npy};
/// let path = std::env::temp_dir().join(format!("ordito-example-{}.npy", std::process::id()));
/// let x = Dense::from_rows(2, 3, vec![1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0])?;
/// write_npy(x.view(), &path)?;
/// assert_eq!(read_npy_dtype(&path)?, NpyDtype::F32);
/// assert_eq!(read_npy::<f32>(&path, Conversion::Refuse)?, x);
/// assert_eq!(read_npy::<f64>(&path, Conversion::Allow)?.view().row(1), &[4.0, 5.0, 6.0]);
/// assert!(read_npy::<f64>(&path, Conversion::Refuse).is_err());
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn read_npy<S: Scalar>(path: &Path, conversion: Conversion) -> Result<Dense<S>, ReadError> {
    let (file, header) = open(path)?;
    let shape = header.matrix_shape().map_err(|problem| bad(path, problem))?;
    read_as(path, file, &header, shape, 0..shape.0, conversion)
}

/// A stack of matrices of equal shape, each a row.
#[derive(Debug, Clone, PartialEq)]
pub struct NpyStack<S> {
    /// One row for each index of the first dimension.
    pub matrix: Dense<S>,
    /// The length of every dimension, two or three.
    pub shape: Vec<usize>,
    /// The file is in Fortran order: the *last* dimension is the slowest in every row, not the second.
    pub last_is_slowest: bool,
}

/// Reads an array of two or three dimensions; what follows the first becomes one row, in the order of the file.
pub fn read_npy_stack<S: Scalar>(path: &Path, conversion: Conversion) -> Result<NpyStack<S>, ReadError> {
    let (file, header) = open(path)?;
    let shape = header.shape();
    let (rows, cols) = match shape[..] {
        [rows, cols] => (rows, Some(cols)),
        [rows, second, third] => (rows, second.checked_mul(third)),
        _ => return Err(bad(path, format!("has {} dimensions; expected 2 or 3", shape.len()))),
    };
    let cols = cols.ok_or_else(|| bad(path, "its dimensions are larger than memory can be".to_owned()))?;
    let matrix = read_as(path, file, &header, (rows, cols), 0..rows, conversion)?;
    Ok(NpyStack { matrix, shape, last_is_slowest: header.is_fortran })
}

/// Rows of an open file that holds a matrix of that shape.
fn read_as<S: Scalar>(
    path: &Path,
    file: File,
    header: &Header,
    shape: (usize, usize),
    wanted: Range<usize>,
    conversion: Conversion,
) -> Result<Dense<S>, ReadError> {
    let dtype = header.dtype();
    match dtype {
        _ if dtype == NpyDtype::of::<S>() => read_body::<S>(path, file, header, shape, wanted),
        NpyDtype::Other(descr) => {
            Err(bad(path, format!("holds numbers of type {descr}; expected f32 ('<f4') or f64 ('<f8')")))
        }
        _ if conversion == Conversion::Refuse => {
            let found = if dtype == NpyDtype::F32 { "f32" } else { "f64" };
            Err(bad(path, format!("holds {found}, and {} was asked for", S::NAME)))
        }
        NpyDtype::F32 => {
            let first = wanted.start;
            convert(path, &read_body::<f32>(path, file, header, shape, wanted)?, first)
        }
        NpyDtype::F64 => {
            let first = wanted.start;
            convert(path, &read_body::<f64>(path, file, header, shape, wanted)?, first)
        }
    }
}

fn bad(path: &Path, problem: String) -> ReadError {
    ReadError::Binary { path: path.to_owned(), problem }
}

fn open(path: &Path) -> Result<(File, Header), ReadError> {
    let failed = |reason| ReadError::Io { path: path.to_owned(), reason };
    let mut file = File::open(path).map_err(failed)?;
    let metadata = file.metadata().map_err(failed)?;
    if !metadata.is_file() {
        return Err(bad(path, "not a regular file; expected a .npy file".to_owned()));
    }
    let header = Header::read(&mut file, metadata.len()).map_err(failed)?;
    header.map(|header| (file, header)).map_err(|problem| bad(path, problem))
}

/// The numbers of these rows, straight into the memory where they stay. The file's length is known to fit.
fn read_body<S: Scalar>(
    path: &Path,
    mut file: File,
    header: &Header,
    (rows, cols): (usize, usize),
    wanted: Range<usize>,
) -> Result<Dense<S>, ReadError> {
    fits(rows, cols, size_of::<S>(), header.body_bytes).map_err(|problem| bad(path, problem))?;
    let elements = wanted.len() * cols;
    let mut numbers = Vec::new();
    let no_memory = || bad(path, format!("{elements} numbers need more memory than the system gives"));
    numbers.try_reserve_exact(elements).map_err(|_| no_memory())?;
    numbers.resize(elements, S::ZERO);
    let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut numbers);
    let read = if header.is_fortran && wanted.len() < rows {
        read_runs(&mut file, bytes, wanted.len(), rows, wanted.start, size_of::<S>())
    } else {
        // One run: all of the file, or rows that follow each other.
        let first = if header.is_fortran { 0 } else { wanted.start * cols };
        read_runs(&mut file, bytes, elements, elements, first, size_of::<S>())
    };
    read.map_err(|reason| ReadError::Io { path: path.to_owned(), reason })?;
    if header.is_big_endian != cfg!(target_endian = "big") {
        bytes.chunks_exact_mut(size_of::<S>()).for_each(<[u8]>::reverse);
    }
    let dense = match header.is_fortran {
        true => Dense::from_columns(wanted.len(), cols, &numbers),
        false => Dense::from_rows(wanted.len(), cols, numbers),
    };
    dense.map_err(|error| bad(path, error.to_string()))
}

/// Fills `bytes` with runs of so many elements, which begin `apart` elements after each other, the first of them at element
/// `first` behind the header.
fn read_runs(
    file: &mut File,
    bytes: &mut [u8],
    run: usize,
    apart: usize,
    first: usize,
    element_bytes: usize,
) -> io::Result<()> {
    let start = file.stream_position()?;
    for (number, run) in bytes.chunks_mut((run * element_bytes).max(1)).enumerate() {
        file.seek(SeekFrom::Start(start + ((first + number * apart) * element_bytes) as u64))?;
        file.read_exact(run)?;
    }
    Ok(())
}

/// `first_row` is what the first row is called in errors.
fn convert<S: Scalar, T: Scalar>(
    path: &Path,
    dense: &Dense<S>,
    first_row: usize,
) -> Result<Dense<T>, ReadError> {
    let numbers: Vec<T> = dense.data().iter().map(|number| T::from_f64(number.to_f64())).collect();
    let too_large =
        |(at, (from, to)): (usize, (&S, &T))| (from.is_finite() && !to.is_finite()).then_some((at, *from));
    if let Some((at, number)) = dense.data().iter().zip(&numbers).enumerate().find_map(too_large) {
        let (row, col) = (first_row + at / dense.cols(), at % dense.cols());
        return Err(bad(
            path,
            format!("row {row}, column {col}: {:e} is too large for {}", number.to_f64(), T::NAME),
        ));
    }
    Dense::from_rows(dense.rows(), dense.cols(), numbers).map_err(|error| bad(path, error.to_string()))
}

/// Writes a matrix of two dimensions, row by row, in the byte order of this machine. Gaps between rows are left
/// out. The file appears whole or not at all.
pub fn write_npy<S: Scalar>(matrix: DenseView<'_, S>, path: &Path) -> Result<(), WriteError> {
    write_with_shape(matrix, &[matrix.rows(), matrix.cols()], path)
}

/// Writes all elements of a matrix, row by row, as one dimension.
pub fn write_npy_vector<S: Scalar>(matrix: DenseView<'_, S>, path: &Path) -> Result<(), WriteError> {
    write_with_shape(matrix, &[matrix.rows() * matrix.cols()], path)
}

/// Writes the only element of a matrix, as no dimension at all: what NumPy calls the product of two vectors.
pub fn write_npy_scalar<S: Scalar>(matrix: DenseView<'_, S>, path: &Path) -> Result<(), WriteError> {
    write_with_shape(matrix, &[], path)
}

fn write_with_shape<S: Scalar>(
    matrix: DenseView<'_, S>,
    shape: &[usize],
    path: &Path,
) -> Result<(), WriteError> {
    write_atomically(path, |file| {
        file.write_all(&Header::bytes_for::<S>(shape))?;
        (0..matrix.rows()).try_for_each(|row| file.write_all(bytemuck::cast_slice(matrix.row(row))))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn file(descr: &str, rest: &str, body: &[u8]) -> (tempfile::TempDir, std::path::PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.npy");
        let dictionary = format!("{{'descr': {descr}, {rest}}}\n");
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((dictionary.len() as u16).to_le_bytes());
        bytes.extend(dictionary.as_bytes());
        bytes.extend(body);
        fs::write(&path, bytes).unwrap();
        (folder, path)
    }

    fn read(descr: &str, rest: &str, body: &[u8]) -> Result<Dense<f64>, String> {
        let (_folder, path) = file(descr, rest, body);
        read_npy(&path, Conversion::Refuse).map_err(|error| {
            let text = error.to_string();
            assert!(!text.contains('\n'));
            text.split_once("x.npy: ").unwrap().1.to_owned()
        })
    }

    fn bytes(numbers: impl IntoIterator<Item = f64>) -> Vec<u8> {
        numbers.into_iter().flat_map(f64::to_le_bytes).collect()
    }

    #[test]
    fn orders_and_byte_orders_give_the_same_matrix() {
        let expected = Dense::from_rows(2, 3, vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).unwrap();
        let c = bytes([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        assert_eq!(read("'<f8'", "'fortran_order': False, 'shape': (2, 3), ", &c).unwrap(), expected);
        let fortran = bytes([1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
        assert_eq!(read("'<f8'", "'shape': (2,3), 'fortran_order': True", &fortran).unwrap(), expected);
        let big: Vec<u8> = (1..=6).flat_map(|number| f64::from(number).to_be_bytes()).collect();
        assert_eq!(read("\">f8\"", "'shape': (2L, 3L), 'fortran_order': False", &big).unwrap(), expected);
        let column = read("'<f8'", "'shape': (6,), 'fortran_order': False", &c).unwrap();
        assert_eq!((column.rows(), column.cols()), (6, 1));
        let nothing = read("'<f8'", "'shape': (0, 4), 'fortran_order': False", &[]).unwrap();
        assert_eq!((nothing.rows(), nothing.cols()), (0, 4));
    }

    #[test]
    fn what_is_no_matrix_of_floats_is_refused_in_one_sentence() {
        let order = "'fortran_order': False, 'shape':";
        let fault = |descr, shape: &str| read(descr, &format!("{order} {shape}"), &[0; 16]).unwrap_err();
        for descr in ["'<i8'", "'|b1'", "'<c16'", "'<f2'", "'<f16'", "'|O'", "[('a', '<f8'), ('b', '<i4')]"] {
            assert!(
                fault(descr, "(2,)").contains("expected f32 ('<f4') or f64 ('<f8')"),
                "{}",
                fault(descr, "(2,)")
            );
        }
        assert_eq!(fault("'<f4'", "(4,)"), "holds f32, and f64 was asked for");
        assert_eq!(fault("'<f8'", "()"), "8 bytes of numbers expected for 1 × 1 of 8 bytes, found 16");
        assert_eq!(fault("'<f8'", "(1, 1, 2)"), "has 3 dimensions; expected 2 at most");
        assert_eq!(fault("'<f8'", "(3, 1)"), "24 bytes of numbers expected for 3 × 1 of 8 bytes, found 16");
        assert_eq!(fault("'<f8'", "(1,)"), "8 bytes of numbers expected for 1 × 1 of 8 bytes, found 16");
        assert!(fault("'<f8'", "(4294967296, 4294967296)").contains("found 16"));
        assert!(fault("'<f8'", "(99999999999999999999, 1)").contains("not a .npy header"));
        assert!(fault("'<f8'", "(-1, 1)").contains("not a .npy header"));
    }

    #[test]
    fn conversion_rounds_only_when_allowed() {
        let numbers = bytes([0.1, f64::INFINITY]);
        let (_folder, path) = file("'<f8'", "'shape': (2,), 'fortran_order': False", &numbers);
        assert!(read_npy::<f32>(&path, Conversion::Refuse).is_err());
        assert_eq!(read_npy::<f32>(&path, Conversion::Allow).unwrap().data(), [0.1f32, f32::INFINITY]);
        let (_folder, too_large) =
            file("'<f8'", "'shape': (2,), 'fortran_order': False", &bytes([0.1, 1e300]));
        let fault = read_npy::<f32>(&too_large, Conversion::Allow).unwrap_err().to_string();
        assert!(fault.ends_with("row 1, column 0: 1e300 is too large for f32"), "{fault}");
        assert_eq!(read_npy_dtype(&path).unwrap(), NpyDtype::F64);
        let (_folder, path) = file("'<i4'", "'shape': (2,), 'fortran_order': False", &[]);
        assert_eq!(read_npy_dtype(&path).unwrap(), NpyDtype::Other("'<i4'".into()));
    }

    #[test]
    fn the_peak_of_reading_is_known_before() {
        let rest = |fortran| format!("'fortran_order': {fortran}, 'shape': (2, 3, 4)");
        let (_folder, plain) = file("'<f8'", &rest("False"), &[]);
        assert_eq!(bytes_to_read_npy::<f64>(&plain).unwrap(), Some(24 * 8));
        assert_eq!(bytes_to_read_npy::<f32>(&plain).unwrap(), Some(24 * (8 + 4)));
        let (_folder, fortran) = file("'<f4'", &rest("True"), &[]);
        assert_eq!(bytes_to_read_npy::<f32>(&fortran).unwrap(), Some(24 * (4 + 4)));
        assert_eq!(bytes_to_read_npy::<f64>(&fortran).unwrap(), Some(24 * (4 + 8)));
        let (_folder, huge) = file("'<f8'", "'fortran_order': False, 'shape': (4294967296, 4294967296)", &[]);
        assert_eq!(bytes_to_read_npy::<f64>(&huge).unwrap(), None);
    }

    #[test]
    fn stacks_are_rows_in_the_order_of_the_file() {
        let stack = |rest: &str| {
            let (_folder, path) = file("'<f8'", rest, &bytes((0..12).map(f64::from)));
            read_npy_stack::<f64>(&path, Conversion::Refuse)
        };
        let c = stack("'fortran_order': False, 'shape': (2, 3, 2)").unwrap();
        assert_eq!(
            (c.matrix.view().row(1), c.last_is_slowest),
            (&[6.0, 7.0, 8.0, 9.0, 10.0, 11.0][..], false)
        );
        // numpy.arange(12.).reshape((2, 3, 2), order="F")[1].ravel(order="F")
        let fortran = stack("'fortran_order': True, 'shape': (2, 3, 2)").unwrap();
        assert_eq!(fortran.matrix.view().row(1), [1.0, 3.0, 5.0, 7.0, 9.0, 11.0]);
        assert_eq!((fortran.shape, fortran.last_is_slowest), (vec![2, 3, 2], true));
        assert_eq!(stack("'fortran_order': False, 'shape': (3, 4)").unwrap().matrix.cols(), 4);
        let fault = stack("'fortran_order': False, 'shape': (12,)").unwrap_err().to_string();
        assert!(fault.ends_with("has 1 dimensions; expected 2 or 3"), "{fault}");
        assert!(stack("'fortran_order': False, 'shape': (1, 4294967296, 4294967296)").is_err());
    }

    #[test]
    fn gaps_between_rows_are_not_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("y.npy");
        let data = [1.0, 2.0, f64::NAN, 3.0, 4.0, f64::NAN];
        write_npy(DenseView::new(&data, 2, 2, 3).unwrap(), &path).unwrap();
        assert_eq!(read_npy::<f64>(&path, Conversion::Refuse).unwrap().data(), [1.0, 2.0, 3.0, 4.0]);
        let bytes = fs::read(&path).unwrap();
        assert_eq!((bytes.len(), bytes[127]), (128 + 4 * 8, b'\n'), "the numbers start at a multiple of 64");
    }
}
