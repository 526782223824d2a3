//! What holds for every file and every name: nothing panics, nothing is lost.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)] // in helpers of tests too

use ordito::io::matrix_market::{Layout, WriteOptions};
use ordito::io::npy::Conversion;
use ordito::io::{
    ReadOptions, load, read_matrix_market, read_matrix_market_from, read_npy, write_matrix_market, write_npy,
};
use ordito::matrix::Duplicates;
use ordito::matrix::{Coo, Csr, Dense};
use proptest::collection::vec;
use proptest::prelude::*;
use std::fs;
use std::path::Path;

const KEEP: ReadOptions = ReadOptions { duplicates: Duplicates::Keep, max_bytes: u64::MAX, seed: 0 };

/// Any bits but NaN, whose payload text does not carry.
fn any_f64() -> impl Strategy<Value = f64> + Clone {
    any::<u64>().prop_map(f64::from_bits).prop_map(|x| if x.is_nan() { -0.0 } else { x })
}

fn any_f32() -> impl Strategy<Value = f32> + Clone {
    any::<u32>().prop_map(f32::from_bits).prop_map(|x| if x.is_nan() { -0.0 } else { x })
}

/// Small matrices with unsorted and duplicate entries.
fn matrices<S: ordito::Scalar>(value: impl Strategy<Value = S> + Clone) -> impl Strategy<Value = Coo<S>> {
    (1usize..20, 1usize..20).prop_flat_map(move |(rows, cols)| {
        vec((0..rows as u32, 0..cols as u32, value.clone()), 0..40).prop_map(move |entries| {
            let rows_of = entries.iter().map(|entry| entry.0).collect();
            let cols_of = entries.iter().map(|entry| entry.1).collect();
            Coo::new(rows, cols, rows_of, cols_of, entries.iter().map(|entry| entry.2).collect()).unwrap()
        })
    })
}

fn same_bits<S: ordito::Scalar>(a: &Coo<S>, b: &Coo<S>) -> bool {
    (a.rows(), a.cols(), a.row_indices(), a.col_indices())
        == (b.rows(), b.cols(), b.row_indices(), b.col_indices())
        && bytemuck::cast_slice::<S, u8>(a.values()) == bytemuck::cast_slice::<S, u8>(b.values())
}

fn round_trip<S: ordito::Scalar>(coo: &Coo<S>, name: &str, layout: Layout) -> Coo<S> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    write_matrix_market(coo, &path, &WriteOptions { layout, comment: "for a test".into() }).unwrap();
    read_matrix_market(&path, &KEEP).unwrap().coo
}

const VALID: &[&str] = &[
    "%%MatrixMarket matrix coordinate real general\n% a comment\n3 4 4\n1 1 1.5\n2 3 -2e-3\n3 4 1.0D+02\n1 1 .5\n",
    "%%MatrixMarket matrix coordinate integer symmetric\n3 3 3\n1 1 7\n2 1 -18\n3 3 9223372036854775807\n",
    "%%MatrixMarket matrix coordinate pattern general\r\n\r\n5 5 2\r\n1 5\r\n5 1\r\n",
    "%%MatrixMarket matrix array real skew-symmetric\n3 3\n1\n2\n3\n",
    "%%MatrixMarket vector coordinate real general\n4 2\n1 1\n4 inf\n",
];

/// Reads in every way; only that it returns matters, and that errors stay on one line.
fn read_whatever(bytes: &[u8]) {
    for options in [ReadOptions { max_bytes: 1 << 24, ..ReadOptions::default() }, KEEP] {
        if let Err(error) = read_matrix_market_from::<f64>(bytes, Path::new("x"), &options) {
            assert!(!error.to_string().contains(['\n', '\r']), "{error}");
        }
    }
    let _ = read_matrix_market_from::<f32>(bytes, Path::new("x"), &KEEP);
}

