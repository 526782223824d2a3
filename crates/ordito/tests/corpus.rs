//! Real files, good and bad, where they are at hand: `../shared/data`, or the folder that `ORDITO_CORPUS` names.
//! Without them these tests say that they were skipped.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)] // in helpers of tests too

use ordito::io::matrix_market::{Header, MatrixMarket, Symmetry};
use ordito::io::{ReadError, ReadOptions, read_matrix_market};
use ordito::matrix::Coo;
use ordito::matrix::Duplicates;
use std::fs;
use std::path::{Path, PathBuf};

/// A folder of the corpus, sorted by name.
fn corpus(folder: &str) -> Option<Vec<PathBuf>> {
    let data = match std::env::var_os("ORDITO_CORPUS") {
        Some(data) => PathBuf::from(data),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"),
    };
    let Ok(files) = fs::read_dir(data.join(folder)) else {
        println!("skipped: no {folder} in {}; set ORDITO_CORPUS", data.display());
        return None;
    };
    let mut files: Vec<PathBuf> = files.map(|file| file.unwrap().path()).collect();
    files.sort();
    Some(files)
}

fn name(path: &Path) -> String {
    path.file_name().unwrap().to_string_lossy().into_owned()
}

fn read(path: &Path) -> Result<MatrixMarket<f64>, ReadError> {
    read_matrix_market(path, &ReadOptions::default())
}

/// Row-major, duplicates summed.
fn dense(coo: &Coo<f64>) -> Vec<f64> {
    let mut elements = vec![0.0; coo.rows() * coo.cols()];
    for (row, col, value) in coo.entries() {
        elements[row as usize * coo.cols() + col as usize] += value;
    }
    elements
}

/// What the header promises is what the matrix has.
fn check_counts(name: &str, header: &Header, coo: &Coo<f64>, merged: usize) {
    assert_eq!((coo.rows(), coo.cols()), (header.rows, header.cols), "{name}");
    let diagonal = coo.entries().filter(|(row, col, _)| row == col).count();
    let mirrored = match header.symmetry {
        Symmetry::General => 0,
        _ if merged > 0 => return,
        _ => (coo.nnz() - diagonal) / 2,
    };
    assert_eq!(coo.nnz() + merged, header.entries as usize + mirrored, "{name}");
}

/// Rows, columns and entries after expansion, from the description of the corpus or counted independently.
const KNOWN: &[(&str, usize, usize, usize)] = &[
    ("ash958.mtx", 958, 292, 1916),
    ("cage4.mtx", 9, 9, 49),
    ("cnr-2000.mtx.gz", 325557, 325557, 3216152),
    ("CONT-300_A.mtx.gz", 180895, 90597, 539396),
    ("zenios.mtx.gz", 2873, 2873, 27191),
    ("bcsstk17.mtx.gz", 10974, 10974, 428650),
];

#[test]
fn every_matrix_of_the_collections_is_read() {
    let Some(files) = corpus("mtx") else { return };
    assert!(files.len() >= 32);
    let mut known = 0;
    for path in files {
        let name = name(&path);
        let file = read(&path).unwrap_or_else(|error| panic!("{error}"));
        check_counts(&name, &file.header, &file.coo, file.merged_duplicates);
        let found = (file.coo.rows(), file.coo.cols(), file.coo.nnz());
        if let Some(&(_, rows, cols, nonzeros)) = KNOWN.iter().find(|known| known.0 == name) {
            assert_eq!(found, (rows, cols, nonzeros), "{name}");
            known += 1;
        }
        match name.as_str() {
            "zenios.mtx.gz" => {
                assert_eq!(file.coo.values().iter().filter(|&&value| value == 0.0).count(), 25877);
            }
            "BOYD1_A.mtx.gz" => assert_eq!(file.coo.row_lengths().into_iter().max(), Some(93261)),
            "cnr-2000.mtx.gz" => {
                assert_eq!(file.coo.row_lengths().into_iter().filter(|&length| length == 0).count(), 78056);
            }
            _ => {}
        }
        if fs::metadata(&path).unwrap().len() > 300_000 {
            continue; // once is enough
        }
        let kept = ReadOptions { duplicates: Duplicates::Keep, ..ReadOptions::default() };
        let kept = read_matrix_market::<f64>(&path, &kept).unwrap().coo.nnz();
        assert_eq!(kept, file.coo.nnz() + file.merged_duplicates, "{name}");
    }
    assert_eq!(known, KNOWN.len());
}

/// Sound files that hold what is not computed with here, by a part of their name.
const REFUSED: &[&str] = &["complex", "hermitian"];
/// Sound real files whose name says otherwise.
const READ_NEVERTHELESS: &[&str] = &["hermitian_real_row_general"];

#[test]
fn every_sound_file_is_read_or_refused_by_rule() {
    let Some(files) = corpus("odd/valid") else { return };
    let (mut read_count, mut refused_count) = (0, 0);
    for path in files {
        let name = name(&path);
        let contains = |parts: &[&str]| parts.iter().any(|part| name.contains(part));
        // Complex general twins of the hermitian files are refused for their field.
        let by_rule = contains(REFUSED) && !contains(READ_NEVERTHELESS);
        match read(&path) {
            Ok(file) => {
                assert!(!by_rule, "{name} should be refused");
                check_counts(&name, &file.header, &file.coo, file.merged_duplicates);
                read_count += 1;
            }
            Err(error) => {
                assert!(by_rule, "{error}");
                assert!(matches!(error, ReadError::Unsupported { line: 1, .. }), "{error}");
                assert!(error.to_string().contains("line 1: "), "{error}");
                refused_count += 1;
            }
        }
    }
    println!("{read_count} read, {refused_count} refused");
    assert!(read_count > 50 && refused_count > 10);
}

#[test]
fn symmetric_files_equal_their_general_twins() {
    let Some(files) = corpus("odd/valid") else { return };
    let mut pairs = 0;
    for general in files.iter().filter(|path| name(path).ends_with("_general.mtx")) {
        let symmetric = general.with_file_name(name(general).replace("_general.mtx", ".mtx"));
        if let (Ok(general), Ok(symmetric)) = (read(general), read(&symmetric)) {
            assert_eq!(dense(&general.coo), dense(&symmetric.coo), "{}", symmetric.header);
            pairs += 1;
        }
    }
    if files.iter().any(|path| name(path).ends_with("_general.mtx")) {
        assert!(pairs >= 5, "{pairs} pairs");
    }
}

/// Dialects, and files that are only too much for smaller number types than ours.
const READABLE: &[&str] = &["dialect__", "permissive", "bodycomment__", "index_gt_int8", "value_gt_int32"];

#[test]
fn every_malformed_file_is_refused_with_its_line() {
    let Some(files) = corpus("odd/malformed") else { return };
    for path in files {
        let name = name(&path);
        let readable = READABLE.iter().any(|part| name.contains(part)) && !name.contains("complex");
        match read(&path) {
            Ok(file) => {
                assert!(readable, "{name} should be refused");
                check_counts(&name, &file.header, &file.coo, file.merged_duplicates);
            }
            Err(error) => {
                let text = error.to_string();
                assert!(!readable, "{text}");
                assert!(!text.contains('\n'), "{text}");
                let after = text.split_once(": line ").unwrap_or_else(|| panic!("no line: {text}")).1;
                assert!(after.starts_with(|first: char| ('1'..='9').contains(&first)), "{text}");
                println!("{}", text.rsplit('/').next().unwrap());
                if name.contains("zerobased") {
                    assert!(text.contains("zero-based"), "{text}");
                }
            }
        }
    }
}
