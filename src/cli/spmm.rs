//! `ordito spmm MATRIX (--x X.npy | --k K) [-o Y.npy]`

use super::args::{Device, Dtype, ReadArgs, device_names, with_scalar};
use super::console::Console;
use super::operations::{check_dense, to_csr};
use crate::Scalar;
use crate::check::{Precision, compare};
use crate::io::npy::{Conversion, NpyDtype};
use crate::io::{load, random_dense, read_npy, read_npy_dtype, write_npy};
use crate::machine::Machine;
use crate::matrix::{Coo, Csr, Dense};
use crate::ops::spmm::{Inputs, Plan, Spmm, Subject};
use crate::ops::{Extent, Op};
use crate::report::{Outcome, Record, table};
use crate::workbench::{AUTO, Selected, exit_code, note_findings, select};
use clap::Args;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

/// The product Y = A·X itself.
#[derive(Debug, Args)]
#[command(after_help = "X is a .npy file (C or Fortran order, one or two dimensions), or K random columns.
Without --dtype the product is computed in the precision of X, else in f64.

Examples:
  ordito spmm bcsstk17.mtx.gz --x X.npy -o Y.npy
  ordito spmm stencil27:40 --k 8 --check
  ordito spmm my.mtx --k 16 --variant csr-threads-rows --threads 2 --json")]
pub(super) struct SpmmArgs {
    /// A path, a bare name or a synthetic matrix
    matrix: String,
    /// X
    #[arg(long, value_name = "X.npy", required_unless_present = "k")]
    x: Option<PathBuf>,
    /// Columns of a random X
    #[arg(long, value_name = "K", conflicts_with = "x")]
    k: Option<NonZeroUsize>,
    /// Where to write Y
    #[arg(short, long, value_name = "Y.npy")]
    output: Option<PathBuf>,
    /// Which variant
    #[arg(long, value_name = "NAME", default_value = AUTO)]
    variant: String,
    /// Where to run [default: the best there is]
    #[arg(long, value_enum, default_value = "all", hide_default_value = true)]
    on: Device,
    /// Precision
    #[arg(long, value_enum)]
    dtype: Option<Dtype>,
    /// Threads [default: all cores]
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,
    /// Hold the result against the serial oracle; exit 1 if it is wrong
    #[arg(long)]
    check: bool,
    #[command(flatten)]
    read: ReadArgs,
    /// One JSON object on standard output
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &SpmmArgs, console: &Console) -> anyhow::Result<u8> {
    let dtype = match (args.dtype, &args.x) {
        (Some(dtype), _) => dtype,
        (None, Some(x)) if read_npy_dtype(x)? == NpyDtype::F32 => Dtype::F32,
        (None, Some(_)) => Dtype::F64,
        (None, None) => Dtype::F64,
    };
    with_scalar!(dtype, S => multiply::<S>(args, console))
}

fn multiply<S: Scalar>(args: &SpmmArgs, console: &Console) -> anyhow::Result<u8> {
    let selected = select::<Spmm<S>>(std::slice::from_ref(&args.variant), &device_names(&[args.on]))?;
    anyhow::ensure!(
        selected.len() == 1,
        "--variant {}: matches several variants, one is needed",
        args.variant
    );
    let machine = args.read.machine(args.threads)?;
    let busy = console.busy(format!("reading {}", args.matrix));
    let loaded = load::<S>(&args.matrix, &args.read.options())?;
    let a = Arc::new(to_csr(&machine, &loaded.coo)?);
    let x = dense_x::<S>(args, &machine, &a)?;
    let mut record = Record {
        matrix: Some(loaded.name.clone()),
        rows: Some(a.rows() as u64),
        cols: Some(a.cols() as u64),
        nnz: Some(a.nonzeros() as u64),
        k: Some(x.cols() as u64),
        dtype: S::NAME.into(),
        seed: args.k.map(|_| args.read.seed),
        ..Record::new(Spmm::<S>::NAME, &args.variant, Outcome::NotVerified)
    };
    let y = product(selected[0], &machine, &a, &x, &mut record)?;
    if args.check {
        busy.say("checking against the serial oracle");
        check(&machine, a, loaded.coo, x, &y, &mut record);
    }
    if let Some(output) = &args.output {
        write_npy(y.view(), output)?;
    }
    drop(busy);
    if args.json {
        console.json(&record)?;
    } else {
        console.line(table::one(&record))?;
    }
    Ok(exit_code(&[record]))
}

/// X from a file, or random.
fn dense_x<S: Scalar>(args: &SpmmArgs, machine: &Machine, a: &Csr<S>) -> anyhow::Result<Arc<Dense<S>>> {
    let x = match (&args.x, args.k) {
        (Some(path), _) => {
            let x = read_npy::<S>(path, Conversion::Allow)?;
            anyhow::ensure!(
                x.rows() == a.cols(),
                "{}: X has {} rows, A has {} columns: these must be equal",
                path.display(),
                x.rows(),
                a.cols()
            );
            x
        }
        (None, k) => {
            let k = k.map_or(1, NonZeroUsize::get);
            check_dense::<S>(machine, a.rows(), a.cols(), k)?;
            random_dense::<S>(a.cols(), k, args.read.seed)?
        }
    };
    Ok(Arc::new(x))
}

fn product<S: Scalar>(
    selected: Selected<Spmm<S>>,
    machine: &Arc<Machine>,
    a: &Arc<Csr<S>>,
    x: &Dense<S>,
    record: &mut Record,
) -> anyhow::Result<Dense<S>> {
    let start = Instant::now();
    let mut plan = match selected {
        Selected::Auto => Plan::new(a.clone(), x.cols(), machine)?,
        Selected::Named(variant) => Plan::with_variant(variant.name(), a.clone(), x.cols(), machine)?,
    };
    record.prepare_ns = Some(start.elapsed().as_nanos() as f64);
    let choice = plan.choice().clone();
    if let Some(variant) = Spmm::<S>::variant(choice.variant) {
        record.place = variant.place().device().into();
        record.threads = Some(variant.place().threads(machine) as u64);
    }
    if matches!(selected, Selected::Auto) {
        record.chosen = Some(choice.variant.into());
        record.reason = Some(choice.reason);
    }
    let mut y = Dense::filled(a.rows(), x.cols(), S::POISON)?;
    let start = Instant::now();
    plan.apply(S::ONE, x.view(), S::ZERO, y.view_mut())?;
    let ns = start.elapsed().as_nanos() as f64;
    let flops = 2.0 * a.nonzeros() as f64 * x.cols() as f64;
    record.samples = Some(1);
    (record.mean_ns, record.min_ns, record.median_ns) = (Some(ns), Some(ns), Some(ns));
    record.gflops = Some(flops / ns).filter(|rate| rate.is_finite());
    Ok(y)
}

fn check<S: Scalar>(
    machine: &Machine,
    a: Arc<Csr<S>>,
    triplets: Coo<S>,
    x: Arc<Dense<S>>,
    y: &Dense<S>,
    record: &mut Record,
) {
    let subject = Subject { a, triplets: Some(Arc::new(triplets)), k: x.cols() };
    let inputs = Inputs::product(x);
    let fits = Spmm::<S>::cost(&subject).oracle_bytes <= machine.limits().memory_bytes;
    let seed = record.seed.unwrap_or(0);
    let extent = if fits { Extent::Whole } else { Extent::Sampled { rows: 1000, seed } };
    let reference = Spmm::oracle(&subject, &inputs, extent);
    let precision = Precision::of::<S>();
    note_findings(&compare(&reference, y, precision, 1.0), precision, record);
}
