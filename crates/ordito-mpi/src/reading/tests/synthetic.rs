//! Synthetic matrices are the same bits, whoever makes which rows.

use crate::partition::Partition;
use crate::reading::share::Pieces;
use crate::reading::tests::{COUNTS, parts_of, put_together, read_by};
use ordito::io::ReadOptions;
use ordito::io::synthetic::{KINDS, generate, kind_of};
use ordito::{Csr, Duplicates, Scalar};

const NAMES: [&str; 18] = [
    "stencil27:5",
    "stencil5:9",
    "uniform:150x7",
    "powerlaw:400x8",
    "band:20x6",
    "blocks:30x3x2",
    "diagonal:9",
    "diagonal:1",
    "empty:3x5",
    "empty:0x0",
    "drawn:9",
    "drawn:11",
    "drawn:8",
    "drawn:3",
    "small:9",
    "sketched:2",
    "neighbours:200x5x2",
    "web:300x8",
];

fn assert_same<S: Scalar>(name: &str, seed: u64, count: usize) {
    let options = ReadOptions { seed, ..ReadOptions::default() };
    let serial = Csr::from_coo(&generate::<S>(name, &options).unwrap().unwrap(), Duplicates::Sum);
    let together = read_by::<S>(count, name, &options, None, Pieces::default()).unwrap();
    assert!(put_together(&together) == parts_of(&serial), "{name}, seed {seed}, {count} ranks");
    let work = |row: u64| serial.row_offsets()[row as usize] as u64 + row;
    assert_eq!(together[0].rows, Partition::balanced(serial.rows() as u64, count, work));
}

#[test]
fn every_kind_is_the_same_on_any_number_of_ranks() {
    assert!(KINDS.iter().all(|kind| NAMES.iter().any(|name| kind_of(name).unwrap().name == kind.name)));
    for name in NAMES {
        for count in COUNTS {
            assert_same::<f64>(name, 0, count);
        }
        assert_same::<f64>(name, 5, 3);
        assert_same::<f32>(name, u64::MAX, 2);
    }
}

#[test]
fn what_makes_no_matrix_or_too_large_a_one_is_refused_alike() {
    let options = ReadOptions { max_bytes: 1 << 20, ..ReadOptions::default() };
    for name in ["band:4x5", "stencil5:0", "uniform:7", "stencil27:1626"] {
        let serial = generate::<f64>(name, &options).unwrap().unwrap_err().to_string();
        assert_eq!(read_by::<f64>(3, name, &options, None, Pieces::default()).unwrap_err(), serial);
    }
    let fault = read_by::<f64>(4, "diagonal:300000", &options, None, Pieces::default()).unwrap_err();
    assert_eq!(
        fault,
        "diagonal:300000 on one of 4 ranks: 75000 entries take 1.20 MB, more than the limit of 1.05 MB"
    );
    assert!(read_by::<f64>(5, "diagonal:300000", &options, None, Pieces::default()).is_ok());
    // What is given to one rank may be too much for it.
    let given = Partition::new([0, 300_000, 300_000, 300_000, 300_000, 300_000]).unwrap();
    let fault = read_by::<f64>(5, "diagonal:300000", &options, Some(&given), Pieces::default()).unwrap_err();
    assert!(fault.contains("65537 entries"), "{fault}");
}
