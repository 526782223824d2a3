//! Is the cost linear? Time for every nonzero of reading a Matrix Market file, of COO → CSR, and of a product by `auto`, over
//! matrices of 10⁵ to 10⁷ nonzeros.
//!
//! ```text
//! cargo bench --bench linear_cost -- [--threads 2] [--out FOLDER]
//! ```
//!
//! Every size has as many copies of its matrix as hold 10⁷ nonzeros together, converted and multiplied one after the other,
//! after the caches were emptied: all operands come from memory, as they would for matrices that no cache holds, and small
//! ones have no advantage. Nor have they the disadvantage that threads are woken for a single one of them: what the first copy
//! takes, threads asleep and caches empty, is shown beside it ("alone"), without a goal: a fixed cost, not one of size. A file
//! is read once, from the system's memory: disks are not measured.
//!
//! What comes out lies where the allocator puts it. glibc hands out again what is below 32 MB; larger results, those of 10⁷
//! nonzeros, lie in new pages of the system every time, and pay for them, as they do for users. In converting, most
//! of what 10⁷ nonzeros cost more than fewer is the system's, as the process's system time shows.
//!
//! Two kinds of matrices whose rows are alike and lie along the diagonal, so that rows of X are used again while they are in a
//! cache, whatever the size: `stencil27` and `band`. In the third, `uniform`, a product jumps about in all of X, and the more of
//! X there is, the more of these jumps miss every cache: that is memory's cost, not linear for anybody, and shown beside the
//! others without a goal.
//!
//! Entries are listed column after column, as most Matrix Market files have them.

#![allow(clippy::print_stdout)]

use clap::Parser;
use ordito::io::matrix_market::WriteOptions;
use ordito::io::{ReadOptions, load, read_matrix_market, write_matrix_market};
use ordito::machine::Machine;
use ordito::matrix::random_dense;
use ordito::matrix::{Coo, Csr, Dense, Duplicates};
use ordito::spmm::Plan;
use ordito_bench::sample::CacheFlush;
use ordito_chart::plots;
use ordito_chart::sections::{Named, Section};
use ordito_chart::{Axis, Figure, Plot, Point, Scale, Series};
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
const RUNS: usize = 15;
/// Nonzeros of all copies of a matrix together.
const TOGETHER: usize = 10_000_000;

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
    let machine = options.threads.map_or_else(Machine::all_cores, Machine::with_threads)?;
    let flush = CacheFlush::new(Machine::all_cores()?)?;
    println!(
        "{} threads, caches emptied before every run, K = {K}, f64; ns for every nonzero",
        machine.threads()
    );
    println!(
        "of copies that have {TOGETHER} nonzeros together; alone: the first of them, threads asleep, no goal"
    );
    println!(
        "{:<20} {:>10} {:>8} {:>8} {:>8}   alone: {:>8} {:>8}",
        "matrix", "nonzeros", STAGES[0], STAGES[1], STAGES[2], STAGES[1], STAGES[2]
    );
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
            let (name, nonzeros) = (case.name, case.triplets[0].nnz());
            let ns = case.times_ns.map(|times| median(times) / nonzeros as f64);
            let alone = case.alone_ns.map(|times| median(times) / nonzeros as f64);
            println!(
                "{name:<20} {nonzeros:>10} {:>8.2} {:>8.2} {:>8.2}          {:>8.2} {:>8.2}",
                ns[0], ns[1], ns[2], alone[0], alone[1]
            );
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

/// A matrix of one size, ready for all stages, as often as it takes.
struct Case {
    name: &'static str,
    file: PathBuf,
    triplets: Vec<Coo<f64>>,
    products: Vec<Product>,
    /// For one matrix, by stage.
    times_ns: [Vec<f64>; 3],
    /// For the first matrix, of converting and multiplying.
    alone_ns: [Vec<f64>; 2],
}

struct Product {
    plan: Plan<f64>,
    x: Dense<f64>,
    y: Dense<f64>,
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
        let copies = (TOGETHER as f64 / coo.nnz() as f64).round().max(1.0) as usize;
        let a = machine.pool().install(|| Csr::from_coo(&coo, Duplicates::Sum));
        let product = || -> anyhow::Result<Product> {
            let x = random_dense::<f64>(coo.cols(), K, 1)?;
            let y = Dense::filled(coo.rows(), K, 0.0)?;
            let plan = Plan::new(a.clone(), machine)?;
            plan.prepare(K)?;
            Ok(Product { plan, x, y })
        };
        let products = (0..copies).map(|_| product()).collect::<Result<_, _>>()?;
        let triplets = vec![coo; copies];
        Ok(Case {
            name,
            file,
            triplets,
            products,
            times_ns: Default::default(),
            alone_ns: Default::default(),
        })
    }

    /// Every stage once, each with empty caches. What comes out is thrown away behind the clock's back.
    fn run(&mut self, machine: &Machine, flush: &CacheFlush) -> anyhow::Result<()> {
        let Case { file, triplets, products, times_ns, alone_ns, .. } = self;
        let read = |_| machine.pool().install(|| read_matrix_market::<f64>(file, &as_listed()));
        let read = timed(flush, std::iter::once(()), read);
        times_ns[0].push(read.each_ns);
        read.made.into_iter().try_for_each(|file| file.map(drop))?;

        let convert = |coo| machine.pool().install(|| Csr::from_coo(coo, Duplicates::Sum));
        let converted = timed(flush, triplets.iter(), convert);
        times_ns[1].push(converted.each_ns);
        alone_ns[0].push(converted.first_ns);
        drop(converted);

        let multiply = |Product { plan, x, y }: &mut Product| plan.apply(1.0, x.view(), 0.0, y.view_mut());
        let multiplied = timed(flush, products.iter_mut(), multiply);
        times_ns[2].push(multiplied.each_ns);
        alone_ns[1].push(multiplied.first_ns);
        multiplied.made.into_iter().try_for_each(|product| product.map_err(Into::into))
    }
}

/// What comes out of something done for each of some items, and nanoseconds.
struct Timed<T> {
    made: Vec<T>,
    /// On average.
    each_ns: f64,
    first_ns: f64,
}

/// Begins with empty caches.
fn timed<I, T>(
    flush: &CacheFlush,
    items: impl ExactSizeIterator<Item = I>,
    work: impl FnMut(I) -> T,
) -> Timed<T> {
    let count = items.len();
    let (mut made, mut items) = (Vec::with_capacity(count), items.map(work));
    flush.flush();
    let start = Instant::now();
    let elapsed_ns = || start.elapsed().as_nanos() as f64;
    made.extend(items.next());
    let first_ns = elapsed_ns();
    made.extend(items);
    Timed { made, each_ns: elapsed_ns() / count as f64, first_ns }
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
            "Reading a Matrix Market file, COO to CSR, a product with {K} columns in f64; all operands from memory. \
             Level lines are a linear cost; in uniform a product jumps about in all of X."
        ),
        x: Axis { label: "nonzeros".into(), scale: Scale::Log10, ..Axis::default() },
        y: Axis { label: "ns for every nonzero".into(), scale: Scale::Log10, ..Axis::default() },
        series: series.collect(),
        ..Plot::default()
    }
}
