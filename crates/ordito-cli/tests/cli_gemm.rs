//! `ordito gemm` on files, and what only `gemm` has of `verify` and `bench`: tiles, sizes, the ladder.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

#[path = "common/command.rs"]
mod command;

use command::{json_lines, ordito};
use ordito::Scalar;
use ordito::io::npy::{Conversion, read_npy_shape, write_npy_vector};
use ordito::io::{read_npy, write_npy};
use ordito::matrix::Dense;
use serde_json::Value;
use std::path::PathBuf;
use std::process::{Command, Output};
use tempfile::TempDir;

/// Small integers: every product of them is exact.
fn integers<S: Scalar>(rows: usize, cols: usize, seed: usize) -> Dense<S> {
    let number = |i: usize| S::from_f64(((i * 7 + seed * 5) % 11) as f64 - 5.0);
    Dense::from_rows(rows, cols, (0..rows * cols).map(number).collect()).unwrap()
}

fn save<S: Scalar>(folder: &TempDir, name: &str, matrix: &Dense<S>) {
    write_npy(matrix.view(), &folder.path().join(name)).unwrap();
}

fn read<S: Scalar>(folder: &TempDir, name: &str) -> Dense<S> {
    read_npy(&folder.path().join(name), Conversion::Refuse).unwrap()
}

/// αAB + βC, straight from the definition.
fn expected(alpha: f64, a: &Dense<f64>, b: &Dense<f64>, beta: f64, c: Option<&Dense<f64>>) -> Vec<f64> {
    let mut expected = Vec::new();
    for row in 0..a.rows() {
        for col in 0..b.cols() {
            let sum: f64 = (0..a.cols()).map(|k| a.view().row(row)[k] * b.view().row(k)[col]).sum();
            expected.push(alpha * sum + c.map_or(0.0, |c| beta * c.view().row(row)[col]));
        }
    }
    expected
}

/// A 5×4, B 4×3 and C 5×3.
fn operands<S: Scalar>(folder: &TempDir) -> [Dense<S>; 3] {
    let all = [integers(5, 4, 1), integers(4, 3, 2), integers(5, 3, 3)];
    ["a.npy", "b.npy", "c.npy"].iter().zip(&all).for_each(|(name, matrix)| save(folder, name, matrix));
    all
}

/// The line that it failed with, and its exit code.
fn failure(output: &Output) -> (Option<i32>, String) {
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(message.lines().count(), 1, "{output:?}");
    assert!(output.stdout.is_empty(), "{output:?}");
    (output.status.code(), message)
}

#[test]
fn products_scale_and_add_as_asked() {
    let folder = tempfile::tempdir().unwrap();
    let [a, b, c] = operands::<f64>(&folder);
    let with_c = ["--c", "c.npy"];
    for (arguments, alpha, beta) in [
        (&[][..], 1.0, 0.0),
        (&["--alpha", "-0.5"], -0.5, 0.0),
        (&["--beta", "0"], 1.0, 0.0),
        (&with_c, 1.0, 1.0),
        (&[&with_c[..], &["--alpha", "-5e-1", "--beta", "2.5"]].concat(), -0.5, 2.5),
        (&[&with_c[..], &["--beta", "-1"]].concat(), 1.0, -1.0),
        (&[&with_c[..], &["--alpha", "0"]].concat(), 0.0, 1.0),
    ] {
        for variant in ["auto", "dense-serial-loops", "dense-serial-blocked", "dense-threads-packed"] {
            let fixed = ["gemm", "a.npy", "b.npy", "-o", "out.npy", "--variant", variant, "--check"];
            let output = ordito(&folder, &[&fixed[..], arguments].concat());
            assert!(output.status.success(), "{arguments:?}: {output:?}");
            let expected = expected(alpha, &a, &b, beta, Some(&c).filter(|_| beta != 0.0));
            assert_eq!(read::<f64>(&folder, "out.npy").data(), expected, "{arguments:?} by {variant}");
        }
    }
    // C may be where the result goes.
    assert!(ordito(&folder, &["gemm", "a.npy", "b.npy", "--c", "c.npy", "-o", "c.npy"]).status.success());
    assert_eq!(read::<f64>(&folder, "c.npy").data(), expected(1.0, &a, &b, 1.0, Some(&c)));
}

