//! Our own CUDA kernels and cuSPARSE: the sentences, then a row per case.

use crate::report::peers::PeerSummary;
use crate::report::peers::{PeerCase, Standing};
use crate::report::{Run, table as terminal};
use ordito::units;
use ordito_chart::html::{Cell, row, table};
use ordito_chart::markup::escape;
use std::fmt::Write;

pub(crate) fn section(runs: &[Run]) -> String {
    let mut html = String::new();
    for run in runs {
        let Some(summary) = PeerSummary::of(&run.records) else { continue };
        let mut said = terminal::sentences(&summary);
        if !run.fingerprint.left_out.is_empty() {
            said.push(format!("Left out of the suite: {}", run.fingerprint.left_out.join(", ")));
        }
        let label = if runs.len() > 1 { format!("{}: ", run.label) } else { String::new() };
        for line in said {
            let _ = writeln!(html, "<p>{}{}</p>", escape(&label), escape(&line)); // cannot fail
        }
        let titles = [
            ("what", ""),
            ("cache", ""),
            ("own", ""),
            ("time", "number"),
            ("copy", "number"),
            ("cuSPARSE", ""),
            ("time", "number"),
            ("ratio", "number"),
            ("ahead after", "number"),
            ("auto", "number"),
            ("of own", "number"),
            ("auto took", ""),
        ];
        let rows: String = summary.cases.iter().map(rows_of).collect();
        let caption = "The fastest of each; ratio is cuSPARSE's time over ours, ahead after so many products with \
                       preparing (not compiling) counted, auto the ratio of auto, of own our fastest over auto; copy is the least bytes over a copy's bandwidth";
        html.push_str(&table(caption, &titles, &rows));
    }
    html
}

fn rows_of(case: &PeerCase) -> String {
    let both = [("flushed", &case.flushed), ("hot", &case.hot)];
    let known = both.into_iter().filter_map(|(cache, standing)| Some((cache, standing.as_ref()?)));
    known.map(|(cache, standing)| row(false, &cells(case, cache, standing))).collect()
}

fn cells(case: &PeerCase, cache: &str, standing: &Standing) -> Vec<Cell> {
    let Standing { own, cusparse, ratio, ahead_after, auto } = standing;
    let time = |ns: f64| Cell { value: Some(ns), ..Cell::number(units::duration(ns)) };
    let share = |percent: f64| format!("{percent:.0} %");
    let number = |text: Option<String>| Cell::number(text.unwrap_or_default());
    vec![
        Cell::text(case.words()),
        Cell::text(cache),
        Cell::text(own.variant.clone()),
        time(own.timed.median_ns),
        number(own.percent_of_copy.map(share)),
        Cell::text(cusparse.variant.clone()),
        time(cusparse.timed.median_ns),
        Cell::number(format!("{:.2}", ratio.ratio)),
        number(ahead_after.map(|products| products.to_string())),
        number(auto.as_ref().map(|auto| format!("{:.2}", auto.ratio.ratio))),
        number(auto.as_ref().map(|auto| share(100.0 * auto.share_of_own))),
        Cell::text(auto.as_ref().and_then(|auto| auto.chosen.clone()).unwrap_or_default()),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::peers::tests::example;

    #[test]
    fn both_caches_have_a_row_and_what_is_missing_is_said() {
        let mut run = Run { records: example(), ..Run::default() };
        run.fingerprint.left_out = vec!["mdual".into()];
        let html = section(&[run]);
        assert_eq!(html.matches("<tr").count(), 1 + 4, "{html}");
        assert!(html.contains("Left out of the suite: mdual") && html.contains("geometric mean 1.265"));
        assert_eq!(section(&[Run::default()]), "");
    }
}
