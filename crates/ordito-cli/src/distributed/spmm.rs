//! `mpiexec -n N ordito spmm MATRIX (--x X.npy | --k K) [-o Y.npy]`

use crate::args::with_scalar;
use crate::console::Console;
use crate::distributed::check::Checked;
use crate::distributed::inputs::Input;
use crate::distributed::{agreed, notes};
use crate::interrupt::interrupt;
use crate::spmm::SpmmArgs;
use ordito::Scalar;
use ordito::io::npy::is_npy_vector;
use ordito::op::Op;
use ordito::spmm::Spmm;
use ordito_bench::report::{Outcome, Record};
use ordito_bench::workbench::{OracleLimits, Selected};
use ordito_mpi::ranks::{Collective, Ranks};
use ordito_mpi::{DistributedDense, Plan, SharedDense};
use std::sync::Arc;
use std::time::Instant;

pub(crate) fn run(args: &SpmmArgs, ranks: &Arc<dyn Ranks>, console: &Console) -> anyhow::Result<u8> {
    let dtype = agreed(&**ranks, args.dtype())?;
    with_scalar!(dtype, S => multiply::<S>(args, ranks, console))
}

fn multiply<S: Scalar>(args: &SpmmArgs, ranks: &Arc<dyn Ranks>, console: &Console) -> anyhow::Result<u8> {
    let all: &dyn Ranks = &**ranks;
    agreed(all, args.check_for_ranks())?;
    let (selected, accelerator) = agreed(all, args.product.select_one::<Spmm<S>>())?;
    let machine = match agreed(all, args.product.machine(args.read.limits(), accelerator, console))? {
        Ok(machine) => machine,
        Err(code) => return Ok(code),
    };
    let busy = console.busy(format!("reading {}", args.matrix));
    let input = Input::<S>::read(all, &args.matrix, &args.read.options(), &args.ranks)?;
    let x = match &args.x {
        Some(path) => input.read_x(all, path)?,
        None => input.random_x(all, args.columns(), args.read.seed)?,
    };
    busy.say("cutting");
    let checked = match args.product.check {
        true => Some(Checked::new(all, &input, &x, OracleLimits::default())?),
        false => None,
    };
    let start = Instant::now();
    let k = x.local().cols();
    let (rows, template) = (input.rows.clone(), input.record(0));
    let (a, order) = input.into_distributed_for(ranks, &machine)?;
    let nnz = a.nnz();
    let local_nnz = a.local_nnz();
    let plan = match selected {
        Selected::Auto => Plan::new(a, &machine)?,
        other => Plan::with_variant(&other.name(), a, &machine)?,
    };
    plan.prepare(k)?;
    let mut record = Record {
        k: Some(k as u64),
        nnz: Some(nnz),
        seed: args.x.is_none().then_some(args.read.seed),
        prepare_ns: Some(start.elapsed().as_nanos() as f64),
        ..template.of(Spmm::<S>::NAME, &selected.name(), Outcome::NotVerified)
    };
    notes::plan(&plan, &selected, k, local_nnz, &mut record)?;
    busy.say("multiplying");
    let shared = SharedDense::copy_of(all, &x)?;
    drop(x);
    let mut y = DistributedDense::zeros(all, &rows, k)?;
    y.local_mut().data_mut().fill(S::POISON);
    all.barrier()?;
    let start = Instant::now();
    plan.apply_shared(S::ONE, &shared, S::ZERO, y.view_mut())?;
    let took = start.elapsed().as_nanos() as f64;
    let [slowest] = super::timer::largest(all, [took])?;
    (record.mean_ns, record.min_ns, record.median_ns, record.samples) =
        (Some(slowest), Some(slowest), Some(slowest), Some(1));
    record.gflops = Some(2.0 * nnz as f64 * k as f64 / slowest).filter(|rate| rate.is_finite());
    notes::times(&plan, &mut record)?;
    if let Some(checked) = checked {
        checked.judge(all, y.local(), &mut record)?;
    }
    all.agree(interrupt().check())?;
    if let Some(output) = &args.output {
        let is_vector = args.x.as_ref().is_some_and(|x| is_npy_vector(x).unwrap_or(false));
        order.write(all, &y, output, is_vector)?;
    }
    drop(busy);
    args.product.conclude(record.clone(), Ok(record), console)
}
