//! Several runs held against the first: ratios with their intervals, and what they say.

use crate::report::Run;
use crate::report::compare::{Comparisons, Ratio, TEST, Verdict, compare};
use crate::report::outcome::Outcome;
use crate::report::table::overall_text;
use ordito::units;
use ordito_chart::html::{Cell, row, table};
use ordito_chart::markup::escape;
use std::fmt::Write;

/// Nothing for a single run.
pub(crate) fn section(runs: &[Run]) -> String {
    if runs.len() < 2 {
        return String::new();
    }
    let found = compare(runs);
    let mut html = format!("<p>{}</p>\n", escape(TEST));
    for (label, overall) in found.labels.iter().skip(1).zip(&found.overall) {
        let _ = writeln!(html, "<p>{}</p>", escape(&overall_text(label, &found.labels[0], overall))); // cannot fail
    }
    if found.unmatched > 0 {
        let _ = writeln!(
            html,
            "<p>{} more settings (variant, input, K, dtype, threads) were not timed by {} and another.</p>",
            units::count(found.unmatched as u64),
            escape(&found.labels[0])
        );
    }
    html.push_str(&changed(&found));
    if found.rows.is_empty() {
        return html + "<p>Nothing was timed in the first run and another with the same setting.</p>\n";
    }
    let ratio_titles: Vec<String> =
        found.labels.iter().skip(1).map(|label| format!("{label}: times as fast")).collect();
    let mut titles = vec![("variant", ""), ("setting", "")];
    titles.extend(found.labels.iter().map(|label| (label.as_str(), "number")));
    for title in &ratio_titles {
        titles.extend([(title.as_str(), "number"), ("verdict", "")]);
    }
    let mut rows = String::new();
    for comparison in &found.rows {
        let setting = &comparison.setting;
        let mut cells = vec![Cell::text(setting.variant.clone()), Cell::wide(setting.words())];
        let time = |time: &Option<_>| {
            let ns: Option<f64> = time.as_ref().map(|timed: &crate::report::timed::Timed| timed.median_ns);
            Cell::number(ns.map(units::duration).unwrap_or_default())
        };
        cells.extend(comparison.times.iter().map(time));
        for ratio in &comparison.ratios {
            cells.extend([
                Cell::number(ratio.as_ref().map(ratio_text).unwrap_or_default()),
                verdict(ratio.as_ref().map(|ratio| ratio.verdict)),
            ]);
        }
        rows.push_str(&row(false, &cells));
    }
    html + &table("Ratio of median times and its 95 % interval", &titles, &rows)
}

/// What ended otherwise than in the first run; red where it is wrong now.
fn changed(found: &Comparisons) -> String {
    let mut rows = String::new();
    for changed in &found.changed {
        let mut cells =
            vec![Cell::text(changed.setting.variant.clone()), Cell::wide(changed.setting.words())];
        let said = |outcome: &Option<Outcome>| {
            Cell::text(outcome.map(|outcome| outcome.to_string()).unwrap_or_default())
        };
        cells.extend(changed.outcomes.iter().map(said));
        let bad = changed.outcomes.iter().flatten().any(|outcome| outcome.is_bad());
        rows.push_str(&row(bad, &cells));
    }
    if rows.is_empty() {
        return rows;
    }
    let mut titles = vec![("variant", ""), ("setting", "")];
    titles.extend(found.labels.iter().map(|label| (label.as_str(), "")));
    table("Ended otherwise than in the first run", &titles, &rows)
}

/// `1.24 (1.10 to 1.38)`
fn ratio_text(ratio: &Ratio) -> String {
    let number = units::number(ratio.ratio);
    match ratio.interval {
        // Digits enough to see on which side of 1 its ends are.
        Some((low, high)) => format!("{number} ({low:.3} to {high:.3})"),
        None => number,
    }
}

fn verdict(verdict: Option<Verdict>) -> Cell {
    let class = match verdict {
        Some(Verdict::Faster) => "faster",
        Some(Verdict::Slower) => "slower",
        _ => "",
    };
    Cell { class, ..Cell::text(verdict.map(Verdict::name).unwrap_or_default()) }
}
