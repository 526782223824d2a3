//! What others wrote and we build: under licences that allow it, from one registry, each crate in one version. `deny.toml` says
//! what is allowed; known vulnerabilities are asked for by `cargo deny check`, which takes the network.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

const REGISTRY: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// All packages that are ever built, as cargo describes them: the members of the workspace, and whatever they lead to.
fn packages() -> Vec<Value> {
    let arguments = ["metadata", "--format-version", "1", "--locked", "--all-features"];
    let output = Command::new(env!("CARGO")).args(arguments).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let list = |value: &Value| value.as_array().unwrap().clone();
    let nodes: BTreeMap<String, Value> = list(&metadata["resolve"]["nodes"])
        .into_iter()
        .map(|node| (node["id"].as_str().unwrap().to_owned(), node))
        .collect();
    let mut open: Vec<Value> = list(&metadata["workspace_members"]);
    let mut built = BTreeSet::new();
    while let Some(id) = open.pop() {
        let id = id.as_str().unwrap();
        if built.insert(id.to_owned()) {
            open.extend(list(&nodes[id]["dependencies"]));
        }
    }
    list(&metadata["packages"])
        .into_iter()
        .filter(|package| built.contains(package["id"].as_str().unwrap()))
        .collect()
}

/// The words in quotation marks after `key =` in `deny.toml`.
fn listed(key: &str) -> BTreeSet<String> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deny.toml");
    let text = std::fs::read_to_string(file).unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(" = ")).unwrap();
    let words: BTreeSet<String> = line.split('"').skip(1).step_by(2).map(str::to_owned).collect();
    assert!(!words.is_empty(), "{key}");
    words
}

/// Of every part that is joined by AND, is one that is joined by OR allowed?
fn is_allowed(expression: &str, allowed: &BTreeSet<String>) -> bool {
    expression.split(" AND ").all(|part| {
        part.trim_matches(['(', ')'])
            .replace('/', " OR ")
            .split(" OR ")
            .any(|one| allowed.contains(one.trim()))
    })
}

#[test]
fn licences_are_allowed() {
    let allowed = listed("allow");
    assert!(is_allowed("(MIT OR GPL-3.0) AND Unicode-3.0", &allowed));
    assert!(!is_allowed("GPL-3.0-only", &allowed) && !is_allowed("MIT AND GPL-3.0", &allowed));
    for package in packages() {
        let (name, licence) = (&package["name"], package["license"].as_str().unwrap_or("none"));
        assert!(is_allowed(licence, &allowed), "{name}: {licence}");
    }
}

#[test]
fn sources_are_one_registry() {
    for package in packages() {
        let source = package["source"].as_str();
        assert!(source.is_none_or(|source| source == REGISTRY), "{}: {source:?}", package["name"]);
    }
}

#[test]
fn each_crate_has_one_version() {
    let mut versions = BTreeMap::<String, BTreeSet<String>>::new();
    for package in packages() {
        let text = |key: &str| package[key].as_str().unwrap().to_owned();
        versions.entry(text("name")).or_default().insert(text("version"));
    }
    versions.retain(|_, versions| versions.len() > 1);
    let found: BTreeSet<String> = versions.into_keys().collect();
    assert_eq!(found, listed("skip"));
}
