//! What is known of matrices, side by side: a fact per row, a matrix per column.

use crate::report::matrix_facts::MatrixFacts;
use ordito::units;
use ordito_chart::html::{Cell, row, table};

/// A name and what a matrix says to it.
type Fact = (&'static str, fn(&MatrixFacts) -> String);

const FACTS: &[Fact] = &[
    ("from", |m| m.origin.clone()),
    ("rows", |m| units::count(m.rows)),
    ("columns", |m| units::count(m.cols)),
    ("entries", |m| units::count(m.nnz)),
    ("share of all places", |m| format!("{:.3} %", 100.0 * m.density)),
    ("symmetry", |m| m.symmetry.clone()),
    ("bandwidth", |m| {
        let [below, above] = [m.lower_bandwidth, m.upper_bandwidth].map(units::count);
        format!("{below} below, {above} above the diagonal")
    }),
    ("entries per row", |m| {
        let [least, most] = [m.row_length_min, m.row_length_max].map(units::count);
        let (mean, deviation) = (units::number(m.row_length_mean), units::number(m.row_length_stddev));
        format!("{least} to {most}, mean {mean}, standard deviation {deviation}")
    }),
    ("rows without any", |m| units::count(m.empty_rows)),
    ("explicit zeros", |m| units::count(m.explicit_zeros)),
    ("duplicates", |m| units::count(m.duplicates)),
    ("on the diagonal", |m| units::count(m.diagonal_entries)),
];

pub(crate) fn section(matrices: &[MatrixFacts]) -> String {
    if matrices.is_empty() {
        return String::new();
    }
    let mut rows = String::new();
    let mut add = |name: String, said: &dyn Fn(&MatrixFacts) -> String| {
        let cells: Vec<Cell> =
            [Cell::text(name)].into_iter().chain(matrices.iter().map(|m| Cell::wide(said(m)))).collect();
        rows.push_str(&row(false, &cells));
    };
    for (name, fact) in FACTS {
        add((*name).to_owned(), fact);
    }
    let mut formats: Vec<&String> = matrices.iter().flat_map(|m| m.bytes.keys()).collect();
    formats.sort_unstable();
    formats.dedup();
    for format in formats {
        add(format!("bytes as {}, f64", format.replace('_', " ")), &|m| match m.bytes.get(format) {
            Some(bytes) => bytes.f64.map_or("beyond 64 bits".into(), units::bytes),
            None => String::new(),
        });
    }
    let mut titles = vec![("", "")];
    titles.extend(matrices.iter().map(|m| (m.matrix.as_str(), "wide")));
    table("What is known of each", &titles, &rows)
}
