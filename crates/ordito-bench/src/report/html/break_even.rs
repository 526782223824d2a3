//! After how many products a format's conversion has paid for itself: a row per variant, a column per K.

use crate::report::Run;
use crate::report::break_even::break_even;
use crate::report::setting::Setting;
use ordito::units;
use ordito_chart::html::{Cell, row, table};
use std::collections::{BTreeMap, BTreeSet};

/// A variant on one input; what differs between its columns is left out.
struct Line {
    setting: Setting,
    label: String,
    prepare_ns: Option<f64>,
    against: BTreeSet<String>,
    products: BTreeMap<Option<u64>, String>,
}

pub(crate) fn section(runs: &[Run]) -> String {
    let lines = lines(runs);
    if lines.is_empty() {
        return String::new();
    }
    let ks: BTreeSet<Option<u64>> = lines.iter().flat_map(|line| line.products.keys().copied()).collect();
    let k_titles: Vec<String> =
        ks.iter().map(|k| k.map_or("products".to_owned(), |k| format!("K = {k}"))).collect();
    let mut titles = vec![("variant", ""), ("setting", ""), ("prepare, once", "number")];
    titles.extend(k_titles.iter().map(|title| (title.as_str(), "number")));
    titles.push(("against", ""));
    if runs.len() > 1 {
        titles.push(("file", ""));
    }
    let mut rows = String::new();
    for line in &lines {
        let mut cells = vec![
            Cell::text(line.setting.variant.clone()),
            Cell::wide(line.setting.words()),
            Cell::number(line.prepare_ns.map(units::duration).unwrap_or_default()),
        ];
        cells.extend(ks.iter().map(|k| Cell::number(line.products.get(k).cloned().unwrap_or_default())));
        cells.push(Cell::wide(line.against.iter().cloned().collect::<Vec<_>>().join(", ")));
        if runs.len() > 1 {
            cells.push(Cell::text(line.label.clone()));
        }
        rows.push_str(&row(false, &cells));
    }
    let caption = "Products after which another format is ahead of the fastest variant on plain CSR with the same \
                   setting, on a GPU every variant of the fastest call of cuSPARSE; preparing (conversion, upload of A, \
                   but not the compilation of kernels) included; never: it is not faster";
    table(caption, &titles, &rows)
}

fn lines(runs: &[Run]) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    for run in runs {
        for found in break_even(&run.records) {
            let record = &run.records[found.record];
            let setting = Setting { k: None, ..Setting::of(record) };
            let same = |line: &&mut Line| line.setting == setting && line.label == run.label;
            let products = found.products.to_string();
            match lines.iter_mut().find(same) {
                Some(line) => {
                    line.products.insert(record.k, products);
                    line.against.insert(found.against);
                }
                None => lines.push(Line {
                    setting,
                    label: run.label.clone(),
                    prepare_ns: record.prepare_ns,
                    against: [found.against].into(),
                    products: [(record.k, products)].into(),
                }),
            }
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::outcome::Outcome;
    use crate::report::record::Record;

    #[test]
    fn a_row_per_variant_and_a_column_per_k() {
        let timed = |variant: &str, k: u64, prepare_ns: f64, ns: f64| {
            let mut record = Record::new("spmm", variant, Outcome::Passed);
            (record.k, record.prepare_ns, record.median_ns) = (Some(k), Some(prepare_ns), Some(ns));
            record
        };
        let records = vec![
            timed("csr-serial", 8, 0.0, 50.0),
            timed("ell-padded-serial", 8, 400.0, 35.0),
            timed("csr-serial", 16, 0.0, 50.0),
            timed("ell-padded-serial", 16, 400.0, 60.0),
        ];
        let lines = lines(&[Run { records, ..Run::default() }]);
        assert_eq!(lines.len(), 1);
        let products: Vec<(Option<u64>, &str)> =
            lines[0].products.iter().map(|(k, products)| (*k, products.as_str())).collect();
        assert_eq!(products, [(Some(8), "27"), (Some(16), "never")]);
        assert_eq!(section(&[]), "");
    }
}
