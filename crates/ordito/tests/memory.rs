//! Memory that cannot be had is an error value, not the end of the program.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

use ordito::{Coo, Csr, Dense, Duplicates, FormatError};
use std::process::Command;

/// Set in the process that has little memory.
const TALL_FILE: &str = "ORDITO_TEST_TALL_FILE";

#[test]
fn a_file_of_a_few_bytes_that_declares_billions_of_rows_is_an_error() {
    if let Some(tall) = std::env::var_os(TALL_FILE) {
        return with_little_memory(tall.to_str().unwrap());
    }
    let folder = tempfile::tempdir().unwrap();
    let tall = folder.path().join("tall.mtx");
    let text = "%%MatrixMarket matrix coordinate real general\n4294967295 1 1\n1 1 1\n";
    std::fs::write(&tall, text).unwrap();
    let this = std::env::current_exe().unwrap();
    // 8 GB of addresses: 34 GB are not to be had on any computer.
    let script = "ulimit -v 8000000; exec \"$0\" --exact \"$1\"";
    let name = "a_file_of_a_few_bytes_that_declares_billions_of_rows_is_an_error";
    let output =
        Command::new("sh").args(["-c", script]).arg(this).arg(name).env(TALL_FILE, &tall).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

fn with_little_memory(tall: &str) {
    let said = ordito::io::read_csr::<f64>(tall).unwrap_err().to_string();
    assert!(said.ends_with("a matrix by rows would need 34.4 GB, more than there is"), "{said}");
    let many = u32::MAX as usize;
    let no_memory = |made: Result<Csr<f64>, FormatError>| {
        assert!(matches!(made, Err(FormatError::NoMemory { .. })), "{made:?}");
    };
    let rows = Coo::<f64>::empty(many, 1).unwrap();
    no_memory(Csr::try_from_coo(&rows, Duplicates::Sum));
    no_memory(Csr::try_from_owned_coo(rows, Duplicates::Sum));
    let wide = Csr::from_coo(&Coo::new(1, many, vec![0], vec![7], vec![1.0]).unwrap(), Duplicates::Sum);
    no_memory(wide.try_transpose());
    let small = Coo::new(2, 3, vec![1, 0], vec![2, 0], vec![1.0, 2.0]).unwrap();
    let a = Csr::try_from_coo(&small, Duplicates::Sum).unwrap();
    assert_eq!(a.try_transpose().unwrap(), a.transpose());
    assert!(Dense::<f64>::zeros(many, 2).is_err());
}

#[test]
fn what_has_no_elements_has_no_absurd_sides_either() {
    for (rows, cols) in [(usize::MAX, 0), (0, usize::MAX), (u32::MAX as usize + 1, 0)] {
        let error = Dense::<f64>::zeros(rows, cols).unwrap_err();
        assert!(matches!(error, FormatError::DimensionTooLarge { .. }), "{error}");
        assert!(Dense::<f64>::from_rows(rows, cols, Vec::new()).is_err());
        assert!(ordito::DenseView::<f64>::new(&[], rows, cols, cols).is_err());
    }
    assert_eq!(Dense::<f64>::zeros(3, 0).unwrap().rows(), 3);
}
