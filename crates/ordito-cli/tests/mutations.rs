//! Damaged files, given to every command that reads some: it ends by itself with a code that is written down, what it says can
//! be shown on a terminal, and it leaves nothing behind. A second for every kind of file; for as long as
//! `ORDITO_MUTATION_SECONDS` says.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

#[allow(dead_code)] // what others use of it
#[path = "common/command.rs"]
mod command;
#[path = "../../ordito/tests/common/damage.rs"]
mod damage;

use command::ordito;
use damage::{Random, damage, is_one_plain_line};
use std::fs;
use std::time::{Duration, Instant};

/// Gives damaged files to the commands in turn, until the time is over; `FILE` stands for the file.
fn with_damaged(seed: u64, file: &str, samples: &[Vec<u8>], commands: &[&str]) {
    let seconds = std::env::var("ORDITO_MUTATION_SECONDS").ok().map_or(1, |text| text.parse().unwrap());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(file);
    let mut random = Random::new(seed);
    let (end, mut runs, mut refused) = (Instant::now() + Duration::from_secs(seconds), 0, 0);
    while Instant::now() < end || runs < 5 * commands.len() {
        let mut bytes = random.choose(samples).clone();
        damage(&mut bytes, &mut random, samples);
        fs::write(&path, &bytes).unwrap();
        let command = commands[runs % commands.len()];
        let arguments: Vec<&str> =
            command.split(' ').map(|word| if word == "FILE" { file } else { word }).collect();
        let output = ordito(&folder, &arguments);
        let shown = String::from_utf8_lossy(&bytes[..bytes.len().min(400)]);
        let (said, printed) = (std::str::from_utf8(&output.stderr), std::str::from_utf8(&output.stdout));
        let (Ok(said), Ok(printed)) = (said, printed) else {
            panic!("{command}: no text: {output:?}, {shown:?}")
        };
        assert!(matches!(output.status.code(), Some(0..=2)), "{command}: {output:?}, {shown:?}");
        for line in said.lines().chain(printed.lines()).filter(|line| !line.is_empty()) {
            assert!(is_one_plain_line(line), "{command}: {line:?}, {shown:?}");
        }
        assert!(output.status.success() || !said.is_empty(), "{command}: no word why, {shown:?}");
        let left: Vec<_> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert!(
            !left.iter().any(|name| name.to_string_lossy().starts_with(".ordito")),
            "{command}: {left:?}"
        );
        runs += 1;
        refused += usize::from(!output.status.success());
    }
    assert!(refused > 0, "{file}");
    println!("{file}: {runs} runs, {refused} refused");
}

fn samples(names: &[&str]) -> Vec<Vec<u8>> {
    names.iter().map(|name| fs::read(format!("tests/data/{name}")).unwrap()).collect()
}

#[test]
fn matrices() {
    let commands = [
        "info FILE --threads 1 --memory-limit 64M",
        "convert FILE -o out.mtx --memory-limit 64M",
        "spmm FILE --k 2 --threads 1 --memory-limit 64M -o y.npy",
        "verify spmm FILE --variant auto --k 2 --threads 1 --memory-limit 64M",
    ];
    with_damaged(1, "a.mtx", &samples(&["small.mtx", "zero_based.mtx"]), &commands);
}

#[test]
fn arrays() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir_all(folder.path()).unwrap();
    let b = fs::canonicalize("tests/data/b.npy").unwrap();
    let gemm = format!("gemm FILE {} --threads 1 --memory-limit 64M -o c.npy", b.display());
    let commands = [gemm.as_str(), "erp FILE --sensors 1 --rate 100 --threads 1 --memory-limit 64M"];
    with_damaged(2, "a.npy", &samples(&["a.npy", "b.npy", "c.npy"]), &commands);
}

#[test]
fn epochs() {
    let commands = [
        "erp FILE --rate 100 --threads 1 --memory-limit 64M",
        "erp FILE --sensors 2 --rate 100 --threads 1 --memory-limit 64M --out results",
        "verify columns FILE --variant auto --threads 1 --memory-limit 64M",
    ];
    with_damaged(3, "epochs.txt", &samples(&["epochs.txt"]), &commands);
}

#[test]
fn results() {
    let folder = tempfile::tempdir().unwrap();
    let bench = ["bench", "spmm", "stencil5:4", "--k", "2", "--threads", "1", "--samples", "3", "--out", "r"];
    assert!(ordito(&folder, &bench).status.success());
    let results = vec![fs::read(folder.path().join("r/samples.json")).unwrap()];
    with_damaged(4, "samples.json", &results, &["report FILE -o report.html", "report FILE"]);
}
