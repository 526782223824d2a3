//! Our own CUDA kernels for sparse products held against cuSPARSE: per case, and over all cases of a run.

use super::Record;
use super::break_even::{Paid, Products, prepare_ns, products};
use super::compare::{Ratio, Verdict};
use super::setting::Setting;
use super::timed::Timed;
use serde::Serialize;
use std::cmp::Ordering;

/// What names of cuSPARSE's variants begin with.
pub const PEER: &str = "csr-cuda-cusparse-";
/// The pseudo-variant that chooses.
const AUTO: &str = "auto";
/// `auto` is as good as the best where it takes no more than this many times its time.
const NEAR_THE_BEST: f64 = 1.1;

/// Is it a call of cuSPARSE?
pub fn is_peer(variant: &str) -> bool {
    variant.starts_with(PEER)
}

/// All cases of a run in which an own kernel and cuSPARSE were timed.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct PeerSummary {
    /// With the GPU's cache emptied before every run, where that was timed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flushed: Option<Totals>,
    /// With a warm cache, where that was timed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hot: Option<Totals>,
    /// Every case, in the order of the records.
    pub cases: Vec<PeerCase>,
}

/// One product on one GPU.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PeerCase {
    /// The input's name.
    pub matrix: String,
    /// Its stored entries.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nnz: Option<u64>,
    /// Columns of X.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub k: Option<u64>,
    /// `f32` or `f64`.
    pub dtype: String,
    /// With the cache emptied before every run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flushed: Option<Standing>,
    /// With a warm cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hot: Option<Standing>,
}

/// Who was fastest on each side.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Standing {
    /// The fastest of our own kernels.
    pub own: Timing,
    /// The fastest of cuSPARSE's: algorithm and layout.
    pub cusparse: Timing,
    /// Time of cuSPARSE over that of our own.
    pub ratio: Ratio,
    /// After how many products the own kernel is ahead, preparing (but not compiling) included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ahead_after: Option<Products>,
    /// What `auto` did, where it was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub auto: Option<AutoStanding>,
}

/// A variant and its time.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Timing {
    /// Its name.
    pub variant: String,
    /// Its time.
    #[serde(flatten)]
    pub timed: Timed,
    /// Least bytes over that time, as a percentage of what a copy reaches.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub percent_of_copy: Option<f64>,
    /// Getting ready, once: conversion and row plan on the host, upload of A, what cuSPARSE finds out beforehand; without
    /// the compilation of kernels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prepare_ns: Option<f64>,
}

impl Timing {
    fn paid(&self) -> Option<Paid> {
        Some(Paid { prepare_ns: self.prepare_ns?, timed: self.timed })
    }
}

/// How `auto` stands.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AutoStanding {
    /// What it took.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chosen: Option<String>,
    /// Time of cuSPARSE over that of `auto`.
    pub ratio: Ratio,
    /// Time of our own fastest over that of `auto`: 1 is as good as it gets.
    pub share_of_own: f64,
}

/// All cases in a few numbers.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Totals {
    /// The fastest of our own kernels in each case.
    pub own: Ratios,
    /// What `auto` took, where it was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub auto: Option<AutoTotals>,
}

/// Ratios over the fastest of cuSPARSE.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Ratios {
    /// How many.
    pub cases: usize,
    /// Of all of them.
    pub geometric_mean: f64,
    /// The least.
    pub worst: f64,
    /// Its case, in words.
    pub worst_case: String,
    /// How many are not below 1.
    pub at_least_one: usize,
    /// Those that are slower than cuSPARSE by more than the spread of the times, in words.
    pub slower: Vec<String>,
}

/// What `auto` is worth.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AutoTotals {
    /// Over the fastest of cuSPARSE.
    #[serde(flatten)]
    pub ratios: Ratios,
    /// In how many cases it takes at most a tenth longer than our own fastest.
    pub near_the_best: usize,
    /// In how many it took cuSPARSE, which is no merit of ours.
    pub took_cusparse: usize,
}

/// One of the two times of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cache {
    Flushed,
    Hot,
}

impl Cache {
    /// That time, and its share of a copy's bandwidth.
    fn of(self, record: &Record) -> Option<(Timed, Option<f64>)> {
        let main = || Some((Timed::of(record)?, record.percent_of_ceiling));
        match self {
            Cache::Hot if record.cold => None,
            Cache::Hot => main(),
            Cache::Flushed if record.cold => main(),
            Cache::Flushed => Some((Timed::flushed(record)?, record.flushed_percent_of_ceiling)),
        }
    }
}

