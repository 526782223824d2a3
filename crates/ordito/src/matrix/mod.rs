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
mod csr_slices;
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
#[cfg(all(test, feature = "emulator"))]
pub(crate) use array::tests::Failing;
pub(crate) use columns::PACKED_TOGETHER;
pub use columns::{BlockView, BlockViewMut, ColumnsView, ColumnsViewMut};
pub use coo::{Coo, Duplicates};
pub use coo_to_csr::{SORT_SERIALLY_BELOW, sort_entries};
pub use csr::Csr;
pub use csr_slices::CsrSlices;
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

pub use crate::format_error::{FormatError, MAX_DIMENSION};

// Offsets are `usize`, which is what slices are indexed by; this is what makes them 64 bits wide.
const _: () = assert!(usize::BITS == 64, "Ordito needs a 64-bit target: offsets are usize");

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
