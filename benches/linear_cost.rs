//! Is the cost linear? Time for every nonzero of reading a Matrix Market file, of COO → CSR, and of a product by `auto`, over
//! matrices of 10⁵ to 10⁷ nonzeros.
//!
//! ```text
//! cargo bench --bench linear_cost -- [--threads 2] [--out FOLDER]
//! ```
//!
//! The caches are emptied before every run: all operands come from memory, as they would for matrices that no cache holds, and
//! small ones have no advantage. (A file lies in the system's memory: disks are not measured.) Two kinds of matrices whose
//! rows are alike and lie along the diagonal, so that rows of X are used again while they are in a cache, whatever the size:
//! `stencil27` and `band`. In the third, `uniform`, a product jumps about in all of X, and the more of X there is, the more of
//! these jumps miss every cache: that is memory's cost, not linear for anybody, and shown beside the others without a goal.
//!
//! Entries are listed column after column, as most Matrix Market files have them.

#![allow(clippy::print_stdout)]

use clap::Parser;
use ordito::io::matrix_market::WriteOptions;
use ordito::io::{ReadOptions, load, random_dense, read_matrix_market, write_matrix_market};
use ordito::machine::Machine;
use ordito::matrix::{Coo, Csr, Dense, Duplicates};
use ordito::report::chart::{Axis, Figure, Plot, Point, Scale, Series};
use ordito::report::{figures::Named, figures::Section, plots};
use ordito::sample::CacheFlush;
use ordito::spmm::Plan;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

/// About 10⁵, 3·10⁵, 10⁶, 3·10⁶, 10⁷ nonzeros of every kind, and whether its product is held to the goal.
const KINDS: &[(&str, bool, [&str; 5])] = &[
    ("stencil27", true, ["stencil27:16", "stencil27:23", "stencil27:34", "stencil27:49", "stencil27:72"]),
    ("band", true, ["band:2000x50", "band:6000x50", "band:20000x50", "band:60000x50", "band:200000x50"]),
    (
        "uniform",
        false,
        ["uniform:6250x16", "uniform:18750x16", "uniform:62500x16", "uniform:187500x16", "uniform:625000x16"],
    ),
];
const STAGES: [&str; 3] = ["read", "convert", "multiply"];
/// Columns of X.
const K: usize = 8;
/// The slowest size may take so many times as long for a nonzero as the fastest.
const GOAL: f64 = 1.5;
/// Of which the median is taken.
const RUNS: usize = 9;

/// Reading, converting, multiplying: is the cost of a nonzero the same at every size?
#[derive(Parser)]
struct Options {
    /// Threads [default: all cores]
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    /// Draw linear-cost.svg and linear-cost.png there
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
    /// What `cargo bench` says to every program
    #[arg(long, hide = true)]
    bench: bool,
}

/// Nanoseconds per nonzero of every stage.
struct Row {
    kind: &'static str,
    nonzeros: usize,
    ns: [f64; 3],
}

fn main() -> anyhow::Result<()> {
    let options = Options::parse();
    let machine = options.threads.map_or_else(Machine::whole, Machine::with_threads)?;
    let flush = CacheFlush::new(Machine::whole()?)?;
    println!(
        "{} threads, caches emptied before every run, K = {K}, f64; ns for every nonzero",
        machine.threads()
    );
    println!("{:<20} {:>10} {:>8} {:>8} {:>8}", "matrix", "nonzeros", STAGES[0], STAGES[1], STAGES[2]);
    let mut rows = Vec::new();
    for &(kind, _, names) in KINDS {
        let folder = tempfile::tempdir()?;
        let cases = names.map(|name| Case::new(name, &machine, folder.path()));
        let mut cases: Vec<Case> = cases.into_iter().collect::<Result<_, _>>()?;
        // The sizes take turns, so that a machine whose speed drifts treats them alike.
        for _ in 0..RUNS {
            cases.iter_mut().try_for_each(|case| case.run(&machine, &flush))?;
        }
        for case in cases {
            let (name, nonzeros) = (case.name, case.coo.nonzeros());
            let ns = case.times_ns.map(|times| median(times) / nonzeros as f64);
            println!("{name:<20} {nonzeros:>10} {:>8.2} {:>8.2} {:>8.2}", ns[0], ns[1], ns[2]);
            rows.push(Row { kind, nonzeros, ns });
        }
    }
    println!("\nslowest over fastest size (goal: at most {GOAL})");
    for &(kind, has_goal, _) in KINDS {
        for (stage, title) in STAGES.iter().enumerate() {
            let of = || rows.iter().filter(|row| row.kind == kind).map(|row| row.ns[stage]);
            let ratio = of().fold(0.0, f64::max) / of().fold(f64::INFINITY, f64::min);
            let verdict = match ratio <= GOAL {
                true => "linear",
                false if !has_goal && *title == "multiply" => "jumps about in X, no goal",
                false => "NOT linear",
            };
            println!("{kind:<10} {title:<9} {ratio:>5.2}  {verdict}");
        }
    }
    if let Some(folder) = &options.out {
        let figures = vec![Named { file: "linear-cost".into(), figure: Figure::Plot(plot(&rows)) }];
        for note in plots::write(folder, &[Section { title: "Cost", intro: "", figures }])? {
            println!("{note}");
        }
    }
    Ok(())
}

