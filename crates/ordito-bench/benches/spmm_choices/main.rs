//! How long does every sparse product that `auto` could choose on a GPU take, on which matrices?
//!
//! ```text
//! cargo bench --bench spmm_choices -- --matrix drawn:1..240 --k 1,2,3,4,6,8,12,16,24,32,48,64,96,128,256 --k-of-each 4 --out corpus
//! cargo bench --bench spmm_choices -- --matrix FOLDER --peers --out judged
//! ```
//!
//! What the rule of `auto` is fitted to (generated matrices) and judged by (real ones). `times.csv` has a line for every matrix,
//! precision, K and variant, with the median time as it is (`hot_ns`) and with an empty cache (`flushed_ns`). Variants take turns.
//! Nothing is verified here: `ordito verify` and the conformance tests do that. Then, without a GPU:
//!
//! ```text
//! cargo bench --bench spmm_choices -- --fit corpus,small,sketched --judge judged,suite --data FOLDER
//! ```

#![allow(clippy::print_stderr, clippy::print_stdout)]

mod fit;
mod options;
mod prices;
mod regret;
mod table;
mod trees;
mod turns;

use anyhow::Context;
use options::{Dtype, Options};
use ordito::Scalar;
use ordito::device::{Buffer, DeviceView, DeviceViewMut};
use ordito::io::load;
use ordito::machine::Machine;
use ordito::matrix::{Csr, Duplicates};
use ordito::op::Op;
use ordito::spmm::{Plan, Spmm, Subject};
use ordito_bench::sample::DeviceFlush;
use std::sync::Arc;
use std::time::Instant;
use turns::Contest;

fn main() -> anyhow::Result<()> {
    let options = Options::read()?;
    let cache = tempfile::tempdir()?;
    if std::env::var_os("ORDITO_CACHE_DIR").is_none() {
        // SAFETY: no other thread has been started yet. `auto` goes by its rule, not by what was tuned here before.
        unsafe { std::env::set_var("ORDITO_CACHE_DIR", cache.path()) };
    }
    if !options.fit.is_empty() {
        print!("{}", fit::fit(&options)?);
        return Ok(());
    }
    let mut timing = Timing::new(&options)?;
    let (start, inputs) = (Instant::now(), options.inputs()?);
    for (at, input) in inputs.iter().enumerate() {
        let spent = start.elapsed().as_secs_f64();
        eprintln!("{spent:>4.0} s  {}/{} {input}", at + 1, inputs.len());
        if spent > options.seconds {
            eprintln!("--seconds {}: the others are left out", options.seconds);
            break;
        }
        let coo = load::<f64>(input, &options.read_options(options.seed))?.coo;
        let a = Arc::new(Csr::from_owned_coo(coo, Duplicates::Sum));
        for dtype in &options.dtype {
            match dtype {
                Dtype::F32 => timing.walk::<f32>(input, &rounded(&a)?)?,
                Dtype::F64 => timing.walk::<f64>(input, &a)?,
            }
        }
    }
    Ok(())
}

type Table = csv::Writer<std::fs::File>;

/// What a table calls a matrix: the name of its file, without the folder.
fn name_of(input: &str) -> &str {
    input.rsplit('/').next().unwrap_or(input)
}

/// The same matrix in single precision.
fn rounded(a: &Csr<f64>) -> anyhow::Result<Arc<Csr<f32>>> {
    let values = a.values().iter().map(|&value| value as f32).collect();
    let parts =
        Csr::from_parts(a.rows(), a.cols(), a.row_offsets().to_vec(), a.col_indices().to_vec(), values);
    Ok(Arc::new(parts?))
}

/// A GPU, and where its times go.
struct Timing<'a> {
    options: &'a Options,
    machine: Arc<Machine>,
    flush: DeviceFlush,
    times: Table,
}

impl<'a> Timing<'a> {
    fn new(options: &'a Options) -> anyhow::Result<Self> {
        let machine = Machine::gpu(0)?;
        let flush = DeviceFlush::new(&machine.device()?)?;
        std::fs::create_dir_all(&options.out).context("--out")?;
        let mut times = csv::Writer::from_path(options.out.join("times.csv")).context("--out")?;
        times.write_record(["matrix", "seed", "dtype", "k", "variant", "chosen", "hot_ns", "flushed_ns"])?;
        Ok(Timing { options, machine, flush, times })
    }

    /// Every K of one matrix in one precision.
    fn walk<S: Scalar>(&mut self, input: &str, a: &Arc<Csr<S>>) -> anyhow::Result<()> {
        let fits = |&k: &usize| {
            a.rows().max(a.cols()).saturating_mul(k).saturating_mul(size_of::<S>()) as u64
                <= self.options.most_bytes
        };
        let ks: Vec<usize> = self.options.ks_of(input).into_iter().filter(fits).collect();
        let Some(&most) = ks.iter().max() else { return Ok(()) };
        let device = self.machine.device()?;
        let operand = |rows: usize| -> anyhow::Result<Buffer<S>> {
            let mut buffer = device.allocate("an operand", rows * most)?;
            buffer.fill_bytes(0x3f)?; // numbers between 0 and 1
            Ok(buffer)
        };
        let (x, mut y) = (operand(a.cols())?, operand(a.rows())?);
        for k in ks {
            let x = DeviceView::new(&x, a.cols(), k, k)?;
            let mut multiply = |plan: &mut Plan<S>| {
                let y = DeviceViewMut::new(&mut y, a.rows(), k, k)?;
                Ok(plan.apply_on_device(S::ONE, x, S::ZERO, y)?)
            };
            let mut contest = Contest::new(&device, &self.flush)?;
            for (variant, mut plan) in plans(&self.options.variants::<S>(), a, k, &self.machine) {
                // Not all of cuSPARSE's take operands that lie there already.
                if multiply(&mut plan).is_ok() {
                    contest.enter(variant, plan)?;
                }
            }
            let chosen = Spmm::choose(&self.machine, &Subject { a: a.clone(), triplets: None, k }).variant;
            for entry in contest.times(&mut multiply)? {
                let (seed, k) = (self.options.seed.to_string(), k.to_string());
                let mut line = vec![name_of(input).into(), seed, S::NAME.into(), k, entry.variant.into()];
                line.push(u8::from(chosen == entry.variant).to_string());
                line.extend([entry.hot_ns, entry.flushed_ns].map(|ns| format!("{ns:.0}")));
                self.times.write_record(&line)?;
            }
        }
        Ok(self.times.flush()?)
    }
}

/// All that are not refused, made side by side: most of their time is spent compiling kernels.
fn plans<S: Scalar>(
    variants: &[&'static str],
    a: &Arc<Csr<S>>,
    k: usize,
    machine: &Arc<Machine>,
) -> Vec<(&'static str, Plan<S>)> {
    std::thread::scope(|scope| {
        let make = |&variant: &&'static str| {
            scope.spawn(move || {
                let plan = Plan::with_variant(variant, a.clone(), machine).ok()?;
                plan.prepare(k).ok()?;
                Some((variant, plan))
            })
        };
        let made: Vec<_> = variants.iter().map(make).collect();
        made.into_iter().filter_map(|made| made.join().ok().flatten()).collect()
    })
}
