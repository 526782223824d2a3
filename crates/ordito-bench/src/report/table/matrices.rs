//! Several matrices side by side: how long their rows are, and what that leaves of a warp.

use crate::report::MatrixFacts;
use crate::report::table::layout::{Printed, laid_out};
use ordito::text::for_one_line;
use ordito::units;

/// A row of the table for each matrix.
///
/// ```
/// use ordito_bench::report::{MatrixFacts, table};
/// let mine = MatrixFacts { matrix: "mine".into(), rows: 4, rows_below_a_warp: 1, ..Default::default() };
/// let text = table::matrices(&[mine]);
/// assert!(text.lines().last().unwrap().starts_with("mine"));
/// assert!(text.contains("25 %"));
/// ```
pub fn matrices(known: &[MatrixFacts]) -> String {
    let column = |title, is_text, cell: &dyn Fn(&MatrixFacts) -> String| Printed {
        title,
        is_text,
        cells: known.iter().map(cell).collect(),
    };
    let columns = [
        column("matrix", true, &|facts| for_one_line(&facts.matrix).into_owned()),
        column("rows", false, &|facts| units::count(facts.rows)),
        column("columns", false, &|facts| units::count(facts.cols)),
        column("nonzeros", false, &|facts| units::count(facts.nnz)),
        column("mean row", false, &|facts| units::number(facts.row_length_mean)),
        column("longest", false, &|facts| units::count(facts.row_length_max)),
        column("rows < 32", false, &|facts| {
            percent(facts.rows_below_a_warp as f64 / facts.rows.max(1) as f64)
        }),
        column("idle lanes", false, &|facts| percent(facts.idle_lanes)),
    ];
    laid_out(&columns).join("\n")
}

fn percent(share: f64) -> String {
    format!("{:.0} %", 100.0 * share)
}
