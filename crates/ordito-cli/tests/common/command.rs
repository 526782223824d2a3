//! The program itself, as a user runs it.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A cache that is kept between runs and shared by tests that neither look into it nor tune: it holds the machine's ceilings, which
/// take seconds to measure.
pub(crate) fn shared_cache() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache")
}

/// Runs `ordito` in a folder of its own, on a machine without a GPU. The cache is shared, unless the folder has one.
pub(crate) fn ordito(folder: &tempfile::TempDir, arguments: &[&str]) -> Output {
    let own_cache = folder.path().join("cache");
    let cache = if own_cache.exists() { own_cache } else { shared_cache() };
    Command::new(env!("CARGO_BIN_EXE_ordito"))
        .args(arguments)
        .current_dir(folder)
        .env("ORDITO_CACHE_DIR", cache)
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
