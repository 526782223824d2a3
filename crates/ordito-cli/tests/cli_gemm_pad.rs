//! `--pad N` of `verify gemm` and `bench gemm`: what leading dimensions cost.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

#[path = "common/command.rs"]
mod command;

use command::{json_lines, ordito};
use std::fs;

#[test]
fn every_variant_is_right_with_gaps_between_rows() {
    let folder = tempfile::tempdir().unwrap();
    let output =
        ordito(&folder, &["verify", "gemm", "33x7x65", "4x0x3", "--on", "cpu", "--pad", "0,3", "--json"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let records = json_lines(&output);
    for pad in [None, Some(3)] {
        let of_pad = records.iter().filter(|record| record.get("pad").and_then(|pad| pad.as_u64()) == pad);
        // Two shapes, two precisions, three variants of the CPU and `auto`.
        assert_eq!(of_pad.filter(|record| record["outcome"] == "passed").count(), 2 * 2 * 4, "{pad:?}");
    }
    for beta in ["0", "2.5"] {
        let arguments = ["verify", "gemm", "20", "--on", "cpu", "--pad", "5", "--beta", beta];
        let output = ordito(&folder, &arguments);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(output.status.code(), Some(0), "{text}");
        assert!(text.contains(&format!("gemm: 20 × 20 × 20, rows padded by 5, β = {beta}")), "{text}");
    }
    // Odd distances, and such that leave rows at multiples of 16 bytes.
    let emulated = "verify gemm 33x7x18 --on emulator --tile 8,16 --pad 1,4 --json --variant";
    let variants = "kernel1,kernel2,MatrixMulKernel,MatrixMulNewKernel,auto";
    let arguments: Vec<&str> = emulated.split(' ').chain([variants]).collect();
    let output = ordito(&folder, &arguments);
    if String::from_utf8_lossy(&output.stderr).contains("no emulator") {
        return println!("skipped: no emulator");
    }
    let records = json_lines(&output);
    assert!(
        records.len() >= 2 * 2 * 9 && records.iter().all(|record| record["outcome"] == "passed"),
        "{records:?}"
    );
}

#[test]
fn times_are_told_by_padding() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = ["--variant", "dense-serial-loops", "--samples", "3", "--time", "0.2", "--out", "out"];
    let output =
        ordito(&folder, &[&["bench", "gemm", "24", "--on", "cpu", "--pad", "0,8"], &arguments[..]].concat());
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(0), "{text}");
    let headings = text.lines().filter(|line| line.starts_with("gemm: 24 × 24 × 24")).count();
    assert_eq!((headings, text.matches("rows padded by 8").count()), (2, 1), "{text}");
    let csv = fs::read_to_string(folder.path().join("out/samples.csv")).unwrap();
    let header: Vec<&str> = csv.lines().next().unwrap().split(',').collect();
    let pad = header.iter().position(|name| *name == "pad").unwrap();
    let pads: Vec<&str> = csv.lines().skip(1).map(|line| line.split(',').nth(pad).unwrap()).collect();
    assert_eq!(pads, ["", "8"]);
}

#[test]
fn padding_that_cannot_be_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let run = |arguments: &[&str]| {
        let output = ordito(&folder, arguments);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.code(), said + &String::from_utf8_lossy(&output.stdout))
    };
    let (code, said) = run(&["verify", "spmm", "stencil5:3", "--pad", "1"]);
    assert_eq!(code, Some(2));
    assert!(
        said.contains("--pad: spmm has no leading dimensions to choose; gemm, gram and combine have"),
        "{said}"
    );
    for pad in ["18446744073709551615", "1000000000000"] {
        let (code, said) = run(&["verify", "gemm", "10", "--on", "cpu", "--pad", pad]);
        assert_eq!(code, Some(2), "{said}");
        assert!(said.contains("memory budget"), "{said}");
    }
    for wrong in ["-1", "x", "1.5"] {
        assert_eq!(run(&["verify", "gemm", "10", "--pad", wrong]).0, Some(2), "{wrong}");
    }
}
