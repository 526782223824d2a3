//! Files that commands write and read: whose they are, what they keep, and what names in them may do.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

#[path = "common/command.rs"]
mod command;

use command::{json_lines, ordito};
use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;
use std::process::{Command, Output};

/// Exit code and standard error.
fn failure(output: &Output) -> (Option<i32>, String) {
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

#[test]
fn a_cache_that_others_can_write_is_left_alone_and_told() {
    let folder = tempfile::tempdir().unwrap();
    let cache = folder.path().join("cache");
    fs::create_dir(&cache).unwrap();
    set_mode(&cache, 0o777);
    let doctor = ordito(&folder, &["doctor"]);
    let text = String::from_utf8_lossy(&doctor.stdout).into_owned();
    assert!(text.contains("others may write to it; `chmod 700` it"), "{text}");
    let output = ordito(&folder, &["spmm", "stencil5:9", "--k", "2", "--tune"]);
    assert!(output.status.success());
    let (_, message) = failure(&output);
    assert!(message.contains("ordito: note: the cache is not used: ") && message.contains("/cache: others"));
    assert_eq!(fs::read_dir(&cache).unwrap().count(), 0);
    set_mode(&cache, 0o700);
    let output = ordito(&folder, &["spmm", "stencil5:9", "--k", "2", "--tune"]);
    assert_eq!(failure(&output), (Some(0), String::new()));
    let tuned = fs::read_dir(cache.join("tuned")).unwrap().next().unwrap().unwrap().path();
    assert_eq!(fs::metadata(&tuned).unwrap().mode() & 0o777, 0o600);
    // What somebody else could have put there is not believed, and a pipe is not waited for.
    fs::remove_file(&tuned).unwrap();
    assert!(Command::new("mkfifo").arg(&tuned).status().unwrap().success());
    let output = ordito(&folder, &["spmm", "stencil5:9", "--k", "2", "--json"]);
    assert!(json_lines(&output)[0]["reason"].as_str().unwrap().contains("it is no regular file"));
}

#[test]
fn outputs_keep_their_mode_and_what_must_not_be_written_is_refused_first() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let multiply = |to: &str| failure(&ordito(&folder, &["spmm", "stencil5:3", "--k", "1", "-o", to]));
    fs::write(path("y.npy"), "old").unwrap();
    set_mode(&path("y.npy"), 0o600);
    assert_eq!(multiply("y.npy").0, Some(0));
    let found = fs::metadata(path("y.npy")).unwrap();
    assert_eq!((found.mode() & 0o777, found.len() > 3), (0o600, true));
    symlink("y.npy", path("link.npy")).unwrap();
    assert_eq!(multiply("link.npy").0, Some(0));
    assert!(fs::symlink_metadata(path("link.npy")).unwrap().is_symlink());

    fs::write(path("kept.npy"), "old").unwrap();
    set_mode(&path("kept.npy"), 0o444);
    symlink("nowhere.npy", path("lost.npy")).unwrap();
    for (name, why) in [
        ("kept.npy", "cannot write kept.npy: it is read-only; make it writable, or choose another name"),
        ("lost.npy", "cannot write lost.npy: it is a link to nowhere.npy, which does not exist"),
        ("y.txt", "y.txt: the name must end in .npy, which says the format"),
    ] {
        let (code, message) = multiply(name);
        assert_eq!(code, Some(2), "{message}");
        assert!(message.contains(why), "{message}");
    }
    assert_eq!(fs::read_to_string(path("kept.npy")).unwrap(), "old");
    assert!(!path("nowhere.npy").exists() && !path("y.txt").exists());
}

#[test]
fn a_full_disk_is_told_of_the_file_that_was_named() {
    let folder = tempfile::tempdir().unwrap();
    let program = env!("CARGO_BIN_EXE_ordito");
    // No file may be longer than one block of 512 or 1024 bytes, and saying so is left to the program.
    let script = format!("trap '' XFSZ; ulimit -f 1; exec {program} spmm stencil5:30 --k 3 -o y.npy");
    let output = Command::new("sh").args(["-c", &script]).current_dir(&folder).output().unwrap();
    let (code, message) = failure(&output);
    assert_eq!(code, Some(1), "{message}");
    assert!(message.contains("cannot write y.npy: ") && !message.contains(".part"), "{message}");
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
}

