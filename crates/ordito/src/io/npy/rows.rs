//! Some rows of a file: for several that read it together.

use crate::Scalar;
use crate::io::error::ReadError;
use crate::io::npy::header::Header;
use crate::io::npy::{Conversion, bad, open, read_as};
use crate::matrix::Dense;
use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// A file whose header was read.
pub struct NpyRows {
    path: PathBuf,
    file: File,
    header: Header,
    shape: (usize, usize),
}

impl NpyRows {
    /// Reads the header, and refuses what [`read_npy`](super::read_npy) refuses.
    pub fn open(path: &Path) -> Result<Self, ReadError> {
        let (file, header) = open(path)?;
        let shape = header.matrix_shape().map_err(|problem| bad(path, problem))?;
        Ok(NpyRows { path: path.to_owned(), file, header, shape })
    }

    /// Rows and columns of the whole matrix.
    pub fn shape(&self) -> (usize, usize) {
        self.shape
    }

    /// Reads these rows, and nothing else of the numbers.
    pub fn read<S: Scalar>(self, rows: Range<usize>, conversion: Conversion) -> Result<Dense<S>, ReadError> {
        if rows.start > rows.end || rows.end > self.shape.0 {
            return Err(bad(&self.path, format!("has {} rows; {rows:?} were asked for", self.shape.0)));
        }
        read_as(&self.path, self.file, &self.header, self.shape, rows, conversion)
    }
}

/// What a file of this matrix, or vector, begins with; its numbers follow, row by row.
pub fn header_of<S: Scalar>(shape: &[usize]) -> Vec<u8> {
    Header::bytes_for::<S>(shape)
}

/// What a file of this matrix begins with if its numbers follow column by column.
pub fn header_of_columns<S: Scalar>(rows: usize, cols: usize) -> Vec<u8> {
    Header::bytes_in_order::<S>(&[rows, cols], true)
}
