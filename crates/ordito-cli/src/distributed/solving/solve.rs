//! `mpiexec -n N ordito solve MATRIX (--rhs B.npy | --random-rhs K)`

use crate::args::with_scalar;
use crate::console::Console;
use crate::distributed::agreed;
use crate::distributed::inputs::Input;
use crate::distributed::solving::ending::conclude;
use crate::distributed::solving::symmetric::{check, half_sum, inverse_diagonal};
use crate::distributed::solving::{Ready, by_first, failed, told};
use crate::interrupt;
use crate::solvers::problem::Problem;
use crate::solvers::solve::{SolveArgs, answer};
use crate::solvers::symmetric::{HALF_SUM, SYMMETRIZE, check_square};
use ordito::Scalar;
use ordito::io::npy::Conversion;
use ordito::matrix::random_rows;
use ordito_mpi::ranks::Ranks;
use ordito_mpi::reading;
use std::sync::Arc;

pub(crate) fn run(args: &SolveArgs, ranks: &Arc<dyn Ranks>, console: &Console) -> anyhow::Result<u8> {
    let dtype = told(&**ranks, args.dtype())?;
    with_scalar!(dtype, S => find::<S>(args, ranks, console))
}

fn find<S: Scalar>(args: &SolveArgs, ranks: &Arc<dyn Ranks>, console: &Console) -> anyhow::Result<u8> {
    let all: &dyn Ranks = &**ranks;
    by_first(all, || args.check())?;
    let machine = match agreed(all, args.solver.machine(console))? {
        Ok(machine) => machine,
        Err(code) => return Ok(code),
    };
    let busy = console.busy(format!("reading {}", args.matrix));
    let mut input = Input::<S>::as_read(reading::load(all, &args.matrix, &args.solver.read_options())?);
    let (name, rows) = (input.name.clone(), input.rows.clone());
    told(all, check_square((rows.total(), input.cols.total()), &name, ""))?;
    let b = match &args.rhs {
        Some(path) => reading::read_npy_rows::<S>(all, path, &rows, Conversion::Allow)?,
        None => {
            let b = random_rows(rows.range(all.rank()), args.columns(), args.solver.seed);
            told(all, b.map_err(Into::into))?
        }
    };
    let is_vector = told(all, args.is_vector())?;
    busy.say("looking whether it is symmetric");
    let (input, taken_as) = if args.symmetrize {
        input.local = half_sum(all, &input)?;
        (input, Some(HALF_SUM.into()))
    } else {
        check(all, &input, SYMMETRIZE)?;
        (input, None)
    };
    let jacobi = args.jacobi.then(|| inverse_diagonal(all, &input)).transpose()?;
    busy.say("preparing products");
    let Ready { plan, size, ranks: on_ranks } = Ready::new(ranks, input, &machine)?;
    drop(busy);
    interrupt::remember_only();
    let problem = Problem { name, taken_as, size, plan: &plan, machine: &machine, ranks: Some(on_ranks) };
    let (solved, x) = answer(args, &problem, &b, jacobi.as_deref(), console).map_err(failed)?;
    let write = || match &args.output {
        Some(output) if is_vector => Ok(reading::write_npy_vector_rows(all, &rows, x.view(), output)?),
        Some(output) => Ok(reading::write_npy_rows(all, &rows, x.view(), output)?),
        None => Ok(()),
    };
    conclude(all, &args.solver, &solved, write, console)
}
