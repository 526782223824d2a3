//! Our own CUDA kernels for sparse products held against cuSPARSE: per case, and over all cases of a run.

use crate::report::break_even::{Paid, prepare_ns, products};
use crate::report::compare::{Ratio, Verdict};
use crate::report::record::Record;
use crate::report::setting::Setting;
use crate::report::timed::Timed;
use ordito::op::{Products, Role};
use serde::Serialize;
use std::cmp::Ordering;

/// `auto` is as good as the best where it takes no more than this many times its time.
const NEAR_THE_BEST: f64 = 1.1;

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
    /// Is that a call of cuSPARSE?
    #[serde(skip)]
    pub took_cusparse: bool,
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
        let fastest = |roles: &[Role]| -> Option<Timing> {
            let side = |record: &&&Record| {
                !record.is_auto() && record.role.is_some_and(|role| roles.contains(&role))
            };
            let timings = group.iter().filter(side).filter_map(|record| {
                let (timed, percent_of_copy) = cache.of(record)?;
                let (variant, prepare_ns) = (record.variant.clone(), prepare_ns(record));
                Some(Timing { variant, timed, percent_of_copy, prepare_ns })
            });
            timings.min_by(|a, b| a.timed.median_ns.total_cmp(&b.timed.median_ns))
        };
        let own = fastest(&[Role::Ours, Role::Ladder])?;
        let cusparse = fastest(&[Role::Peer])?;
        let auto = group.iter().find(|record| record.is_auto()).and_then(|record| {
            let (timed, _) = cache.of(record)?;
            Some(AutoStanding {
                chosen: record.chosen.clone(),
                took_cusparse: record.role == Some(Role::Peer),
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
            took_cusparse: count(|auto| auto.took_cusparse),
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
pub(crate) mod tests;
