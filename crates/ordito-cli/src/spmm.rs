//! `ordito spmm MATRIX (--x X.npy | --k K) [-o Y.npy]`

use crate::args::{Dtype, ReadArgs, with_scalar};
use crate::console::Console;
use crate::matrix_input::{Matrix, check_dense};
use crate::product;
use crate::product::{ProductArgs, note_plan, too_large};
use crate::rank_options::RankOptions;
use clap::Args;
use ordito::Scalar;
use ordito::io::npy::{Conversion, NpyDtype, bytes_to_read_npy, is_npy_vector, write_npy_vector};
use ordito::io::{read_npy, read_npy_dtype, write_npy};
use ordito::machine::Machine;
use ordito::matrix::Dense;
use ordito::matrix::random_dense;
use ordito::op::{Choice, Op};
use ordito::refusal::Refusal;
use ordito::spmm::{Inputs, Plan, Spmm, Subject};
use ordito_bench::check::Precision;
use ordito_bench::report::{Outcome, Record};
use ordito_bench::workbench::{Case, OracleLimits, Selected};
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
  ordito spmm stencil27:40 --k 8 --check --verbose
  ordito spmm my.mtx --k 16 --variant csr-threads-rows --threads 2 --json"
)]
pub(crate) struct SpmmArgs {
    /// A path, a bare name or a synthetic matrix
    pub(crate) matrix: String,
    /// X
    #[arg(long, value_name = "X.npy")]
    pub(crate) x: Option<PathBuf>,
    /// Columns of a random X
    #[arg(long, value_name = "K")]
    k: Option<NonZeroUsize>,
    /// Where to write Y
    #[arg(short, long, value_name = "Y.npy")]
    pub(crate) output: Option<PathBuf>,
    /// Precision
    #[arg(long, value_enum)]
    dtype: Option<Dtype>,
    /// Measure what could be chosen on this matrix first, take the fastest, and remember it for `auto`
    #[arg(long, conflicts_with = "variant")]
    tune: bool,
    #[command(flatten)]
    pub(crate) product: ProductArgs,
    #[command(flatten)]
    pub(crate) ranks: RankOptions,
    #[command(flatten)]
    pub(crate) read: ReadArgs,
}

pub(crate) fn run(args: &SpmmArgs, console: &Console) -> anyhow::Result<u8> {
    args.ranks.check_alone()?;
    with_scalar!(args.dtype()?, S => multiply::<S>(args, console))
}

impl SpmmArgs {
    /// What was asked for, or what X has.
    pub(crate) fn dtype(&self) -> anyhow::Result<Dtype> {
        Ok(match (self.dtype, &self.x) {
            (Some(dtype), _) => dtype,
            (None, Some(x)) if read_npy_dtype(x)? == NpyDtype::F32 => Dtype::F32,
            (None, _) => Dtype::F64,
        })
    }
}

#[cfg(feature = "mpi")] // what ranks ask
impl SpmmArgs {
    /// Columns of a random X.
    pub(crate) fn columns(&self) -> usize {
        self.k.map_or(1, NonZeroUsize::get)
    }

    /// What ranks can do of it.
    pub(crate) fn check_for_ranks(&self) -> anyhow::Result<()> {
        anyhow::ensure!(
            !self.tune,
            "--tune: measures in one process; what it remembers is then used on ranks too"
        );
        product::check_output(self.output.as_deref())
    }
}

