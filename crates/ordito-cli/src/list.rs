//! `ordito list [OP]`

use crate::console::Console;
use crate::operations::{Listed, OPERATIONS, Operation, find};
use clap::Args;
use ordito::machine::{Accelerator, Machine};
use ordito::op::Place;
use ordito_bench::workbench::is_called;
use serde_json::json;

/// Every variant: name, where it runs, one line.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  ordito list
  ordito list spmm --json
  ordito list --source csr-threads-nnz")]
pub(crate) struct ListArgs {
    /// Only this operation
    #[arg(value_name = "OP")]
    operation: Option<String>,
    /// Which GPU, as `ordito doctor` numbers them
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    device: usize,
    /// Print the source of this variant instead, or a file that CUDA kernels include, e.g. `ordito.cuh`
    #[arg(long, value_name = "NAME")]
    source: Option<String>,
    /// One JSON object per line
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &ListArgs, console: &Console) -> anyhow::Result<u8> {
    let operations: Vec<&dyn Operation> = match &args.operation {
        Some(name) => vec![find(name).map_err(anyhow::Error::msg)?],
        None => OPERATIONS.to_vec(),
    };
    if let Some(name) = &args.source {
        return print_source(name, &operations, args.json, console);
    }
    let machine = Machine::with_threads(1)?.with_accelerator(Accelerator::Cuda(args.device));
    for (index, operation) in operations.iter().enumerate() {
        if args.json {
            for variant in operation.catalogue(Some(&machine)) {
                console.json(&record(*operation, &variant))?;
            }
            continue;
        }
        let gap = if index == 0 { "" } else { "\n" };
        console.line(format!("{gap}{}: {}", operation.name(), operation.about()))?;
        let variants = operation.catalogue(Some(&machine));
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
    let line = |(reason, count): (&str, usize)| format!("- {count} refused by this machine: {reason}");
    reasons.into_iter().map(line).collect()
}

fn place(variant: &Listed) -> &'static str {
    variant.description.map_or("any", |description| description.place.name())
}

fn record(operation: &dyn Operation, variant: &Listed) -> serde_json::Value {
    let mut record = json!({
        "schema": ordito_bench::report::SCHEMA,
        "op": operation.name(),
        "variant": variant.name,
        "where": variant.description.map_or("any", |variant| if variant.place == Place::Cuda { "cuda" } else { "cpu" }),
        "place": place(variant),
        "about": variant.about,
    });
    if let Some(refusal) = &variant.refusal {
        record["refusal"] = refusal.as_str().into();
    }
    if let Some(description) = variant.description {
        record["role"] = description.role.name().into();
        record["storage"] = description.storage.name().into();
        record["file"] = description.file.into();
        if !description.params.is_empty() {
            record["params"] =
                description.params.iter().map(|(name, value)| (name.to_string(), *value)).collect();
        }
        if !description.known_as.is_empty() {
            record["known_as"] = description.known_as.into();
        }
    }
    record
}

/// The sources of all variants that are called so, today or since long; or a file that their kernels are made of.
fn print_source(
    name: &str,
    operations: &[&dyn Operation],
    json: bool,
    console: &Console,
) -> anyhow::Result<u8> {
    let variants: Vec<Listed> = operations.iter().flat_map(|operation| operation.catalogue(None)).collect();
    let described = variants.iter().filter_map(|variant| variant.description);
    let named = described.filter(|description| is_called(description, name));
    let of_variants = named.map(|description| (description.name, description.source));
    let files = variants.iter().flat_map(|variant| &variant.files).copied();
    let mut sources: Vec<(&str, &str)> = Vec::new();
    for (name, source) in of_variants.chain(files.filter(|(file, _)| *file == name)) {
        if !sources.iter().any(|(_, known)| *known == source) {
            sources.push((name, source));
        }
    }
    if sources.is_empty() {
        anyhow::bail!("there is no variant `{name}` with a source of its own; `ordito list` shows them");
    }
    for (index, (name, source)) in sources.into_iter().enumerate() {
        if index > 0 && !json {
            console.line("")?;
        }
        if json {
            console.json(
                &json!({ "schema": ordito_bench::report::SCHEMA, "variant": name, "source": source }),
            )?;
        } else {
            console.line(source.trim_end())?;
        }
    }
    Ok(0)
}
