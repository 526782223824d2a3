//! Several runs held against the first: another machine, another version, another day.

use crate::report::outcome::Outcome;
use crate::report::setting::Setting;
use crate::report::timed::Timed;
use crate::report::{Run, labels};
use serde::Serialize;
use std::collections::{HashMap, HashSet};

/// What the numbers mean and how it is decided, for those who read them.
pub const TEST: &str = "Ratio: the median time of the first run over that of the other; above 1 the other is faster. \
    Its interval reaches from the least to the largest ratio that the 95 % confidence intervals of both medians allow; \
    where it holds 1, no difference can be told. (Of fewer than six samples the median has none: Student's interval of \
    the mean stands in.) It knows how much the samples of a run differ among themselves, not how \
    much a machine differs from one day to the next.";

/// All that several runs have in common.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Comparisons {
    /// What the runs are called, as short as tells them apart.
    pub labels: Vec<String>,
    /// Everything that the first run and another timed, in the order of the first.
    pub rows: Vec<Comparison>,
    /// One for each run after the first.
    pub overall: Vec<Overall>,
    /// Settings that were timed, but not by the first run and another.
    pub unmatched: usize,
    /// What ended otherwise than in the first run.
    pub changed: Vec<Changed>,
}

/// A setting that did not end alike in all runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Changed {
    /// What was run.
    pub setting: Setting,
    /// How it ended in each run, where it was run.
    pub outcomes: Vec<Option<Outcome>>,
}

/// One setting in all runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// What was measured.
    pub setting: Setting,
    /// In each run, where it was.
    pub times: Vec<Option<Timed>>,
    /// For each run after the first.
    pub ratios: Vec<Option<Ratio>>,
}

/// How many times as fast as the first run another is.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Ratio {
    /// Median of the first over median of the other: above 1 the other is faster.
    pub ratio: f64,
    /// From, to. Where both times have one that holds, the ratio is in it: errors that are about normal leave it in 5 % of
    /// all cases at most, and in less than 1 % where both times are equally well known.
    #[serde(rename = "ratio_interval", skip_serializing_if = "Option::is_none")]
    pub interval: Option<(f64, f64)>,
    /// What that says.
    pub verdict: Verdict,
}

/// What can be said of a ratio.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// All of the interval is above 1.
    Faster,
    /// All of it is below 1.
    Slower,
    /// It holds 1.
    NoDifference,
    /// There is none: too few samples.
    Unknown,
}

impl Verdict {
    /// For people.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Faster => "faster",
            Verdict::Slower => "slower",
            Verdict::NoDifference => "no difference",
            Verdict::Unknown => "unknown",
        }
    }
}

/// All ratios of a run in a few numbers.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Overall {
    /// Of all ratios; none without any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub geometric_mean: Option<f64>,
    /// How many are faster than in the first run.
    pub faster: usize,
    /// How many are slower.
    pub slower: usize,
    /// How many are neither.
    pub no_difference: usize,
    /// Of how many that is not known.
    pub unknown: usize,
}

/// Holds every run against the first; nothing to say of a single one.
///
/// ```
/// use ordito_bench::report::{Outcome, Record, Run};
/// use ordito_bench::report::compare::{Verdict, compare};
/// let run = |label: &str, ns: f64| {
///     let mut record = Record::new("spmm", "csr-serial", Outcome::Passed);
///     record.median_ns = Some(ns);
///     (record.median_low_ns, record.median_high_ns) = (Some(0.9 * ns), Some(1.1 * ns));
///     Run { label: label.into(), records: vec![record], ..Run::default() }
/// };
/// let found = compare(&[run("before", 300.0), run("after", 100.0)]);
/// let ratio = found.rows[0].ratios[0].unwrap();
/// assert_eq!((ratio.ratio, ratio.verdict), (3.0, Verdict::Faster));
/// ```
pub fn compare(runs: &[Run]) -> Comparisons {
    let [first, others @ ..] = runs else { return Comparisons::default() };
    if others.is_empty() {
        return Comparisons::default();
    }
    let times: Vec<HashMap<Setting, Timed>> = runs.iter().map(times).collect();
    let mut done = HashSet::new();
    let mut rows = Vec::new();
    for setting in first.records.iter().map(Setting::of) {
        let timed: Vec<Option<Timed>> = times.iter().map(|times| times.get(&setting).copied()).collect();
        let ratios: Vec<Option<Ratio>> = timed[1..]
            .iter()
            .map(|other| timed[0].zip(*other).map(|(first, other)| Ratio::of(first, other)))
            .collect();
        if ratios.iter().any(Option::is_some) && done.insert(setting.clone()) {
            rows.push(Comparison { setting, times: timed, ratios });
        }
    }
    let all: HashSet<&Setting> = times.iter().flat_map(HashMap::keys).collect();
    let overall = (0..others.len()).map(|other| Overall::of(rows.iter().filter_map(|row| row.ratios[other])));
    Comparisons {
        labels: labels::shortened(runs.iter().map(|run| run.label.as_str())),
        overall: overall.collect(),
        unmatched: all.len() - rows.len(),
        rows,
        changed: changed(runs),
    }
}

