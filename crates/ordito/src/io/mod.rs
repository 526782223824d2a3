//! Names become matrices, results become files.
//!
//! [`load`] takes what a user types, a path (`bcsstk16.mtx.gz`), a bare name (`ML_Laplace`) or a synthetic
//! matrix (`stencil27:100`), and gives triplets. The other files here are one format each; every one of them
//! reads without trusting the file, and writes whole files or none.
//!
//! Readers of text share `source` (text mapped into memory, or as it comes) and `number` with `decimal` (text becomes numbers,
//! rounded once).

mod decimal;
mod error;
mod load;
pub mod matrix_market;
mod nearest;
mod number;
pub mod npy;
#[cfg(all(target_os = "linux", not(miri)))]
mod watched_ranges;
mod mapped_file;
mod source;
pub mod synthetic;
pub mod text_matrix;

pub use crate::files::WriteError;
#[doc(hidden)] // for the crates of this workspace
pub use crate::files::{remove_unfinished_files, write_atomically};
pub use crate::matrix::Duplicates;
pub use error::ReadError;
pub use load::{Loaded, MATRICES_VARIABLE, Origin, load};
#[doc(hidden)] // for the crates of this workspace
pub use load::{find_matrix_file, short_name};
pub use matrix_market::{read_matrix_market, read_matrix_market_from, write_matrix_market};
#[doc(hidden)]
pub use nearest::nearest;
pub use npy::{read_npy, read_npy_dtype, write_npy};
pub use text_matrix::{
    NonFinite, TextBlock, TextFacts, TextMatrix, TextOptions, TextSeparator, read_text_blocks,
    read_text_columns, read_text_matrix,
};

/// How matrices are read and made.
///
/// ```
/// use ordito::Duplicates;
/// use ordito::io::ReadOptions;
/// let options = ReadOptions { max_bytes: 1 << 30, ..ReadOptions::default() };
/// assert_eq!(options.duplicates, Duplicates::Sum);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadOptions {
    /// What becomes of several entries at the same place.
    pub duplicates: Duplicates,
    /// Matrices whose triplets would take more bytes than this are refused before they are built.
    pub max_bytes: u64,
    /// Which of the many matrices with the same synthetic name.
    pub seed: u64,
}

impl Default for ReadOptions {
    /// Duplicates are summed, nothing is too large, the seed is 0.
    fn default() -> Self {
        ReadOptions { duplicates: Duplicates::Sum, max_bytes: u64::MAX, seed: 0 }
    }
}

/// The matrix of a name or a file by rows: a path (`.mtx`, `.mtx.gz`), a bare name in the folder `$ORDITO_MATRICES`, or a
/// synthetic one (`stencil27:100`). Entries at the same place are summed.
///
/// ```
/// let a: ordito::Csr<f64> = ordito::io::read_csr("stencil5:10")?;
/// assert_eq!((a.shape(), a.nnz()), ((100, 100), 460));
/// # Ok::<(), ordito::Error>(())
/// ```
pub fn read_csr<S: crate::Scalar>(name: &str) -> Result<crate::matrix::Csr<S>, ReadError> {
    let loaded = load(name, &ReadOptions::default())?;
    let no_memory = |error: crate::matrix::FormatError| ReadError::Binary {
        path: name.into(),
        problem: error.to_string(),
    };
    crate::matrix::Csr::try_from_owned_coo(loaded.coo, Duplicates::Sum).map_err(no_memory)
}

/// Bytes of one triplet: two 32-bit indices and a number.
#[doc(hidden)] // for the crates of this workspace
pub fn bytes_per_entry<S>() -> u64 {
    (2 * size_of::<u32>() + size_of::<S>()) as u64
}
