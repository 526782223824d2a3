//! Storage on the host. One file per format: its invariants, checked construction, and the way from and to
//! [`Coo`], the list of triplets in which matrices arrive.
//!
//! Row and column indices are `u32`, offsets into the nonzeros are 64 bits wide: more than 2³² nonzeros
//! overflow nothing, only memory limits them.
//!
//! Beside the formats stand `coo_to_csr` (triplets become CSR on all threads), `csc` (so do compressed columns), `statistics` and `symmetry` (what is known of a matrix),
//! `pattern` (a matrix without its values), `spy` (where the entries are), `random` (the generator that makes every run repeatable) `huge_pages`, and `room` (can so much be allocated?). Formats that only
//! kernels want are theirs: `spmm/cpu/formats`.

#[doc(hidden)]
pub mod coo_to_csr;
mod array;
mod random;
pub(crate) mod concat;
mod coo;
mod csc;
mod csr;
mod csr_view;
mod columns;
mod index;
mod pattern;
mod dense;
mod ell;
pub(crate) mod huge_pages;
pub(crate) mod room;
mod spy;
mod statistics;
mod symmetry;

pub(crate) use array::Elsewhere;
#[cfg(test)]
pub(crate) use array::tests::Failing;
pub(crate) use columns::PACKED_TOGETHER;
pub use columns::{BlockView, BlockViewMut, ColumnsView, ColumnsViewMut};
pub use coo::{Coo, Duplicates};
pub use coo_to_csr::{SORT_SERIALLY_BELOW, sort_entries};
pub use csr::{Csr, CsrSlices};
pub use csr_view::CsrView;
pub(crate) use dense::span;
pub use dense::{Dense, DenseView, DenseViewMut};
pub use ell::{EllPadded, EllRagged, RaggedRow};
pub use index::Index;
pub(crate) use pattern::Pattern;
pub use random::{Random, random_dense, random_rows};
pub use spy::Spy;
pub use statistics::{LengthBin, Statistics};
pub use symmetry::Symmetry;

use crate::units;

// Offsets are `usize`, which is what slices are indexed by; this is what makes them 64 bits wide.
const _: () = assert!(usize::BITS == 64, "Ordito needs a 64-bit target: offsets are usize");

/// The largest number of rows or columns: indices are `u32`, and one value stays free.
pub const MAX_DIMENSION: usize = u32::MAX as usize;

/// Why a matrix could not be built.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FormatError {
    /// A dimension does not fit 32-bit indices.
    #[error("{what} = {value} is more than the {MAX_DIMENSION} that 32-bit indices reach")]
    DimensionTooLarge {
        /// "rows" or "columns".
        what: &'static str,
        /// What was asked for.
        value: u64,
    },
    /// Two arrays that must have the same length do not.
    #[error("{what} has {found} elements, {expected} expected")]
    Length {
        /// Which array.
        what: &'static str,
        /// Its length.
        found: usize,
        /// The length that fits the rest.
        expected: usize,
    },
    /// An index lies outside the matrix.
    #[error("entry {entry}: {what} {index} is outside 0..{bound}")]
    IndexOutOfRange {
        /// Position in the list of entries.
        entry: usize,
        /// "row" or "column".
        what: &'static str,
        /// The index, negative where it was.
        index: i128,
        /// One more than the largest allowed.
        bound: usize,
    },
    /// Offsets must start at 0, never fall, and end at the number of nonzeros.
    #[error("{what} offsets must rise from 0 to {nonzeros}; offset {position} is {value}")]
    Offsets {
        /// "row" or "column".
        what: &'static str,
        /// Index into the offsets.
        position: usize,
        /// What stands there.
        value: i128,
        /// The number of nonzeros.
        nonzeros: usize,
    },
    /// The leading dimension of a dense matrix is smaller than its rows.
    #[error("leading dimension {leading_dimension} is smaller than the {cols} columns of a row")]
    LeadingDimension {
        /// Distance between rows, in elements.
        leading_dimension: usize,
        /// Columns.
        cols: usize,
    },
    /// The leading dimension of a column-major matrix is smaller than its columns.
    #[error("leading dimension {leading_dimension} is smaller than the {rows} rows of a column")]
    ColumnDistance {
        /// Distance between columns, in elements.
        leading_dimension: usize,
        /// Rows.
        rows: usize,
    },
    /// A list that must ascend does not, or names something twice.
    #[error("{what} must be listed in ascending order, none of them twice")]
    NotAscending {
        /// What is listed.
        what: &'static str,
    },
    /// Rows and columns are not as many.
    #[error("a square matrix is needed, this one is {rows} × {cols}")]
    NotSquare {
        /// Rows.
        rows: usize,
        /// Columns.
        cols: usize,
    },
    /// Compressed columns where compressed rows are wanted.
    #[error(
        "the matrix is stored by columns (CSC), rows are wanted: make a `Csr` of it, which converts, or transpose it"
    )]
    ByColumns,
    /// Rows cut out of a larger matrix.
    #[error(
        "the row offsets begin in the middle of a larger matrix: make a `Csr` of it, which copies its rows"
    )]
    SliceOfRows,
    /// A dense array whose rows do not lie one behind the other.
    #[error(
        "the array is not in standard layout (row-major, without gaps): make a `Dense` of it, which copies"
    )]
    Strides,
    /// More memory than the system gives.
    #[error("{what} would need {}, more than there is", bytes.map_or("more bytes than 64 bits hold".into(), units::bytes))]
    NoMemory {
        /// What was to be allocated.
        what: &'static str,
        /// Bytes, or `None` beyond 64 bits.
        bytes: Option<u64>,
    },
    /// Sizes whose product does not fit 64 bits or the address space.
    #[error("{what} would need more elements than can be addressed")]
    TooManyElements {
        /// What was to be allocated.
        what: &'static str,
    },
}

impl FormatError {
    /// What is wrong with a matrix, said of the transposed one.
    pub(crate) fn transposed(mut self) -> Self {
        if let FormatError::DimensionTooLarge { what, .. }
        | FormatError::IndexOutOfRange { what, .. }
        | FormatError::Offsets { what, .. } = &mut self
        {
            *what = match *what {
                "row" => "column",
                "column" => "row",
                "rows" => "columns",
                "columns" => "rows",
                other => other,
            };
        }
        self
    }
}

/// Lanes of a vector of 64 bytes.
pub(crate) const fn lanes<S>() -> usize {
    64 / size_of::<S>()
}

/// Checks that indices below `rows` and `cols` fit `u32`.
pub(crate) fn check_dimensions(rows: usize, cols: usize) -> Result<(), FormatError> {
    for (what, value) in [("rows", rows), ("columns", cols)] {
        if value > MAX_DIMENSION {
            return Err(FormatError::DimensionTooLarge { what, value: value as u64 });
        }
    }
    Ok(())
}
