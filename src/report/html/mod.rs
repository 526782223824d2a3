//! `report.html`: one file that needs nothing else, no network, no script. Verdicts first, then the machines,
//! a chart and bars for every input, the full table, and the commands that repeat it.

mod chart;
mod groups;

use super::{Fingerprint, Outcome, Record, Run, table};
use crate::io::{WriteError, write_atomically};
use crate::units;
use std::fmt::Write;
use std::path::Path;

const STYLE: &str = include_str!("style.css");

/// Text that cannot be taken for markup, in elements and in quoted attributes.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            other => escaped.push(other),
        }
    }
    escaped
}

/// Writes the page, whole or not at all.
pub fn write(path: &Path, runs: &[Run]) -> Result<(), WriteError> {
    write_atomically(path, |file| file.write_all(render(runs).as_bytes()))
}

/// The page for one or more runs, which may come from different machines.
pub fn render(runs: &[Run]) -> String {
    let records: Vec<Record> = runs.iter().flat_map(|run| run.records.iter().cloned()).collect();
    let sections =
        [verdicts(runs), machines(runs), groups::charts(runs), full_table(runs), commands(runs)].concat();
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         <title>Ordito report</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n\
         <h1>Ordito report</h1>\n<p>{}</p>\n{sections}</main>\n</body>\n</html>\n",
        escape(&table::summary(&records)),
    )
}

/// What went wrong, in red; then what was refused.
fn verdicts(runs: &[Run]) -> String {
    let all = || runs.iter().flat_map(|run| run.records.iter().map(move |r| (&run.label, r)));
    let mut html = String::from("<h2>Verdicts</h2>\n");
    if !all().any(|(_, record)| record.outcome.is_bad()) {
        html.push_str("<p>No variant was wrong and none failed.</p>\n");
    }
    let parts = [
        ("Wrong or failed", [Outcome::Incorrect, Outcome::Failed]),
        ("Refused or not verified", [Outcome::Refused, Outcome::NotVerified]),
    ];
    for (caption, outcomes) in parts {
        let mut rows = String::new();
        for (label, record) in all().filter(|(_, record)| outcomes.contains(&record.outcome)) {
            let settings = [record.k.map(|k| format!("K = {k}")), Some(record.dtype.clone())];
            let settings: Vec<String> = settings.into_iter().flatten().filter(|s| !s.is_empty()).collect();
            let cells = [
                record.outcome.to_string(),
                record.variant.clone(),
                table::input_text(record),
                settings.join(", "),
                label.clone(),
                record.note(),
            ];
            rows.push_str(&row(record, &cells.map(|cell| (cell, "wide"))));
        }
        if !rows.is_empty() {
            let titles = ["outcome", "variant", "input", "setting", "file", "what"].map(|title| (title, ""));
            html.push_str(&whole_table(caption, &titles, &rows));
        }
    }
    html
}

fn row(record: &Record, cells: &[(String, &str)]) -> String {
    let mut html = String::from(if record.outcome.is_bad() { "<tr class=\"bad\">" } else { "<tr>" });
    for (index, (text, class)) in cells.iter().enumerate() {
        let text = escape(text);
        html.push_str(&match index {
            0 => format!("<th scope=\"row\">{text}</th>"),
            _ => format!("<td class=\"{class}\">{text}</td>"),
        });
    }
    html + "</tr>\n"
}

fn whole_table(caption: &str, titles: &[(&str, &str)], rows: &str) -> String {
    let titles: String = titles
        .iter()
        .map(|(title, class)| format!("<th scope=\"col\" class=\"{class}\">{}</th>", escape(title)))
        .collect();
    format!(
        "<div class=\"scroll\"><table>\n<caption>{}</caption>\n<thead><tr>{titles}</tr></thead>\n\
         <tbody>\n{rows}</tbody>\n</table></div>\n",
        escape(caption)
    )
}

