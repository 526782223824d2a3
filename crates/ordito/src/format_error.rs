//! Why a matrix could not be built.

use crate::units;

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
