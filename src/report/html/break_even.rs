//! After how many products a format's conversion has paid for itself.

use super::frame::{Cell, row, table};
use crate::report::Run;
use crate::report::break_even::{Products, break_even};
use crate::report::setting::Setting;
use crate::units;

pub(super) fn section(runs: &[Run]) -> String {
    let mut rows = String::new();
    for run in runs {
        for found in break_even(&run.records) {
            let record = &run.records[found.record];
            let products = match found.products {
                Products::Never => "never: it is not faster".to_owned(),
                Products::AtOnce => "at once".to_owned(),
                Products::After(products) => units::count(products),
            };
            let duration = |ns: Option<f64>| Cell::number(ns.map(units::duration).unwrap_or_default());
            let mut cells = vec![
                Cell::text(record.variant.clone()),
                Cell::wide(Setting::of(record).words()),
                duration(record.prepare_ns),
                duration(record.median_ns),
                Cell::text(found.against),
                Cell::number(products),
            ];
            if runs.len() > 1 {
                cells.push(Cell::text(run.label.clone()));
            }
            rows.push_str(&row(false, &cells));
        }
    }
    if rows.is_empty() {
        return rows;
    }
    let mut titles = vec![
        ("variant", ""),
        ("setting", ""),
        ("prepare, once", "number"),
        ("time of a product", "number"),
        ("against", ""),
        ("ahead after products", "number"),
    ];
    if runs.len() > 1 {
        titles.push(("file", ""));
    }
    let caption =
        "Preparing (conversion, compilation, upload of A) against the plainest variant with the same setting";
    table(caption, &titles, &rows)
}
