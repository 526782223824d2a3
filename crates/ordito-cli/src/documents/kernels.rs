//! The tables of kernels are made from the registry. `UPDATE_DOCS=1 cargo test -p ordito-cli documents` rewrites them.

use super::root;
use crate::operations::{Listed, OPERATIONS, Operation};
use std::fs;
use std::path::{Path, PathBuf};

const PAGE: &str = "docs/ladders.md";
const END: &str = "<!-- end -->";

/// The table of an operation: every variant, its file, what it does.
fn table(operation: &dyn Operation, sources: &[(PathBuf, String)]) -> String {
    let mut table = String::from("| name | file | who does which work |\n|---|---|---|\n");
    for variant in operation.catalogue(None) {
        let Some(file) = file(&variant, sources) else { continue };
        table += &format!("| `{}` | [{file}](../{file}) | {} |\n", variant.name, variant.about);
    }
    table
}

/// The file of a variant, from the root; `auto` has none, being a choice among the others.
fn file(variant: &Listed, sources: &[(PathBuf, String)]) -> Option<String> {
    let text = variant.source?;
    // A variant that is spread over several files begins with its own.
    let begins = sources.iter().filter(|(_, source)| !source.is_empty() && text.starts_with(source.as_str()));
    let found = begins.max_by_key(|(_, source)| source.len());
    let (path, _) = found.unwrap_or_else(|| panic!("{}: its source is no file", variant.name));
    Some(path.to_string_lossy().replace('\\', "/"))
}

#[test]
#[cfg_attr(feature = "wrong-variant", ignore = "the list then holds one that is wrong on purpose")]
fn the_tables_are_those_of_the_registry() {
    let page = fs::read_to_string(root().join(PAGE)).unwrap();
    let sources = sources(&root(), Path::new("crates"));
    let mut made = page.clone();
    for operation in OPERATIONS {
        let begin = format!("<!-- kernels:{} -->\n", operation.name());
        let (before, rest) = made.split_once(&begin).unwrap_or_else(|| panic!("{PAGE} has no {begin}"));
        let (_, after) = rest.split_once(END).unwrap_or_else(|| panic!("{PAGE}: {begin} has no {END}"));
        made = format!("{before}{begin}{}{END}{after}", table(*operation, &sources));
    }
    if std::env::var("UPDATE_DOCS").is_ok_and(|wish| wish == "1") {
        fs::write(root().join(PAGE), made).unwrap();
        return;
    }
    let same = page == made;
    assert!(same, "{PAGE} is not what the registry says: UPDATE_DOCS=1 cargo test -p ordito-cli documents");
}

/// Every Rust and CUDA file below a folder, as a path from the root, with its text.
fn sources(root: &Path, folder: &Path) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(root.join(folder)).unwrap() {
        let path = folder.join(entry.unwrap().file_name());
        if root.join(&path).is_dir() {
            found.extend(sources(root, &path));
        } else if path.extension().is_some_and(|extension| extension == "rs" || extension == "cu") {
            let text = fs::read_to_string(root.join(&path)).unwrap();
            found.push((path, text));
        }
    }
    found
}
