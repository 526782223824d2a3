//! After how many products has preparing paid for itself?

pub use ordito::op::Products;

use crate::report::compare::{Ratio, Verdict};
use crate::report::record::Record;
use crate::report::setting::Setting;
use crate::report::timed::Timed;
use ordito::op::{Role, Storage};
use std::collections::HashMap;

/// A record against the plainest way to do the same, on a GPU against cuSPARSE.
#[derive(Debug, Clone, PartialEq)]
pub struct BreakEven {
    /// Which record.
    pub record: usize,
    /// The variant that it is held against.
    pub against: String,
    /// After how many products it is ahead, preparing included.
    pub products: Products,
}

/// For every sparse product of one run that passed and whose preparing was timed, and that converts A: held against the fastest
/// that multiplies it as given on the same input, in the same dtype, K, place and number of threads. Where cuSPARSE ran in that
/// place, every other variant is held against the fastest of its calls instead. Where there is nothing to hold against, there is
/// nothing to say.
///
/// Preparing is counted without the compilation of kernels, which is kept on disk and done once for all matrices.
///
/// ```
/// use ordito_bench::report::{Outcome, Record};
/// use ordito::op::Products;
/// use ordito_bench::report::break_even::break_even;
/// let timed = |variant: &str, prepare_ns: f64, ns: f64| {
///     let mut record = Record::new("spmm", variant, Outcome::Passed);
///     (record.prepare_ns, record.median_ns) = (Some(prepare_ns), Some(ns));
///     record
/// };
/// let found = break_even(&[timed("csr-serial", 100.0, 50.0), timed("ell-padded-serial", 500.0, 35.0)]);
/// assert_eq!(found[0].products, Products::After(27)); // 400 ns more to prepare, 15 ns less for each product
/// ```
pub fn break_even(records: &[Record]) -> Vec<BreakEven> {
    let costs: Vec<Cost> =
        records.iter().enumerate().filter_map(|(index, record)| Cost::of(index, record)).collect();
    let fastest = |side: fn(&Record) -> bool| {
        let mut fastest: HashMap<&Setting, &Cost> = HashMap::new();
        for cost in costs.iter().filter(|cost| side(&records[cost.record])) {
            let best = fastest.entry(&cost.setting).or_insert(cost);
            if cost.paid.timed.median_ns < best.paid.timed.median_ns {
                *best = cost;
            }
        }
        fastest
    };
    let (peers, plainest) = (fastest(is_peer), fastest(is_plain));
    let mut found = Vec::new();
    for cost in costs.iter().filter(|cost| !is_peer(&records[cost.record])) {
        let plain = || plainest.get(&cost.setting).filter(|_| is_converted(&records[cost.record]));
        if let Some(other) = peers.get(&cost.setting).or_else(plain) {
            let against = records[other.record].variant.clone();
            found.push(BreakEven { record: cost.record, against, products: products(cost.paid, other.paid) });
        }
    }
    found
}

/// Does it multiply the matrix as it came?
fn is_plain(record: &Record) -> bool {
    record.storage == Some(Storage::AsGiven)
}

/// Does it multiply another format?
fn is_converted(record: &Record) -> bool {
    record.storage == Some(Storage::Converted)
}

/// Is it a call of cuSPARSE?
fn is_peer(record: &Record) -> bool {
    record.role == Some(Role::Peer)
}

/// Preparing without the compilation of kernels, where it was timed.
pub(crate) fn prepare_ns(record: &Record) -> Option<f64> {
    let compiling = record.prepare_compile_ns.unwrap_or(0.0);
    record.prepare_ns.map(|ns| ns - compiling).filter(|ns| ns.is_finite())
}

/// What a product costs: once, and every time.
struct Cost {
    record: usize,
    setting: Setting,
    paid: Paid,
}

/// What is paid once, and every time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Paid {
    pub(crate) prepare_ns: f64,
    pub(crate) timed: Timed,
}

impl Cost {
    fn of(index: usize, record: &Record) -> Option<Self> {
        // `auto` does what another does under its own name.
        let counts = record.op == "spmm" && !record.is_auto();
        let prepare_ns = prepare_ns(record).filter(|_| counts)?;
        // With an empty cache where that is known: between two products of a program other things are done.
        let timed = Timed::flushed(record).or_else(|| Timed::of(record))?;
        Some(Cost {
            record: index,
            setting: Setting::of_any_variant(record),
            paid: Paid { prepare_ns, timed },
        })
    }
}

