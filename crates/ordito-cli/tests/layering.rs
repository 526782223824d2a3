//! Data flow one way: a crate uses only crates below it, a room only rooms that stand above it in its list.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

use std::fs;
use std::path::{Path, PathBuf};

/// A crate, and the crates of this house that it may use.
const CRATES: &[(&str, &[&str])] = &[
    ("ordito", &[]),
    ("ordito-chart", &["ordito"]),
    ("ordito-bench", &["ordito", "ordito-chart"]),
    ("ordito-eeg", &["ordito", "ordito-chart"]),
    ("ordito-cli", &["ordito", "ordito-chart", "ordito-bench", "ordito-eeg"]),
];

/// A folder, and its rooms: each uses only those before it.
const FOLDERS: &[(&str, &[&str])] = &[(
    "ordito/src",
    &[
        "simd",
        "scalar",
        "units",
        "files",
        "matrix",
        "refusal",
        "cpu",
        "io",
        "device",
        "machine",
        "op",
        "spmm",
        "gemm",
        "column_stats",
    ],
)];

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

/// A file that only tests use: `tests.rs`, `testing.rs`, or one in a folder `tests`.
fn is_test(file: &Path) -> bool {
    file.ends_with("tests.rs")
        || file.ends_with("testing.rs")
        || file.components().any(|part| part.as_os_str() == "tests")
}

/// Only what ships: tests of a room may use anything, and so may prose.
fn shipped(text: &str) -> String {
    let code = text.split("#[cfg(test)]\nmod tests").next().unwrap();
    code.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}

/// First names behind `prefix` in the code, also inside braces: `crate::{Scalar, op::Op}` has `Scalar` and `op`.
fn names_behind<'a>(code: &'a str, prefix: &str) -> Vec<&'a str> {
    let mut names = Vec::new();
    for (at, _) in code.match_indices(prefix) {
        let rest = &code[at + prefix.len()..];
        let mut depth = 0;
        let mut starts = vec![0];
        if rest.starts_with('{') {
            starts = vec![1];
            for (place, character) in rest.char_indices() {
                match character {
                    '{' => depth += 1,
                    '}' if depth == 1 => break,
                    '}' => depth -= 1,
                    ',' if depth == 1 => starts.push(place + 1),
                    _ => {}
                }
            }
        }
        for start in starts {
            let name = rest[start..].trim_start();
            let end = name.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(name.len());
            names.push(&name[..end]);
        }
    }
    names
}

/// Imports that run backwards, of all files of a folder.
fn faults_of_folder(folder: &str, rooms: &[&str], faults: &mut Vec<String>) -> usize {
    let root = crates().join(folder);
    let (_, inside) = folder.split_once("/src").unwrap();
    let prefix = format!("crate{}::", inside.replace('/', "::"));
    let mut checked = 0;
    for file in rust_files(&root) {
        let below = file.strip_prefix(&root).unwrap();
        let first = below.components().next().unwrap().as_os_str().to_str().unwrap();
        let name = first.trim_end_matches(".rs");
        if is_test(below) || ["lib", "mod", "main", "error"].contains(&name) {
            continue;
        }
        let Some(room) = rooms.iter().position(|room| *room == name) else {
            faults.push(format!("{} stands in no room of {folder}", file.display()));
            continue;
        };
        checked += 1;
        let code = shipped(&fs::read_to_string(&file).unwrap());
        for used in names_behind(&code, &prefix) {
            if rooms.iter().position(|other| *other == used).is_some_and(|used| used > room) {
                faults.push(format!("{folder}/{} uses {used}, which stands below {name}", below.display()));
            }
        }
    }
    checked
}

#[test]
fn rooms_use_only_rooms_above_them() {
    let mut faults = Vec::new();
    for (folder, rooms) in FOLDERS {
        let checked = faults_of_folder(folder, rooms, &mut faults);
        assert!(checked >= rooms.len(), "{folder}: only {checked} files were found");
    }
    assert!(faults.is_empty(), "{} backward imports:\n{}", faults.len(), faults.join("\n"));
}

#[test]
fn crates_use_only_crates_below_them() {
    for (name, below) in CRATES {
        let manifest = fs::read_to_string(crates().join(name).join("Cargo.toml")).unwrap();
        let dependencies = manifest.split("[dependencies]").nth(1).unwrap().split("\n[").next().unwrap();
        for (other, _) in CRATES {
            let asks = dependencies.lines().any(|line| line.starts_with(&format!("{other} =")));
            assert!(!asks || below.contains(other), "{name} depends on {other}");
        }
        for file in rust_files(&crates().join(name).join("src")) {
            let code = shipped(&fs::read_to_string(&file).unwrap());
            for (other, _) in CRATES.iter().filter(|(other, _)| other != name && !below.contains(other)) {
                let path = format!("{}::", other.replace('-', "_"));
                let used = code
                    .match_indices(&path)
                    .any(|(at, _)| !code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_'));
                assert!(!used, "{} uses {other}", file.display());
            }
        }
    }
    let known: Vec<&str> = CRATES.iter().map(|(name, _)| *name).collect();
    for entry in fs::read_dir(crates()).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(known.contains(&name.as_str()), "crates/{name} has no place in this test");
    }
}

#[test]
fn the_check_sees_every_way_to_write_a_path() {
    assert_eq!(names_behind("use crate::cpu::Pool;", "crate::"), ["cpu"]);
    assert_eq!(
        names_behind("use crate::{Scalar, op::{Op, Variant}, spmm::Plan};", "crate::"),
        ["Scalar", "op", "spmm"]
    );
    assert!(
        names_behind(&shipped("/// crate::spmm\n#[cfg(test)]\nmod tests { use crate::spmm; }"), "crate::")
            .is_empty()
    );
}
