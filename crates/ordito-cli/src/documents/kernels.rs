//! The tables of kernels are made from the registry. `UPDATE_DOCS=1 cargo test -p ordito-cli documents` rewrites them.

use super::root;
use crate::operations::{OPERATIONS, Operation};
use std::fs;

const PAGE: &str = "docs/ladders.md";
const END: &str = "<!-- end -->";

/// The table of an operation: every variant, its file, what it does, its names of old. `auto` is none of them.
fn table(operation: &dyn Operation) -> String {
    let mut table = String::from("| name | file | who does which work | known as |\n|---|---|---|---|\n");
    for description in operation.catalogue(None).iter().filter_map(|listed| listed.description) {
        let (name, file, about) = (description.name, description.file, description.about);
        let known_as: Vec<String> = description.known_as.iter().map(|name| format!("`{name}`")).collect();
        table += &format!("| `{name}` | [{file}](../{file}) | {about} | {} |\n", known_as.join(", "));
    }
    table
}

#[test]
#[cfg_attr(feature = "wrong-variant", ignore = "the list then holds one that is wrong on purpose")]
fn the_tables_are_those_of_the_registry() {
    let page = fs::read_to_string(root().join(PAGE)).unwrap();
    let mut made = page.clone();
    for operation in OPERATIONS {
        let begin = format!("<!-- kernels:{} -->\n", operation.name());
        let (before, rest) = made.split_once(&begin).unwrap_or_else(|| panic!("{PAGE} has no {begin}"));
        let (_, after) = rest.split_once(END).unwrap_or_else(|| panic!("{PAGE}: {begin} has no {END}"));
        made = format!("{before}{begin}{}{END}{after}", table(*operation));
    }
    if std::env::var("UPDATE_DOCS").is_ok_and(|wish| wish == "1") {
        fs::write(root().join(PAGE), made).unwrap();
        return;
    }
    let same = page == made;
    assert!(same, "{PAGE} is not what the registry says: UPDATE_DOCS=1 cargo test -p ordito-cli documents");
}
