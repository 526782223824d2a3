//! `report.html`: one file that needs nothing else and fetches nothing. Verdicts first, then the machines, the figures,
//! what compares several runs, the full table, and the commands that repeat it. Everything can be read without the script,
//! which only sorts, filters and hides.

mod break_even;
mod comparison;
mod fastest;
mod machines;
mod matrices;
mod peers;
mod results;
mod summary;

use crate::report::figures;
use crate::report::matrix_facts::MatrixFacts;
use crate::report::{Run, labels};
use ordito::files::{WriteError, write_atomically};
use ordito_chart::html::{self, Contents};
use ordito_chart::markup::escape;
use ordito_chart::sections::{Section, drawn};
use std::fmt::Write;
use std::path::Path;

/// Writes the page, whole or not at all.
pub fn write(path: &Path, runs: &[Run]) -> Result<(), WriteError> {
    write_atomically(path, |file| file.write_all(render(runs).as_bytes()))
}

/// Writes the page of matrices that nothing was measured of.
pub fn write_matrices(path: &Path, matrices: &[MatrixFacts]) -> Result<(), WriteError> {
    write_atomically(path, |file| file.write_all(render_matrices(matrices).as_bytes()))
}

/// The page for one or more runs, which may come from different machines.
pub fn render(runs: &[Run]) -> String {
    let runs = &shortly_named(runs);
    let mut contents = Contents::default();
    contents.add("Verdicts", &summary::verdicts(runs));
    contents.add("Fastest", &fastest::section(runs));
    contents.add("Beside cuSPARSE", &peers::section(runs));
    contents.add("Comparison", &comparison::section(runs));
    for section in figures::sections(runs) {
        contents.add(section.title, &bounded(section));
    }
    contents.add("When a conversion has paid for itself", &break_even::section(runs));
    contents.add("Machines", &machines::section(runs));
    contents.add("All results", &results::section(runs));
    contents.add("To repeat it", &commands(runs));
    html::page("Ordito report", &summary::header(runs), &contents)
}

/// The page for matrices alone.
pub fn render_matrices(matrices: &[MatrixFacts]) -> String {
    let runs = [Run { matrices: matrices.to_vec(), ..Run::default() }];
    let mut contents = Contents::default();
    contents.add("Facts", &matrices::section(matrices));
    for section in figures::sections(&runs) {
        contents.add(section.title, &drawn(&section));
    }
    let names: Vec<String> = matrices.iter().map(|facts| escape(&facts.matrix)).collect();
    html::page("Ordito matrices", &format!("<p>{}</p>\n", names.join(", ")), &contents)
}

/// Figures of a section that a page shows: nobody scrolls through those of a whole suite.
const MOST_FIGURES: usize = 16;

/// The first figures of a section, and what the others are of.
fn bounded(mut section: Section) -> String {
    let others = section.figures.split_off(section.figures.len().min(MOST_FIGURES));
    let mut html = drawn(&section);
    if !others.is_empty() {
        let titles: Vec<String> = others.iter().map(|named| escape(named.figure.title())).collect();
        let _ = writeln!(
            html,
            "<p>Not drawn here, to keep the page short; <code>bench --out</code> writes every figure to <code>plots/</code>, \
             and the table of all results has the numbers:</p>\n<ul>\n<li>{}</li>\n</ul>",
            titles.join("</li>\n<li>")
        ); // writing to a string cannot fail
    }
    html
}

/// The runs under names as short as tell them apart: they stand in every legend.
fn shortly_named(runs: &[Run]) -> Vec<Run> {
    let labels = labels::shortened(runs.iter().map(|run| run.label.as_str()));
    runs.iter().zip(labels).map(|(run, label)| Run { label, ..run.clone() }).collect()
}

