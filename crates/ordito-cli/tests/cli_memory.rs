//! No input takes more memory than is allowed, and none ends the program: it is refused with a sentence.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// What a command takes beside what `--memory-limit` allows: the program itself, threads, text on its way.
const BESIDE_THE_LIMIT: u64 = 128 << 20;

struct Ended {
    code: Option<i32>,
    message: String,
    peak_bytes: u64,
}

/// Runs a command to its end, which must come soon, and looks how much memory it took.
fn run(folder: &Path, arguments: &[&str]) -> Ended {
    let mut child = Command::new(env!("CARGO_BIN_EXE_ordito"))
        .args(arguments)
        .current_dir(folder)
        .env("ORDITO_CACHE_DIR", folder.join("cache"))
        .env("CUDA_VISIBLE_DEVICES", "")
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let (status, start, mut peak_bytes) = (format!("/proc/{}/status", child.id()), Instant::now(), 0);
    let ended = loop {
        let text = fs::read_to_string(&status).unwrap_or_default();
        let peak = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kib = peak.and_then(|text| text.trim().trim_end_matches(" kB").parse::<u64>().ok());
        peak_bytes = kib.map_or(peak_bytes, |kib| peak_bytes.max(kib * 1024));
        if let Some(ended) = child.try_wait().unwrap() {
            break ended;
        }
        if start.elapsed() > Duration::from_secs(120) || peak_bytes > 6 << 30 {
            child.kill().unwrap();
            panic!("{arguments:?} goes on after {:?}, with {peak_bytes} bytes", start.elapsed());
        }
        std::thread::sleep(Duration::from_millis(1));
    };
    let mut message = String::new();
    child.stderr.take().unwrap().read_to_string(&mut message).unwrap();
    Ended { code: ended.code(), message, peak_bytes }
}

/// A command that is refused for want of memory, and does not take it.
fn assert_refused(folder: &Path, arguments: &[&str], limit: u64, why: &str) {
    let Ended { code, message, peak_bytes } = run(folder, arguments);
    assert_eq!(code, Some(2), "{arguments:?}: {message}");
    assert!(message.contains(why), "{arguments:?}: {message}");
    assert!(peak_bytes < limit + BESIDE_THE_LIMIT, "{arguments:?}: {peak_bytes} bytes");
}

fn shell(folder: &Path, script: &str) {
    assert!(Command::new("sh").args(["-c", script]).current_dir(folder).status().unwrap().success());
}

#[test]
fn a_line_without_end_is_not_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let header = "%%MatrixMarket matrix coordinate real general\\n2 2 1\\n";
    let ones = "head -c 400000000 /dev/zero | tr '\\0' '1'";
    shell(folder, &format!("(printf '{header}'; {ones}) | gzip -1 > long.mtx.gz"));
    let info = ["info", "long.mtx.gz", "--memory-limit", "50M"];
    assert_refused(
        folder,
        &info,
        50_000_000,
        "expected a line of at most 16777216 bytes, found a longer one",
    );
    let erp = ["erp", "/dev/zero", "--sensors", "2", "--memory-limit", "50M"];
    assert_refused(folder, &erp, 50_000_000, "line 1 is longer than");
    let columns = ["verify", "columns", "/dev/zero", "--memory-limit", "50M"];
    assert_refused(folder, &columns, 50_000_000, "line 1 is longer than");
    let names = ["erp", "/dev/zero", "--sensors", "/dev/zero"];
    assert_refused(folder, &names, 50_000_000, "are no file of names");
    assert_refused(folder, &["report", "/dev/zero", "-o", "page.html"], 50_000_000, "is no result");
}

#[test]
fn long_rows_are_refused_before_they_are_stored() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    shell(folder, "yes 0 | head -n 4000000 | tr '\\n' ' ' | gzip -1 > row.txt.gz");
    let erp = ["erp", "row.txt.gz", "--sensors", "2", "--memory-limit", "50M"];
    assert_refused(folder, &erp, 50_000_000, "waves of 4000000 numbers would need");
    // A mapped text needs no memory for itself, but its waves do.
    shell(folder, "for epoch in 1 2; do yes $epoch | head -n 500000 | tr '\\n' ' '; echo; done > row.txt");
    let erp = ["erp", "row.txt", "--sensors", "2", "--memory-limit", "50M"];
    assert_refused(folder, &erp, 50_000_000, "waves of 500000 numbers would need");
    let limit = 140_000_000;
    let fits = run(folder, &["erp", "row.txt", "row.txt", "--sensors", "2", "--memory-limit", "140M"]);
    assert_eq!(fits.code, Some(0), "{}", fits.message);
    assert!(fits.peak_bytes < limit + BESIDE_THE_LIMIT, "{} bytes", fits.peak_bytes);
}

#[test]
fn statistics_of_many_columns_count_too() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let verify = |size: &str, limit: &str| run(folder, &["verify", "columns", size, "--memory-limit", limit]);
    let refused = verify("1x60000000", "1G");
    assert_eq!(refused.code, Some(2), "{}", refused.message);
    assert!(refused.peak_bytes < BESIDE_THE_LIMIT, "{} bytes", refused.peak_bytes);
    let fits = verify("1x1000000", "300M");
    assert_eq!(fits.code, Some(0), "{}", fits.message);
    assert!(fits.peak_bytes < 300_000_000 + BESIDE_THE_LIMIT, "{} bytes", fits.peak_bytes);
}

