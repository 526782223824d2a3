//! Launches of CUDA kernels, below a table.

use crate::report::record::Record;
use crate::report::table::shown;

/// What `--verbose` adds: the launches of every record that has some, a line each; nothing where there are none.
pub fn launches(records: &[Record]) -> String {
    let launched = records.iter().filter(|record| !record.launches.is_empty());
    let line = |record: &Record| {
        let k = shown(record.k, |k| format!(" k = {k}"));
        record
            .launches
            .iter()
            .map(|launch| format!("{}{k} {}: {launch}", record.name(), record.dtype))
            .collect()
    };
    launched.map(line).map(|lines: Vec<String>| lines.join("\n")).collect::<Vec<_>>().join("\n")
}