/// A matrix of one size, ready for all stages.
struct Case {
    name: &'static str,
    file: PathBuf,
    coo: Coo<f64>,
    plan: Plan<f64>,
    x: Dense<f64>,
    y: Dense<f64>,
    times_ns: [Vec<f64>; 3],
}

/// Entries stay as they are listed: adding up those at the same place is the business of the next stage.
fn as_listed() -> ReadOptions {
    ReadOptions { duplicates: Duplicates::Keep, ..ReadOptions::default() }
}

impl Case {
    fn new(name: &'static str, machine: &Arc<Machine>, folder: &Path) -> anyhow::Result<Self> {
        // The patterns are symmetric in their shape: transposed, they list columns.
        let coo = load::<f64>(name, &as_listed())?.coo.transpose();
        let file = folder.join(format!("{}.mtx", name.replace(':', "-")));
        write_matrix_market(&coo, &file, &WriteOptions::default())?;
        let a = machine.pool().install(|| Csr::from_coo(&coo, Duplicates::Sum));
        let x = random_dense::<f64>(coo.cols(), K, 1)?;
        let y = Dense::filled(coo.rows(), K, 0.0)?;
        let plan = Plan::new(a, K, machine)?;
        Ok(Case { name, file, coo, plan, x, y, times_ns: Default::default() })
    }

    /// Every stage once, each with empty caches. What comes out is thrown away behind the clock's back.
    fn run(&mut self, machine: &Machine, flush: &CacheFlush) -> anyhow::Result<()> {
        let Case { file, coo, plan, x, y, times_ns, .. } = self;
        let read = || machine.pool().install(|| read_matrix_market::<f64>(file, &as_listed()));
        let (file, ns) = timed(flush, read);
        drop(file?);
        times_ns[0].push(ns);
        let (csr, ns) = timed(flush, || machine.pool().install(|| Csr::from_coo(coo, Duplicates::Sum)));
        drop(csr);
        times_ns[1].push(ns);
        let (multiplied, ns) = timed(flush, || plan.apply(1.0, x.view(), 0.0, y.view_mut()));
        multiplied?;
        times_ns[2].push(ns);
        Ok(())
    }
}

/// What comes out, and nanoseconds with empty caches.
fn timed<T>(flush: &CacheFlush, work: impl FnOnce() -> T) -> (T, f64) {
    flush.flush();
    let start = Instant::now();
    let made = work();
    (made, start.elapsed().as_nanos() as f64)
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn plot(rows: &[Row]) -> Plot {
    let series = KINDS.iter().flat_map(|&(kind, _, _)| {
        STAGES.iter().enumerate().map(move |(stage, title)| Series {
            name: format!("{title}, {kind}"),
            points: rows
                .iter()
                .filter(|row| row.kind == kind)
                .map(|row| Point { x: row.nonzeros as f64, y: row.ns[stage], ..Point::default() })
                .collect(),
            ..Series::default()
        })
    });
    Plot {
        title: "Time for every nonzero".into(),
        note: format!(
            "Reading a Matrix Market file, COO to CSR, a product with {K} columns in f64; caches emptied before every run. \
             Level lines are a linear cost; in uniform a product jumps about in all of X."
        ),
        x: Axis { label: "nonzeros".into(), scale: Scale::Log10, ..Axis::default() },
        y: Axis { label: "ns for every nonzero".into(), scale: Scale::Log10, ..Axis::default() },
        series: series.collect(),
        ..Plot::default()
    }
}
