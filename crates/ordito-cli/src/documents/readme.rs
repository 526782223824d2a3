//! The README is a door, not the house.

use super::{lines, root};
use std::fs;

const MOST_LINES: usize = 150;
const MOST_BYTES: usize = 8192;

#[test]
fn it_can_be_read_in_five_minutes() {
    let text = fs::read_to_string(root().join("README.md")).unwrap();
    assert!(text.lines().count() <= MOST_LINES, "{} lines, {MOST_LINES} allowed", text.lines().count());
    assert!(text.len() <= MOST_BYTES, "{} bytes, {MOST_BYTES} allowed", text.len());
}

#[test]
fn it_shows_the_two_commands_that_are_run_on_every_commit() {
    let text = fs::read_to_string(root().join("README.md")).unwrap();
    let of = |info: &str| -> Vec<&str> {
        lines(&text).into_iter().filter(|line| line.block == Some(info)).map(|line| line.text).collect()
    };
    assert_eq!(of("sh first"), ["cargo run --release -- bench spmm stencil27:40 --k 8,32"]);
    assert_eq!(of("sh test"), ["cargo test --release"]);
}