#[test]
fn a_record_says_what_was_done() {
    let folder = tempfile::tempdir().unwrap();
    operands::<f32>(&folder);
    let output = ordito(&folder, &["gemm", "a.npy", "b.npy", "--threads", "2", "--check", "--json"]);
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    let record = &json_lines(&output)[0];
    for (field, value) in [
        ("op", Value::from("gemm")),
        ("variant", "auto".into()),
        ("chosen", "dense-threads-packed".into()),
        ("where", "cpu".into()),
        ("outcome", "passed".into()),
        ("dtype", "f32".into()),
        ("n", 5.into()),
        ("m", 4.into()),
        ("p", 3.into()),
        ("threads", 2.into()),
    ] {
        assert_eq!(record[field], value, "{field} in {record}");
    }
    for field in ["reason", "gflops", "median_ns", "prepare_ns", "max_rel_err", "schema"] {
        assert!(!record[field].is_null(), "no {field} in {record}");
    }
    let output = ordito(&folder, &["gemm", "a.npy", "b.npy", "--json"]);
    assert_eq!(json_lines(&output)[0]["outcome"], "not-verified", "nothing was asked to be checked");
    assert_eq!(output.status.code(), Some(0));
    assert!(!folder.path().join("out.npy").exists());
}

#[test]
fn what_is_not_read_does_not_spread() {
    let folder = tempfile::tempdir().unwrap();
    let [a, b, c] = operands::<f64>(&folder);
    save(&folder, "nan_c.npy", &Dense::filled(5, 3, f64::NAN).unwrap());
    save(&folder, "nan_a.npy", &Dense::filled(5, 4, f64::NAN).unwrap());
    let run = |arguments: &[&str]| {
        let fixed = ["-o", "out.npy", "--check"];
        let output = ordito(&folder, &[&["gemm"], arguments, &fixed].concat());
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        read::<f64>(&folder, "out.npy").data().to_vec()
    };
    let found = run(&["a.npy", "b.npy", "--c", "nan_c.npy", "--beta", "0"]);
    assert_eq!(found, expected(1.0, &a, &b, 0.0, None));
    assert_eq!(run(&["nan_a.npy", "b.npy", "--c", "c.npy", "--alpha", "0"]), c.data());
}

#[test]
fn one_dimension_is_what_numpy_makes_of_it() {
    let folder = tempfile::tempdir().unwrap();
    operands::<f64>(&folder);
    let vector = |name: &str, numbers: Vec<f64>| {
        let column = Dense::from_rows(numbers.len(), 1, numbers).unwrap();
        write_npy_vector(column.view(), &folder.path().join(name)).unwrap();
    };
    vector("four.npy", vec![1.0, 0.0, -1.0, 2.0]);
    vector("three.npy", vec![10.0, 20.0, 30.0]);
    vector("five.npy", vec![1.0; 5]);
    let run = |arguments: &[&str]| {
        let output = ordito(&folder, &[&["gemm"], arguments, &["-o", "out.npy", "--check"]].concat());
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        std::fs::read(folder.path().join("out.npy")).unwrap()
    };
    let shape = || read_npy_shape(&folder.path().join("out.npy")).unwrap();
    run(&["four.npy", "b.npy"]);
    assert_eq!(shape(), [3]);
    let row = read::<f64>(&folder, "out.npy");
    run(&["four.npy", "b.npy", "--c", "three.npy"]);
    let added: Vec<f64> = row.data().iter().zip([10.0, 20.0, 30.0]).map(|(a, b)| a + b).collect();
    assert_eq!((shape(), read::<f64>(&folder, "out.npy").data()), (vec![3], &added[..]));
    run(&["a.npy", "four.npy", "--c", "five.npy"]);
    assert_eq!(shape(), [5]);
    let bytes = run(&["four.npy", "four.npy"]);
    assert!(String::from_utf8_lossy(&bytes).contains("'shape': ()"));
    assert_eq!(bytes[bytes.len() - 8..], 6f64.to_le_bytes());
    std::fs::rename(folder.path().join("out.npy"), folder.path().join("dot.npy")).unwrap();
    let bytes = run(&["four.npy", "four.npy", "--c", "dot.npy"]);
    assert_eq!(bytes[bytes.len() - 8..], 12f64.to_le_bytes());
    let (code, message) = failure(&ordito(&folder, &["gemm", "a.npy", "dot.npy"]));
    assert_eq!(code, Some(2));
    assert!(message.contains("dot.npy is a number: no matrix and no vector"), "{message}");
    let refused = ordito(&folder, &["gemm", "a.npy", "b.npy", "--c", "five.npy"]);
    let (code, message) = failure(&refused);
    assert_eq!(code, Some(2));
    assert!(
        message.contains("five.npy is a vector of 5, but a.npy (5×4) times b.npy (4×3) is 5×3"),
        "{message}"
    );
}

