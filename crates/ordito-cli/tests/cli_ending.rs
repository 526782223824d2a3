//! How commands end when they are told to.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

#[path = "common/command.rs"]
#[allow(dead_code)] // these tests do not wait for the end
mod command;

use command::shared_cache;
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A product of which one run takes minutes, in a folder of its own; the first input is done quickly.
fn long_run(folder: &tempfile::TempDir) -> Child {
    run(folder, &["gemm", "4", "3000", "--variant", "dense-serial-loops", "--work-limit", "1e15"])
}

/// The program, which takes interrupts even where these tests run in the background of a shell, and so without them.
fn ordito() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ordito"));
    // SAFETY: between fork and exec only a system call is made that may be made there.
    unsafe {
        command.pre_exec(|| {
            libc::signal(libc::SIGINT, libc::SIG_DFL);
            Ok(())
        })
    };
    command
}

/// A measurement whose files go to `r`.
fn run(folder: &tempfile::TempDir, arguments: &[&str]) -> Child {
    ordito()
        .arg("bench")
        .args(arguments)
        .args(["--samples", "2", "--out", "r"])
        .current_dir(folder)
        .env("ORDITO_CACHE_DIR", shared_cache())
        .env("CUDA_VISIBLE_DEVICES", "")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

fn send(signal: &str, to: &Child) {
    assert!(Command::new("kill").args([signal, &to.id().to_string()]).status().unwrap().success());
}

/// The exit code, which must be there soon.
fn end_of(child: &mut Child) -> Option<i32> {
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(30) {
        if let Some(status) = child.try_wait().unwrap() {
            return status.code();
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    child.kill().unwrap();
    panic!("it went on for 30 s");
}

/// Waits until the first input is done, and so long that the second is made and worked on.
fn wait_for_the_second(folder: &tempfile::TempDir) {
    let start = Instant::now();
    while !folder.path().join("r/samples.json").exists() {
        assert!(start.elapsed() < Duration::from_secs(120), "nothing was written");
        std::thread::sleep(Duration::from_millis(20));
    }
    std::thread::sleep(Duration::from_secs(3));
}

/// The other end of a pipe, which can be opened once the program reads it.
fn once_it_is_read(pipe: &std::path::Path, child: &mut Child) -> std::fs::File {
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(60) {
        assert!(child.try_wait().unwrap().is_none(), "it ended before it read");
        if let Ok(file) = std::fs::OpenOptions::new().write(true).custom_flags(libc::O_NONBLOCK).open(pipe) {
            return file;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    child.kill().unwrap();
    panic!("nobody read");
}

/// What was kept of variants.
fn records(folder: &tempfile::TempDir) -> Vec<serde_json::Value> {
    let kept = std::fs::read_to_string(folder.path().join("r/samples.json")).unwrap();
    let lines = kept.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    lines.filter(|record| record["variant"].is_string()).collect()
}

#[test]
fn a_program_that_is_told_to_end_ends_and_keeps_what_it_has() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = long_run(&folder);
    wait_for_the_second(&folder);
    send("-TERM", &child);
    assert_eq!(end_of(&mut child), Some(143));
    let records = records(&folder);
    let first = |record: &serde_json::Value| record["n"] == 4 && record["outcome"] == "passed";
    assert!(records.iter().any(first), "{records:?}");
    assert!(folder.path().join("r/INCOMPLETE.txt").exists());
    let half_written = std::fs::read_dir(folder.path().join("r")).unwrap();
    let half_written =
        half_written.filter(|it| it.as_ref().unwrap().path().extension().is_some_and(|it| it == "part"));
    assert_eq!(half_written.count(), 0);
}

#[test]
fn a_first_interrupt_stops_a_long_kernel_and_keeps_what_was_measured() {
    for arguments in [
        ["gemm", "4", "3000", "--variant", "dense-serial-loops", "--work-limit", "1e15"],
        ["convert", "stencil5:3", "stencil5:700", "--variant", "csr-serial-row-scan", "--work-limit", "1e15"],
    ] {
        let folder = tempfile::tempdir().unwrap();
        let mut child = run(&folder, &arguments);
        wait_for_the_second(&folder);
        let start = Instant::now();
        send("-INT", &child);
        assert_eq!(end_of(&mut child), Some(1), "{arguments:?}");
        assert!(start.elapsed() < Duration::from_secs(15), "{arguments:?}: {:?}", start.elapsed());
        let records = records(&folder);
        assert_eq!(records.len(), 1, "nothing is known of what was interrupted: {records:?}");
        assert!(records[0]["outcome"] == "passed" && records[0]["samples"] == 2, "{records:?}");
        assert!(folder.path().join("r/report.html").exists(), "{arguments:?}");
    }
}

#[test]
fn a_second_interrupt_ends_it_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("never.mtx");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    // Reading does not look up for a first interrupt, and from this file there is never anything to read.
    let mut child = run(&folder, &["spmm", "stencil5:3", "never.mtx", "--variant", "csr-serial", "--k", "1"]);
    let _writer = once_it_is_read(&pipe, &mut child);
    send("-INT", &child);
    std::thread::sleep(Duration::from_secs(1));
    assert!(child.try_wait().unwrap().is_none(), "the first one ended it in the middle of reading");
    send("-INT", &child);
    assert_eq!(end_of(&mut child), Some(130));
}

#[test]
fn more_threads_than_any_core_can_use_are_refused() {
    let output = ordito().args(["verify", "spmm", "stencil5:10", "--threads", "100000"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    // So many can be had, and are not too many.
    let most = 32 * std::thread::available_parallelism().unwrap().get();
    let verify = |threads: usize| {
        ordito()
            .args(["verify", "spmm", "stencil5:10", "--on", "cpu", "--variant", "csr-threads-nnz"])
            .args(["--threads", &threads.to_string()])
            .output()
            .unwrap()
    };
    let (start, allowed) = (Instant::now(), verify(most));
    assert!(allowed.status.success(), "{allowed:?}");
    assert!(start.elapsed() < Duration::from_secs(30), "{:?}", start.elapsed());
    let refused = verify(most + 1);
    assert_eq!(refused.status.code(), Some(2));
    let message = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(
        message.contains(&format!("between 1 and {most} can be asked for on this computer")),
        "{message}"
    );
}
