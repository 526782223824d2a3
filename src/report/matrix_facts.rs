//! What is known of a matrix that was measured: a line of its own in `samples.json`, and a section of the report.

use crate::matrix::{LengthBin, Spy};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The value of [`MatrixFacts::kind`].
pub const KIND: &str = "matrix";

/// What is known of a matrix.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct MatrixFacts {
    /// Version of the fields.
    pub schema: u32,
    /// Always `matrix`: tells this line from a record.
    pub kind: String,
    /// The name that records have too.
    pub matrix: String,
    /// Where it comes from: a synthetic name's seed, a file's header.
    pub origin: String,
    /// Rows.
    pub rows: u64,
    /// Columns.
    pub cols: u64,
    /// Stored entries.
    pub nnz: u64,
    /// Entries over places.
    pub density: f64,
    /// Entries whose value is 0.
    pub explicit_zeros: u64,
    /// Entries at a place that another entry has too.
    pub duplicates: u64,
    /// Entries on the diagonal.
    pub diagonal_entries: u64,
    /// Rows without entries.
    pub empty_rows: u64,
    /// Entries of the shortest row.
    pub row_length_min: u64,
    /// Entries of the longest row.
    pub row_length_max: u64,
    /// Entries per row on average.
    pub row_length_mean: f64,
    /// Standard deviation of the row lengths.
    pub row_length_stddev: f64,
    /// How many rows have how many entries.
    pub row_lengths: Vec<LengthBin>,
    /// Farthest entry below the diagonal.
    pub lower_bandwidth: u64,
    /// Farthest entry above the diagonal.
    pub upper_bandwidth: u64,
    /// What A and Aᵀ have in common.
    pub symmetry: String,
    /// Bytes in every format; absent beyond 64 bits.
    pub bytes: BTreeMap<String, FormatBytes>,
    /// Where its entries are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spy: Option<Spy>,
}

/// What a matrix takes in a format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct FormatBytes {
    /// With values of 64 bits.
    pub f64: Option<u64>,
    /// With values of 32 bits.
    pub f32: Option<u64>,
}
