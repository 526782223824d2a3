//! `ordito list [OP]`

use super::console::Console;
use super::operations::{Listed, OPERATIONS, Operation, find};
use crate::machine::{Accelerator, Machine};
use crate::ops::Place;
use clap::Args;
use serde_json::json;

/// Every variant: name, where it runs, one line.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  ordito list
  ordito list spmm --json
  ordito list --source csr-threads-nnz")]
pub(super) struct ListArgs {
    /// Only this operation
    #[arg(value_name = "OP")]
    operation: Option<String>,
    /// Which GPU, as `ordito doctor` numbers them
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    device: usize,
    /// Print the source of this variant instead
    #[arg(long, value_name = "NAME")]
    source: Option<String>,
    /// One JSON object per line
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &ListArgs, console: &Console) -> anyhow::Result<u8> {
    let operations: Vec<&dyn Operation> = match &args.operation {
        Some(name) => vec![find(name).map_err(anyhow::Error::msg)?],
        None => OPERATIONS.to_vec(),
    };
    let machine = Machine::with_threads(1)?.with_accelerator(Accelerator::Cuda(args.device));
    if let Some(name) = &args.source {
        return print_source(name, &operations, &machine, console);
    }
    for (index, operation) in operations.iter().enumerate() {
        if args.json {
            for variant in operation.catalogue(&machine) {
                console.json(&record(*operation, &variant))?;
            }
            continue;
        }
        let gap = if index == 0 { "" } else { "\n" };
        console.line(format!("{gap}{}: {}", operation.name(), operation.about()))?;
        let variants = operation.catalogue(&machine);
        let widest = variants.iter().map(|variant| variant.name.len()).max().unwrap_or(0);
        for variant in &variants {
            let mark = if variant.refusal.is_some() { '-' } else { ' ' };
            console.line(format!(
                "{mark} {:<widest$}  {:<7}  {}",
                variant.name,
                place(variant),
                variant.about
            ))?;
        }
        for refusal in refusals(&variants) {
            console.line(format!("  {refusal}"))?;
        }
    }
    Ok(0)
}

/// Why this machine refuses the marked ones: every reason once, with how many it holds back.
fn refusals(variants: &[Listed]) -> Vec<String> {
    let mut reasons: Vec<(&str, usize)> = Vec::new();
    for reason in variants.iter().filter_map(|variant| variant.refusal.as_deref()) {
        match reasons.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, count)) => *count += 1,
            None => reasons.push((reason, 1)),
        }
    }
    let line = |(reason, count)| format!("- {count} refused by this machine: {reason}");
    reasons.into_iter().map(line).collect()
}

fn place(variant: &Listed) -> &'static str {
    variant.place.map_or("any", |place| place.name())
}

fn record(operation: &dyn Operation, variant: &Listed) -> serde_json::Value {
    let mut record = json!({
        "schema": crate::report::SCHEMA,
        "op": operation.name(),
        "variant": variant.name,
        "where": variant.place.map_or("any", |place| if place == Place::Cuda { "cuda" } else { "cpu" }),
        "place": place(variant),
        "about": variant.about,
    });
    if let Some(refusal) = &variant.refusal {
        record["refusal"] = refusal.as_str().into();
    }
    if !variant.params.is_empty() {
        record["params"] = variant.params.iter().map(|(name, value)| (name.to_string(), *value)).collect();
    }
    record
}

fn print_source(
    name: &str,
    operations: &[&dyn Operation],
    machine: &Machine,
    console: &Console,
) -> anyhow::Result<u8> {
    let sources =
        operations.iter().flat_map(|op| op.catalogue(machine)).filter(|variant| variant.name == name);
    let Some(source) = sources.filter_map(|variant| variant.source).next() else {
        anyhow::bail!("there is no variant `{name}` with a source of its own; `ordito list` shows them");
    };
    console.line(source.trim_end())?;
    Ok(0)
}
