//! `ordito spmm MATRIX (--x X.npy | --k K) [-o Y.npy]`

use super::args::{Device, Dtype, ReadArgs, with_scalar};
use super::console::Console;
use super::operations::{check_dense, to_csr};
use super::session::unmet_gpu_requirement;
use super::targets::missing_device;
use crate::Scalar;
use crate::check::{Precision, compare};
use crate::io::npy::{Conversion, NpyDtype, is_npy_vector, write_npy_vector};
use crate::io::{load, random_dense, read_npy, read_npy_dtype, write_npy};
use crate::machine::{Accelerator, Machine, Refusal};
use crate::matrix::{Coo, Dense, FormatError};
use crate::ops::spmm::{Inputs, Plan, Spmm, Subject};
use crate::ops::{Op, RunError};
use crate::report::{Outcome, Record, table};
use crate::workbench::{
    AUTO, Case, OracleLimits, Selected, Side, exit_code, note_findings, params, refused, select,
};
use clap::Args;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

/// The product Y = A·X itself.
#[derive(Debug, Args)]
#[command(group(clap::ArgGroup::new("X").required(true).args(["x", "k"])))]
#[command(
    after_help = "X is a .npy file (C or Fortran order; one dimension gives a Y of one dimension), or K random columns.
Without --dtype the product is computed in the precision of X, else in f64.

Examples:
  ordito spmm bcsstk17.mtx.gz --x X.npy -o Y.npy
  ordito spmm stencil27:40 --k 8 --check
  ordito spmm my.mtx --k 16 --variant csr-threads-rows --threads 2 --json"
)]
pub(super) struct SpmmArgs {
    /// A path, a bare name or a synthetic matrix
    matrix: String,
    /// X
    #[arg(long, value_name = "X.npy")]
    x: Option<PathBuf>,
    /// Columns of a random X
    #[arg(long, value_name = "K")]
    k: Option<NonZeroUsize>,
    /// Where to write Y
    #[arg(short, long, value_name = "Y.npy")]
    output: Option<PathBuf>,
    /// Which variant
    #[arg(long, value_name = "NAME", default_value = AUTO)]
    variant: String,
    /// Where to run [default: the CPU, where the operands are; a variant of a GPU runs there]
    #[arg(long, value_enum, default_value = "all", hide_default_value = true)]
    on: Device,
    /// Which GPU, as `ordito doctor` numbers them
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    device: usize,
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
    let (selected, accelerator) = select_one::<S>(args)?;
    let machine = args.read.machine(args.threads)?.with_accelerator(accelerator);
    if accelerator != Accelerator::None
        && let Err(refusal) = machine.device()
    {
        // Before anything is read.
        return missing_device(&refusal, console);
    }
    let busy = console.busy(format!("reading {}", args.matrix));
    let loaded = machine.pool().install(|| load::<S>(&args.matrix, &args.read.options()))?;
    let triplets = Arc::new(loaded.coo);
    let x = args.x.as_ref().map(|path| read_x::<S>(path, triplets.cols())).transpose()?;
    let x_is_vector = args.x.as_ref().map_or(Ok(false), |path| is_npy_vector(path))?;
    let k = x.as_ref().map_or(args.k.map_or(1, NonZeroUsize::get), Dense::cols);
    let record = Record {
        matrix: Some(loaded.name),
        rows: Some(triplets.rows() as u64),
        cols: Some(triplets.cols() as u64),
        nnz: Some(triplets.nonzeros() as u64),
        k: Some(k as u64),
        dtype: S::NAME.into(),
        seed: args.k.map(|_| args.read.seed),
        ..Record::new(Spmm::<S>::NAME, selected.name(), Outcome::NotVerified)
    };
    let multiplied = Prepared::new(args, selected, &machine, triplets, x, record.clone()).map(|prepared| {
        busy.say("multiplying");
        prepared.multiply(args, x_is_vector)
    });
    let record = match multiplied {
        Ok(Ok(record)) => record,
        // Room for X and Y on a device is asked for late.
        Ok(Err(error)) => match error.downcast::<RunError>() {
            Ok(RunError::Refused(refusal)) => refused(record, &refusal),
            Ok(error) => return Err(error.into()),
            Err(error) => return Err(error),
        },
        Err(refusal) => refused(record, &refusal),
    };
    drop(busy);
    // Without --check nothing was to be verified.
    let unchecked = !args.check && record.outcome == Outcome::NotVerified;
    let code = if unchecked { 0 } else { exit_code(std::slice::from_ref(&record)) };
    if args.json {
        console.json(&record)?;
    } else if let Some(refusal) = &record.refusal {
        anyhow::bail!("{refusal}");
    } else if let (Outcome::Failed, Some(error)) = (record.outcome, &record.error) {
        console.error(&anyhow::anyhow!("{error}"));
    } else {
        console.line(table::one(&record))?;
    }
    if let Some(unmet) = unmet_gpu_requirement(&[record]) {
        console.error(&unmet);
        return Ok(1);
    }
    Ok(code)
}

