//! `ordito info MATRIX…`

use super::args::{ReadArgs, machine};
use super::console::Console;
use super::operations::to_csr;
use crate::io::{Origin, load};
use crate::machine::Machine;
use crate::matrix::{Csr, EllPadded, EllRagged, Statistics};
use crate::ops::Op;
use crate::ops::spmm::{Spmm, Subject};
use crate::units::{bytes as show_bytes, count};
use anyhow::Context;
use clap::Args;
use serde_json::json;
use std::num::NonZeroUsize;
use std::sync::Arc;

/// Shape, row lengths, symmetry, bytes in every format, what auto would choose and why.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  ordito info bcsstk17.mtx.gz
  ordito info stencil27:40 powerlaw:100000x16 --json")]
pub(super) struct InfoArgs {
    /// Paths, bare names or synthetic matrices
    #[arg(value_name = "MATRIX", required = true)]
    matrices: Vec<String>,
    /// Columns of X for which auto would choose
    #[arg(long, value_name = "K", default_value = "8")]
    k: NonZeroUsize,
    /// Threads [default: all cores]
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,
    #[command(flatten)]
    read: ReadArgs,
    /// One JSON object per matrix and line
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &InfoArgs, console: &Console) -> anyhow::Result<u8> {
    let machine = machine(args.threads, args.read.limits())?;
    let mut unreadable = 0;
    for (index, name) in args.matrices.iter().enumerate() {
        let busy = console.busy(format!("reading {name}"));
        let described = describe(args, &machine, name);
        drop(busy);
        match described {
            Ok(facts) if args.json => console.json(&facts.json())?,
            Ok(facts) => {
                let gap = if index == 0 { "" } else { "\n" };
                console.line(format!("{gap}{}", facts.text()))?;
            }
            Err(error) => {
                console.error(&error);
                unreadable += 1;
            }
        }
    }
    Ok(if unreadable > 0 { 2 } else { 0 })
}

fn origin(origin: &Origin) -> String {
    match origin {
        Origin::Synthetic { seed } => format!("synthetic, seed {seed}"),
        Origin::File { header, merged_duplicates: 0, .. } => format!("Matrix Market, {header}"),
        Origin::File { header, merged_duplicates, .. } => {
            format!("Matrix Market, {header}, {} duplicates summed", count(*merged_duplicates as u64))
        }
    }
}

/// Everything there is to say of one matrix.
struct Facts {
    name: String,
    origin: String,
    a: Arc<Csr<f64>>,
    statistics: Statistics,
    k: usize,
    chosen: &'static str,
    reason: String,
}

fn describe(args: &InfoArgs, machine: &Arc<Machine>, name: &str) -> anyhow::Result<Facts> {
    let loaded = machine.pool().install(|| load::<f64>(name, &args.read.options()))?;
    let a = Arc::new(to_csr(machine, &loaded.coo).with_context(|| name.to_string())?);
    let statistics = machine.pool().install(|| Statistics::of(&a));
    let subject = Subject { a: a.clone(), triplets: None, k: args.k.get() };
    let choice = Spmm::choose(machine, &subject);
    Ok(Facts {
        origin: origin(&loaded.origin),
        name: loaded.name,
        a,
        statistics,
        k: args.k.get(),
        chosen: choice.variant,
        reason: choice.reason,
    })
}

