//! Every command of `docs/studies.md` runs as it stands there, on tiny inputs: files of its names are made, sizes of dense products are
//! cut down, and kernels for a GPU run in the emulator.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

#[allow(dead_code)] // what others use of it
#[path = "common/command.rs"]
mod command;

use command::ordito;
use std::fmt::Write as _;
use std::fs;

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/studies.md");

/// Commands of blocks, and of cells in tables.
fn commands() -> Vec<String> {
    let page = fs::read_to_string(PAGE).unwrap();
    let in_cells = page.lines().filter(|line| line.starts_with('|')).flat_map(|line| line.split('`'));
    let all = page.lines().chain(in_cells).filter(|text| text.starts_with("ordito "));
    all.map(str::to_owned).collect()
}

/// As a shell makes words of it: quotes keep patterns together.
fn words(command: &str) -> Vec<String> {
    command.split(' ').skip(1).map(|word| word.trim_matches('\'').to_owned()).collect()
}

/// The same command on less.
fn cut_down(command: &str) -> Vec<String> {
    let mut words = words(command);
    let (is_gemm, is_bench) = (words.get(1).is_some_and(|word| word == "gemm"), words[0] == "bench");
    for word in &mut words {
        *word = match (word.as_str(), is_gemm) {
            ("cuda", _) => "emulator",
            ("cpu,cuda", _) => "cpu,emulator",
            ("100", true) => "12",
            ("1000" | "5000" | "10000", true) => "34", // no multiple of a tile
            ("7515136", false) => "75151",
            ("20", false) => "2", // samples
            (other, _) => other,
        }
        .to_owned();
    }
    if let Some(suite) = words.iter().position(|word| word == "--suite") {
        words.splice(suite..suite + 2, ["12".into(), "34".into()]);
    }
    if is_bench {
        words.extend(["--time".into(), "0.01".into()]);
    }
    words
}

/// Rows of so many numbers, in exponential notation as recordings have them.
fn epochs(rows: usize, cols: usize) -> String {
    let mut text = String::new();
    for row in 0..rows {
        for col in 0..cols {
            let number = ((row * 31 + col * 7) % 101) as f64 / 7.0 - 6.0;
            write!(text, "{number:.6e} ").unwrap();
        }
        text.push('\n');
    }
    text
}

/// Is there an emulator? Where one is required, there must be.
fn has_emulator(folder: &tempfile::TempDir) -> bool {
    let probe = ["verify", "columns", "2x2", "--on", "emulator", "--variant", "reduce"];
    let is_there = ordito(folder, &probe).status.success();
    let required = std::env::var("ORDITO_REQUIRE_EMULATOR").is_ok_and(|value| value == "1");
    assert!(is_there || !required, "ORDITO_REQUIRE_EMULATOR=1, but there is none");
    is_there
}

#[test]
fn every_command_of_the_page_runs() {
    let folder = tempfile::tempdir().unwrap();
    if !has_emulator(&folder) {
        return println!("skipped: no emulator");
    }
    assert!(ordito(&folder, &["convert", "powerlaw:60x4", "-o", "my.mtx"]).status.success());
    fs::write(folder.path().join("s00_target.txt"), epochs(9, 64 * 3)).unwrap();
    fs::write(folder.path().join("s00_nontarget.txt"), epochs(14, 64 * 3)).unwrap();
    let commands = commands();
    assert!(commands.len() >= 18, "only {} commands were found", commands.len());
    for command in commands {
        let words = cut_down(&command);
        let arguments: Vec<&str> = words.iter().map(String::as_str).collect();
        let output = ordito(&folder, &arguments);
        let (said, printed) =
            (String::from_utf8_lossy(&output.stderr), String::from_utf8_lossy(&output.stdout));
        assert!(output.status.success(), "{command}\n{arguments:?}\n{printed}{said}");
        let is_judged = words[0] == "bench" || words[0] == "verify";
        assert!(!is_judged || printed.contains(" 0 incorrect"), "{command}\n{printed}");
    }
}

/// The table of sizes and widths has the widths that no GPU can have, and both reasons.
#[test]
fn widths_that_cannot_be_stand_in_the_table() {
    let folder = tempfile::tempdir().unwrap();
    let command = "bench gemm 12 --variant MatrixMulKernel,MatrixMulNewKernel --tile 10,100,500 --beta 0 \
                   --dtype f32 --on emulator --time 0.01";
    if !has_emulator(&folder) {
        return println!("skipped: no emulator");
    }
    let output = ordito(&folder, &command.split_whitespace().collect::<Vec<_>>());
    let printed = String::from_utf8_lossy(&output.stdout);
    let table = printed.split("gemm by size and tile width").nth(1).unwrap_or_else(|| panic!("{printed}"));
    let refused = table.lines().filter(|line| line.matches("refused").count() == 2).count();
    assert_eq!(refused, 2, "{printed}");
    let reasons =
        "250000 threads per block, the limit is 1024; 2.00 MB of shared memory for two tiles in f32";
    assert!(table.contains(reasons), "{printed}");
}
