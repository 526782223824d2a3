//! Several runs held against the first: ratios with their intervals, and what they say.

use super::frame::{Cell, escape, row, table};
use crate::report::Run;
use crate::report::compare::{Overall, Ratio, TEST, Verdict, compare};
use crate::units;
use std::fmt::Write;

/// Nothing for a single run.
pub(super) fn section(runs: &[Run]) -> String {
    if runs.len() < 2 {
        return String::new();
    }
    let found = compare(runs);
    let mut html = format!("<p>{}</p>\n", escape(TEST));
    for (label, overall) in found.labels.iter().skip(1).zip(&found.overall) {
        let _ = writeln!(html, "<p>{}: {}</p>", escape(label), escape(&in_words(overall))); // cannot fail
    }
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

/// `1.24 times as fast in the geometric mean; 3 faster, 1 slower, 2 without difference`
fn in_words(overall: &Overall) -> String {
    let mean = overall
        .geometric_mean
        .map(|mean| format!("{} times as fast in the geometric mean", units::number(mean)));
    let counted = [
        (overall.faster, "faster"),
        (overall.slower, "slower"),
        (overall.no_difference, "without difference"),
        (overall.unknown, "unknown"),
    ];
    let counted = counted.into_iter().filter(|(count, _)| *count > 0);
    let counted: Vec<String> = counted.map(|(count, what)| format!("{count} {what}")).collect();
    [mean, Some(counted.join(", "))]
        .into_iter()
        .flatten()
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join("; ")
}

/// `1.24 (1.10 to 1.38)`
fn ratio_text(ratio: &Ratio) -> String {
    let number = units::number(ratio.ratio);
    match ratio.interval {
        Some((low, high)) => format!("{number} ({} to {})", units::number(low), units::number(high)),
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
