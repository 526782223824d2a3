//! `ordito info MATRIX --ranks 64,1024`: what a product would take on ranks, predicted from what would travel.

use crate::numbers::{Numbers, all, parse_numbers};
use anyhow::Context;
use clap::Args;
use ordito::units::{self, count};
use ordito::{Csr, Scalar};
use ordito_mpi::Partition;
use ordito_mpi::predict::{Cluster, Counts, Prediction, in_order_of};
use serde_json::{Value, json};
use std::path::Path;

/// How many ranks, of what machine, with rows shared how.
#[derive(Debug, Args)]
pub(crate) struct RanksArgs {
    /// Predict a product on so many ranks: numbers, and ranges such as 2..4096*2
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = parse_numbers)]
    ranks: Vec<Numbers>,
    /// The machine that is predicted for, as key=value,…: ranks-per-node, memory and bandwidth in GB/s, latency in µs, gflops of a rank, near-latency inside a node
    #[arg(long, value_name = "NUMBERS", requires = "ranks", value_parser = Cluster::parse)]
    cluster: Option<Cluster>,
    /// How rows are shared: `contiguous` (equally many nonzeros), `metis` (if built with it), or a file with a rank for every row
    #[arg(long, value_name = "HOW", requires = "ranks", default_value = CONTIGUOUS)]
    partition: String,
    /// Write the rank of every row, for `--partition` of the commands on ranks
    #[arg(long, value_name = "FILE", requires = "ranks")]
    write_partition: Option<std::path::PathBuf>,
}

const CONTIGUOUS: &str = "contiguous";

/// One number of ranks.
pub(crate) struct Forecast {
    ranks: usize,
    counts: Counts,
    of: Prediction,
    /// Equal parts, nothing travels.
    perfect: Prediction,
    row_bytes: u64,
}

impl RanksArgs {
    /// A forecast for every number of ranks that was asked for.
    pub(crate) fn forecasts<S: Scalar>(&self, a: &Csr<S>, k: usize) -> anyhow::Result<Vec<Forecast>> {
        let cluster = self.cluster.clone().unwrap_or_default();
        let forecast = |ranks: usize| {
            let (owners, counts) = self.counts(a, ranks, &cluster)?;
            if let Some(path) = &self.write_partition {
                let text = owners.iter().fold(String::new(), |text, owner| text + &format!("{owner}\n"));
                ordito::io::write_atomically(path, |file| file.write_all(text.as_bytes()))?;
            }
            let of = Prediction::of(&counts, &cluster, k, size_of::<S>());
            let perfect = Prediction::of(&counts.perfect(), &cluster, k, size_of::<S>());
            Ok(Forecast { ranks, counts, of, perfect, row_bytes: (k * size_of::<S>()) as u64 })
        };
        all(&self.ranks).into_iter().map(|ranks| forecast(ranks.get())).collect()
    }

    /// Who has which row, and what travels then.
    fn counts<S: Scalar>(
        &self,
        a: &Csr<S>,
        ranks: usize,
        cluster: &Cluster,
    ) -> anyhow::Result<(Vec<u32>, Counts)> {
        if self.partition == CONTIGUOUS {
            // As reading does: a row counts as a nonzero more.
            let rows =
                Partition::balanced(a.rows() as u64, ranks, |row| a.row_offsets()[row as usize] as u64 + row);
            let cols =
                if a.rows() == a.cols() { rows.clone() } else { Partition::even(a.cols() as u64, ranks) };
            let owners = (0..ranks).flat_map(|rank| std::iter::repeat_n(rank as u32, rows.rows_of(rank)));
            return Ok((owners.collect(), Counts::least(a, &rows, &cols, cluster.ranks_per_node)));
        }
        let owners = match self.partition.as_str() {
            "metis" => by_metis(a, ranks)?,
            file => read_owners(Path::new(file))?,
        };
        let (ordered, rows) =
            in_order_of(a, &owners, ranks).with_context(|| format!("--partition {}", self.partition))?;
        let counts = Counts::least(&ordered, &rows, &rows, cluster.ranks_per_node);
        Ok((owners, counts))
    }
}

#[cfg(feature = "metis")]
fn by_metis<S: Scalar>(a: &Csr<S>, ranks: usize) -> anyhow::Result<Vec<u32>> {
    Ok(ordito_mpi::metis_owners(a, ranks)?)
}

#[cfg(not(feature = "metis"))]
fn by_metis<S: Scalar>(_: &Csr<S>, _: usize) -> anyhow::Result<Vec<u32>> {
    anyhow::bail!(
        "--partition metis: this program was built without it; `cargo install ordito-cli --features metis` has it, and a file that gpmetis wrote is taken by its name"
    )
}

/// A number on every line.
fn read_owners(path: &Path) -> anyhow::Result<Vec<u32>> {
    let text = std::fs::read_to_string(path).with_context(|| format!("--partition {}", path.display()))?;
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let owner = |(index, line): (usize, &str)| {
        line.trim().parse::<u32>().map_err(|_| {
            anyhow::anyhow!(
                "{}: line {}: expected the number of a rank, found {line:?}",
                path.display(),
                index + 1
            )
        })
    };
    lines.map(owner).collect()
}

impl Forecast {
    fn efficiency(&self) -> f64 {
        self.perfect.total / self.of.total
    }

    pub(crate) fn json(&self) -> Value {
        json!({
            "ranks": self.ranks,
            "team": self.counts.teams.size(),
            "halo_bytes": self.counts.total() * self.row_bytes,
            "halo_bytes_most": self.counts.most() * self.row_bytes,
            "imbalance": self.counts.imbalance(),
            "pack_ns": 1e9 * self.of.pack,
            "own_ns": 1e9 * self.of.own,
            "exchange_ns": 1e9 * self.of.exchange,
            "outer_ns": 1e9 * self.of.outer,
            "reduce_ns": 1e9 * self.of.reduce,
            "predicted_ns": 1e9 * self.of.total,
            "without_overlap_ns": 1e9 * self.of.without_overlap,
            "efficiency": self.efficiency(),
        })
    }
}

/// The table below what is said of a matrix.
pub(crate) fn table(forecasts: &[Forecast], k: usize, dtype: &str) -> Vec<String> {
    if forecasts.is_empty() {
        return Vec::new();
    }
    let mut lines = vec![
        format!(
            "  on ranks      predicted, K = {k}, {dtype}; efficiency: of as many ranks, had nothing to travel"
        ),
        format!(
            "    {:>7} {:>5} {:>12} {:>12} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>6}",
            "ranks",
            "team",
            "travels",
            "to one most",
            "largest",
            "pack",
            "own",
            "exchange",
            "outer",
            "total",
            "eff."
        ),
    ];
    lines.extend(forecasts.iter().map(|one| {
        let [pack, own, exchange, outer, total] =
            [one.of.pack, one.of.own, one.of.exchange, one.of.outer + one.of.reduce, one.of.total]
                .map(|s| units::duration(1e9 * s));
        format!(
            "    {:>7} {:>5} {:>12} {:>12} {:>9} {pack:>9} {own:>9} {exchange:>9} {outer:>9} {total:>9} {:>4.0} %",
            count(one.ranks as u64),
            one.counts.teams.size(),
            units::bytes(one.counts.total() * one.row_bytes),
            units::bytes(one.counts.most() * one.row_bytes),
            format!("{:.2}", one.counts.imbalance()),
            100.0 * one.efficiency(),
        )
    }));
    lines
}