proptest! {
    #[test]
    fn written_matrices_read_back_bit_for_bit(double in matrices(any_f64()), single in matrices(any_f32())) {
        for name in ["a.mtx", "a.mtx.gz"] {
            prop_assert!(same_bits(&round_trip(&double, name, Layout::General), &double));
            prop_assert!(same_bits(&round_trip(&single, name, Layout::General), &single));
        }
    }

    #[test]
    fn symmetric_files_give_the_matrix_back(half in matrices(any_f64())) {
        let side = half.rows().max(half.cols());
        let summed = Csr::from_coo(&half, Duplicates::Sum).to_coo();
        let (mut rows, mut cols, mut values) = (Vec::new(), Vec::new(), Vec::new());
        for (row, col, value) in summed.entries().filter(|entry| entry.0 >= entry.1 && !entry.2.is_nan()) {
            rows.push(row); cols.push(col); values.push(value);
            if row != col {
                rows.push(col); cols.push(row); values.push(value);
            }
        }
        let coo = Coo::new(side, side, rows, cols, values).unwrap();
        let back = round_trip(&coo, "a.mtx", Layout::Symmetric);
        let sorted = |coo: &Coo<f64>| Csr::from_coo(coo, Duplicates::Keep).to_coo();
        prop_assert!(same_bits(&sorted(&back), &sorted(&coo)));
    }

    #[test]
    fn duplicates_are_summed_as_csr_does(coo in matrices((-9i8..9).prop_map(f64::from))) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.mtx");
        write_matrix_market(&coo, &path, &WriteOptions::default()).unwrap();
        let file = read_matrix_market::<f64>(&path, &ReadOptions::default()).unwrap();
        let summed = Csr::from_coo(&coo, Duplicates::Sum).to_coo();
        prop_assert_eq!(file.merged_duplicates, coo.nnz() - summed.nnz());
        prop_assert_eq!(&file.coo, if file.merged_duplicates > 0 { &summed } else { &coo });
    }

    #[test]
    fn mutated_files_never_panic(
        which in 0..VALID.len(),
        changes in vec((any::<prop::sample::Index>(), any::<u8>(), 0..4), 1..6),
    ) {
        let mut bytes = VALID[which].as_bytes().to_vec();
        for (place, byte, kind) in changes {
            let place = place.index(bytes.len());
            match kind {
                0 => bytes[place] = byte,
                1 => bytes.insert(place, byte),
                2 => bytes[place] = b"0123456789 \n-+.eEnx%"[usize::from(byte) % 20],
                _ if bytes.len() > 1 => { bytes.remove(place); }
                _ => {}
            }
        }
        read_whatever(&bytes);
    }

    #[test]
    fn random_bytes_never_panic(bytes in vec(any::<u8>(), 0..300), gzip in any::<bool>()) {
        read_whatever(&if gzip { [&[0x1f, 0x8b, 8][..], &bytes].concat() } else { bytes.clone() });
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.npy");
        for start in [&b""[..], b"\x93NUMPY\x01\x00", b"\x93NUMPY\x01\x00\x20\x00{'descr':'<f8','shape':("] {
            fs::write(&path, [start, &bytes].concat()).unwrap();
            if let Err(error) = read_npy::<f64>(&path, Conversion::Allow) {
                prop_assert!(!error.to_string().contains('\n'));
            }
        }
    }

    #[test]
    fn truncated_and_damaged_gzip_never_panics(coo in matrices(any_f64()), place in any::<prop::sample::Index>(), byte: u8) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.mtx.gz");
        write_matrix_market(&coo, &path, &WriteOptions::default()).unwrap();
        let mut bytes = fs::read(&path).unwrap();
        let place = place.index(bytes.len());
        let cut = read_matrix_market_from::<f64>(&bytes[..place], Path::new("x"), &KEEP);
        prop_assert!(cut.unwrap_err().to_string().contains("line "));
        bytes[place] = byte;
        read_whatever(&bytes);
    }

    #[test]
    fn npy_files_give_the_matrix_back(rows in 0usize..9, cols in 0usize..9, bits in vec(any::<u64>(), 81)) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.npy");
        let double: Vec<f64> = bits[..rows * cols].iter().map(|&bits| f64::from_bits(bits)).collect();
        let single: Vec<f32> = bits[..rows * cols].iter().map(|&bits| f32::from_bits(bits as u32)).collect();
        write_npy(Dense::from_rows(rows, cols, double.clone()).unwrap().view(), &path).unwrap();
        let back = read_npy::<f64>(&path, Conversion::Refuse).unwrap();
        prop_assert_eq!((back.rows(), back.cols()), (rows, cols));
        prop_assert_eq!(bytemuck::cast_slice::<f64, u64>(back.data()), &bits[..rows * cols]);
        write_npy(Dense::from_rows(rows, cols, single.clone()).unwrap().view(), &path).unwrap();
        let back = read_npy::<f32>(&path, Conversion::Refuse).unwrap();
        prop_assert_eq!(bytemuck::cast_slice::<f32, u32>(back.data()), bytemuck::cast_slice::<f32, u32>(&single));
    }

    #[test]
    fn any_name_gives_a_matrix_or_a_sentence(name in "(stencil27|stencil5|uniform|powerlaw|band|blocks|diagonal|empty|x)?:?[0-9x]{0,6}", seed: u64) {
        let options = ReadOptions { max_bytes: 1 << 20, seed, ..ReadOptions::default() };
        match (load::<f32>(&name, &options), load::<f32>(&name, &options)) {
            (Ok(first), Ok(second)) => prop_assert_eq!(first, second),
            (Err(error), Err(_)) => prop_assert!(!error.to_string().contains('\n')),
            _ => prop_assert!(false, "{} differs from itself", name),
        }
    }
}
