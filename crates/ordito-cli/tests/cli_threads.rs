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

/// With how many threads a product was computed.
fn threads(arguments: &[&str], wish: &str) -> Option<u64> {
    let output = ordito(&[&["spmm", "stencil5:10", "--k", "2", "--json"], arguments].concat(), wish);
    assert!(output.status.success(), "{output:?}");
    serde_json::from_slice::<serde_json::Value>(&output.stdout).unwrap()["threads"].as_u64()
}

#[test]
fn the_variable_counts_where_nothing_is_said() {
    let cores = std::thread::available_parallelism().unwrap().get() as u64;
    assert_eq!(threads(&[], ""), Some(cores));
    assert_eq!(threads(&[], "3"), Some(3));
    assert_eq!(threads(&["--threads", "2"], "3"), Some(2));
    assert_eq!(threads(&["--threads", "2"], "none at all"), Some(2), "nobody asks for it");
}

#[test]
fn what_is_no_number_of_threads_is_told() {
    let most = 32 * std::thread::available_parallelism().unwrap().get();
    for wrong in ["0", "two", "1000000"] {
        let output = ordito(&["verify", "spmm", "stencil5:3", "--on", "cpu"], wrong);
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        assert_eq!(
            String::from_utf8_lossy(&output.stderr),
            format!(
                "ordito: ORDITO_THREADS={wrong}: between 1 and {most} threads can be asked for on this computer\n"
            )
        );
    }
}
