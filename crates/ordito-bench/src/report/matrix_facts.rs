//! What is known of a matrix that was measured: a line of its own in `samples.json`, and a section of the report.

use crate::report::record::SCHEMA;
use ordito::Scalar;
use ordito::matrix::{Csr, EllPadded, EllRagged, LengthBin, Spy, Statistics};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The value of [`MatrixFacts::kind`].
pub const KIND: &str = "matrix";

/// The formats of [`MatrixFacts::bytes`]: the key there, and the name for people.
pub const FORMATS: [(&str, &str); 4] = [
    ("coo", "COO"),
    ("csr", "CSR"),
    ("ellpack_padded", "ELLPACK padded"),
    ("ellpack_ragged", "ELLPACK ragged"),
];

/// Cells along a side of [`MatrixFacts::spy`]: fine enough to tell a band from a block, and a few kilobytes of text.
const SPY_SIDE: usize = 96;

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
    /// Rows with fewer entries than a warp has lanes.
    pub rows_below_a_warp: u64,
    /// Lanes that have nothing to do where a warp takes a row: a share of all that are started.
    pub idle_lanes: f64,
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

impl MatrixFacts {
    /// Of a matrix that was looked at, without a spy.
    ///
    /// ```
    /// use ordito::matrix::Statistics;
    /// use ordito::{Coo, Csr, Duplicates};
    /// use ordito_bench::report::MatrixFacts;
    /// let a = Coo::new(2, 4, vec![0, 1], vec![3, 0], vec![5.0, 1.0])?;
    /// let a = Csr::from_coo(&a, Duplicates::Sum);
    /// let facts = MatrixFacts::of("mine", "a test", &a, &Statistics::of(&a));
    /// assert_eq!((facts.rows, facts.cols, facts.nnz, facts.density), (2, 4, 2, 0.25));
    /// assert_eq!(facts.bytes["csr"].f64, Some(48));
    /// # Ok::<(), ordito::FormatError>(())
    /// ```
    pub fn of<S: Scalar>(name: &str, origin: impl ToString, a: &Csr<S>, statistics: &Statistics) -> Self {
        let places = a.rows() as f64 * a.cols() as f64;
        let (rows_below_a_warp, idle_lanes) = warps(a);
        MatrixFacts {
            schema: SCHEMA,
            kind: KIND.to_owned(),
            matrix: name.to_owned(),
            origin: origin.to_string(),
            rows: a.rows() as u64,
            cols: a.cols() as u64,
            nnz: a.nnz() as u64,
            density: if places > 0.0 { a.nnz() as f64 / places } else { 0.0 },
            explicit_zeros: statistics.explicit_zeros as u64,
            duplicates: statistics.duplicates as u64,
            diagonal_entries: statistics.diagonal_entries as u64,
            empty_rows: statistics.empty_rows as u64,
            rows_below_a_warp,
            idle_lanes,
            row_length_min: statistics.shortest_row as u64,
            row_length_max: statistics.longest_row as u64,
            row_length_mean: statistics.mean_row,
            row_length_stddev: statistics.row_stddev,
            row_lengths: statistics.row_lengths.clone(),
            lower_bandwidth: statistics.lower_bandwidth as u64,
            upper_bandwidth: statistics.upper_bandwidth as u64,
            symmetry: statistics.symmetry.name().to_owned(),
            bytes: format_bytes(a.rows(), a.nnz(), statistics.longest_row),
            spy: None,
        }
    }

    /// With a spy, for which the entries are counted once more, on the threads of the current rayon pool.
    pub fn with_spy<S: Scalar>(self, a: &Csr<S>) -> Self {
        MatrixFacts { spy: Some(Spy::of(a, SPY_SIDE)), ..self }
    }
}