/// Everything of the first run that another ended otherwise.
fn changed(runs: &[Run]) -> Vec<Changed> {
    let ends = |run: &Run| -> HashMap<Setting, Outcome> {
        run.records.iter().rev().map(|record| (Setting::of(record), record.outcome)).collect()
    };
    let ends: Vec<HashMap<Setting, Outcome>> = runs.iter().map(ends).collect();
    let mut done = HashSet::new();
    let mut found = Vec::new();
    for setting in runs.iter().take(1).flat_map(|run| run.records.iter().map(Setting::of)) {
        let outcomes: Vec<Option<Outcome>> = ends.iter().map(|ends| ends.get(&setting).copied()).collect();
        let differs = outcomes.iter().flatten().any(|outcome| Some(*outcome) != outcomes[0]);
        if differs && done.insert(setting.clone()) {
            found.push(Changed { setting, outcomes });
        }
    }
    found
}

/// What was measured twice counts as it was measured first.
fn times(run: &Run) -> HashMap<Setting, Timed> {
    let mut times = HashMap::new();
    for record in &run.records {
        if let Some(timed) = Timed::of(record) {
            times.entry(Setting::of(record)).or_insert(timed);
        }
    }
    times
}

impl Ratio {
    /// How many times as fast as the first the other is.
    pub fn of(first: Timed, other: Timed) -> Self {
        let ends = first.interval_ns.zip(other.interval_ns);
        let interval = ends.map(|(first, other)| (first.0 / other.1, first.1 / other.0));
        let verdict = match interval {
            None => Verdict::Unknown,
            Some((low, _)) if low > 1.0 => Verdict::Faster,
            Some((_, high)) if high < 1.0 => Verdict::Slower,
            Some(_) => Verdict::NoDifference,
        };
        Ratio { ratio: first.median_ns / other.median_ns, interval, verdict }
    }
}

impl Overall {
    fn of(ratios: impl Iterator<Item = Ratio>) -> Self {
        let (mut overall, mut count, mut logarithms) = (Overall::default(), 0, 0.0);
        for ratio in ratios {
            count += 1;
            logarithms += ratio.ratio.ln();
            match ratio.verdict {
                Verdict::Faster => overall.faster += 1,
                Verdict::Slower => overall.slower += 1,
                Verdict::NoDifference => overall.no_difference += 1,
                Verdict::Unknown => overall.unknown += 1,
            }
        }
        overall.geometric_mean = (count > 0).then(|| (logarithms / f64::from(count)).exp());
        overall
    }