impl Facts {
    /// Format, bytes in f64 and in f32; `None` beyond 64 bits.
    fn formats(&self) -> [(&'static str, Option<u64>, Option<u64>); 4] {
        let (rows, nonzeros, width) = (self.a.rows(), self.a.nonzeros(), self.statistics.longest_row);
        let coo = |bytes_per_entry: u64| (nonzeros as u64).checked_mul(bytes_per_entry);
        [
            ("COO", coo(16), coo(12)),
            ("CSR", Csr::<f64>::bytes_for(rows, nonzeros), Csr::<f32>::bytes_for(rows, nonzeros)),
            (
                "ELLPACK padded",
                EllPadded::<f64>::bytes_for(rows, width),
                EllPadded::<f32>::bytes_for(rows, width),
            ),
            (
                "ELLPACK ragged",
                EllRagged::<f64>::bytes_for(rows, nonzeros),
                EllRagged::<f32>::bytes_for(rows, nonzeros),
            ),
        ]
    }

    fn density(&self) -> f64 {
        let places = self.a.rows() as f64 * self.a.cols() as f64;
        if places > 0.0 { self.a.nonzeros() as f64 / places } else { 0.0 }
    }

    fn json(&self) -> serde_json::Value {
        let facts = &self.statistics;
        let bytes: serde_json::Map<String, serde_json::Value> = self
            .formats()
            .into_iter()
            .map(|(name, double, single)| {
                (name.to_lowercase().replace(' ', "_"), json!({ "f64": double, "f32": single }))
            })
            .collect();
        let bins: Vec<_> = facts
            .row_lengths
            .iter()
            .map(|bin| json!({ "from": bin.from, "to": bin.to, "rows": bin.rows }))
            .collect();
        json!({
            "schema": crate::report::SCHEMA, "matrix": self.name, "origin": self.origin,
            "rows": self.a.rows(), "cols": self.a.cols(), "nnz": self.a.nonzeros(), "density": self.density(),
            "explicit_zeros": facts.explicit_zeros, "duplicates": facts.duplicates,
            "diagonal_entries": facts.diagonal_entries, "empty_rows": facts.empty_rows,
            "row_length_min": facts.shortest_row, "row_length_max": facts.longest_row,
            "row_length_mean": facts.mean_row, "row_length_stddev": facts.row_stddev, "row_lengths": bins,
            "lower_bandwidth": facts.lower_bandwidth, "upper_bandwidth": facts.upper_bandwidth,
            "symmetry": facts.symmetry.name(), "bytes": bytes,
            "k": self.k, "chosen": self.chosen, "reason": self.reason,
        })
    }

    fn text(&self) -> String {
        let facts = &self.statistics;
        let mut lines = vec![
            self.name.clone(),
            format!("  from          {}", self.origin),
            format!(
                "  shape         {} × {}, {} nonzeros ({:.3} %)",
                count(self.a.rows() as u64),
                count(self.a.cols() as u64),
                count(self.a.nonzeros() as u64),
                100.0 * self.density()
            ),
            format!(
                "  values        {} explicit zeros, {} duplicates, {} on the diagonal",
                count(facts.explicit_zeros as u64),
                count(facts.duplicates as u64),
                count(facts.diagonal_entries as u64)
            ),
            format!("  symmetry      {}", facts.symmetry.name()),
            format!(
                "  bandwidth     {} below, {} above the diagonal",
                count(facts.lower_bandwidth as u64),
                count(facts.upper_bandwidth as u64)
            ),
            format!(
                "  row lengths   {} to {}, mean {:.1}, standard deviation {:.1}, {} empty rows",
                count(facts.shortest_row as u64),
                count(facts.longest_row as u64),
                facts.mean_row,
                facts.row_stddev,
                count(facts.empty_rows as u64)
            ),
        ];
        lines.extend(self.histogram());
        lines.push("  bytes                      f64          f32".into());
        for (name, double, single) in self.formats() {
            let show = |bytes: Option<u64>| bytes.map_or("beyond 64 bits".into(), show_bytes);
            lines.push(format!("    {name:<16} {:>12} {:>12}", show(double), show(single)));
        }
        lines.push(format!("  auto, K = {:<4}{}: {}", self.k, self.chosen, self.reason));
        lines.join("\n")
    }

    /// A bar for every bin of row lengths.
    fn histogram(&self) -> Vec<String> {
        const WIDEST: usize = 40;
        let bins = &self.statistics.row_lengths;
        let most = bins.iter().map(|bin| bin.rows).max().unwrap_or(0).max(1);
        let bar = |rows: usize| "#".repeat((rows * WIDEST).div_ceil(most));
        bins.iter()
            .map(|bin| {
                let range = if bin.from == bin.to {
                    bin.from.to_string()
                } else {
                    format!("{}–{}", bin.from, bin.to)
                };
                format!("    {range:>15} {:>12} rows {}", count(bin.rows as u64), bar(bin.rows))
                    .trim_end()
                    .to_string()
            })
            .collect()
    }
}
