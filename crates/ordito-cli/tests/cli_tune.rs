//! `ordito spmm --tune`: measures once, and `auto` remembers.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

#[path = "common/command.rs"]
mod command;

use command::{json_lines, ordito};

#[test]
fn what_was_tuned_is_remembered_until_the_file_is_damaged() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("cache")).unwrap();
    let spmm = |more: &[&str]| {
        let arguments = [&["spmm", "stencil5:30", "--k", "4", "--check", "--json"], more].concat();
        let output = ordito(&folder, &arguments);
        assert!(output.status.success(), "{output:?}");
        json_lines(&output).remove(0)
    };
    let reason = |record: &serde_json::Value| record["reason"].as_str().unwrap().to_owned();
    let before = spmm(&[]);
    assert!(!reason(&before).contains("tuned"), "{before}");

    let tuned = spmm(&["--tune"]);
    assert!(reason(&tuned).starts_with("tuned: the fastest of "), "{tuned}");
    assert_eq!(tuned["outcome"], "passed");
    let after = spmm(&[]);
    assert_eq!((reason(&after), &after["chosen"]), (reason(&tuned), &tuned["chosen"]));
    // Of another K nothing is known.
    let other = json_lines(&ordito(&folder, &["spmm", "stencil5:30", "--k", "5", "--json"])).remove(0);
    assert!(!reason(&other).contains("tuned"), "{other}");

    let kept = std::fs::read_dir(folder.path().join("cache/tuned")).unwrap();
    let files: Vec<_> = kept.map(|file| file.unwrap().path()).collect();
    assert_eq!(files.len(), 1);
    std::fs::write(&files[0], "{").unwrap();
    let damaged = spmm(&[]);
    assert_eq!(damaged["chosen"], before["chosen"]);
    assert!(reason(&damaged).contains("what was tuned is not used"), "{damaged}");
    spmm(&["--tune"]); // and is written anew
    assert!(reason(&spmm(&[])).starts_with("tuned: "));

    let both = ordito(&folder, &["spmm", "stencil5:30", "--k", "4", "--tune", "--variant", "csr-serial"]);
    assert_eq!(both.status.code(), Some(2), "{both:?}");
}
