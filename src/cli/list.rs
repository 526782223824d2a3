//! `ordito list [OP]`

use super::console::Console;
use super::operations::{Listed, OPERATIONS, Operation, find};
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
    if let Some(name) = &args.source {
        return print_source(name, &operations, console);
    }
    for (index, operation) in operations.iter().enumerate() {
        if args.json {
            for variant in operation.catalogue() {
                console.json(&record(*operation, &variant))?;
            }
            continue;
        }
        let gap = if index == 0 { "" } else { "\n" };
        console.line(format!("{gap}{}: {}", operation.name(), operation.about()))?;
        let variants = operation.catalogue();
        let widest = variants.iter().map(|variant| variant.name.len()).max().unwrap_or(0);
        for variant in &variants {
            console.line(format!("  {:<widest$}  {:<7}  {}", variant.name, place(variant), variant.about))?;
        }
    }
    Ok(0)
}

fn place(variant: &Listed) -> &'static str {
    variant.place.map_or("any", |place| place.name())
}

fn record(operation: &dyn Operation, variant: &Listed) -> serde_json::Value {
    json!({
        "schema": crate::report::SCHEMA,
        "op": operation.name(),
        "variant": variant.name,
        "where": variant.place.map_or("any", |place| if place == crate::ops::Place::Cuda { "cuda" } else { "cpu" }),
        "place": place(variant),
        "about": variant.about,
    })
}

fn print_source(name: &str, operations: &[&dyn Operation], console: &Console) -> anyhow::Result<u8> {
    let sources = operations.iter().flat_map(|op| op.catalogue()).filter(|variant| variant.name == name);
    let Some(source) = sources.filter_map(|variant| variant.source).next() else {
        anyhow::bail!("there is no variant `{name}` with a source of its own; `ordito list` shows them");
    };
    console.line(source.trim_end())?;
    Ok(0)
}
