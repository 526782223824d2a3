use crate::report::outcome::Outcome;
use crate::report::peers::*;

/// Flushed and hot microseconds, each known to a percent.
fn timed(variant: &str, k: u64, flushed_us: f64, hot_us: f64) -> Record {
    let mut record = Record::new("spmm", variant, Outcome::Passed);
    record.role = record.role.or(Some(Role::Ours)); // names that nobody has
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
        variant: "auto".to_owned(),
        chosen: Some(chosen.to_owned()),
        ..timed(chosen, k, flushed, hot)
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
    assert_eq!((flushed.own.variant.as_str(), flushed.own.percent_of_copy), ("csr-cuda-fast", Some(50.0)));
    assert_eq!(flushed.cusparse.variant, "csr-cuda-cusparse-alg2");
    assert_eq!((flushed.ratio.ratio, flushed.ratio.verdict), (2.0, Verdict::Faster));
    // 10 000 ns more to prepare, 10 000 less for each product.
    assert_eq!(flushed.ahead_after, Some(Products::After(2)));
    let auto = flushed.auto.as_ref().unwrap();
    assert_eq!((auto.ratio.ratio, auto.share_of_own, auto.ratio.verdict), (1.0, 0.5, Verdict::NoDifference));
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