/// After how many of them `one` is ahead of `other`.
pub(crate) fn products(one: Paid, other: Paid) -> Products {
    let (lost, gained) = (one.prepare_ns - other.prepare_ns, other.timed.median_ns - one.timed.median_ns);
    match Ratio::of(other.timed, one.timed).verdict {
        Verdict::NoDifference => Products::NoDifference,
        _ => Products::until_ahead(lost, gained),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::outcome::Outcome;

    fn timed(op: &str, variant: &str, threads: u64, prepare_ns: f64, median_ns: f64) -> Record {
        let mut record = Record::new(op, variant, Outcome::Passed);
        (record.place, record.threads) = ("cpu".to_owned(), Some(threads));
        (record.prepare_ns, record.median_ns) = (Some(prepare_ns), Some(median_ns));
        record
    }

    #[test]
    fn converting_pays_against_the_fastest_plain_variant_of_the_same_threads() {
        let records = [
            timed("spmm", "csr-serial", 1, 10.0, 100.0),
            timed("spmm", "ell-padded-serial", 1, 1010.0, 90.0),
            timed("spmm", "ell-ragged-serial", 1, 5.0, 90.0),
            timed("spmm", "csr-threads-rows", 2, 0.0, 60.0),
            timed("spmm", "csr-threads-nnz", 2, 10.0, 50.0),
            timed("spmm", "ell-padded-threads-elements", 2, 300.0, 20.0),
            timed("spmm", "ell-ragged-threads-elements", 2, 0.0, 55.0),
            Record { prepare_ns: None, ..timed("spmm", "auto", 2, 0.0, 1.0) },
            timed("convert", "csr-serial-counting", 1, 0.0, 1.0),
        ];
        let found: Vec<(usize, String, Products)> =
            break_even(&records).into_iter().map(|one| (one.record, one.against, one.products)).collect();
        let expected = [
            (1, "csr-serial", Products::After(101)), // even after 100
            (2, "csr-serial", Products::AtOnce),
            (5, "csr-threads-nnz", Products::After(10)), // 290 / 30 = 9.67
            (6, "csr-threads-nnz", Products::Never),
        ];
        assert_eq!(found, expected.map(|(record, against, products)| (record, against.to_owned(), products)));
    }

    #[test]
    fn on_a_gpu_our_kernels_are_held_against_the_fastest_of_cusparse() {
        let on_gpu = |variant: &str, prepare_ns: f64, ns: f64| Record {
            place: "cuda".to_owned(),
            threads: None,
            flushed_median_ns: Some(2.0 * ns),
            prepare_compile_ns: Some(100.0),
            ..timed("spmm", variant, 1, prepare_ns, ns)
        };
        let records = [
            on_gpu("csr-cuda-cusparse-alg1", 200.0, 50.0),
            on_gpu("csr-cuda-cusparse-alg2", 300.0, 40.0),
            on_gpu("csr-cuda-rows8", 250.0, 20.0),
            on_gpu("sell-cuda-slices", 1300.0, 30.0),
        ];
        let found: Vec<(usize, String, Products)> =
            break_even(&records).into_iter().map(|one| (one.record, one.against, one.products)).collect();
        let against = "csr-cuda-cusparse-alg2".to_owned();
        // 1000 more to prepare, and with an empty cache 20 less for each product.
        assert_eq!(found, [(2, against.clone(), Products::AtOnce), (3, against, Products::After(51))]);
    }

    #[test]
    fn without_a_plain_variant_there_is_nothing_to_say() {
        assert!(break_even(&[timed("spmm", "ell-padded-serial", 1, 1.0, 1.0)]).is_empty());
        assert!(break_even(&[]).is_empty());
    }

    #[test]
    fn what_converts_is_not_plain_whatever_it_is_called() {
        let plain = |name| is_plain(&timed("spmm", name, 1, 0.0, 1.0));
        assert!(
            ["csr-serial", "csr-threads-nnz", "csr-cuda-rows32", "csr-cuda-adaptive-column"].map(plain)
                == [true; 4]
        );
        let converting =
            ["csr-threads-sorted", "csr-threads-clustered", "csr-cuda-windows", "csr-cuda-shares"];
        assert_eq!(converting.map(plain), [false; 4]);
    }
}