/// The one variant, and what it runs on. Without `--on` a variant of a GPU is looked for only if the CPU has none: the
/// operands lie in the host's memory, and taking them to a GPU costs more than a product there saves.
fn select_one<S: Scalar>(args: &SpmmArgs) -> anyhow::Result<(Selected<Spmm<S>>, Accelerator)> {
    let cuda = Accelerator::Cuda(args.device);
    let accelerators: &[Accelerator] = match args.on {
        Device::Cpu => &[Accelerator::None],
        Device::Cuda => &[cuda],
        Device::Emulator => &[Accelerator::Emulator],
        Device::All => &[Accelerator::None, cuda],
    };
    for &accelerator in accelerators {
        let side = if accelerator == Accelerator::None { Side::Cpu } else { Side::Device };
        match &select::<Spmm<S>>(std::slice::from_ref(&args.variant), side)?[..] {
            [] => {}
            [one] => return Ok((*one, accelerator)),
            _ => anyhow::bail!("--variant {}: matches several variants, one is needed", args.variant),
        }
    }
    anyhow::bail!("--variant {} does not run there; `ordito list spmm` says where it does", args.variant)
}

fn read_x<S: Scalar>(path: &Path, rows: usize) -> anyhow::Result<Dense<S>> {
    let x = read_npy::<S>(path, Conversion::Allow)?;
    anyhow::ensure!(
        x.rows() == rows,
        "{}: X has {} rows, A has {rows} columns: these must be equal",
        path.display(),
        x.rows()
    );
    Ok(x)
}

/// A plan with its operands: all that can be refused lies behind it.
struct Prepared<S: Scalar> {
    plan: Plan<S>,
    case: Case<Spmm<S>>,
    error_factor: f64,
}

impl<S: Scalar> Prepared<S> {
    fn new(
        args: &SpmmArgs,
        selected: Selected<Spmm<S>>,
        machine: &Arc<Machine>,
        triplets: Arc<Coo<S>>,
        x: Option<Dense<S>>,
        mut record: Record,
    ) -> Result<Self, Refusal> {
        let a = Arc::new(to_csr(machine, &triplets)?);
        let k = record.k.unwrap_or(1) as usize;
        let limits = OracleLimits::default();
        check_dense(machine, &a, k, 1, args.check.then_some(limits))?;
        let start = Instant::now();
        let plan = match selected {
            Selected::Auto => Plan::new(a.clone(), k, machine)?,
            Selected::Named(variant) => Plan::with_variant(variant.name(), a.clone(), k, machine)?,
        };
        record.prepare_ns = Some(start.elapsed().as_nanos() as f64);
        record.launches = plan.launches();
        let choice = plan.choice();
        if matches!(selected, Selected::Auto) {
            record.chosen = Some(choice.variant.into());
            record.reason = Some(choice.reason.clone());
        }
        let mut error_factor = 1.0;
        if let Some(variant) = Spmm::<S>::variant(choice.variant) {
            record.params = params(variant);
            record.place = variant.place().device(machine).into();
            record.threads = variant.place().threads(machine).map(|threads| threads as u64);
            error_factor = variant.error_factor();
        }
        let too_large = |error: FormatError| Refusal::Memory {
            what: error.to_string(),
            needed: None,
            budget: machine.limits().memory_bytes,
        };
        let x = x.map_or_else(|| random_dense(a.cols(), k, args.read.seed), Ok).map_err(too_large)?;
        let subject = Subject { a, triplets: Some(triplets), k };
        let case = Case::new(subject, Inputs::product(Arc::new(x)), Precision::of::<S>(), record, limits);
        Ok(Prepared { plan, case, error_factor })
    }

    /// The product, checked and written as asked; Y has one dimension where X had, as NumPy would have it.
    fn multiply(mut self, args: &SpmmArgs, x_is_vector: bool) -> anyhow::Result<Record> {
        let (a, x) = (&self.case.subject.a, &self.case.inputs.x);
        let mut y = Dense::filled(a.rows(), x.cols(), S::POISON)?;
        let start = Instant::now();
        self.plan.apply(S::ONE, x.view(), S::ZERO, y.view_mut())?;
        let elapsed_ns = start.elapsed().as_nanos() as f64;
        let phases = self.plan.phases();
        let ns = phases.run_ns.unwrap_or(elapsed_ns);
        let mut record = self.case.record.clone();
        (record.upload_ns, record.download_ns) = (phases.upload_ns, phases.download_ns);
        record.samples = Some(1);
        (record.mean_ns, record.min_ns, record.median_ns) = (Some(ns), Some(ns), Some(ns));
        // An emulated rate would be taken for a GPU's.
        let rate = Some(self.case.cost().flops as f64 / ns).filter(|_| record.place != "emulator");
        record.gflops = rate.filter(|rate| rate.is_finite());
        if args.check {
            let findings = compare(self.case.reference(), &y, self.case.precision, self.error_factor);
            note_findings(&findings, self.case.precision, &mut record);
        }
        if let Some(output) = &args.output {
            if x_is_vector {
                write_npy_vector(y.view(), output)?;
            } else {
                write_npy(y.view(), output)?;
            }
        }
        Ok(record)
    }
}