impl PeerSummary {
    /// Of the sparse products that ran on a GPU; `None` where no case has both sides.
    pub fn of(records: &[Record]) -> Option<Self> {
        let mut groups: Vec<(Setting, Vec<&Record>)> = Vec::new();
        for record in records.iter().filter(|record| record.op == "spmm" && record.place == "cuda") {
            let setting = Setting { cold: false, ..Setting::of_any_variant(record) };
            match groups.iter_mut().find(|(known, _)| *known == setting) {
                Some((_, group)) => group.push(record),
                None => groups.push((setting, vec![record])),
            }
        }
        let case = |(setting, group): (Setting, Vec<&Record>)| {
            let (flushed, hot) = (Standing::of(&group, Cache::Flushed), Standing::of(&group, Cache::Hot));
            let (matrix, Setting { nnz, k, dtype, .. }) = (setting.input(), setting);
            (flushed.is_some() || hot.is_some()).then_some(PeerCase { matrix, nnz, k, dtype, flushed, hot })
        };
        let cases: Vec<PeerCase> = groups.into_iter().filter_map(case).collect();
        let totals = |standing: fn(&PeerCase) -> Option<&Standing>| {
            let found: Vec<(&PeerCase, &Standing)> =
                cases.iter().filter_map(|case| Some((case, standing(case)?))).collect();
            Totals::of(&found)
        };
        let flushed = totals(|case| case.flushed.as_ref());
        let hot = totals(|case| case.hot.as_ref());
        (!cases.is_empty()).then_some(PeerSummary { flushed, hot, cases })
    }
}

impl PeerCase {
    /// `stencil27:100, K = 8, f64`
    pub fn words(&self) -> String {
        let (matrix, dtype) = (Some(self.matrix.clone()), self.dtype.clone());
        Setting { matrix, k: self.k, dtype, ..Setting::default() }.words()
    }
}

impl Standing {
    fn of(group: &[&Record], cache: Cache) -> Option<Self> {
        let fastest = |side: fn(&str) -> bool| -> Option<Timing> {
            let timings = group.iter().filter(|record| side(&record.variant)).filter_map(|record| {
                let (timed, percent_of_copy) = cache.of(record)?;
                let (variant, prepare_ns) = (record.variant.clone(), prepare_ns(record));
                Some(Timing { variant, timed, percent_of_copy, prepare_ns })
            });
            timings.min_by(|a, b| a.timed.median_ns.total_cmp(&b.timed.median_ns))
        };
        let own = fastest(|variant| variant != AUTO && !is_peer(variant))?;
        let cusparse = fastest(is_peer)?;
        let auto = group.iter().find(|record| record.variant == AUTO).and_then(|record| {
            let (timed, _) = cache.of(record)?;
            Some(AutoStanding {
                chosen: record.chosen.clone(),
                ratio: Ratio::of(cusparse.timed, timed),
                share_of_own: own.timed.median_ns / timed.median_ns,
            })
        });
        let ahead_after = own.paid().zip(cusparse.paid()).map(|(own, cusparse)| products(own, cusparse));
        Some(Standing { ratio: Ratio::of(cusparse.timed, own.timed), own, cusparse, ahead_after, auto })
    }
}

impl Totals {
    fn of(cases: &[(&PeerCase, &Standing)]) -> Option<Self> {
        let own: Vec<(&PeerCase, Ratio)> =
            cases.iter().map(|(case, standing)| (*case, standing.ratio)).collect();
        let autos: Vec<(&PeerCase, &AutoStanding)> =
            cases.iter().filter_map(|(case, standing)| Some((*case, standing.auto.as_ref()?))).collect();
        let of_auto: Vec<(&PeerCase, Ratio)> = autos.iter().map(|(case, auto)| (*case, auto.ratio)).collect();
        let count = |counts: fn(&AutoStanding) -> bool| autos.iter().filter(|(_, auto)| counts(auto)).count();
        let auto = Ratios::of(&of_auto).map(|ratios| AutoTotals {
            ratios,
            near_the_best: count(|auto| auto.share_of_own * NEAR_THE_BEST >= 1.0),
            took_cusparse: count(|auto| auto.chosen.as_deref().is_some_and(is_peer)),
        });
        Some(Totals { own: Ratios::of(&own)?, auto })
    }
}

