//! What a variant is, is data: its name stands in its description, and nothing that ships reads anything out of a name.

#![allow(clippy::unwrap_used, clippy::panic)]

use ordito_bench::catalogue;
use std::fs;
use std::path::{Path, PathBuf};

/// Ways to take a name apart.
const TAKES_APART: &[&str] = &[
    "starts_with(",
    "ends_with(",
    "contains(",
    "strip_prefix(",
    "strip_suffix(",
    "split_once(",
    "trim_start_matches(",
    "trim_end_matches(",
];

/// What names are made of: formats, places and libraries.
const PARTS: &[&str] = &[
    "csr",
    "ell",
    "sell",
    "groups",
    "diagonals",
    "dense",
    "serial",
    "threads",
    "cuda",
    "cusparse",
    "cublas",
    "wrong",
    "sorted",
    "upload",
    "tile",
];

fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(rust_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files
}

/// Only what ships: neither tests nor prose.
fn shipped(file: &Path) -> String {
    let name = file.file_name().unwrap().to_str().unwrap();
    let in_tests = file.components().any(|part| part.as_os_str() == "tests");
    if in_tests || ["tests.rs", "testing.rs", "gallery.rs"].contains(&name) {
        return String::new();
    }
    let text = fs::read_to_string(file).unwrap();
    let end = text.match_indices("#[cfg(test)]\n").map(|(at, _)| at).find(|&at| is_module(&text[at..]));
    let code = &text[..end.unwrap_or(text.len())];
    code.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}

/// Does a module with a body follow the attribute?
fn is_module(text: &str) -> bool {
    let line = text.lines().nth(1).unwrap_or_default();
    line.contains("mod ") && line.ends_with('{')
}

fn sources() -> Vec<(PathBuf, String)> {
    let mut sources = Vec::new();
    for name in ["ordito", "ordito-chart", "ordito-bench", "ordito-eeg", "ordito-cli"] {
        for file in rust_files(&crates().join(name).join("src")) {
            let code = shipped(&file);
            sources.push((file, code));
        }
    }
    assert!(sources.len() > 300, "only {} files were found", sources.len());
    sources
}

/// The files in which a description of that name may stand: the one it names, and that of the kernel's Rust side, which
/// stands beside a `.cu` file.
fn is_at_home(file: &Path, described_in: &str) -> bool {
    let (here, home) =
        (file.canonicalize().unwrap(), crates().join("..").join(described_in).canonicalize().unwrap());
    here == home
        || (home.extension().is_some_and(|extension| extension == "cu") && here.parent() == home.parent())
}

#[test]
fn a_name_stands_in_its_description_alone() {
    let sources = sources();
    let mut faults = Vec::new();
    for (op, description) in catalogue::all() {
        let literal = format!("\"{}\"", description.name);
        for (file, _) in sources.iter().filter(|(_, code)| code.contains(&literal)) {
            // Other operations may have a variant of that name, and conversions are written in the library.
            let mut homes = catalogue::all().filter(|(_, other)| other.name == description.name);
            let at_home = homes.any(|(_, other)| is_at_home(file, other.file));
            if !at_home && !file.ends_with("convert/counting_csr.rs") {
                faults.push(format!("{}: {literal} of {op}", file.display()));
            }
        }
    }
    assert!(faults.is_empty(), "use the description's name instead:\n{}", faults.join("\n"));
}

#[test]
fn nothing_takes_a_name_apart() {
    let mut faults = Vec::new();
    for (file, code) in sources() {
        for line in code.lines() {
            for way in TAKES_APART {
                for (at, _) in line.match_indices(way) {
                    let rest = &line[at + way.len()..];
                    let Some(literal) = rest.strip_prefix('"').and_then(|rest| rest.split('"').next()) else {
                        continue;
                    };
                    let mut parts = literal.split('-');
                    if parts.any(|part| PARTS.contains(&part)) {
                        faults.push(format!("{}: {}", file.display(), line.trim()));
                    }
                }
            }
        }
    }
    assert!(faults.is_empty(), "ask the description instead:\n{}", faults.join("\n"));
}
