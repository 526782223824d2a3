//! Who was fastest, for every input and setting: what most readers came for.

use crate::report::Run;
use crate::report::record::Record;
use crate::report::setting::Setting;
use crate::report::timed::Timed;
use ordito::units;
use ordito_chart::html::{Cell, row, table};
use std::collections::HashMap;

/// A row for every input, dtype and K of a run with two variants or more; `auto` is one of the others by another name.
pub(crate) fn section(runs: &[Run]) -> String {
    let mut rows = String::new();
    for run in runs {
        for found in fastest(&run.records) {
            let (first, next) = (&run.records[found[0]], &run.records[found[1]]);
            let ratio = next.median_ns.zip(first.median_ns).map(|(next, first)| next / first);
            let rate = match (first.gflops, first.gbytes_per_s) {
                (Some(rate), _) => format!("{} GFLOP/s", units::number(rate)),
                (None, Some(rate)) => format!("{} GB/s", units::number(rate)),
                (None, None) => String::new(),
            };
            let setting = Setting { threads: None, place: String::new(), ..Setting::of(first) };
            let mut cells = vec![
                Cell::text(setting.words()),
                Cell::text(named(first)),
                Cell::number(first.median_ns.map(units::duration).unwrap_or_default()),
                Cell::number(rate),
                Cell::text(named(next)),
                Cell::number(ratio.map(|ratio| format!("{} ×", units::number(ratio))).unwrap_or_default()),
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
        ("what", ""),
        ("fastest", ""),
        ("time", "number"),
        ("rate", "number"),
        ("next", ""),
        ("takes", "number"),
    ];
    if runs.len() > 1 {
        titles.push(("file", ""));
    }
    table("Median times; differences within the spread of the runs are none", &titles, &rows)
}

fn named(record: &Record) -> String {
    match record.threads {
        Some(threads) => format!("{}, {}", record.name(), units::threads(threads)),
        None => record.name(),
    }
}

/// For every input, dtype and K that two different variants were timed on: the fastest record and the fastest of another
/// variant.
fn fastest(records: &[Record]) -> Vec<[usize; 2]> {
    let (mut order, mut found) = (Vec::new(), HashMap::<Setting, Vec<(f64, usize)>>::new());
    for (index, record) in records.iter().enumerate() {
        let Some(timed) = Timed::of(record).filter(|_| !record.is_auto()) else { continue };
        let setting = Setting::of_any_place(record);
        if !found.contains_key(&setting) {
            order.push(setting.clone());
        }
        found.entry(setting).or_default().push((timed.median_ns, index));
    }
    let two = |setting: &Setting| {
        let times = found.get_mut(setting)?;
        times.sort_by(|a, b| a.0.total_cmp(&b.0));
        let first = times.first()?.1;
        let other = times.iter().find(|(_, index)| records[*index].variant != records[first].variant)?;
        Some([first, other.1])
    };
    order.iter().filter_map(two).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::outcome::Outcome;

    #[test]
    fn the_fastest_and_the_next_of_another_name() {
        let timed = |variant: &str, k: u64, ns: f64| {
            let mut record = Record::new("spmm", variant, Outcome::Passed);
            (record.k, record.median_ns) = (Some(k), Some(ns));
            record
        };
        let mut records = vec![
            timed("a", 8, 30.0),
            timed("b", 8, 10.0),
            timed("b", 8, 12.0),
            Record { chosen: Some("b".to_owned()), ..timed("auto", 8, 9.0) },
            timed("a", 16, 1.0),
        ];
        assert_eq!(fastest(&records), [[1, 0]]);
        records[1].outcome = Outcome::Incorrect;
        assert_eq!(fastest(&records), [[2, 0]]);
    }
}
