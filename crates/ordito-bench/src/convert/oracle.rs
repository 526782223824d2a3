//! The serial counting sort that every conversion is held against: count per row, prefix sum, place.

use crate::convert::Entries;
use ordito::Scalar;
use ordito::matrix::{Coo, Csr};
use ordito::op::{Observed, Reference};
use ordito::precision::compiled_here;

/// Entries and values that a conversion must have, exactly.
pub(crate) fn oracle<S: Scalar>(coo: &Coo<S>) -> Reference {
    type Compute<S> = fn(&Coo<S>) -> Reference;
    compiled_here!(S, computed, Compute)(coo)
}

fn computed<S: Scalar>(coo: &Coo<S>) -> Reference {
    let entries = Entries::sorted(&counting_sort(coo).to_coo());
    let count = entries.rows();
    Reference {
        structure: entries.structure(),
        rows: count,
        cols: 1,
        listed_rows: None,
        expected: entries.entries.iter().map(|(_, value)| value.to_f64()).collect(),
        magnitude: vec![0.0; count], // copying has no rounding: equality is asked for
        terms: vec![0; count],
        amplification: 0.0,
        projection: None,
        nan_is_an_answer: false,
    }
}

fn counting_sort<S: Scalar>(coo: &Coo<S>) -> Csr<S> {
    let mut offsets = vec![0; coo.rows() + 1];
    for &row in coo.row_indices() {
        offsets[row as usize + 1] += 1;
    }
    for row in 0..coo.rows() {
        offsets[row + 1] += offsets[row];
    }
    let mut cursors = offsets.clone();
    let mut columns = vec![0; coo.nnz()];
    let mut values = vec![S::ZERO; coo.nnz()];
    for (row, col, value) in coo.entries() {
        let cursor = &mut cursors[row as usize];
        columns[*cursor] = col;
        values[*cursor] = value;
        *cursor += 1;
    }
    Csr::from_parts(coo.rows(), coo.cols(), offsets, columns, values)
        .expect("a counting sort keeps every entry")
}