/// A file with this header and these bytes.
fn npy(folder: &TempDir, name: &str, descr: &str, order: &str, shape: &str, body: &[u8]) -> PathBuf {
    let dictionary = format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}}}\n");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((dictionary.len() as u16).to_le_bytes());
    bytes.extend(dictionary.as_bytes());
    bytes.extend(body);
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    path
}

#[test]
fn every_layout_and_precision_is_taken() {
    let folder = tempfile::tempdir().unwrap();
    let [a, b, c] = operands::<f64>(&folder);
    let columns = (0..4).flat_map(|col| a.data().iter().skip(col).step_by(4));
    let body: Vec<u8> = columns.flat_map(|number| number.to_le_bytes()).collect();
    npy(&folder, "fortran.npy", "<f8", "True", "(5, 4)", &body);
    let run = |arguments: &[&str]| {
        let output = ordito(&folder, &[&["gemm"], arguments, &["-o", "out.npy"]].concat());
        assert!(output.status.success(), "{arguments:?}: {output:?}");
    };
    run(&["fortran.npy", "b.npy", "--c", "c.npy"]);
    let right = expected(1.0, &a, &b, 1.0, Some(&c));
    assert_eq!(read::<f64>(&folder, "out.npy").data(), right);

    save(&folder, "b32.npy", &integers::<f32>(4, 3, 2));
    let (code, message) = failure(&ordito(&folder, &["gemm", "a.npy", "b32.npy"]));
    assert_eq!(code, Some(2));
    assert!(message.contains("b32.npy holds f32, a.npy f64: --dtype"), "{message}");
    run(&["a.npy", "b32.npy", "--c", "c.npy", "--dtype", "f64"]);
    assert_eq!(read::<f64>(&folder, "out.npy").data(), right);
    run(&["a.npy", "b32.npy", "--c", "c.npy", "--dtype", "f32"]);
    let single: Vec<f64> = read::<f32>(&folder, "out.npy").data().iter().map(|&c| c.into()).collect();
    assert_eq!(single, right);
}

#[test]
fn sides_of_zero_are_products_too() {
    let folder = tempfile::tempdir().unwrap();
    let nothing = |name: &str, rows, cols| save(&folder, name, &Dense::filled(rows, cols, 1.0f64).unwrap());
    nothing("0x4.npy", 0, 4);
    nothing("4x3.npy", 4, 3);
    nothing("2x0.npy", 2, 0);
    nothing("0x3.npy", 0, 3);
    nothing("2x3.npy", 2, 3);
    for (a, b, rows, cols) in [("0x4.npy", "4x3.npy", 0, 3), ("2x0.npy", "0x3.npy", 2, 3)] {
        let output = ordito(&folder, &["gemm", a, b, "-o", "out.npy", "--check"]);
        assert!(output.status.success(), "{a} {b}: {output:?}");
        let out = read::<f64>(&folder, "out.npy");
        assert_eq!((out.rows(), out.cols()), (rows, cols));
        assert!(out.data().iter().all(|&c| c == 0.0));
    }
    assert!(
        ordito(&folder, &["gemm", "2x0.npy", "0x3.npy", "--c", "2x3.npy", "-o", "out.npy"]).status.success()
    );
    assert!(read::<f64>(&folder, "out.npy").data().iter().all(|&c| c == 1.0));
    // Nothing to read, and far too much to write.
    npy(&folder, "tall.npy", "<f8", "False", "(4000000000, 0)", &[]);
    npy(&folder, "wide.npy", "<f8", "False", "(0, 4000000000)", &[]);
    let (code, message) = failure(&ordito(&folder, &["gemm", "tall.npy", "wide.npy", "-o", "out.npy"]));
    assert_eq!(code, Some(2));
    assert!(message.contains("memory budget"), "{message}");
}

