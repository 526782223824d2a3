//! Every command in the documents parses.
//!
//! Checked is each line of a block marked `sh`, and each piece of code in prose and tables that begins with `ordito` and a
//! command. There a synopsis is exempt, known by a word that begins with `[`, `(` or `<`, holds `|`, or is `…`; and a mention
//! such as `ordito gemm` may lack what is required. Blocks hold whole commands only.

use super::{inline_code, lines, pages};
use crate::Cli;
use clap::Parser;
use clap::error::ErrorKind;

#[test]
fn every_command_parses() {
    let mut checked = 0;
    let mut wrong = Vec::new();
    for (path, text) in pages() {
        for line in lines(&text) {
            let place = format!("{}:{}", path.display(), line.number);
            let commands: Vec<String> = match line.block.map(|info| info.split(' ').next().unwrap_or("")) {
                Some("sh") => vec![line.text.to_string()],
                Some(_) => Vec::new(),
                None => inline_code(line.text).filter(|code| is_a_command(code)).collect(),
            };
            let is_whole = line.block.is_some();
            for command in commands {
                let Some(words) = arguments(&command) else { continue };
                checked += 1;
                if let Err(why) = parses(&words, is_whole) {
                    wrong.push(format!("{place}: {command}\n{why}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "commands that do not parse:\n{}", wrong.join("\n"));
    assert!(checked > 50, "only {checked} commands were found");
}

/// Does this piece of code show a command, and not a synopsis of one?
fn is_a_command(code: &str) -> bool {
    let words = split(code);
    let named = words.first().is_some_and(|word| word == "ordito" || word == "cargo")
        && words.get(1).is_some_and(|word| word.starts_with(|c: char| c.is_ascii_lowercase()));
    let open = |word: &String| word.starts_with(['[', '(', '<']) || word.contains('|') || word == "…";
    named && !words.iter().any(open)
}

/// What `ordito` is called with: after `ordito`, or after `cargo run … --`. Nothing where only other programs are called.
fn arguments(command: &str) -> Option<Vec<String>> {
    let words = split(command);
    let has = |wanted: &str| words.iter().any(|word| word == wanted);
    let before = match (has("cargo"), has("run") && !has("--example")) {
        (false, _) => "ordito",
        (true, true) => "--",
        (true, false) => return None,
    };
    let first = words.iter().position(|word| word == before)? + 1;
    Some(words[first..].iter().map(|word| filled(word)).collect())
}

/// Placeholders that stand for something that cannot be any word.
fn filled(word: &str) -> String {
    match word {
        "K" | "N" => "8".into(),
        "SHELL" => "bash".into(),
        word => word.into(),
    }
}

/// What the real parser says; where not all of a command is there, what is missing does not count.
fn parses(words: &[String], is_whole: bool) -> Result<(), String> {
    let line = std::iter::once("ordito").chain(words.iter().map(String::as_str));
    match Cli::try_parse_from(line).map_err(|error| (error.kind(), error)) {
        Ok(_) | Err((ErrorKind::DisplayHelp | ErrorKind::DisplayVersion, _)) => Ok(()),
        Err((ErrorKind::MissingRequiredArgument, _)) if !is_whole => Ok(()),
        Err((_, error)) => Err(error.to_string()),
    }
}

/// Words as a shell makes them, up to a comment, a pipe or a redirection.
fn split(command: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for letter in command.chars() {
        match (quote, letter) {
            (Some(open), _) if open == letter => quote = None,
            (None, '\'' | '"') => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            (None, '#' | '>') if word.is_none() => break,
            (None, ' ') => words.extend(word.take()),
            _ => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    let end = words.iter().position(|word| word == "|" || word == "&&").unwrap_or(words.len());
    words.truncate(end);
    words
}

#[test]
fn synopses_are_told_from_commands() {
    assert!(!is_a_command("ordito spmm MATRIX --on cpu|cuda"));
    assert!(is_a_command("ordito verify spmm stencil5:7 --variant '*-cuda-[tlwa]*'"));
    assert!(!is_a_command("ordito info MATRIX… [--k K]") && !is_a_command("ordito bench … --out"));
    assert!(!is_a_command("ordito::spmm") && !is_a_command("ordito"));
    assert_eq!(arguments("A=1 ordito list # all"), Some(vec!["list".to_string()]));
    assert_eq!(arguments("cargo run --release -- list"), Some(vec!["list".to_string()]));
    assert_eq!(arguments("cargo test -p ordito --doc"), None);
    let words = |line: &str| -> Vec<String> { line.split(' ').map(String::from).collect() };
    assert!(parses(&words("gemm --no-such-option"), false).is_err());
    assert!(parses(&words("gemm"), false).is_ok() && parses(&words("gemm"), true).is_err());
}
