//! Rows in groups: which belong together, and when those of the EEG job were recorded.

#![allow(clippy::unwrap_used, clippy::panic)]

#[path = "common/command.rs"]
mod command;

use command::{json_lines, ordito};
use ordito::io::npy::{Conversion, read_npy_shape};
use ordito::io::read_npy;
use std::fs;
use std::process::Output;
use tempfile::TempDir;

/// A row for each number of `0..count`, which stands in all of its 80 columns; in those of the second sensor negated.
fn write_rows(folder: &TempDir, name: &str, count: usize) {
    let row = |row: usize| {
        let number = |col: usize| if col < 40 { row as f64 } else { -(row as f64) };
        (0..80).map(|col| number(col).to_string()).collect::<Vec<_>>().join(" ") + "\n"
    };
    fs::write(folder.path().join(name), (0..count).map(row).collect::<String>()).unwrap();
}

fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    write_rows(&folder, "target.txt", 4);
    write_rows(&folder, "nontarget.txt", 14);
    folder
}

/// 40 samples at 50 Hz: 800 ms.
fn erp(folder: &TempDir, arguments: &[&str]) -> Output {
    let always = ["erp", "target.txt", "nontarget.txt", "--sensors", "2", "--rate", "50"];
    ordito(folder, &[&always[..], arguments].concat())
}

#[test]
fn offsets_have_the_times_of_the_study() {
    let folder = folder();
    let output = erp(&folder, &["--groups", "7", "--out", "out"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    for line in [
        "target       4 of 4 epochs, windows at 600, 1400, 2200 … ms",
        "nontarget    14 of 14 epochs",
        "offset 0     2 of 2 epochs, windows at 0, 800, 1600 … ms",
        "offset 7     2 of 2 epochs, windows at 700, 1500, 2300 … ms",
    ] {
        assert!(text.lines().any(|found| found == line), "{line}\nis not in\n{text}");
    }
    let csv = fs::read_to_string(folder.path().join("out/windows.csv")).unwrap();
    assert!(csv.starts_with("wave,epoch,start_s,kept\ntarget,1,0.6,yes\ntarget,2,1.4,yes\n"), "{csv}");
    // Row 13 is the second of the sixth group.
    assert!(csv.contains("\noffset 5,6,0.5,yes\noffset 5,13,1.3,yes\n"), "{csv}");
    assert_eq!(csv.lines().count(), 1 + 4 + 14);
    let page = fs::read_to_string(folder.path().join("out/report.html")).unwrap();
    assert!(page.contains("windows begin at") && page.contains("S1: groups, windows every 800 ms"));
    // Without groups nothing of it is left.
    assert!(erp(&folder, &["--out", "out"]).status.success());
    assert!(!folder.path().join("out/windows.csv").exists());
}

#[test]
fn times_of_any_groups_can_be_said() {
    let folder = folder();
    let said =
        ["--groups", "2", "--group-order", "blocked", "--window-start", "2s", "--window-step", "600ms"];
    let reject = ["--reject", "100", "--json"];
    let output = erp(&folder, &[&said[..], &reject].concat());
    let [line] = &json_lines(&output)[..] else { panic!("{output:?}") };
    let expected = serde_json::json!({"first_s": 2.3, "step_s": 0.6, "first_epoch": 8, "epoch_step": 1});
    assert_eq!((&line["groups"][1]["name"], &line["groups"][1]["windows"]), (&"group 2".into(), &expected));
    assert_eq!(line["conditions"][0].get("windows"), None, "where the target lies is not known");
    assert_eq!(line["protocol"]["windows of a group"], "every 600 ms");
    for (arguments, expected) in [
        (&["--window-step", "1"][..], "--groups"),
        (&["--groups", "2", "--window-start", "1"], "to its next (--window-step)"),
        (&["--groups", "2", "--window-step", "0"], "a positive time below 1e9 is needed"),
        (&["--groups", "2", "--window-step", "-1s"], "a positive time below 1e9 is needed"),
        (&["--groups", "2", "--window-step", "soon"], "a time such as"),
    ] {
        let output = erp(&folder, arguments);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(said.contains(expected), "{said}");
        assert_eq!(output.status.code(), Some(2), "{said}");
    }
}

#[test]
fn columns_are_taken_by_groups_in_either_order() {
    let folder = folder();
    let run = |arguments: &[&str]| {
        let always = ["columns", "nontarget.txt", "--groups", "7", "-o", "out.npy", "--check"];
        let output = ordito(&folder, &[&always[..], arguments].concat());
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        (read_npy::<f64>(&folder.path().join("out.npy"), Conversion::Refuse).unwrap(), output)
    };
    // Rows i and i + 7, or two neighbours.
    let orders: [(&[&str], f64, f64); 3] = [
        (&[], 3.5, 7.0),
        (&["--group-order", "interleaved"], 3.5, 7.0),
        (&["--group-order", "blocked"], 0.5, 1.0),
    ];
    for (order, first, apart) in orders {
        let (means, output) = run(&[order, &["--json"]].concat());
        assert_eq!(means.shape(), (7, 80));
        let step = if apart == 1.0 { 2.0 } else { 1.0 };
        let expected: Vec<f64> = (0..7).map(|group| first + step * f64::from(group)).collect();
        let found: Vec<f64> = (0..7).map(|group| means.view().row(group)[3]).collect();
        assert_eq!(found, expected, "{order:?}");
        let records = json_lines(&output);
        let kind = if apart == 1.0 { "block" } else { "group" };
        let last = format!("nontarget.txt, {kind} 7 of 7");
        assert_eq!((records.len(), &records[6]["matrix"]), (7, &last.into()));
        assert!(records.iter().all(|record| record["outcome"] == "passed" && record["rows"] == 2));
        let (all, _) = run(&[order, &["--what", "mean,variance"]].concat());
        assert_eq!((all.shape(), all.view().row(1)[0]), ((14, 80), apart * apart / 2.0), "{order:?}");
    }
    let one = ordito(&folder, &["columns", "nontarget.txt", "-o", "one.npy"]);
    assert_eq!(one.status.code(), Some(0));
    assert_eq!(read_npy_shape(&folder.path().join("one.npy")).unwrap(), [80]);
}

#[test]
fn bench_and_verify_take_the_same_order() {
    let folder = folder();
    let verify = |arguments: &[&str]| {
        let always = ["verify", "columns", "nontarget.txt", "--on", "cpu", "--dtype", "f64"];
        ordito(&folder, &[&always[..], arguments].concat())
    };
    let output = verify(&["--groups", "2", "--group-order", "blocked", "--variant", "auto", "--json"]);
    let rows: Vec<u64> = json_lines(&output).iter().map(|record| record["rows"].as_u64().unwrap()).collect();
    assert_eq!(rows, [7, 7]);
    for (arguments, expected) in [
        (
            &["--groups", "4", "--group-order", "blocked"][..],
            "14 rows make no 4 equal blocks, 2 are left over",
        ),
        (&["--groups", "15"], "there are 14 rows, which make no 15 groups"),
        (&["--group-order", "blocked"], "--groups"),
        (&["--groups", "2", "--group-order", "sorted"], "interleaved"),
    ] {
        let output = verify(arguments);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(said.contains(expected), "{said}");
        assert_eq!(output.status.code(), Some(2), "{said}");
    }
    assert_eq!(verify(&["--groups", "4"]).status.code(), Some(0));
}