#[test]
fn what_cannot_be_is_said_in_one_line() {
    let folder = tempfile::tempdir().unwrap();
    operands::<f64>(&folder);
    std::fs::write(folder.path().join("text.npy"), "1 2 3\n").unwrap();
    npy(&folder, "cube.npy", "<f8", "False", "(2, 2, 2)", &[0; 64]);
    npy(&folder, "whole.npy", "<i8", "False", "(4, 3)", &[0; 96]);
    npy(&folder, "huge.npy", "<f8", "False", "(4, 1000000000000)", &[0; 64]);
    let mut large = integers::<f64>(4, 3, 1);
    large.data_mut()[5] = 1e200;
    save(&folder, "large.npy", &large);
    npy(&folder, "short.npy", "<f8", "False", "(4, 3)", &[0; 64]);
    for (arguments, fault) in [
        (&["a.npy", "nowhere.npy"][..], "nowhere.npy"),
        (&["a.npy", "."], "not a regular file"),
        (&["a.npy", "text.npy"], "not a .npy file"),
        (&["a.npy", "cube.npy"], "cube.npy: has 3 dimensions; expected 2 at most"),
        (&["a.npy", "whole.npy"], "expected f32 ('<f4') or f64 ('<f8')"),
        (&["a.npy", "whole.npy", "--dtype", "f64"], "expected f32 ('<f4') or f64 ('<f8')"),
        (&["a.npy", "huge.npy"], "would need"),
        (&["a.npy", "short.npy"], "96 bytes of numbers expected"),
        (&["b.npy", "a.npy"], "b.npy is 4×3, a.npy is 5×4"),
        (&["a.npy", "b.npy", "--c", "a.npy"], "a.npy is 5×4, but a.npy (5×4) times b.npy (4×3) is 5×3"),
        (&["a.npy", "b.npy", "--c", "nowhere.npy", "--beta", "0"], "nowhere.npy"),
        (&["a.npy", "b.npy", "--beta", "2"], "--beta 2: there is no C to add to"),
        (&["a.npy", "b.npy", "--dtype", "f32", "--alpha", "1e300"], "--alpha 1e300 is too large for f32"),
        (&["a.npy", "b.npy", "--dtype", "f32", "--alpha", "1e-60"], "--alpha 1e-60 is too small for f32"),
        (&["a.npy", "large.npy", "--dtype", "f32"], "large.npy: row 1, column 2: 1e200 is too large for f32"),
        (&["a.npy", "b.npy", "--memory-limit", "10"], "memory budget"),
        (&["a.npy", "b.npy", "--variant", "dense-serial-loops", "--work-limit", "59"], "--work-limit"),
        (
            &["a.npy", "b.npy", "--variant", "dense-cuda-tile-by-row-*"],
            "one is needed, and 4 match: dense-cuda-tile-by-row-8, ",
        ),
        (&["a.npy", "b.npy", "--variant", "kernel2"], "no usable GPU"),
        (&["a.npy", "b.npy", "--variant", "csr"], "`csr` is a kernel of `spmm`"),
        (&["a.npy", "b.npy", "--variant", "dense-serial-loops", "--on", "cuda"], "does not run there"),
        (&["a.npy", "b.npy", "--on", "cuda"], "no usable GPU"),
    ] {
        let output = ordito(&folder, &[&["gemm"], arguments, &["-o", "out.npy"]].concat());
        let (code, message) = failure(&output);
        assert_eq!(code, Some(2), "{arguments:?}: {message}");
        assert!(message.starts_with("ordito: ") && message.contains(fault), "{arguments:?}: {message}");
        assert!(!folder.path().join("out.npy").exists(), "{arguments:?}");
    }
    for wrong in [&["--alpha", "nan"][..], &["--beta", "inf"], &["--alpha", "two"], &["--k", "3"]] {
        let output = ordito(&folder, &[&["gemm", "a.npy", "b.npy"], wrong].concat());
        assert_eq!(output.status.code(), Some(2), "{wrong:?}");
    }
    // Known before anything is computed.
    let (code, message) = failure(&ordito(&folder, &["gemm", "a.npy", "b.npy", "-o", "no/folder/out.npy"]));
    assert_eq!(code, Some(2), "{message}");
    assert!(message.contains("cannot write no/folder/out.npy: there is no folder no/folder"), "{message}");
    let (code, message) = failure(&ordito(&folder, &["gemm", "a.npy", "b.npy", "-o", "."]));
    assert_eq!(code, Some(2), "{message}");
    assert!(message.contains("it is a folder"), "{message}");
    let required = Command::new(env!("CARGO_BIN_EXE_ordito"))
        .args(["gemm", "a.npy", "b.npy"])
        .current_dir(&folder)
        .env("CUDA_VISIBLE_DEVICES", "")
        .env("ORDITO_REQUIRE_GPU", "1")
        .output()
        .unwrap();
    assert_eq!(required.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&required.stderr).contains("ORDITO_REQUIRE_GPU=1"));
}

