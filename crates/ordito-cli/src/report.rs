//! `ordito report FILE.json… -o report.html`

use crate::args::is_same_file;
use crate::console::Console;
use clap::Args;
use ordito_bench::catalogue::name_of_today;
use ordito_bench::report::compare::{Comparison, Comparisons, Overall, Ratio, compare};
use ordito_bench::report::setting::Setting;
use ordito_bench::report::timed::Timed;
use ordito_bench::report::{Run, SCHEMA, html, json, table};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// An HTML page from kept results, several machines side by side.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  ordito report laptop/samples.json server/samples.json -o report.html
  ordito report before.json after.json
  ordito report before.json after.json --json

Of several files the others are compared with the first, on the terminal too: ratios of the
median times (above 1: faster than the first), with a 95 % confidence interval each; where it
holds 1 there is no difference.")]
pub(crate) struct ReportArgs {
    /// samples.json files that `bench --out` wrote
    #[arg(value_name = "FILE.json", required = true)]
    files: Vec<PathBuf>,
    /// Where to write the page; may be left out where there is something to compare
    #[arg(short, long, value_name = "FILE.html")]
    output: Option<PathBuf>,
    /// The variant that the page's speed-ups are held against [default: the serial one]
    #[arg(long, value_name = "VARIANT", requires = "output")]
    baseline: Option<String>,
    /// The comparison as one JSON object per line
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &ReportArgs, console: &Console) -> anyhow::Result<u8> {
    anyhow::ensure!(
        args.output.is_some() || args.files.len() > 1,
        "nothing to do: name the page (-o FILE.html), or another file to compare with"
    );
    let mut results: Vec<Run> =
        args.files.iter().map(|file| read(file, args.output.as_deref())).collect::<anyhow::Result<_>>()?;
    if let Some(baseline) = args.baseline.as_deref().map(name_of_today) {
        let has_it = |run: &Run| run.records.iter().any(|record| record.variant == baseline);
        anyhow::ensure!(
            results.iter().any(has_it),
            "--baseline {baseline}: no variant of that name in the files"
        );
        results.iter_mut().for_each(|run| run.baseline = Some(baseline.clone()));
    }
    if let Some(output) = &args.output {
        html::write(output, &results)?;
        console.note(&format!("written: {}", output.display()));
    }
    let found = compare(&results);
    if args.json {
        print_json(&found, console)?;
    } else if results.len() > 1 {
        console.line(table::comparison(&found).trim_end())?;
    }
    Ok(0)
}

fn read(file: &Path, output: Option<&Path>) -> anyhow::Result<Run> {
    let overwritten = output.is_some_and(|output| is_same_file(file, output));
    anyhow::ensure!(!overwritten, "{}: would be overwritten by the page", file.display());
    let run = json::read_samples(file)?;
    anyhow::ensure!(!run.records.is_empty(), "{}: no records in it", file.display());
    Ok(run)
}

/// A line of `--json`: one setting, or all of them.
#[derive(Serialize)]
struct Line<'a, Of: Serialize, InRun: Serialize> {
    schema: u32,
    kind: &'static str,
    #[serde(flatten)]
    of: Option<&'a Of>,
    runs: Vec<InRun>,
}

/// One setting in one run; the first has no ratio.
#[derive(Serialize)]
struct SettingInRun<'a> {
    label: &'a str,
    #[serde(flatten)]
    time: Option<Timed>,
    #[serde(flatten)]
    ratio: Option<Ratio>,
}

/// All settings in one run; the first has nothing to say.
#[derive(Serialize)]
struct RunOverall<'a> {
    label: &'a str,
    #[serde(flatten)]
    overall: Option<Overall>,
}

fn print_json(found: &Comparisons, console: &Console) -> anyhow::Result<()> {
    let labels = || found.labels.iter().map(String::as_str).enumerate();
    for Comparison { setting, times, ratios } in &found.rows {
        let after_the_first = |run: usize| run.checked_sub(1).and_then(|other| ratios[other]);
        let in_run = |(run, label)| SettingInRun { label, time: times[run], ratio: after_the_first(run) };
        let runs = labels().map(in_run).collect();
        console.json(&Line { schema: SCHEMA, kind: "comparison", of: Some(setting), runs })?;
    }
    if !found.labels.is_empty() {
        let after_the_first = |run: usize| run.checked_sub(1).map(|other| found.overall[other]);
        let runs = labels().map(|(run, label)| RunOverall { label, overall: after_the_first(run) }).collect();
        console.json(&Line { schema: SCHEMA, kind: "comparison-overall", of: None::<&Setting>, runs })?;
    }
    Ok(())
}
