//! What the documents say is held against the program: every command parses, every link leads somewhere, the tables of
//! kernels are those of the registry, and the README stays a page that one reads.

#![allow(clippy::unwrap_used, clippy::panic)]

mod commands;
mod kernels;
mod links;
mod readme;

use std::fs;
use std::path::{Path, PathBuf};

/// The folder of the workspace.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Every page for people, as a path from the root, with its text.
fn pages() -> Vec<(PathBuf, String)> {
    let alone = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "measurements/README.md"];
    let mut paths: Vec<PathBuf> = alone.iter().map(PathBuf::from).collect();
    for entry in fs::read_dir(root().join("docs")).unwrap() {
        let name = PathBuf::from(entry.unwrap().file_name());
        if name.extension().is_some_and(|extension| extension == "md") {
            paths.push(Path::new("docs").join(name));
        }
    }
    paths.sort();
    let read = |path: PathBuf| {
        let text = fs::read_to_string(root().join(&path)).unwrap();
        (path, text)
    };
    paths.into_iter().map(read).collect()
}

/// A line of a page, and the info string of the fenced block that it stands in.
struct Line<'a> {
    number: usize,
    text: &'a str,
    block: Option<&'a str>,
}

/// The lines of a page but for the fences themselves.
fn lines(page: &str) -> Vec<Line<'_>> {
    let mut block = None;
    let mut lines = Vec::new();
    for (index, text) in page.lines().enumerate() {
        match (text.trim_start().strip_prefix("```"), block) {
            (Some(info), None) => block = Some(info.trim()),
            (Some(_), Some(_)) => block = None,
            (None, _) => lines.push(Line { number: index + 1, text, block }),
        }
    }
    assert!(block.is_none(), "a fenced block is never closed");
    lines
}

/// What stands between backquotes in a line of prose or of a table.
fn inline_code(line: &str) -> impl Iterator<Item = String> + '_ {
    line.split('`').skip(1).step_by(2).map(|code| code.replace("\\|", "|"))
}
