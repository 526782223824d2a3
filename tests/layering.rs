//! Data flows one way through the rooms: a room uses only rooms that stand above it in this list.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

use std::fs;
use std::path::{Path, PathBuf};

const ROOMS: &[&str] = &[
    "scalar",
    "units",
    "matrix",
    "io",
    "machine",
    "ops",
    "check",
    "sample",
    "report",
    "erp",
    "workbench",
    "cli",
];

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

/// The room that a file belongs to; `None` for `lib.rs` and `main.rs`.
fn room_of(file: &Path, source: &Path) -> Option<usize> {
    let first = file.strip_prefix(source).unwrap().components().next().unwrap();
    let name = first.as_os_str().to_str().unwrap().trim_end_matches(".rs");
    ROOMS.iter().position(|room| *room == name)
}

/// Rooms that code mentions as `crate::room`, in the file or inside braces after `crate::`.
fn rooms_used(code: &str) -> Vec<usize> {
    let mut used = Vec::new();
    for (at, _) in code.match_indices("crate::") {
        let rest = &code[at + "crate::".len()..];
        let names: Vec<&str> = match rest.strip_prefix('{') {
            Some(list) => list.split('}').next().unwrap().split(',').map(str::trim).collect(),
            None => vec![rest],
        };
        for name in names {
            let end = name.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(name.len());
            used.extend(ROOMS.iter().position(|room| *room == &name[..end]));
        }
    }
    used
}

/// A file that only tests use: `tests.rs`, or one in a folder `tests`.
fn is_test(file: &Path) -> bool {
    file.ends_with("tests.rs") || file.components().any(|part| part.as_os_str() == "tests")
}

/// Only what ships: tests of a room may use anything, and so may prose.
fn shipped(text: &str) -> String {
    let code = text.split("#[cfg(test)]\nmod tests").next().unwrap();
    code.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}

#[test]
fn rooms_use_only_rooms_above_them() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut faults = Vec::new();
    let mut checked = 0;
    for file in rust_files(&source).into_iter().filter(|file| !is_test(file.strip_prefix(&source).unwrap())) {
        let Some(room) = room_of(&file, &source) else {
            let name = file.file_name().unwrap().to_str().unwrap();
            assert!(["lib.rs", "main.rs"].contains(&name), "{} stands in no room", file.display());
            continue;
        };
        checked += 1;
        for used in rooms_used(&shipped(&fs::read_to_string(&file).unwrap())) {
            if used > room {
                faults.push(format!("{} ({}) uses {}", file.display(), ROOMS[room], ROOMS[used]));
            }
        }
    }
    assert!(checked > 30, "only {checked} files were found");
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn the_check_sees_both_ways_to_write_a_path() {
    assert_eq!(rooms_used("use crate::cli::Console;"), [11]);
    assert_eq!(rooms_used("use crate::{Scalar, ops, report::Record};"), [5, 8]);
    assert!(
        rooms_used(&shipped("/// see crate::cli\n#[cfg(test)]\nmod tests { use crate::cli; }")).is_empty()
    );
}

#[test]
fn the_library_shows_the_rooms_in_this_order() {
    let library = include_str!("../src/lib.rs");
    let shown: Vec<&str> =
        library.lines().filter_map(|line| line.strip_prefix("pub mod ")?.strip_suffix(';')).collect();
    assert_eq!(shown, ROOMS);
}