#[test]
fn sizes_without_elements_are_refused_where_a_side_is_absurd() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let huge = u64::MAX.to_string();
    let header = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({huge}, 0), }}");
    let header = format!("{header:<117}\n");
    fs::write(folder.join("empty.npy"), [b"\x93NUMPY\x01\x00\x76\x00", header.as_bytes()].concat()).unwrap();
    for arguments in [
        &["verify", "gemm", &format!("0x0x{huge}")][..],
        &["verify", "gemm", &format!("{huge}x0x0")],
        &["verify", "gemm", &format!("0x{huge}x0")],
        &["verify", "columns", &format!("0x{huge}")],
        &["verify", "columns", &format!("{huge}x0")],
        &["verify", "columns", "0x3000000000", "--memory-limit", "4G"],
        &["verify", "spmm", "empty:0x0", "--k", &huge],
        &["bench", "gemm", &format!("0x0x{huge}"), "--samples", "2", "--memory-limit", "16M"],
        &["verify", "columns", "empty.npy"],
        &["gemm", "empty.npy", "empty.npy"],
        &["spmm", "diagonal:3", "--x", "empty.npy"],
        &["erp", "empty.npy"],
    ] {
        let Ended { code, message, peak_bytes } = run(folder, arguments);
        assert_eq!(code, Some(2), "{arguments:?}: {message}");
        assert!(!message.contains("panicked") && !message.is_empty(), "{arguments:?}: {message}");
        assert!(peak_bytes < BESIDE_THE_LIMIT, "{arguments:?}: {peak_bytes} bytes");
    }
}

#[test]
fn a_few_bytes_that_declare_billions_of_rows_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let text = "%%MatrixMarket matrix coordinate real general\n4294967295 1 1\n1 1 1\n";
    fs::write(folder.join("tall.mtx"), text).unwrap();
    let script = format!("ulimit -v 4000000; exec {} info tall.mtx", env!("CARGO_BIN_EXE_ordito"));
    let output = Command::new("sh").args(["-c", &script]).current_dir(folder).output().unwrap();
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert!(message.contains("would need 34.4 GB"), "{message}");
}

/// Every command, under limits that it passes and limits that it does not: it never takes more than the limit and a constant.
/// (The matrix has 5.6 million entries: 90 MB as triplets, 70 MB by rows.)
#[test]
fn the_limit_is_one_of_all_that_is_held() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let matrix = "stencil27:60";
    let x = run(folder, &["convert", "empty:216000x24", "-o", "x.npy"]);
    assert_eq!(x.code, Some(0), "{}", x.message);
    let brief = ["--samples", "2", "--time", "1", "--dtype", "f64"];
    for (arguments, limits) in [
        (&["info", matrix][..], &["80M", "100M"][..]),
        (&["spmm", matrix, "--k", "1", "-o", "y.npy"], &["95M", "120M", "400M"]),
        (&["spmm", matrix, "--x", "x.npy", "-o", "y.npy", "--check"], &["120M", "250M", "500M"]),
        (&["convert", matrix, "-o", "half.mtx", "--symmetric"], &["100M", "250M"]),
        (&["verify", "spmm", matrix, "--k", "2", "--dtype", "f64"], &["110M", "200M", "400M"]),
        (&["verify", "gemm", "1000", "--variant", "dense-threads-packed"], &["30M", "100M"]),
        (&["verify", "columns", "x.npy"], &["60M", "120M"]),
        (&["bench", "spmm", matrix, "--k", "2"], &["110M", "300M", "600M"]),
        (&["bench", "convert", matrix], &["110M", "900M"]),
    ] {
        for limit in limits {
            let mut arguments = arguments.to_vec();
            if arguments[0] == "bench" {
                arguments.extend(brief);
            }
            arguments.extend(["--memory-limit", limit]);
            let bytes = limit.trim_end_matches('M').parse::<u64>().unwrap() * 1_000_000;
            let Ended { code, message, peak_bytes } = run(folder, &arguments);
            println!("{} MB, exit code {code:?}: {arguments:?}", peak_bytes / 1_000_000);
            assert!(matches!(code, Some(0 | 2)) || message.contains("symmetric"), "{arguments:?}: {message}");
            assert!(code == Some(0) || !message.is_empty(), "{arguments:?}");
            assert!(peak_bytes < bytes + BESIDE_THE_LIMIT, "{arguments:?}: {peak_bytes} bytes");
        }
    }
}

#[test]
fn a_variant_that_does_not_fit_beside_the_others_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_ordito"))
        .args(["bench", "spmm", "stencil27:20", "--k", "1", "--on", "cpu", "--samples", "2", "--json"])
        .args(["--variant", "csr-serial,ell-*", "--dtype", "f64", "--memory-limit", "12M"])
        .env("ORDITO_CACHE_DIR", folder.path().join("cache"))
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert!(text.contains(r#""outcome":"passed""#), "{text}");
    assert!(text.contains("that are held already, would need"), "{text}");
}