    /// How many ratios there are.
    pub fn ratios(&self) -> usize {
        self.faster + self.slower + self.no_difference + self.unknown
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::report::outcome::Outcome;
    use crate::report::record::Record;

    fn timed(variant: &str, k: u64, median_ns: f64, spread: f64) -> Record {
        let mut record = Record::new("spmm", variant, Outcome::Passed);
        (record.matrix, record.place) = (Some("stencil5:4".to_owned()), "cpu".to_owned());
        (record.k, record.dtype, record.threads) = (Some(k), "f64".to_owned(), Some(1));
        record.median_ns = Some(median_ns);
        record.median_low_ns = Some(median_ns * (1.0 - spread));
        record.median_high_ns = Some(median_ns * (1.0 + spread));
        record
    }

    fn run(label: &str, records: Vec<Record>) -> Run {
        Run { label: label.to_owned(), records, ..Run::default() }
    }

    /// Two runs: one variant twice as fast, one unchanged, one half as fast, one without an interval, one in each alone.
    pub(crate) fn two_runs() -> [Run; 2] {
        let unknown = |ns: f64| Record { median_low_ns: None, ..timed("d", 8, ns, 0.0) };
        let before = vec![
            timed("a", 8, 200.0, 0.1),
            timed("b", 8, 100.0, 0.05),
            timed("c", 8, 50.0, 0.01),
            unknown(100.0),
            timed("a", 16, 1.0, 0.1),
        ];
        let after = vec![
            timed("c", 8, 100.0, 0.01),
            timed("a", 8, 100.0, 0.1),
            timed("b", 8, 102.0, 0.01),
            unknown(50.0),
            timed("a", 32, 1.0, 0.1),
        ];
        [run("old/samples.json", before), run("new/samples.json", after)]
    }

    #[test]
    fn ratios_intervals_and_verdicts() {
        let found = compare(&two_runs());
        assert_eq!(found.labels, ["old", "new"]);
        let variants: Vec<&str> = found.rows.iter().map(|row| row.setting.variant.as_str()).collect();
        assert_eq!((variants, found.unmatched), (vec!["a", "b", "c", "d"], 2));
        let ratios: Vec<Ratio> = found.rows.iter().map(|row| row.ratios[0].unwrap()).collect();
        assert_eq!(ratios[0].ratio, 2.0);
        let (low, high) = ratios[0].interval.unwrap();
        assert!((low - 180.0 / 110.0).abs() < 1e-12 && (high - 220.0 / 90.0).abs() < 1e-12);
        let verdicts: Vec<Verdict> = ratios.iter().map(|ratio| ratio.verdict).collect();
        assert_eq!(verdicts, [Verdict::Faster, Verdict::NoDifference, Verdict::Slower, Verdict::Unknown]);
        let overall = found.overall[0];
        assert_eq!((overall.faster, overall.slower, overall.no_difference, overall.unknown), (1, 1, 1, 1));
        let expected = (2.0 * (100.0 / 102.0) * 0.5 * 2.0_f64).powf(0.25);
        assert!((overall.geometric_mean.unwrap() - expected).abs() < 1e-12);
    }

    #[test]
    fn an_interval_that_ends_at_1_holds_it() {
        let time = |low: f64, high: f64| Timed { median_ns: low, interval_ns: Some((low, high)) };
        assert_eq!(Ratio::of(time(10.0, 11.0), time(9.0, 10.0)).verdict, Verdict::NoDifference);
        assert_eq!(Ratio::of(time(10.0, 11.0), time(9.0, 9.9)).verdict, Verdict::Faster);
        assert_eq!(Ratio::of(time(9.0, 9.9), time(10.0, 11.0)).verdict, Verdict::Slower);
    }

    #[test]
    fn less_than_two_runs_are_nothing_to_compare() {
        let [one, other] = two_runs();
        assert_eq!(compare(&[]), Comparisons::default());
        assert_eq!(compare(std::slice::from_ref(&one)), Comparisons::default());
        let empty = compare(&[one.clone(), run("empty", Vec::new())]);
        assert_eq!((empty.rows.len(), empty.overall[0], empty.unmatched), (0, Overall::default(), 5));
        let three = compare(&[one.clone(), other, one]);
        assert_eq!((three.overall.len(), three.overall[1].no_difference), (2, 4));
        assert_eq!((three.rows.len(), three.rows[4].ratios[0]), (5, None));
    }

    #[test]
    fn what_was_measured_twice_counts_once() {
        let twice = run("a", vec![timed("a", 8, 10.0, 0.1), timed("a", 8, 99.0, 0.1)]);
        let found = compare(&[twice.clone(), twice]);
        assert_eq!((found.rows.len(), found.rows[0].ratios[0].unwrap().ratio), (1, 1.0));
    }
}
