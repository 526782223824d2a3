//! `ordito erp --variant NAME`: which kernel computes the statistics of the job, and what is said of one that cannot.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

#[path = "common/command.rs"]
mod command;

use command::{json_lines, ordito};
use ordito::column_stats::Columns;
use ordito::op::{Computes, Op};
use serde_json::Value;
use std::fs;
use std::process::Output;
use tempfile::TempDir;

/// Two sensors and four samples, 30 target and 40 nontarget epochs.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let rows = |count: usize| -> String {
        // No two peaks are alike: which of two comes first would depend on last bits.
        let number = |row: usize, col: usize| {
            let mixed = ((row * 8 + col + 1) as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
            (mixed >> 40) as f64 / 1e6 - 8.0
        };
        let row =
            |row: usize| (0..8).map(|col| number(row, col).to_string()).collect::<Vec<_>>().join(" ") + "\n";
        (0..count).map(row).collect()
    };
    fs::write(folder.path().join("target.txt"), rows(30)).unwrap();
    fs::write(folder.path().join("nontarget.txt"), rows(40)).unwrap();
    folder
}

fn erp(folder: &TempDir, arguments: &[&str]) -> Output {
    let always = ["erp", "target.txt", "nontarget.txt", "--sensors", "2", "--rate", "100", "--groups", "4"];
    ordito(folder, &[&always[..], arguments].concat())
}

fn object(output: &Output) -> Value {
    let [line] = &json_lines(output)[..] else { panic!("{output:?}") };
    line.clone()
}

/// The peaks of two runs are the same to their last digits but a few.
fn same_peaks(a: &Value, b: &Value) -> bool {
    let amplitudes = |of: &Value| -> Vec<f64> {
        of["peaks"].as_array().unwrap().iter().map(|peak| peak["amplitude"].as_f64().unwrap()).collect()
    };
    let (a, b) = (amplitudes(a), amplitudes(b));
    a.len() == b.len() && a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-12)
}

#[test]
fn every_variant_that_computes_enough_computes_the_job() {
    let folder = folder();
    let plain = object(&erp(&folder, &["--json"]));
    assert_eq!(plain["protocol"].get("variant"), None);
    let has_emulator = {
        let probe = ["verify", "columns", "2x2", "--on", "emulator", "--variant", "auto"];
        ordito(&folder, &probe).status.success()
    };
    let mut tried = 0;
    for variant in Columns::<f64>::variants().iter().map(|variant| variant.describe()) {
        let on = if variant.place == ordito::op::Place::Cuda { "emulator" } else { "cpu" };
        if variant.computes != Computes::Everything || (on == "emulator" && !has_emulator) {
            continue;
        }
        let found = object(&erp(&folder, &["--variant", variant.name, "--on", on, "--json"]));
        assert_eq!(found["chosen"][0]["step"], "statistics");
        assert_eq!(found["chosen"][0]["variant"], variant.name);
        let reason = found["chosen"][0]["reason"].as_str().unwrap();
        assert!(reason.starts_with("asked for by name"), "{reason}");
        assert_eq!(found["protocol"]["variant"], variant.name);
        assert!(same_peaks(&plain, &found), "{}", variant.name);
        tried += 1;
    }
    println!("{tried} variants computed the job");
    assert!(tried >= 2);
    let output = erp(&folder, &["--variant", "dense-threads-*"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("statistics   dense-threads-blocks: asked for by name"), "{text}");
}

#[test]
fn what_cannot_do_the_job_is_told_before_anything_is_read() {
    let folder = folder();
    let lacks = "computes the mean only; standard errors and t need the variance of every column too";
    for (arguments, expected) in [
        (
            &["--variant", "matrixMeanFLOAT"][..],
            "--variant matrixMeanFLOAT: `dense-cuda-column-adds-in-memory` ",
        ),
        (&["--variant", "reduce", "--on", "emulator"], "--variant reduce: `dense-cuda-tree-"),
        (
            &["--variant", "reduce_256", "--on", "cuda", "--dtype", "f32"],
            "--variant reduce_256: `dense-cuda-tree-",
        ),
    ] {
        let output = ordito(&folder, &[&["erp", "missing.txt"], arguments].concat());
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(said.starts_with(&format!("ordito: {expected}")), "{said}");
        assert!(said.trim_end().ends_with(lacks) && said.lines().count() == 1, "{said}");
        assert_eq!(output.status.code(), Some(2));
    }
    for (arguments, expected) in [
        (
            &["--variant", "dense-*"][..],
            "--variant dense-*: one is needed, and 2 match: dense-serial-blocks, ",
        ),
        (&["--variant", "nothing-like-it"], "nothing-like-it"),
        (
            &["--variant", "dense-threads-blocks", "--on", "cuda"],
            "--variant dense-threads-blocks does not run there",
        ),
        (&["--variant", "dense-cuda-strips-wide-*"], "no usable GPU"),
    ] {
        let output = ordito(&folder, &[&["erp", "missing.txt"], arguments].concat());
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(said.contains(expected), "{said}");
        assert_eq!(output.status.code(), Some(2), "{said}");
    }
}
