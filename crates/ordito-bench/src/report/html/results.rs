//! Every record, wrong ones on top; the columns of the terminal's table. The script sorts and filters it.

use crate::report::record::Record;
use crate::report::setting::Setting;
use crate::report::{Run, table};
use ordito_chart::html::{Cell, row, whole_table};

/// What a column is sorted by whose text does not begin with the number in one unit.
fn sorted_by(title: &str, record: &Record) -> Option<f64> {
    match title {
        "time" => record.median_ns,
        "flushed" => record.flushed_median_ns,
        "prepare" => record.prepare_ns,
        "compile" => record.prepare_compile_ns,
        "A up" => record.prepare_upload_ns,
        "repack" => record.repack_ns,
        "host copy" => record.host_copy_ns,
        "upload" => record.upload_ns,
        "download" => record.download_ns,
        "total" => record.total_ns(),
        "mean time" => record.mean_ns,
        "sd time" | "var time" => record.stddev_ns, // the order of one is that of the other
        _ => None,
    }
}

pub(crate) fn section(runs: &[Run]) -> String {
    let mut all: Vec<(&str, table::Row<'_>)> = Vec::new();
    for run in runs {
        all.extend(table::rows(&run.records).into_iter().map(|row| (run.label.as_str(), row)));
    }
    if all.is_empty() {
        return String::new();
    }
    all.sort_by_key(|(_, row)| !row.outcome.is_bad());
    let used = |column: &&table::Column| all.iter().any(|(_, row)| !(column.cell)(row).is_empty());
    let columns = table::BENCH.iter().chain(table::STATISTICS).chain(table::VARIANCES).filter(used);
    let columns: Vec<&table::Column> = columns.collect();
    let class = |column: &table::Column| match (column.title, column.is_text) {
        ("note", _) => "note",
        (_, true) => "",
        (_, false) => "number",
    };
    let mut titles = vec![("input", "")];
    titles.extend(columns.iter().map(|column| (column.title, class(column))));
    titles.push(("file", ""));
    let mut rows = String::new();
    for (label, record) in &all {
        let mut cells = vec![Cell::text(format!("{} {}", record.op, Setting::of(record).input()))];
        cells.extend(columns.iter().map(|column| Cell {
            text: (column.cell)(record),
            class: class(column),
            value: sorted_by(column.title, record),
        }));
        cells.push(Cell::text(*label));
        rows.push_str(&row(record.outcome.is_bad(), &cells));
    }
    let caption = "Times are medians; ± is half the distance from the 5 % to the 95 % quantile; flushed is the time \
                   with the GPU's cache emptied before every run; ceiling is the machine's least time over the median; \
                   compile (kernels) and A up (to the device) are parts of prepare; errors are over their bound; speed-up is over \
                   the serial variant; host copy rearranges operands before \
                   they travel; total is that, upload, kernel and download; mean, sd (standard deviation) and var (variance) are Welford's";
    let filter = "<p><label>Only rows with <input type=\"search\" id=\"filter\" autocomplete=\"off\" \
                  placeholder=\"csr f64, cuda, …\"></label> <span id=\"shown\" role=\"status\"></span></p>\n";
    format!("{filter}{}", whole_table(" id=\"results\"", caption, &titles, &rows))
}