/// A kernel of the ladder on files, and tiles that cannot be among those that can.
#[test]
fn the_emulator_runs_dense_products() {
    let folder = tempfile::tempdir().unwrap();
    let [a, b, c] = operands::<f64>(&folder);
    let arguments = ["gemm", "a.npy", "b.npy", "--c", "c.npy", "-o", "out.npy", "--on", "emulator"];
    let variant = ["--variant", "dense-cuda-tile-by-row-8", "--check", "--json"];
    let output = ordito(&folder, &[&arguments[..], &variant].concat());
    let message = String::from_utf8_lossy(&output.stderr);
    if message.contains("no emulator") && std::env::var("ORDITO_REQUIRE_EMULATOR").as_deref() != Ok("1") {
        return; // the other tests of the emulator say so aloud
    }
    let record = &json_lines(&output)[0];
    assert_eq!((&record["where"], &record["outcome"]), (&"emulator".into(), &"passed".into()), "{record}");
    assert!(record["upload_ns"].as_f64() > Some(0.0) && record["gflops"].is_null());
    assert_eq!(read::<f64>(&folder, "out.npy").data(), expected(1.0, &a, &b, 1.0, Some(&c)));

    let tiles = ["verify", "gemm", "9x4x7", "--on", "emulator", "--tile", "8,100,10", "--dtype", "f64"];
    let output =
        ordito(&folder, &[&tiles[..], &["--variant", "kernel2,MatrixMulNewKernel", "--json"]].concat());
    assert_eq!(output.status.code(), Some(0), "a refusal alone does not change it: {output:?}");
    let records = json_lines(&output);
    let of = |outcome: &str| -> Vec<(&str, i64)> {
        let chosen = records.iter().filter(|record| record["outcome"] == outcome);
        chosen.map(|r| (r["variant"].as_str().unwrap(), r["params"]["tile"].as_i64().unwrap())).collect()
    };
    assert_eq!(of("refused"), [("dense-cuda-tile-100", 100)]);
    let passed = [
        ("dense-cuda-tile-by-row-8", 8),
        ("dense-cuda-tile-by-row-10", 10),
        ("dense-cuda-tile-by-column-8", 8),
        ("dense-cuda-tile-by-column-10", 10),
    ];
    assert_eq!(of("passed"), passed);
    let refusal = records.iter().find_map(|record| record["refusal"].as_str());
    let reasons = "10000 threads per block, the limit is 1024; \
                   80.0 kB of shared memory for two tiles in f32, the limit is 49.2 kB";
    assert_eq!(refusal, Some(reasons));

    let ladder = ["bench", "gemm", "9", "8x3x5", "--on", "emulator", "--tile", "8,10", "--samples", "2"];
    let output = ordito(&folder, &[&ladder[..], &["--variant", "kernel1,kernel2"]].concat());
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("gemm by size and tile width, f64, on emulator"), "{text}");
    assert!(text.contains("tile  element by row  tile by row"), "{text}");
}

#[test]
fn the_ladder_has_its_sizes() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = ["verify", "gemm", "--suite", "ladder", "--variant", "auto", "--memory-limit", "1k"];
    let output = ordito(&folder, &[&arguments[..], &["--on", "cpu", "--json"]].concat());
    assert_eq!(output.status.code(), Some(2), "nothing fits");
    let sizes: Vec<(Value, Value)> =
        json_lines(&output).iter().map(|record| (record["n"].clone(), record["dtype"].clone())).collect();
    let all = [100, 1000, 5000, 10000].into_iter().flat_map(|n| ["f32", "f64"].map(|dtype| (n, dtype)));
    let all: Vec<(Value, Value)> = all.map(|(n, dtype)| (Value::from(n), Value::from(dtype))).collect();
    assert_eq!(sizes, all);
}
