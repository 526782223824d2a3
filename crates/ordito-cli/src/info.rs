//! `ordito info MATRIX…`

use crate::args::{Dtype, ReadArgs, is_same_file, machine, with_scalar};
use crate::console::Console;
#[cfg(feature = "mpi")]
use crate::info_ranks::{self, Forecast, RanksArgs};
use crate::matrix_input::Matrix;
use anyhow::Context;
use clap::Args;
use ordito::Scalar;
use ordito::machine::Machine;
use ordito::op::Op;
use ordito::spmm::{KnownOnDevice, Spmm, Subject};
use ordito::units::{bytes as show_bytes, count, duration};
use ordito_bench::report::bar::{Ink, bar, sparkline};
use ordito_bench::report::matrix_facts::FORMATS;
use ordito_bench::report::{MatrixFacts, html, table};
use serde_json::json;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Shape, row lengths, symmetry, bytes as COO, CSR and ELLPACK, what auto would choose and why.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  ordito info bcsstk17.mtx.gz
  ordito info stencil27:40 powerlaw:100000x16 --json
  ordito info bcsstk17.mtx.gz --html
  ordito info stencil27:60 --ranks 2..1024*2 --cluster latency=1.5,bandwidth=25")]
pub(crate) struct InfoArgs {
    /// Paths, bare names or synthetic matrices
    #[arg(value_name = "MATRIX", required = true)]
    matrices: Vec<String>,
    /// Columns of X for which auto would choose
    #[arg(long, value_name = "K", default_value = "8")]
    k: NonZeroUsize,
    /// Precision for which auto would choose
    #[arg(long, value_enum, default_value = "f64")]
    dtype: Dtype,
    /// Threads [default: ORDITO_THREADS, or all cores]
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,
    #[command(flatten)]
    read: ReadArgs,
    /// One JSON object per matrix and line
    #[arg(long)]
    json: bool,
    /// Write a page with row lengths and places of the entries as pictures [default file: named after the
    /// first matrix]
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true)]
    html: Option<Option<PathBuf>>,
    /// Draw bars with # on a terminal too
    #[arg(long)]
    ascii: bool,
    #[cfg(feature = "mpi")]
    #[command(flatten)]
    ranks: RanksArgs,
}

pub(crate) fn run(args: &InfoArgs, console: &Console) -> anyhow::Result<u8> {
    let machine = machine(args.threads, args.read.limits())?;
    let (mut unreadable, mut known) = (0, Vec::new());
    for (index, name) in args.matrices.iter().enumerate() {
        let busy = console.busy(format!("reading {name}"));
        let described = with_scalar!(args.dtype, S => describe::<S>(args, &machine, name));
        drop(busy);
        match described {
            Ok(facts) => {
                if args.json {
                    console.json(&facts.json()?)?;
                } else {
                    let gap = if index == 0 { "" } else { "\n" };
                    console.line(format!("{gap}{}", facts.text(console.ink(args.ascii))))?;
                }
                known.push(facts.matrix);
            }
            Err(error) => {
                console.error(&error);
                unreadable += 1;
            }
        }
    }
    if known.len() > 1 && !args.json {
        console.line(format!("\n{}", table::matrices(&known)))?;
    }
    if let (Some(file), Some(first)) = (&args.html, known.first()) {
        let file = file.clone().unwrap_or_else(|| page_of(&first.matrix));
        let is_input = |name: &String| is_same_file(Path::new(name), &file);
        anyhow::ensure!(
            !args.matrices.iter().any(is_input),
            "{}: would be overwritten by the page",
            file.display()
        );
        html::write_matrices(&file, &known)?;
        console.note(&format!("written: {}", file.display()));
    }
    Ok(if unreadable > 0 { 2 } else { 0 })
}

/// `stencil27-40.html`, here: whatever folder the matrix came from.
fn page_of(matrix: &str) -> PathBuf {
    let name = matrix.rsplit('/').next().unwrap_or(matrix);
    let plain = |c: char| if c.is_alphanumeric() || "._-".contains(c) { c } else { '-' };
    let name: String = name.chars().map(plain).take(100).collect();
    PathBuf::from(format!("{}.html", name.trim_start_matches('.')))
}