impl Ratios {
    fn of(ratios: &[(&PeerCase, Ratio)]) -> Option<Self> {
        let by_ratio = |a: &&(&PeerCase, Ratio), b: &&(&PeerCase, Ratio)| -> Ordering {
            a.1.ratio.total_cmp(&b.1.ratio)
        };
        let worst = ratios.iter().min_by(by_ratio)?;
        let logarithms: f64 = ratios.iter().map(|(_, ratio)| ratio.ratio.ln()).sum();
        let slower = ratios.iter().filter(|(_, ratio)| ratio.verdict == Verdict::Slower);
        Some(Ratios {
            cases: ratios.len(),
            geometric_mean: (logarithms / ratios.len() as f64).exp(),
            worst: worst.1.ratio,
            worst_case: worst.0.words(),
            at_least_one: ratios.iter().filter(|(_, ratio)| ratio.ratio >= 1.0).count(),
            slower: slower.map(|(case, _)| case.words()).collect(),
        })
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::report::Outcome;

    /// Flushed and hot microseconds, each known to a percent.
    fn timed(variant: &str, k: u64, flushed_us: f64, hot_us: f64) -> Record {
        let mut record = Record::new("spmm", variant, Outcome::Passed);
        (record.place, record.dtype) = ("cuda".to_owned(), "f64".to_owned());
        (record.matrix, record.k) = (Some("m".to_owned()), Some(k));
        let (flushed, hot) = (1e3 * flushed_us, 1e3 * hot_us);
        (record.median_ns, record.flushed_median_ns) = (Some(hot), Some(flushed));
        (record.median_low_ns, record.median_high_ns) = (Some(0.99 * hot), Some(1.01 * hot));
        (record.flushed_median_low_ns, record.flushed_median_high_ns) =
            (Some(0.99 * flushed), Some(1.01 * flushed));
        record.flushed_percent_of_ceiling = Some(500.0 / flushed_us);
        // The slower a kernel, the less there is to prepare.
        (record.prepare_ns, record.prepare_compile_ns) = (Some(2e6 - flushed), Some(1e6));
        record
    }

    /// K = 1: twice as fast as cuSPARSE, `auto` half as fast as the best; K = 8: slower, `auto` takes cuSPARSE.
    pub(crate) fn example() -> Vec<Record> {
        let auto = |k, chosen: &str, flushed, hot| Record {
            chosen: Some(chosen.to_owned()),
            ..timed(AUTO, k, flushed, hot)
        };
        let mut wrong = timed("csr-cuda-wrong", 1, 1.0, 1.0);
        wrong.outcome = Outcome::Incorrect;
        vec![
            timed("csr-cuda-fast", 1, 10.0, 5.0),
            timed("csr-cuda-slow", 1, 12.0, 4.0),
            wrong,
            timed("csr-cuda-cusparse-alg1", 1, 30.0, 30.0),
            timed("csr-cuda-cusparse-alg2", 1, 20.0, 12.0),
            auto(1, "csr-cuda-slow", 20.0, 4.0),
            timed("csr-cuda-fast", 8, 50.0, 50.0),
            timed("csr-cuda-cusparse-alg3-columns", 8, 40.0, 60.0),
            auto(8, "csr-cuda-cusparse-alg3-columns", 40.0, 60.0),
            Record { place: "cpu".to_owned(), ..timed("csr-serial", 8, 1.0, 1.0) },
            timed("csr-cuda-cusparse-alg1", 16, 1.0, 1.0), // nobody to compare with
        ]
    }

    #[test]
    fn the_fastest_of_each_side_by_hand() {
        let summary = PeerSummary::of(&example()).unwrap();
        assert_eq!(summary.cases.len(), 2);
        let flushed = summary.cases[0].flushed.as_ref().unwrap();
        assert_eq!(
            (flushed.own.variant.as_str(), flushed.own.percent_of_copy),
            ("csr-cuda-fast", Some(50.0))
        );
        assert_eq!(flushed.cusparse.variant, "csr-cuda-cusparse-alg2");
        assert_eq!((flushed.ratio.ratio, flushed.ratio.verdict), (2.0, Verdict::Faster));
        // 10 000 ns more to prepare, 10 000 less for each product.
        assert_eq!(flushed.ahead_after, Some(Products::After(2)));
        let auto = flushed.auto.as_ref().unwrap();
        assert_eq!(
            (auto.ratio.ratio, auto.share_of_own, auto.ratio.verdict),
            (1.0, 0.5, Verdict::NoDifference)
        );
        let hot = summary.cases[0].hot.as_ref().unwrap();
        assert_eq!((hot.own.variant.as_str(), hot.ratio.ratio), ("csr-cuda-slow", 3.0));
    }

    #[test]
    fn totals_by_hand() {
        let Totals { own, auto } = PeerSummary::of(&example()).unwrap().flushed.unwrap();
        // 2 and 0.8
        assert!((own.geometric_mean - 1.6_f64.sqrt()).abs() < 1e-12);
        assert_eq!((own.cases, own.worst, own.at_least_one), (2, 0.8, 1));
        assert_eq!((own.worst_case.as_str(), own.slower.len()), ("m, K = 8, f64", 1));
        let auto = auto.unwrap();
        assert_eq!((auto.ratios.geometric_mean, auto.ratios.worst), (1.0, 1.0));
        assert_eq!((auto.near_the_best, auto.took_cusparse, auto.ratios.slower.len()), (1, 1, 0));
        let Totals { own, .. } = PeerSummary::of(&example()).unwrap().hot.unwrap();
        assert!((own.geometric_mean - 3.6_f64.sqrt()).abs() < 1e-12); // 3 and 1.2
        assert!(own.slower.is_empty());
    }

    #[test]
    fn a_cold_run_is_flushed_alone_and_a_run_without_peers_says_nothing() {
        let cold = |record: Record| Record { cold: true, flushed_median_ns: None, ..record };
        let summary = PeerSummary::of(&example().into_iter().map(cold).collect::<Vec<_>>()).unwrap();
        assert_eq!(summary.hot, None);
        // What stands in `median_ns` then counts as flushed.
        assert_eq!(summary.cases[0].flushed.as_ref().unwrap().ratio.ratio, 3.0);
        assert_eq!(PeerSummary::of(&[timed("csr-cuda-fast", 1, 1.0, 1.0)]), None);
        assert_eq!(PeerSummary::of(&[]), None);
    }
}
