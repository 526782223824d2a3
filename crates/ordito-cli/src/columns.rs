//! `ordito columns FILE [-o MEAN.npy]`

use crate::args::{Dtype, MemoryArgs, with_scalar};
use crate::console::Console;
use crate::operations::{check_groups_memory, read_columns};
use crate::product;
use crate::product::{ProductArgs, note_plan};
use crate::row_groups::{GroupOrderArg, RowGroups};
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
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

/// Mean, variance, least and greatest element of every column.
#[derive(Debug, Args)]
#[command(
    after_help = "FILE is text (a row per line, numbers apart by blanks, tabs or commas, also .gz) or .npy. One statistic is written
as one dimension, several as a row each, in the order of --what; always in f64. The variance is over n − 1.
With --groups there is such a row, or are such rows, for every group, group after group.

Examples:
  ordito columns epochs.txt -o mean.npy
  ordito columns epochs.npy -o statistics.npy --what mean,variance,min,max
  ordito columns nontarget.txt -o means.npy --groups 7 --group-order interleaved
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
    /// Take the rows in so many groups
    #[arg(long, value_name = "N")]
    groups: Option<NonZeroUsize>,
    /// Which rows belong together [default: interleaved]
    #[arg(long, value_enum, requires = "groups")]
    group_order: Option<GroupOrderArg>,
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
    let data = Arc::new(data?);
    let groups = RowGroups::new(args.groups, args.group_order);
    if let Some(groups) = groups {
        groups.check(data.rows())?;
        let whole = Shape { rows: data.rows(), cols: data.cols() };
        check_groups_memory::<S>(&machine, whole, groups, 1)?;
    }
    let (mut found, mut reduced) = (Vec::new(), Vec::new());
    for group in 0..groups.map_or(1, RowGroups::count) {
        let (name, part) = match groups {
            Some(groups) => (groups.name(group, &args.file), Arc::new(groups.take(&data, group)?)),
            None => (args.file.clone(), data.clone()),
        };
        let record = Record {
            matrix: Some(name),
            rows: Some(part.rows() as u64),
            cols: Some(part.cols() as u64),
            dtype: S::NAME.into(),
            ..Record::new(Columns::<S>::NAME, &selected.name(), Outcome::NotVerified)
        };
        let one = statistics::<S>(args, &selected, &machine, part, record.clone(), &mut found);
        let failed = one.is_err();
        reduced.push((record, one));
        if failed {
            break; // what failed once fails for every group
        }
    }
    if let (Some(output), true) = (&args.output, reduced.iter().all(|(_, one)| one.is_ok())) {
        let rows = Dense::from_rows(args.what.len() * reduced.len(), data.cols(), found)?;
        match (groups, args.what.len()) {
            (None, 1) => write_npy_vector(rows.view(), output)?,
            _ => write_npy(rows.view(), output)?,
        }
    }
    let mut code = 0;
    for (record, one) in reduced {
        code = code.max(args.product.conclude(record, one, console)?);
    }
    Ok(code)
}

/// The statistics, checked as asked; those that are to be written go behind `rows`.
fn statistics<S: Scalar>(
    args: &ColumnsArgs,
    selected: &Selected,
    machine: &Arc<Machine>,
    data: Arc<Dense<S>>,
    mut record: Record,
    rows: &mut Vec<f64>,
) -> anyhow::Result<Record> {
    let shape = Shape { rows: data.rows(), cols: data.cols() };
    let start = Instant::now();
    let mut plan = match selected {
        Selected::Auto => Plan::<S>::new(shape, machine)?,
        other => Plan::with_variant(&other.name(), shape, machine)?,
    };
    record.prepare_ns = Some(start.elapsed().as_nanos() as f64);
    note_plan::<Columns<S>>(&mut record, selected, plan.choice(), plan.launches(), machine);
    let case = Case::<Columns<S>>::new(shape, data, Precision::of::<f64>(), record, OracleLimits::default());
    let case = case.of_data(Precision::of::<S>());
    let start = Instant::now();
    let found = plan.apply(case.inputs.view())?;
    let elapsed_ns = start.elapsed().as_nanos() as f64;
    let mut record = product::timed(&case, plan.phases(), elapsed_ns);
    if args.product.check {
        product::check(&case, plan.choice(), &found, &mut record)?;
    }
    rows.extend(args.what.iter().flat_map(|what| what.of(&found)));
    Ok(record)
}