/// The machines side by side: a fact per row, a run per column.
fn machines(runs: &[Run]) -> String {
    type Fact = (&'static str, fn(&Fingerprint) -> String);
    const FACTS: &[Fact] = &[
        ("date", |f| f.date.clone()),
        ("processor", |f| f.cpu.model.clone()),
        ("threads", |f| f.threads.to_string()),
        ("SIMD", |f| f.cpu.simd.to_string()),
        ("caches", |f| {
            let caches = [("L1d", f.cpu.l1d_bytes), ("L2", f.cpu.l2_bytes), ("L3", f.cpu.l3_bytes)];
            let known = caches.into_iter().filter_map(|(name, bytes)| Some((name, bytes?)));
            known
                .map(|(n, bytes)| format!("{n} {}", units::binary_bytes(bytes)))
                .collect::<Vec<_>>()
                .join(", ")
        }),
        ("memory", |f| f.cpu.memory_bytes.map(units::binary_bytes).unwrap_or_default()),
        ("measured ceilings", |f| {
            let one = |c: &crate::sample::Ceilings| {
                let (near, far) = (c.bandwidth_for(0), c.bandwidth_for(u64::MAX));
                let [near, far, single, double] =
                    [near, far, c.peak_gflops_f32, c.peak_gflops_f64].map(units::number);
                let threads = units::threads(c.threads as u64);
                format!("{threads}: {double} GFLOP/s f64, {single} f32; {near} to {far} GB/s")
            };
            f.ceilings.iter().map(one).collect::<Vec<_>>().join("; ")
        }),
        ("GPU", |f| f.gpu.as_ref().map(|of| of.gpu.name.clone()).unwrap_or_default()),
        ("GPU's ceilings", |f| f.device_ceilings.as_ref().map(ToString::to_string).unwrap_or_default()),
        ("system", |f| format!("{} {}", f.os, f.arch)),
        ("Ordito", |f| f.version.clone()),
        ("compiler", |f| format!("{}, {} build", f.compiler, f.profile)),
    ];
    let mut rows = String::new();
    for (name, fact) in FACTS {
        let _ = write!(rows, "<tr><th scope=\"row\">{name}</th>"); // writing to a string cannot fail
        for run in runs {
            let _ = write!(rows, "<td class=\"wide\">{}</td>", escape(&fact(&run.fingerprint)));
        }
        rows.push_str("</tr>\n");
    }
    let mut titles = vec![("", "")];
    titles.extend(runs.iter().map(|run| (run.label.as_str(), "")));
    format!("<h2>Machines</h2>\n{}", whole_table("Where it was measured", &titles, &rows))
}

/// Every record, wrong ones on top; the columns of the terminal's table.
fn full_table(runs: &[Run]) -> String {
    let mut all: Vec<(&str, &Record)> = runs
        .iter()
        .flat_map(|run| run.records.iter().map(move |record| (run.label.as_str(), record)))
        .collect();
    all.sort_by_key(|(_, record)| !record.outcome.is_bad());
    let used = |column: &&table::Column| all.iter().any(|(_, record)| !(column.cell)(record).is_empty());
    let columns: Vec<&table::Column> = table::BENCH.iter().filter(used).collect();
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
        let mut cells = vec![(table::input_text(record), "")];
        cells.extend(columns.iter().map(|column| ((column.cell)(record), class(column))));
        cells.push(((*label).to_owned(), ""));
        rows.push_str(&row(record, &cells));
    }
    let caption = "Times are medians; ± is half the distance from the 5 % to the 95 % quantile; ceiling is the \
                   machine's least time over the median; errors are in multiples of the dtype's ε";
    format!("<h2>All results</h2>\n{}", whole_table(caption, &titles, &rows))
}

fn commands(runs: &[Run]) -> String {
    let mut html = String::from("<h2>To repeat it</h2>\n");
    for run in runs {
        let (label, command) = (escape(&run.label), escape(&run.fingerprint.command));
        let _ = writeln!(html, "<p>{label}</p>\n<pre>{command}</pre>"); // cannot fail either
    }
    html
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::CpuInfo;
    use crate::report::record::tests::full;

    fn run(label: &str) -> Run {
        let cpu = CpuInfo { model: "Tom & Jerry's <CPU>".to_owned(), ..CpuInfo::default() };
        let mut wrong = Record::new("spmm", "csr-wrong", Outcome::Incorrect);
        wrong.error = Some("<script>alert(1)</script>".to_owned());
        let mut other = full();
        other.k = Some(16);
        let records = vec![full(), other, wrong];
        let fingerprint = Fingerprint::new(&cpu, ["ordito", "bench", "a\"b"]);
        Run { label: label.to_owned(), fingerprint, records, ..Run::default() }
    }

    #[test]
    fn everything_is_escaped() {
        let page = render(&[run("<file>"), run("b.json")]);
        for markup in ["<script", "<file>", "<CPU>", "Jerry's"] {
            assert!(!page.contains(markup), "{markup}");
        }
        assert!(page.contains("Tom &amp; Jerry&#39;s &lt;CPU&gt;") && page.contains("&#39;a&quot;b&#39;"));
    }

    #[test]
    fn nothing_is_fetched() {
        let page = render(&[run("a.json")]);
        for outside in ["http:", "https:", "src=", "href=", "url(", "@import"] {
            assert!(!page.contains(outside), "{outside}");
        }
    }

    #[test]
    fn wrong_comes_first() {
        let page = render(&[run("a.json")]);
        let at = |text: &str| page.find(text).unwrap_or_else(|| panic!("{text} is missing"));
        assert!(at("Wrong or failed") < at("<h2>Machines"));
        let table = &page[at("<h2>All results")..];
        assert!(table.find("csr-wrong").unwrap() < table.find("csr-cuda-sub-warp").unwrap());
        assert!(table.contains("<tr class=\"bad\">"));
        let mut good = run("a.json");
        good.records.pop();
        assert!(render(&[good]).contains("No variant was wrong"));
    }

    #[test]
    fn tables_can_be_read_aloud_and_tags_are_closed() {
        let page = render(&[run("a.json"), run("b.json")]);
        assert_eq!(page.matches("<table").count(), page.matches("<caption>").count());
        for tag in ["table", "tr", "td", "th", "div", "svg", "g", "p", "pre", "thead", "tbody", "title"] {
            let opened =
                page.matches(&format!("<{tag}>")).count() + page.matches(&format!("<{tag} ")).count();
            assert_eq!(opened, page.matches(&format!("</{tag}>")).count(), "{tag}");
        }
        assert!(page.contains("role=\"img\"") && page.contains("<desc"));
    }

    #[test]
    fn an_empty_run_is_a_page_too() {
        let empty = Run { records: Vec::new(), ..run("empty.json") };
        assert!(render(&[empty]).contains("0 passed"));
        assert!(render(&[]).ends_with("</html>\n"));
    }

    #[test]
    fn the_file_appears() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("report.html");
        write(&path, &[run("a.json")]).unwrap();
        assert!(std::fs::read_to_string(path).unwrap().starts_with("<!DOCTYPE html>"));
    }
}
