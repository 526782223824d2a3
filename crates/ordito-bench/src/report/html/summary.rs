//! The top of the page: is everything right, what was run, on what.

use crate::report::outcome::Outcome;
use crate::report::record::Record;
use crate::report::setting::Setting;
use crate::report::{Run, table as terminal};
use ordito::units;
use ordito_chart::html::{Cell, row, table};
use ordito_chart::markup::escape;
use std::collections::BTreeSet;
use std::fmt::Write;

/// The verdict in a sentence that cannot be missed, then what was run and where.
pub(crate) fn header(runs: &[Run]) -> String {
    let records: Vec<Record> = runs.iter().flat_map(|run| run.records.iter().cloned()).collect();
    let bad = records.iter().filter(|record| record.outcome.is_bad()).count();
    let passed = records.iter().any(|record| record.outcome == Outcome::Passed);
    let (class, verdict) = match (bad, passed) {
        (0, true) => ("good", "Every result that could be checked is right.".to_owned()),
        (0, false) if records.is_empty() => ("neutral", "Nothing was run.".to_owned()),
        (0, false) => (
            "neutral",
            "Nothing passed, and nothing was wrong: no variant could run or be checked.".to_owned(),
        ),
        (1, _) => ("bad", "One result is wrong or failed.".to_owned()),
        (bad, _) => ("bad", format!("{bad} results are wrong or failed.")),
    };
    let mut html = format!("<p class=\"verdict {class}\" role=\"status\">{verdict}</p>\n");
    if !records.is_empty() {
        let _ = writeln!(html, "<p>{}.</p>", escape(&terminal::summary(&records))); // cannot fail
        let _ = writeln!(html, "<p>{}</p>", escape(&what(&records)));
    }
    for run in runs.iter().filter(|run| run.fingerprint.interrupted) {
        let label = escape(&run.label);
        let _ = writeln!(
            html,
            "<p class=\"verdict neutral\">{label} was interrupted: not all that was asked for is here.</p>"
        );
    }
    if records.iter().any(|record| record.place == "emulator") {
        html.push_str("<p>Times in the emulator are no measure of a GPU: they are not drawn.</p>\n");
    }
    for run in runs {
        let fingerprint = &run.fingerprint;
        let gpu = fingerprint.gpu.as_ref().map(|of| format!(" and {}", of.gpu.name)).unwrap_or_default();
        let facts = [&run.label, &format!("{}{gpu}", fingerprint.cpu.model), &fingerprint.date];
        let facts: Vec<String> =
            facts.iter().filter(|fact| !fact.is_empty()).map(|fact| escape(fact)).collect();
        let _ = writeln!(html, "<p class=\"quiet\">{}</p>", facts.join(" · "));
    }
    html
}

/// `spmm on 2 inputs (a, b), K = 8 and 32, f64, 1 and 2 threads: 7 variants.`
fn what(records: &[Record]) -> String {
    fn several<T: Ord>(records: &[Record], of: impl Fn(&Record) -> Option<T>) -> Vec<T> {
        records.iter().filter_map(of).collect::<BTreeSet<T>>().into_iter().collect()
    }
    let ops = several(records, |record| Some(record.op.clone())).join(", ");
    let mut inputs: Vec<String> = Vec::new();
    for record in records {
        let input = Setting::of(record).input();
        if !input.is_empty() && !inputs.contains(&input) {
            inputs.push(input);
        }
    }
    let variants = several(records, |record| Some(record.variant.clone())).len();
    let listed = |numbers: Vec<u64>| numbers.iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
    let mut parts = vec![match inputs.len() {
        0 => ops,
        1..=6 => format!("{ops}: {}", inputs.join("; ")),
        more => format!("{ops}: {more} inputs"),
    }];
    let (ks, threads) = (several(records, |r| r.k), several(records, |r| r.threads));
    parts.extend((!ks.is_empty()).then(|| format!("K = {}", listed(ks))));
    let dtypes = several(records, |record| Some(record.dtype.clone()).filter(|dtype| !dtype.is_empty()));
    parts.extend((!dtypes.is_empty()).then(|| dtypes.join(" and ")));
    parts.extend((!threads.is_empty()).then(|| format!("threads: {}", listed(threads))));
    parts.push(format!("{variants} variants"));
    parts.join("; ") + "."
}