fn commands(runs: &[Run]) -> String {
    let mut html = String::new();
    for run in runs.iter().filter(|run| !run.fingerprint.command.is_empty()) {
        let (label, command) = (escape(&run.label), escape(&run.fingerprint.command));
        let _ = writeln!(html, "<p>{label}</p>\n<pre>{command}</pre>"); // writing to a string cannot fail
    }
    html
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::fingerprint::Fingerprint;
    use crate::report::outcome::Outcome;
    use crate::report::record::Record;
    use crate::report::record::tests::full;
    use ordito::cpu::CpuInfo;
    use ordito::matrix::{LengthBin, Spy};

    fn facts(name: &str) -> MatrixFacts {
        MatrixFacts {
            matrix: name.to_owned(),
            row_lengths: vec![LengthBin { from: 1, to: 1, rows: 3 }],
            spy: Some(Spy { rows: 2, cols: 2, counts: vec![3, 0, 0, 5] }),
            ..MatrixFacts::default()
        }
    }

    fn run(label: &str) -> Run {
        let cpu = CpuInfo { model: "Tom & Jerry's <CPU>".to_owned(), ..CpuInfo::default() };
        let mut wrong = Record::new("spmm", "csr-wrong", Outcome::Incorrect);
        wrong.error = Some("<script>alert(1)</script>".to_owned());
        let mut other = full();
        other.k = Some(16);
        let records = vec![full(), other, wrong];
        let fingerprint = Fingerprint::new(&cpu, ["ordito", "bench", "a\"b"]);
        let matrices = vec![facts("stencil27:10")];
        Run { label: label.to_owned(), fingerprint, matrices, records, baseline: None }
    }

    #[test]
    fn everything_is_escaped() {
        let mut hostile = run("<file>");
        for record in &mut hostile.records {
            record.matrix = Some("<script>alert(2)</script>".repeat(20));
            record.variant = "\"><img onerror=x>".to_owned();
        }
        hostile.matrices = vec![facts("<script>'\"&")];
        let page = render(&[hostile, run("b.json")]);
        for markup in ["<script>alert", "<file>", "<CPU>", "Jerry's", "<img", "<script>'"] {
            assert!(!page.contains(markup), "{markup}");
        }
        assert!(page.contains("Tom &amp; Jerry&#39;s &lt;CPU&gt;") && page.contains("&#39;a&quot;b&#39;"));
        assert_eq!(page.matches("<script").count(), 1);
    }

    #[test]
    fn nothing_is_fetched() {
        for page in [render(&[run("a.json")]), render_matrices(&[facts("a")])] {
            for outside in ["http:", "https:", " src=", "url(", "@import", "fetch(", "XMLHttp"] {
                assert!(!page.contains(outside), "{outside}");
            }
            for link in page.split("href=\"").skip(1) {
                assert!(link.starts_with('#'), "{}", &link[..20]);
            }
            assert!(page.contains("default-src 'none'"));
        }
    }

    #[test]
    fn wrong_comes_first() {
        let page = render(&[run("a.json")]);
        let at = |text: &str| page.find(text).unwrap_or_else(|| panic!("{text} is missing"));
        assert!(at("Wrong or failed") < at(">Machines</h2>"));
        assert!(at("class=\"verdict bad\"") < at("Wrong or failed"));
        let table = &page[at(">All results</h2>")..];
        assert!(table.find("csr-wrong").unwrap() < table.find("csr-cuda-sub-warp").unwrap());
        assert!(table.contains("<tr class=\"bad\">"));
        let mut good = run("a.json");
        good.records.pop();
        let page = render(&[good]);
        assert!(page.contains("class=\"verdict good\"") && !page.contains("verdict bad"));
    }

    #[test]
    fn tables_can_be_read_aloud_and_tags_are_closed() {
        for page in [render(&[run("a.json"), run("b.json")]), render_matrices(&[facts("a")])] {
            assert_eq!(page.matches("<table").count(), page.matches("<caption>").count());
            let body = &page[page.find("<body>").unwrap()..page.find("<script").unwrap()];
            for tag in [
                "table", "tr", "td", "th", "div", "svg", "g", "p", "pre", "thead", "tbody", "section",
                "figure", "ul", "li", "a",
            ] {
                let opened =
                    body.matches(&format!("<{tag}>")).count() + body.matches(&format!("<{tag} ")).count();
                assert_eq!(opened, body.matches(&format!("</{tag}>")).count(), "{tag}");
            }
            assert!(!body.contains("NaN") && !body.contains("inf"), "a number that is none");
        }
    }

    #[test]
    fn a_section_is_bounded_and_says_what_is_left_out() {
        let page = |matrices: usize| {
            let of = |number: usize| Record {
                matrix: Some(format!("matrix {number}")),
                bytes: None,
                n: None,
                ..full()
            };
            render(&[Run { records: (0..matrices).map(of).collect(), ..Run::default() }])
        };
        let shown = |page: &str| page.matches("id=\"speed-spmm-").count();
        assert_eq!(shown(&page(3)), 3 * 3, "the figure, its title and its description");
        assert!(!page(3).contains("Not drawn here"));
        let large = page(20);
        assert_eq!(shown(&large), 16 * 3);
        assert!(large.contains("<li>GFLOP/s: spmm matrix 19, f64, K = 8</li>"));
    }

    #[test]
    fn mean_and_variance_of_times_and_rates_are_in_the_table() {
        let page = render(&[run("a.json")]);
        let table = &page[page.find(">All results</h2>").unwrap()..];
        for title in ["mean time", "sd time", "var time", "mean GFLOP/s", "sd GFLOP/s", "var GFLOP/s"] {
            assert!(table.contains(&format!("<th scope=\"col\" class=\"number\">{title}</th>")), "{title}");
        }
        for cell in ["1.01 µs", "20.0 ns", "400 ns²", "350", "5.00", "25.0"] {
            assert!(table.contains(&format!(">{cell}</td>")), "{cell}");
        }
    }

    #[test]
    fn an_empty_run_is_a_page_too() {
        let empty = Run { records: Vec::new(), ..run("empty.json") };
        assert!(render(&[empty]).contains("Nothing was run"));
        assert!(render(&[]).ends_with("</html>\n"));
        assert!(render_matrices(&[]).ends_with("</html>\n"));
    }

    #[test]
    fn the_file_appears() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("report.html");
        write(&path, &[run("a.json")]).unwrap();
        assert!(std::fs::read_to_string(&path).unwrap().starts_with("<!DOCTYPE html>"));
        write_matrices(&path, &[facts("a")]).unwrap();
        assert!(std::fs::read_to_string(&path).unwrap().contains("Ordito matrices"));
    }
}
