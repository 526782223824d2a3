//! The program itself, as a user runs it.

use std::process::{Command, Output};

/// Runs `ordito` in a folder of its own, on a machine without a GPU.
pub(crate) fn ordito(folder: &tempfile::TempDir, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_ordito"))
        .args(arguments)
        .current_dir(folder)
        .env("ORDITO_CACHE_DIR", folder.path().join("cache"))
        .env("CUDA_VISIBLE_DEVICES", "") // what these tests expect does not depend on a GPU
        .env_remove("ORDITO_REQUIRE_GPU")
        .output()
        .unwrap()
}

/// The records on standard output.
pub(crate) fn json_lines(output: &Output) -> Vec<serde_json::Value> {
    let text = std::str::from_utf8(&output.stdout).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}