/// What went wrong, in red; then what was refused.
pub(crate) fn verdicts(runs: &[Run]) -> String {
    let all = || runs.iter().flat_map(|run| run.records.iter().map(move |record| (&run.label, record)));
    let mut html = String::new();
    let parts = [
        ("Wrong or failed", [Outcome::Incorrect, Outcome::Failed]),
        ("Refused or not verified", [Outcome::Refused, Outcome::NotVerified]),
    ];
    for (caption, outcomes) in parts {
        let mut rows: Vec<Verdict> = Vec::new();
        for (label, record) in all().filter(|(_, record)| outcomes.contains(&record.outcome)) {
            let verdict = Verdict::of(label, record);
            match rows.iter_mut().find(|known| known.is_but_for_the_setting(&verdict)) {
                Some(known) => known.settings.extend(verdict.settings),
                None => rows.push(verdict),
            }
        }
        if !rows.is_empty() {
            let titles = ["outcome", "variant", "input", "file", "what", "setting"].map(|title| (title, ""));
            let rows: String = rows.iter().map(Verdict::row).collect();
            html.push_str(&table(caption, &titles, &rows));
        }
    }
    html
}

/// The same said of several settings of a variant.
struct Verdict {
    outcome: Outcome,
    /// Outcome, variant, input, file, what.
    cells: [String; 5],
    settings: Vec<[String; 3]>,
}

impl Verdict {
    fn of(label: &str, record: &Record) -> Self {
        let setting = [
            record.k.map(|k| format!("K = {k}")).unwrap_or_default(),
            record.dtype.clone(),
            record.threads.map(units::threads).unwrap_or_default(),
        ];
        let cells = [
            record.outcome.to_string(),
            record.name(),
            Setting::of(record).input(),
            label.to_owned(),
            record.note(),
        ];
        Verdict { outcome: record.outcome, cells, settings: vec![setting] }
    }

    fn is_but_for_the_setting(&self, other: &Self) -> bool {
        self.cells == other.cells
    }

    /// Every part once where all combinations of them are meant, else all of them in full.
    fn settings_in_words(&self) -> String {
        let of_part = |part: usize| {
            let mut values: Vec<&str> = Vec::new();
            for value in self.settings.iter().map(|setting| setting[part].as_str()) {
                if !values.contains(&value) {
                    values.push(value);
                }
            }
            values
        };
        let parts = [0, 1, 2].map(of_part);
        let joined = |parts: &[String], between: &str| {
            let said: Vec<&str> = parts.iter().map(String::as_str).filter(|part| !part.is_empty()).collect();
            said.join(between)
        };
        if parts.iter().map(Vec::len).product::<usize>() == self.settings.len() {
            return joined(&parts.map(|values| values.join(", ")), "; ");
        }
        let each: Vec<String> = self.settings.iter().map(|setting| joined(setting, ", ")).collect();
        joined(&each, "; ")
    }

    fn row(&self) -> String {
        let settings = self.settings_in_words();
        let cells: Vec<Cell> = self.cells.iter().cloned().chain([settings]).map(Cell::wide).collect();
        row(self.outcome.is_bad(), &cells)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_run_is_said_in_a_sentence() {
        let mut one = Record::new("spmm", "a", Outcome::Passed);
        (one.matrix, one.k, one.dtype, one.threads) = (Some("m".into()), Some(8), "f64".into(), Some(2));
        let mut two = one.clone();
        (two.variant, two.k) = ("b".into(), Some(32));
        assert!(what(&[one, two]).ends_with("; K = 8, 32; f64; threads: 2; 2 variants."));
    }

    #[test]
    fn settings_are_said_once() {
        let verdict = |settings: &[[&str; 3]]| {
            let settings = settings.iter().map(|setting| setting.map(str::to_owned)).collect();
            Verdict { outcome: Outcome::Refused, cells: Default::default(), settings }.settings_in_words()
        };
        let (one, two) = (["K = 1", "f64", ""], ["K = 4", "f64", ""]);
        assert_eq!(verdict(&[one, two]), "K = 1, K = 4; f64");
        assert_eq!(verdict(&[one, ["K = 4", "f32", ""]]), "K = 1, f64; K = 4, f32");
        assert_eq!(verdict(&[["", "", ""]]), "");
    }

    #[test]
    fn every_kind_of_end_has_its_sentence() {
        let of = |outcomes: &[Outcome]| {
            let records = outcomes.iter().map(|&outcome| Record::new("spmm", "a", outcome)).collect();
            header(&[Run { records, ..Run::default() }])
        };
        assert!(of(&[]).contains("Nothing was run."));
        assert!(of(&[Outcome::Refused]).contains("no variant could run"));
        assert!(of(&[Outcome::Passed]).contains("verdict good"));
        assert!(of(&[Outcome::Passed, Outcome::Failed]).contains("One result is wrong or failed."));
        assert!(of(&[Outcome::Incorrect, Outcome::Failed]).contains("2 results are wrong"));
    }
}
