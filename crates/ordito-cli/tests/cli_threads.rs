//! How many threads a command uses: `--threads`, `ORDITO_THREADS`, all cores.

#![allow(clippy::unwrap_used, clippy::panic)] // in helpers of tests too

use std::process::{Command, Output};

fn ordito(arguments: &[&str], wish: &str) -> Output {
    let cache = tempfile::tempdir().unwrap();
    Command::new(env!("CARGO_BIN_EXE_ordito"))
        .args(arguments)
        .env("ORDITO_CACHE_DIR", cache.path())
        .env("CUDA_VISIBLE_DEVICES", "")
        .env("ORDITO_THREADS", wish)
        .output()
        .unwrap()
}

/// With how many threads a product was timed.
fn threads(arguments: &[&str], wish: &str) -> u64 {
    let bench = ["bench", "spmm", "stencil5:10", "--on", "cpu", "--variant", "csr-threads-nnz", "--k", "2"];
    let output = ordito(&[&bench[..], &["--samples", "1", "--json"], arguments].concat(), wish);
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    let records: Vec<serde_json::Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let threads: Vec<u64> = records.iter().filter_map(|record| record["threads"].as_u64()).collect();
    assert_eq!(threads.len(), 1, "{text}");
    threads[0]
}

#[test]
fn the_variable_counts_where_nothing_is_said() {
    let cores = std::thread::available_parallelism().unwrap().get() as u64;
    assert_eq!(threads(&[], ""), cores);
    assert_eq!(threads(&[], "3"), 3);
    assert_eq!(threads(&["--threads", "2"], "3"), 2);
    assert_eq!(threads(&["--threads", "2"], "none at all"), 2, "nobody asks for it");
}

#[test]
fn what_is_no_number_of_threads_is_told() {
    let most = 32 * std::thread::available_parallelism().unwrap().get();
    for wrong in ["0", "two", "1000000"] {
        let told =
            format!("ORDITO_THREADS={wrong}: between 1 and {most} threads can be asked for on this computer");
        let verify = ordito(&["verify", "spmm", "stencil5:3", "--on", "cpu"], wrong);
        assert_eq!(verify.status.code(), Some(2), "{verify:?}");
        assert_eq!(String::from_utf8_lossy(&verify.stderr).trim(), format!("error: {told}"));
        let doctor = ordito(&["doctor"], wrong);
        assert_eq!(doctor.status.code(), Some(1), "{doctor:?}");
        assert!(
            String::from_utf8_lossy(&doctor.stdout).contains(&format!("bad  threads    {told}")),
            "{doctor:?}"
        );
    }
}
