//! `ordito columns FILE [-o MEAN.npy]`

use crate::args::{Dtype, MemoryArgs, with_scalar};
use crate::console::Console;
use crate::operations::read_columns;
use crate::product;
use crate::product::{ProductArgs, note_plan};
use clap::{Args, ValueEnum};
use ordito::Scalar;
use ordito::column_stats::{Columns, Plan, Shape, Statistics};
use ordito::io::npy::write_npy_vector;
use ordito::io::write_npy;
use ordito::machine::Machine;
use ordito::matrix::Dense;
use ordito::op::{Computes, Op};
use ordito_bench::check::Precision;
use ordito_bench::report::{Outcome, Record};
use ordito_bench::workbench::{Case, OracleLimits, Selected};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

/// Mean, variance, least and greatest element of every column.
#[derive(Debug, Args)]
#[command(
    after_help = "FILE is text (a row per line, numbers apart by blanks, tabs or commas, also .gz) or .npy. One statistic is written
as one dimension, several as a row each, in the order of --what; always in f64. The variance is over n − 1.

Examples:
  ordito columns epochs.txt -o mean.npy
  ordito columns epochs.npy -o statistics.npy --what mean,variance,min,max
  ordito columns epochs.txt -o mean.npy --variant reduce --on cuda --dtype f32 --check --verbose"
)]
pub(crate) struct ColumnsArgs {
    /// The matrix
    #[arg(value_name = "FILE")]
    file: String,
    /// Where to write the statistics; without it only what they cost is told
    #[arg(short, long, value_name = "OUT.npy")]
    output: Option<PathBuf>,
    /// Which statistics
    #[arg(long, value_enum, value_delimiter = ',', default_value = "mean")]
    what: Vec<What>,
    /// Precision that the numbers are read in
    #[arg(long, value_enum, default_value = "f64")]
    dtype: Dtype,
    #[command(flatten)]
    product: ProductArgs,
    #[command(flatten)]
    memory: MemoryArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum What {
    Mean,
    /// Over n − 1
    Variance,
    /// Least element
    Min,
    /// Greatest element
    Max,
}

impl What {
    fn of(self, statistics: &Statistics) -> &[f64] {
        match self {
            What::Mean => &statistics.mean,
            What::Variance => &statistics.variance,
            What::Min => &statistics.min,
            What::Max => &statistics.max,
        }
    }
}

pub(crate) fn run(args: &ColumnsArgs, console: &Console) -> anyhow::Result<u8> {
    with_scalar!(args.dtype, S => reduce::<S>(args, console))
}

fn reduce<S: Scalar>(args: &ColumnsArgs, console: &Console) -> anyhow::Result<u8> {
    product::check_output(args.output.as_deref())?;
    let (selected, accelerator) = args.product.select_one::<Columns<S>>()?;
    let computes = selected.describe().map(|description| (description.name, description.computes));
    if let (Some((name, Computes::MeanOnly)), true) =
        (computes, args.what.iter().any(|what| *what != What::Mean))
    {
        anyhow::bail!("`{name}` computes the mean only: the rest of --what needs another --variant");
    }
    let machine = match args.product.machine(args.memory.limits(), accelerator, console)? {
        Ok(machine) => machine,
        Err(code) => return Ok(code),
    };
    let busy = console.busy(format!("reading {}", args.file));
    let data = read_columns::<S>(&args.file, &machine);
    drop(busy);
    let data = data?;
    let shape = Shape { rows: data.rows(), cols: data.cols() };
    let record = Record {
        matrix: Some(args.file.clone()),
        rows: Some(shape.rows as u64),
        cols: Some(shape.cols as u64),
        dtype: S::NAME.into(),
        ..Record::new(Columns::<S>::NAME, &selected.name(), Outcome::NotVerified)
    };
    let reduced = statistics::<S>(args, &selected, &machine, Arc::new(data), record.clone());
    args.product.conclude(record, reduced, console)
}

/// The statistics, checked and written as asked.
fn statistics<S: Scalar>(
    args: &ColumnsArgs,
    selected: &Selected<Columns<S>>,
    machine: &Arc<Machine>,
    data: Arc<Dense<S>>,
    mut record: Record,
) -> anyhow::Result<Record> {
    let shape = Shape { rows: data.rows(), cols: data.cols() };
    let start = Instant::now();
    let mut plan = match selected {
        Selected::Auto => Plan::<S>::new(shape, machine)?,
        other => Plan::with_variant(&other.name(), shape, machine)?,
    };
    record.prepare_ns = Some(start.elapsed().as_nanos() as f64);
    note_plan(&mut record, selected, plan.choice(), plan.launches(), machine);
    let case = Case::<Columns<S>>::new(shape, data, Precision::of::<f64>(), record, OracleLimits::default());
    let case = case.of_data(Precision::of::<S>());
    let start = Instant::now();
    let found = plan.apply(case.inputs.view())?;
    let elapsed_ns = start.elapsed().as_nanos() as f64;
    let mut record = product::timed(&case, plan.phases(), elapsed_ns);
    if args.product.check {
        product::check(&case, plan.choice(), &found, &mut record)?;
    }
    if let Some(output) = &args.output {
        let rows: Vec<f64> = args.what.iter().flat_map(|what| what.of(&found)).copied().collect();
        let rows = Dense::from_rows(args.what.len(), shape.cols, rows)?;
        match args.what.len() {
            1 => write_npy_vector(rows.view(), output)?,
            _ => write_npy(rows.view(), output)?,
        }
    }
    Ok(record)
}
