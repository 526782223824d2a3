//! Records: every field is written, read back, and said.

use super::*;
use ordito::device::{DeviceLimits, KernelAttributes, LaunchPlan};

/// A record in which nothing is absent.
pub(crate) fn full() -> Record {
    let mut record = Record::new("spmm", "csr-cuda-sub-warp", Outcome::Passed);
    (record.place, record.dtype) = ("cuda".to_owned(), "f64".to_owned());
    record.matrix = Some("stencil27:10".to_owned());
    (record.rows, record.cols, record.nnz, record.k) = (Some(1000), Some(1000), Some(21_952), Some(8));
    (record.n, record.m, record.p, record.bytes) = (Some(1), Some(2), Some(3), Some(4));
    (record.threads, record.seed) = (Some(2), Some(42));
    record.geometry = Some("block 256".to_owned());
    (record.refusal, record.error) = (Some("too large".to_owned()), Some("row 3".to_owned()));
    record.dump = Some("failing/case".to_owned());
    (record.chosen, record.reason) = (Some("csr".to_owned()), Some("short rows".to_owned()));
    (record.role, record.storage) = (Some(Role::Ladder), Some(Storage::AsGiven));
    record.params = [("lanes".to_owned(), Param::from(4)), ("kind".to_owned(), Param::from("a,b"))].into();
    let plan = LaunchPlan::new(&DeviceLimits::h200(), [9, 1, 1], [512, 1, 1], 0).unwrap();
    let attributes =
        KernelAttributes { registers: Some(32), static_shared_bytes: Some(0), local_bytes: Some(0) };
    record.launches = vec![LaunchReport {
        kernel: "csr_sub_warp".to_owned(),
        plan,
        attributes,
        blocks_per_multiprocessor: Some(4),
        occupancy_percent: Some(100.0),
        counted: [("local_size".to_owned(), 27)].into(),
    }];
    (record.sampled, record.partial) = (true, Some("mean only".to_owned()));
    record.set_errors(4.44e-16, 2.22e-16, 2.22e-16);
    record.bound_ratio = Some(0.1);
    let summary = Summary {
        samples: 12,
        mean_ns: 1010.0,
        stddev_ns: Some(20.0),
        min_ns: 980.0,
        max_ns: 1100.0,
        median_ns: 1000.0,
        p05_ns: 985.0,
        p95_ns: 1090.0,
        median_low_ns: Some(990.0),
        median_high_ns: Some(1020.0),
        gflops: Some(351.2),
        gflops_mean: Some(350.0),
        gflops_stddev: Some(5.0),
        gbytes_per_s: Some(99.5),
    };
    record.set_times(&summary, StopReason::Precise, true);
    record.percent_of_ceiling = Some(71.0);
    (record.flushed_median_ns, record.flushed_percent_of_ceiling) = (Some(1500.0), Some(47.0));
    (record.flushed_median_low_ns, record.flushed_median_high_ns) = (Some(1450.0), Some(1550.0));
    (record.prepare_ns, record.repack_ns) = (Some(2e6), Some(300.0));
    record.runs = vec![OneRun { start_ns: Some(1), time_ns: 300.0 }];
    (record.host_copy_ns, record.beta, record.pad) = (Some(1e5), Some(0.5), Some(8));
    (record.prepare_compile_ns, record.prepare_upload_ns) = (Some(1e6), Some(5e5));
    (record.upload_ns, record.download_ns) = (Some(5e5), Some(4e5));
    record.near_bytes = Some(1 << 10);
    (record.ranks, record.team, record.halo_bytes, record.neighbours) =
        (Some(4), Some(2), Some(1 << 20), Some(3));
    (record.imbalance, record.fastest_rank_ns, record.exchange_ns) = (Some(1.1), Some(900.0), Some(80.0));
    (record.pack_ns, record.own_ns, record.wait_ns) = (Some(10.0), Some(800.0), Some(5.0));
    record.release_ns = Some(7.0);
    (record.outer_ns, record.reduce_ns) = (Some(100.0), Some(60.0));
    record
}

#[test]
fn a_full_record_has_exactly_the_fields_in_order() {
    let line = serde_json::to_string(&full()).unwrap();
    let object: serde_json::Map<String, serde_json::Value> = serde_json::from_str(&line).unwrap();
    assert_eq!(object.len(), FIELDS.len());
    let mut end = 0;
    for field in FIELDS {
        let at = line[end..].find(&format!("\"{field}\":"));
        end += at.unwrap_or_else(|| panic!("{field} is missing or out of order in {line}"));
    }
}

#[test]
fn records_come_back() {
    for record in [full(), Record::new("gemm", "x", Outcome::NotVerified)] {
        let line = serde_json::to_string(&record).unwrap();
        assert_eq!(serde_json::from_str::<Record>(&line).unwrap(), record);
    }
}

#[test]
fn what_is_not_finite_is_absent() {
    let mut record = full();
    record.set_errors(f64::INFINITY, f64::NAN, 2.22e-16);
    record.gflops = Some(f64::NAN);
    record.params = [("bad".to_owned(), Param::from(f64::NAN)), ("good".to_owned(), 1.5.into())].into();
    let line = serde_json::to_string(&record).unwrap();
    assert!(!line.contains("null") && !line.contains("max_rel_err") && !line.contains("\"gflops\""));
    assert!(line.contains(r#""params":{"good":1.5}"#), "{line}");
    assert_eq!(serde_json::from_str::<Record>(&line).unwrap().max_err_eps, None);
}

#[test]
fn other_versions_can_be_read() {
    let line = r#"{"schema":7,"op":"spmm","variant":"v","outcome":"failed","new_thing":[1,2]}"#;
    let record: Record = serde_json::from_str(line).unwrap();
    assert_eq!((record.schema, record.outcome, record.cold), (7, Outcome::Failed, false));
    assert!(serde_json::from_str::<Record>(r#"{"op":"spmm"}"#).is_err());
}

#[test]
fn notes_say_what_matters() {
    assert_eq!(
        full().note(),
        "too large; row 3; written to failing/case; chose csr: short rows; mean only; rows sampled; cold caches"
    );
    assert_eq!(Record::new("a", "b", Outcome::Passed).note(), "");
}