/// Rows that are shorter than a warp, and the share of lanes without an entry where every row has a warp.
fn warps<S: Scalar>(a: &Csr<S>) -> (u64, f64) {
    const LANES: usize = 32;
    let (mut short, mut lanes) = (0, 0_u64);
    for length in a.row_lengths() {
        short += u64::from(length < LANES);
        lanes += length.next_multiple_of(LANES).max(LANES) as u64;
    }
    (short, if lanes > 0 { 1.0 - a.nnz() as f64 / lanes as f64 } else { 0.0 })
}

fn format_bytes(rows: usize, nonzeros: usize, longest_row: usize) -> BTreeMap<String, FormatBytes> {
    // A row, a column and a value for each entry.
    let coo = |bytes_per_entry: u64| (nonzeros as u64).checked_mul(bytes_per_entry);
    let bytes = [
        (coo(16), coo(12)),
        (Csr::<f64>::bytes_for(rows, nonzeros), Csr::<f32>::bytes_for(rows, nonzeros)),
        (EllPadded::<f64>::bytes_for(rows, longest_row), EllPadded::<f32>::bytes_for(rows, longest_row)),
        (EllRagged::<f64>::bytes_for(rows, nonzeros), EllRagged::<f32>::bytes_for(rows, nonzeros)),
    ];
    let formats = FORMATS.iter().zip(bytes);
    formats.map(|((key, _), (f64, f32))| ((*key).to_owned(), FormatBytes { f64, f32 })).collect()
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

#[cfg(test)]
mod tests {
    use super::*;
    use ordito::matrix::{Coo, Duplicates};

    fn facts(rows: usize, cols: usize, entries: &[(u32, u32, f64)]) -> MatrixFacts {
        let (r, (c, v)) = entries.iter().map(|&(r, c, v)| (r, (c, v))).unzip();
        let a = Csr::from_coo(&Coo::new(rows, cols, r, c, v).unwrap(), Duplicates::Keep);
        MatrixFacts::of("m", "by hand", &a, &Statistics::of(&a)).with_spy(&a)
    }

    #[test]
    fn any_shape_makes_a_line_that_comes_back() {
        let infinite = [(0, 0, f64::INFINITY), (1, 1, f64::NAN), (1, 0, 0.0)];
        for found in [facts(0, 0, &[]), facts(0, 7, &[]), facts(7, 0, &[]), facts(2, 2, &infinite)] {
            let line = serde_json::to_string(&found).unwrap();
            assert!(!line.contains("null"), "{line}");
            assert!(line.starts_with(r#"{"schema":1,"kind":"matrix","matrix":"m","origin":"by hand""#));
            assert_eq!(serde_json::from_str::<MatrixFacts>(&line).unwrap(), found);
        }
    }

    #[test]
    fn every_format_has_its_bytes_and_every_entry_its_cell() {
        let found = facts(3, 2, &[(0, 0, 1.0), (0, 1, 1.0), (2, 0, 1.0)]);
        assert_eq!(found.bytes.keys().map(String::as_str).collect::<Vec<_>>(), FORMATS.map(|(key, _)| key));
        assert_eq!(found.bytes["coo"], FormatBytes { f64: Some(48), f32: Some(36) });
        assert_eq!(found.bytes["csr"], FormatBytes { f64: Some(68), f32: Some(56) });
        assert_eq!(found.spy.unwrap().counts, [1, 1, 0, 0, 1, 0]);
        assert_eq!((found.density, found.empty_rows, found.row_length_max), (0.5, 1, 2));
        assert_eq!((found.rows_below_a_warp, found.idle_lanes), (3, 1.0 - 3.0 / 96.0));
    }

    #[test]
    fn lanes_are_counted_by_whole_warps() {
        let row = |row: u32, length: u32| (0..length).map(move |col| (row, col, 1.0));
        let entries: Vec<_> = row(0, 31).chain(row(1, 32)).chain(row(2, 33)).collect();
        let found = facts(3, 40, &entries);
        assert_eq!((found.rows_below_a_warp, found.idle_lanes), (1, 0.25));
        assert_eq!(facts(0, 3, &[]).idle_lanes, 0.0);
    }
}
