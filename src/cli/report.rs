//! `ordito report FILE.json… -o report.html`

use super::console::Console;
use crate::report::{html, json};
use clap::Args;
use std::path::{Path, PathBuf};

/// An HTML page from kept results, several machines side by side.
#[derive(Debug, Args)]
#[command(after_help = "Example:
  ordito report laptop/samples.json server/samples.json -o report.html")]
pub(super) struct ReportArgs {
    /// samples.json files that `bench --out` wrote
    #[arg(value_name = "FILE.json", required = true)]
    files: Vec<PathBuf>,
    /// Where to write the page
    #[arg(short, long, value_name = "FILE.html")]
    output: PathBuf,
}

pub(super) fn run(args: &ReportArgs, console: &Console) -> anyhow::Result<u8> {
    let mut results = Vec::new();
    for file in &args.files {
        let same =
            |a: &Path, b: &Path| a.canonicalize().is_ok_and(|a| b.canonicalize().is_ok_and(|b| a == b));
        anyhow::ensure!(!same(file, &args.output), "{}: would be overwritten by the page", file.display());
        let run = json::read_samples(file)?;
        anyhow::ensure!(!run.records.is_empty(), "{}: no records in it", file.display());
        results.push(run);
    }
    html::write(&args.output, &results)?;
    console.note(&format!("written: {}", args.output.display()));
    Ok(0)
}
