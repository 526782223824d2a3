//! How many times as fast as the simplest variant the others of a run are.

use crate::catalogue::describe;
use crate::report::record::Record;
use crate::report::setting::Setting;
use crate::report::timed::Timed;
use ordito::op::Place;
use std::collections::HashMap;

/// A record against the baseline of its input and setting.
#[derive(Debug, Clone, PartialEq)]
pub struct SpeedUp {
    /// Which record.
    pub record: usize,
    /// The variant that it is held against.
    pub baseline: String,
    /// Is that one a serial variant?
    pub is_over_serial: bool,
    /// Time of the baseline over time of the record: above 1 it is faster. The baseline itself has 1.
    pub ratio: f64,
}

/// The speed-up of every record of one run that passed and was timed. Records of the same input, dtype and K share a
/// baseline, wherever they run and with however many threads: the first serial variant among them (records stand in the
/// order in which variants are registered: `csr-serial` of spmm, `dense-serial-loops` of gemm), else the slowest record; or
/// the chosen variant, where it was timed.
///
/// ```
/// use ordito_bench::report::{Outcome, Record};
/// use ordito_bench::report::speed_up::speed_ups;
/// let timed = |variant: &str, ns: f64| {
///     let mut record = Record::new("spmm", variant, Outcome::Passed);
///     record.median_ns = Some(ns);
///     record
/// };
/// let found = speed_ups(&[timed("csr-threads-rows", 100.0), timed("csr-serial", 400.0)], None);
/// assert_eq!((found[0].ratio, found[0].baseline.as_str()), (4.0, "csr-serial"));
/// ```
pub fn speed_ups(records: &[Record], chosen: Option<&str>) -> Vec<SpeedUp> {
    let timed: Vec<(usize, Setting, f64)> = records
        .iter()
        .enumerate()
        .filter_map(|(index, record)| {
            let timed = Timed::of(record)?;
            Some((index, Setting::of_any_place(record), timed.median_ns))
        })
        .collect();
    let mut baselines: HashMap<&Setting, (usize, f64)> = HashMap::new();
    let may_be_baseline = |index: usize| chosen.is_none_or(|chosen| records[index].variant == chosen);
    for (index, setting, ns) in timed.iter().filter(|(index, ..)| may_be_baseline(*index)) {
        let better = |&(known, known_ns): &(usize, f64)| {
            let (is_serial, known_is_serial) = (is_serial(&records[*index]), is_serial(&records[known]));
            !known_is_serial && (is_serial || *ns > known_ns)
        };
        if baselines.get(setting).is_none_or(better) {
            baselines.insert(setting, (*index, *ns));
        }
    }
    let speed_up = |(index, setting, ns): &(usize, Setting, f64)| {
        let (baseline, baseline_ns) = baselines.get(setting)?;
        let is_over_serial = is_serial(&records[*baseline]);
        let baseline = records[*baseline].name();
        Some(SpeedUp { record: *index, baseline, is_over_serial, ratio: baseline_ns / ns })
    };
    timed.iter().filter_map(speed_up).collect()
}

/// Does it run on one thread, however many there are?
fn is_serial(record: &Record) -> bool {
    describe(&record.op, &record.variant).is_some_and(|variant| variant.place == Place::Serial)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::outcome::Outcome;

    fn timed(variant: &str, place: &str, k: u64, median_ns: f64) -> Record {
        let mut record = Record::new("spmm", variant, Outcome::Passed);
        (record.place, record.k, record.median_ns) = (place.to_owned(), Some(k), Some(median_ns));
        record
    }

    #[test]
    fn the_first_serial_variant_is_the_baseline() {
        let wrong = Record { outcome: Outcome::Incorrect, ..timed("csr-serial-wrong", "cpu", 8, 1.0) };
        let records = [
            timed("csr-cuda-warp", "cuda", 8, 10.0),
            wrong,
            timed("csr-serial", "cpu", 8, 400.0),
            timed("ell-padded-serial", "cpu", 8, 800.0),
            timed("csr-threads-nnz", "cpu", 8, 100.0),
            timed("csr-cuda-warp", "emulator", 8, 1e9),
        ];
        let found: Vec<(usize, f64)> =
            speed_ups(&records, None).iter().map(|found| (found.record, found.ratio)).collect();
        assert_eq!(found, [(0, 40.0), (2, 1.0), (3, 0.5), (4, 4.0)]);
        assert!(speed_ups(&records, None).iter().all(|found| found.baseline == "csr-serial"));
    }

    #[test]
    fn without_a_serial_one_it_is_the_slowest_of_each_setting() {
        let records =
            [timed("x", "cuda", 8, 10.0), timed("y", "cuda", 8, 30.0), timed("x", "cuda", 16, 50.0)];
        let found: Vec<(String, f64)> =
            speed_ups(&records, None).into_iter().map(|found| (found.baseline, found.ratio)).collect();
        assert_eq!(found, [("y".to_owned(), 3.0), ("y".to_owned(), 1.0), ("x".to_owned(), 1.0)]);
        assert!(speed_ups(&[], None).is_empty());
    }

    #[test]
    fn a_chosen_variant_is_the_baseline_where_it_was_timed() {
        let timed = |variant: &str, k: u64, ns: f64| {
            let mut record = Record::new("spmm", variant, crate::report::outcome::Outcome::Passed);
            (record.k, record.median_ns) = (Some(k), Some(ns));
            record
        };
        let records = [timed("csr-serial", 8, 40.0), timed("b", 8, 10.0), timed("csr-serial", 16, 40.0)];
        let found: Vec<(usize, f64)> =
            speed_ups(&records, Some("b")).into_iter().map(|found| (found.record, found.ratio)).collect();
        assert_eq!(found, [(0, 0.25), (1, 1.0)]);
    }
}