/// Everything there is to say of one matrix.
struct Facts {
    matrix: MatrixFacts,
    k: usize,
    dtype: &'static str,
    chosen: &'static str,
    reason: String,
    /// A GPU, and how long products would take there.
    predicted: (String, Vec<(&'static str, f64)>),
    /// Ranks, and how long products would take there.
    #[cfg(feature = "mpi")]
    forecasts: Vec<Forecast>,
}

fn describe<S: Scalar>(args: &InfoArgs, machine: &Arc<Machine>, name: &str) -> anyhow::Result<Facts> {
    let matrix = Matrix::<S>::load_on(machine, name, &args.read.options())?;
    let holding = machine.holding(matrix.bytes());
    let (source, a) = matrix.into_csr(&holding).with_context(|| name.to_string())?;
    let a = Arc::new(a);
    let matrix = machine.pool().install(|| {
        let facts = source.facts(&a);
        // Only the page shows it.
        if args.html.is_some() { facts.with_spy(&a) } else { facts }
    });
    let subject = Subject { a, triplets: None, k: args.k.get() };
    let choice = Spmm::choose(machine, &subject);
    let predicted = KnownOnDevice::of(&subject.a).predictions::<S>(machine, subject.k);
    let (k, dtype, chosen, reason) = (subject.k, S::NAME, choice.variant, choice.reason);
    #[cfg(feature = "mpi")]
    let forecasts = args.ranks.forecasts(&subject.a, k)?;
    Ok(Facts {
        matrix,
        k,
        dtype,
        chosen,
        reason,
        predicted,
        #[cfg(feature = "mpi")]
        forecasts,
    })
}

impl Facts {
    /// What is known of the matrix, and what `auto` would choose. Every line is of a matrix, and a picture of it is no
    /// reading matter: no kind, no spy.
    fn json(&self) -> anyhow::Result<serde_json::Value> {
        let mut facts = serde_json::to_value(&self.matrix)?;
        if let Some(fields) = facts.as_object_mut() {
            fields.retain(|name, _| name != "kind" && name != "spy");
            fields.insert("k".into(), json!(self.k));
            fields.insert("dtype".into(), json!(self.dtype));
            fields.insert("chosen".into(), json!(self.chosen));
            fields.insert("reason".into(), json!(self.reason));
            let (device, times) = &self.predicted;
            let times: serde_json::Map<_, _> =
                times.iter().map(|&(name, ns)| (name.to_string(), json!(ns.round()))).collect();
            fields.insert("predicted_for".into(), json!(device));
            fields.insert("predicted_ns".into(), json!(times));
            #[cfg(feature = "mpi")]
            if !self.forecasts.is_empty() {
                let forecasts = self.forecasts.iter().map(Forecast::json).collect();
                fields.insert("on_ranks".into(), serde_json::Value::Array(forecasts));
            }
        }
        Ok(facts)
    }

    fn text(&self, ink: Ink) -> String {
        let facts = &self.matrix;
        let mut lines = vec![
            facts.matrix.clone(),
            format!("  from          {}", facts.origin),
            format!(
                "  shape         {} × {}, {} nonzeros ({:.3} %)",
                count(facts.rows),
                count(facts.cols),
                count(facts.nnz),
                100.0 * facts.density
            ),
            format!(
                "  values        {} explicit zeros, {} duplicates, {} on the diagonal",
                count(facts.explicit_zeros),
                count(facts.duplicates),
                count(facts.diagonal_entries)
            ),
            format!("  symmetry      {}", facts.symmetry),
            format!(
                "  bandwidth     {} below, {} above the diagonal",
                count(facts.lower_bandwidth),
                count(facts.upper_bandwidth)
            ),
            format!(
                "  row lengths   {} to {}, mean {:.1}, standard deviation {:.1}, {} empty rows",
                count(facts.row_length_min),
                count(facts.row_length_max),
                facts.row_length_mean,
                facts.row_length_stddev,
                count(facts.empty_rows)
            ),
        ];
        lines.extend(self.histogram(ink));
        lines.push(format!(
            "  a warp a row  {} rows ({:.0} %) are shorter than its 32 lanes, {:.0} % of all lanes idle",
            count(facts.rows_below_a_warp),
            100.0 * facts.rows_below_a_warp as f64 / facts.rows.max(1) as f64,
            100.0 * facts.idle_lanes
        ));
        lines.push("  bytes                      f64          f32".into());
        for (key, name) in FORMATS {
            let show = |bytes: Option<u64>| bytes.map_or("beyond 64 bits".into(), show_bytes);
            let bytes = facts.bytes.get(key).copied().unwrap_or_default();
            lines.push(format!("    {name:<16} {:>12} {:>12}", show(bytes.f64), show(bytes.f32)));
        }
        // f64 goes without saying.
        let asked = match self.dtype {
            "f64" => format!("K = {}", self.k),
            dtype => format!("K = {}, {dtype}", self.k),
        };
        lines.push(format!("  auto, {asked:<7} {}: {}", self.chosen, self.reason));
        let (device, times) = &self.predicted;
        lines.push(format!("  on a GPU      predicted for {device}, {asked}"));
        lines.extend(times.iter().map(|&(name, ns)| format!("    {name:<24} {:>9}", duration(ns))));
        #[cfg(feature = "mpi")]
        lines.extend(info_ranks::table(&self.forecasts, self.k, self.dtype));
        lines.join("\n")
    }

    /// A bar for every bin of row lengths; first all of them at a glance, where blocks can be drawn.
    fn histogram(&self, ink: Ink) -> Vec<String> {
        const WIDEST: usize = 40;
        let bins = &self.matrix.row_lengths;
        let rows: Vec<f64> = bins.iter().map(|bin| bin.rows as f64).collect();
        let most = rows.iter().copied().fold(0.0, f64::max);
        let glance = format!("                {}", sparkline(&rows));
        let glance = Some(glance).filter(|_| ink == Ink::Blocks && !rows.is_empty());
        glance
            .into_iter()
            .chain(bins.iter().map(|bin| {
                let range = bin.to_string();
                let bar = bar(bin.rows as f64, most, WIDEST, ink);
                format!("    {range:>15} {:>12} rows {bar}", count(bin.rows as u64)).trim_end().to_string()
            }))
            .collect()
    }
}