#[test]
fn names_drive_no_terminal_and_no_spreadsheet() {
    let folder = tempfile::tempdir().unwrap();
    let hostile = "=1+1\u{1b}]0;x\u{7}\u{202e}\r.mtx";
    let text = "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1 1\n";
    fs::write(folder.path().join(hostile), text).unwrap();
    let unsafe_bytes = |text: &[u8]| text.iter().any(|byte| [0x1b, 0x07, b'\r'].contains(byte));
    let bidi = |text: &[u8]| String::from_utf8_lossy(text).contains('\u{202e}');
    let bench = ["bench", "spmm", hostile, "--k", "1", "--samples", "2", "--variant", "csr-serial"];
    for arguments in [
        &[&bench[..], &["--out", "r"]].concat()[..],
        &["info", hostile],
        &["spmm", hostile, "--k", "1"],
        &["spmm", hostile, "--k", "1", "--json"],
        &["info", "\u{1b}[2Jnone\u{202e}.mtx"],
        &["spmm", hostile, "--k", "\u{1b}[2J"],
        &["spmm", "stencil5:3", "--k", "1", "--variant", "\u{1b}[2J"],
    ] {
        let output = ordito(&folder, arguments);
        for stream in [&output.stdout, &output.stderr] {
            assert!(!unsafe_bytes(stream) && !bidi(stream), "{arguments:?}: {output:?}");
        }
    }
    let record = &json_lines(&ordito(&folder, &["spmm", hostile, "--k", "1", "--json"]))[0];
    assert_eq!(record["matrix"], hostile.trim_end_matches(".mtx"), "JSON loses nothing");
    let csv = fs::read_to_string(folder.path().join("r/samples.csv")).unwrap();
    assert!(csv.contains("'=1+1") && !csv.contains(",=1+1"), "{csv}");
}

const SHORT_BENCH: [&str; 10] =
    ["bench", "spmm", "stencil5:4", "--k", "1", "--samples", "2", "--variant", "csr-serial", "--out"];

#[test]
fn two_at_a_time_lose_no_results() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = [&SHORT_BENCH[..], &["r"]].concat();
    assert!(ordito(&folder, &arguments).status.success()); // ceilings are measured once
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                for _ in 0..3 {
                    let output = ordito(&folder, &arguments);
                    assert!(output.status.success(), "{output:?}");
                }
            });
        }
    });
    let names = fs::read_dir(folder.path().join("r")).unwrap();
    let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let kept = names.filter(|name| name.starts_with("samples") && name.ends_with(".json"));
    assert_eq!(kept.count(), 7);
    assert!(!folder.path().join("r/INCOMPLETE.txt").exists());
}

#[test]
fn a_run_waits_for_another_that_writes_to_its_folder() {
    let folder = tempfile::tempdir().unwrap();
    assert!(ordito(&folder, &[&SHORT_BENCH[..], &["other"]].concat()).status.success());
    fs::create_dir(folder.path().join("r")).unwrap();
    let lock = fs::File::create(folder.path().join("r/.ordito-lock")).unwrap();
    lock.lock().unwrap();
    std::thread::scope(|scope| {
        let run = scope.spawn(|| ordito(&folder, &[&SHORT_BENCH[..], &["r"]].concat()));
        std::thread::sleep(std::time::Duration::from_secs(3));
        assert!(!folder.path().join("r/samples.json").exists() && !run.is_finished());
        drop(lock);
        let (code, message) = failure(&run.join().unwrap());
        assert_eq!(code, Some(0), "{message}");
        assert!(message.contains("another run writes to r: waiting for its end"), "{message}");
    });
    assert!(folder.path().join("r/samples.json").exists());
}

#[test]
fn a_folder_that_was_not_written_to_its_end_says_so() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("t.txt"), "1 2 3 4\n3 4 5 8\n").unwrap();
    let arguments = ["erp", "t.txt", "--sensors", "2", "--out", "r"];
    let mark = folder.path().join("r/INCOMPLETE.txt");
    assert!(ordito(&folder, &arguments).status.success() && !mark.exists());
    // The last step but one fails: waves are new then, and pictures old.
    fs::remove_dir_all(folder.path().join("r/plots")).unwrap();
    fs::write(folder.path().join("r/plots"), "in the way").unwrap();
    let (code, message) = failure(&ordito(&folder, &arguments));
    assert!(code != Some(0) && message.contains("r/plots"), "{message}");
    assert!(fs::read_to_string(&mark).unwrap().contains("may be of an earlier run"));
    fs::remove_file(folder.path().join("r/plots")).unwrap();
    assert!(ordito(&folder, &arguments).status.success() && !mark.exists());
}
