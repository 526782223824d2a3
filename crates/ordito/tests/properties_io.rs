//! What holds for every file and every name: nothing panics, nothing is lost.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)] // in helpers of tests too

use arbtest::arbitrary::{Result, Unstructured};
use arbtest::arbtest;
use ordito::io::matrix_market::{Layout, WriteOptions};
use ordito::io::npy::Conversion;
use ordito::io::{
    ReadOptions, load, read_matrix_market, read_matrix_market_from, read_npy, write_matrix_market, write_npy,
};
use ordito::matrix::Duplicates;
use ordito::matrix::{Coo, Csr, Dense};
use std::fs;
use std::path::Path;

const KEEP: ReadOptions = ReadOptions { duplicates: Duplicates::Keep, max_bytes: u64::MAX, seed: 0 };

/// Cases that each property is tried with at the least; many more where there is time (`ARBTEST_BUDGET_MS`, 100 by default).
const LEAST_CASES: usize = 256;

/// Checks `property` for many cases. The largest takes about 650 bytes; behind the last, all draws are the smallest.
fn check(mut property: impl FnMut(&mut Unstructured<'_>) -> Result<()>) {
    let mut cases = 0;
    while cases < LEAST_CASES {
        arbtest(|u| {
            cases += 1;
            property(u)
        })
        .size_min(1024)
        .size_max(1024);
    }
}

/// Any bits but NaN, whose payload text does not carry.
fn any_f64(u: &mut Unstructured<'_>) -> Result<f64> {
    let x = f64::from_bits(u.arbitrary()?);
    Ok(if x.is_nan() { -0.0 } else { x })
}

fn any_f32(u: &mut Unstructured<'_>) -> Result<f32> {
    let x = f32::from_bits(u.arbitrary()?);
    Ok(if x.is_nan() { -0.0 } else { x })
}

/// A whole number, so that sums are exact.
fn digit(u: &mut Unstructured<'_>) -> Result<f64> {
    Ok(f64::from(u.int_in_range(-9i8..=8)?))
}

/// A small matrix with unsorted and duplicate entries.
fn matrix<S: ordito::Scalar>(
    u: &mut Unstructured<'_>,
    value: fn(&mut Unstructured<'_>) -> Result<S>,
) -> Result<Coo<S>> {
    let (rows, cols) = (u.int_in_range(1..=19)?, u.int_in_range(1..=19)?);
    let (mut rows_of, mut cols_of, mut values) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..u.int_in_range(0..=39)? {
        rows_of.push(u.int_in_range(0..=rows - 1)?);
        cols_of.push(u.int_in_range(0..=cols - 1)?);
        values.push(value(u)?);
    }
    Ok(Coo::new(rows as usize, cols as usize, rows_of, cols_of, values).unwrap())
}

/// Names of synthetic matrices and what looks like them, each part present or not.
fn name(u: &mut Unstructured<'_>) -> Result<String> {
    let kinds = ["stencil27", "stencil5", "uniform", "powerlaw", "band", "blocks", "diagonal", "empty", "x"];
    let mut name = String::new();
    if u.arbitrary()? {
        name.push_str(u.choose(&kinds)?);
    }
    if u.arbitrary()? {
        name.push(':');
    }
    for _ in 0..u.int_in_range(0..=6)? {
        name.push(char::from(*u.choose(b"0123456789x")?));
    }
    Ok(name)
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

#[test]
fn written_matrices_read_back_bit_for_bit() {
    check(|u| {
        let (double, single) = (matrix(u, any_f64)?, matrix(u, any_f32)?);
        for name in ["a.mtx", "a.mtx.gz"] {
            assert!(same_bits(&round_trip(&double, name, Layout::General), &double));
            assert!(same_bits(&round_trip(&single, name, Layout::General), &single));
        }
        Ok(())
    });
}

#[test]
fn symmetric_files_give_the_matrix_back() {
    check(|u| {
        let half = matrix(u, any_f64)?;
        let side = half.rows().max(half.cols());
        let summed = Csr::from_coo(&half, Duplicates::Sum).to_coo();
        let (mut rows, mut cols, mut values) = (Vec::new(), Vec::new(), Vec::new());
        for (row, col, value) in summed.entries().filter(|entry| entry.0 >= entry.1 && !entry.2.is_nan()) {
            rows.push(row);
            cols.push(col);
            values.push(value);
            if row != col {
                rows.push(col);
                cols.push(row);
                values.push(value);
            }
        }
        let coo = Coo::new(side, side, rows, cols, values).unwrap();
        let back = round_trip(&coo, "a.mtx", Layout::Symmetric);
        let sorted = |coo: &Coo<f64>| Csr::from_coo(coo, Duplicates::Keep).to_coo();
        assert!(same_bits(&sorted(&back), &sorted(&coo)));
        Ok(())
    });
}

#[test]
fn duplicates_are_summed_as_csr_does() {
    check(|u| {
        let coo = matrix(u, digit)?;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.mtx");
        write_matrix_market(&coo, &path, &WriteOptions::default()).unwrap();
        let file = read_matrix_market::<f64>(&path, &ReadOptions::default()).unwrap();
        let summed = Csr::from_coo(&coo, Duplicates::Sum).to_coo();
        assert_eq!(file.merged_duplicates, coo.nnz() - summed.nnz());
        assert_eq!(&file.coo, if file.merged_duplicates > 0 { &summed } else { &coo });
        Ok(())
    });
}

#[test]
fn mutated_files_never_panic() {
    check(|u| {
        let mut bytes = u.choose(VALID)?.as_bytes().to_vec();
        for _ in 0..u.int_in_range(1..=5)? {
            let (place, byte) = (u.choose_index(bytes.len())?, u.arbitrary::<u8>()?);
            match u.int_in_range(0..=3)? {
                0 => bytes[place] = byte,
                1 => bytes.insert(place, byte),
                2 => bytes[place] = b"0123456789 \n-+.eEnx%"[usize::from(byte) % 20],
                _ if bytes.len() > 1 => {
                    bytes.remove(place);
                }
                _ => {}
            }
        }
        read_whatever(&bytes);
        Ok(())
    });
}

#[test]
fn random_bytes_never_panic() {
    check(|u| {
        let (length, gzip) = (u.int_in_range(0..=299)?, u.arbitrary()?);
        let bytes = u.bytes(length)?;
        read_whatever(&if gzip { [&[0x1f, 0x8b, 8][..], bytes].concat() } else { bytes.to_vec() });
        let folder = tempfile::tempdir().unwrap();
        for start in [&b""[..], b"\x93NUMPY\x01\x00", b"\x93NUMPY\x01\x00\x20\x00{'descr':'<f8','shape':("] {
            // Every file has a name of its own: one that replaces another may wait for the disk.
            let path = folder.path().join(format!("{}.npy", start.len()));
            fs::write(&path, [start, bytes].concat()).unwrap();
            if let Err(error) = read_npy::<f64>(&path, Conversion::Allow) {
                assert!(!error.to_string().contains('\n'));
            }
        }
        Ok(())
    });
}

#[test]
fn truncated_and_damaged_gzip_never_panics() {
    check(|u| {
        let coo = matrix(u, any_f64)?;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.mtx.gz");
        write_matrix_market(&coo, &path, &WriteOptions::default()).unwrap();
        let mut bytes = fs::read(&path).unwrap();
        let place = u.choose_index(bytes.len())?;
        let cut = read_matrix_market_from::<f64>(&bytes[..place], Path::new("x"), &KEEP);
        assert!(cut.unwrap_err().to_string().contains("line "));
        bytes[place] = u.arbitrary()?;
        read_whatever(&bytes);
        Ok(())
    });
}

#[test]
fn npy_files_give_the_matrix_back() {
    check(|u| {
        let (rows, cols) = (u.int_in_range(0..=8)?, u.int_in_range(0..=8)?);
        let bits = (0..rows * cols).map(|_| u.arbitrary()).collect::<Result<Vec<u64>>>()?;
        let folder = tempfile::tempdir().unwrap();
        // Two files: one that replaces another may wait for the disk.
        let (double_path, single_path) = (folder.path().join("double.npy"), folder.path().join("single.npy"));
        let double: Vec<f64> = bits.iter().map(|&bits| f64::from_bits(bits)).collect();
        let single: Vec<f32> = bits.iter().map(|&bits| f32::from_bits(bits as u32)).collect();
        write_npy(Dense::from_rows(rows, cols, double).unwrap().view(), &double_path).unwrap();
        let back = read_npy::<f64>(&double_path, Conversion::Refuse).unwrap();
        assert_eq!((back.rows(), back.cols()), (rows, cols));
        assert_eq!(bytemuck::cast_slice::<f64, u64>(back.data()), &bits);
        write_npy(Dense::from_rows(rows, cols, single.clone()).unwrap().view(), &single_path).unwrap();
        let back = read_npy::<f32>(&single_path, Conversion::Refuse).unwrap();
        assert_eq!(bytemuck::cast_slice::<f32, u32>(back.data()), bytemuck::cast_slice::<f32, u32>(&single));
        Ok(())
    });
}

#[test]
fn any_name_gives_a_matrix_or_a_sentence() {
    check(|u| {
        let (name, seed) = (name(u)?, u.arbitrary()?);
        let options = ReadOptions { max_bytes: 1 << 20, seed, ..ReadOptions::default() };
        match (load::<f32>(&name, &options), load::<f32>(&name, &options)) {
            (Ok(first), Ok(second)) => assert_eq!(first, second),
            (Err(error), Err(_)) => assert!(!error.to_string().contains('\n')),
            _ => panic!("{name} differs from itself"),
        }
        Ok(())
    });
}