fn multiply<S: Scalar>(args: &SpmmArgs, console: &Console) -> anyhow::Result<u8> {
    product::check_output(args.output.as_deref())?;
    let (selected, accelerator) = args.product.select_one::<Spmm<S>>()?;
    let machine = match args.product.machine(args.read.limits(), accelerator, console)? {
        Ok(machine) => machine,
        Err(code) => return Ok(code),
    };
    let busy = console.busy(format!("reading {}", args.matrix));
    let matrix = Matrix::<S>::load_on(&machine, &args.matrix, &args.read.options())?;
    let machine = machine.holding(matrix.bytes());
    let x = args.x.as_ref().map(|path| read_x::<S>(path, matrix.triplets.cols(), &machine)).transpose()?;
    let x_is_vector = args.x.as_ref().map_or(Ok(false), |path| is_npy_vector(path))?;
    let k = x.as_ref().map_or(args.k.map_or(1, NonZeroUsize::get), Dense::cols);
    let record = Record {
        k: Some(k as u64),
        seed: args.k.map(|_| args.read.seed),
        ..matrix.record().of(Spmm::<S>::NAME, &selected.name(), Outcome::NotVerified)
    };
    let prepared = Prepared::new(args, selected, &machine, matrix, x, record.clone());
    let multiplied = prepared.map_err(anyhow::Error::from).and_then(|prepared| {
        busy.say("multiplying");
        let break_even = args.product.verbose.then(|| prepared.break_even()).transpose()?;
        Ok((prepared.multiply(args, x_is_vector)?, break_even))
    });
    drop(busy);
    let (multiplied, break_even) = match multiplied {
        Ok((record, break_even)) => (Ok(record), break_even),
        Err(error) => (Err(error), None),
    };
    let code = args.product.conclude(record, multiplied, console)?;
    if let Some(break_even) = break_even {
        console.line(format!("pays      {break_even}"))?;
    }
    Ok(code)
}

fn read_x<S: Scalar>(path: &Path, rows: usize, machine: &Machine) -> anyhow::Result<Dense<S>> {
    machine.check_memory(format!("reading {}", path.display()), bytes_to_read_npy::<S>(path)?)?;
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
    choice: Choice,
    case: Case<Spmm<S>>,
}

impl<S: Scalar> Prepared<S> {
    fn new(
        args: &SpmmArgs,
        selected: Selected,
        machine: &Arc<Machine>,
        matrix: Matrix<S>,
        x: Option<Dense<S>>,
        mut record: Record,
    ) -> Result<Self, Refusal> {
        // As it was read it is only looked at again to check the result.
        let (triplets, a) = match args.product.check {
            true => (Some(matrix.triplets.clone()), matrix.to_csr(machine)?),
            false => (None, matrix.into_csr(machine)?.1),
        };
        let a = Arc::new(a);
        let k = record.k.unwrap_or(1) as usize;
        let limits = OracleLimits::default();
        check_dense(machine, &a, k, x.is_some(), 1, args.product.check.then_some(limits))?;
        let start = Instant::now();
        let plan = match selected {
            Selected::Auto if args.tune => Plan::tuned(a.clone(), k, machine)?,
            Selected::Auto => Plan::new(a.clone(), machine)?,
            other => Plan::with_variant(&other.name(), a.clone(), machine)?,
        };
        let choice = plan.prepare(k)?.choice;
        record.prepare_ns = Some(start.elapsed().as_nanos() as f64);
        note_plan::<Spmm<S>>(&mut record, &selected, &choice, plan.launches(k)?, machine);
        let x =
            x.map_or_else(|| random_dense(a.cols(), k, args.read.seed), Ok).map_err(too_large(machine))?;
        let subject = Subject { a, triplets, k };
        let case = Case::new(subject, Inputs::product(Arc::new(x)), Precision::of::<S>(), record, limits);
        Ok(Prepared { plan, choice, case })
    }

    /// Has preparing paid?
    fn break_even(&self) -> anyhow::Result<String> {
        Ok(match self.plan.measure_break_even(self.case.subject.k)? {
            Some(break_even) => break_even.to_string(),
            None => format!("{} converts nothing: every product gains", self.choice.variant),
        })
    }

    /// The product, checked and written as asked; Y has one dimension where X had, as NumPy would have it.
    fn multiply(self, args: &SpmmArgs, x_is_vector: bool) -> anyhow::Result<Record> {
        let (a, x) = (&self.case.subject.a, &self.case.inputs.x);
        let mut y = Dense::filled(a.rows(), x.cols(), S::POISON)?;
        let start = Instant::now();
        self.plan.apply(S::ONE, x.view(), S::ZERO, y.view_mut())?;
        let elapsed_ns = start.elapsed().as_nanos() as f64;
        let mut record = product::timed(&self.case, self.plan.phases(), elapsed_ns);
        if args.product.check {
            product::check(&self.case, &self.choice, &y, &mut record)?;
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
