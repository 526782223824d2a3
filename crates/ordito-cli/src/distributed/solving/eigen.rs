//! `mpiexec -n N ordito eigen MATRIX`

use crate::args::{Dtype, with_scalar};
use crate::console::Console;
use crate::distributed::agreed;
use crate::distributed::inputs::Input;
use crate::distributed::solving::ending::conclude;
use crate::distributed::solving::symmetric::{check, half_sum, inverse_diagonal, laplacian, largest_row_sum};
use crate::distributed::solving::{Ready, by_first, failed, told};
use crate::distributed::timer::largest;
use crate::interrupt;
use crate::solvers::eigen::{Beside, EigenArgs, answer, check_shape};
use crate::solvers::problem::Problem;
use crate::solvers::symmetric::{HALF_SUM, SYMMETRIZE, check_square};
use ordito::Scalar;
use ordito_mpi::ranks::Ranks;
use ordito_mpi::reading;
use std::sync::Arc;

pub(crate) fn run(args: &EigenArgs, ranks: &Arc<dyn Ranks>, console: &Console) -> anyhow::Result<u8> {
    with_scalar!(args.solver.dtype.unwrap_or(Dtype::F64), S => find::<S>(args, ranks, console))
}

fn find<S: Scalar>(args: &EigenArgs, ranks: &Arc<dyn Ranks>, console: &Console) -> anyhow::Result<u8> {
    let all: &dyn Ranks = &**ranks;
    by_first(all, || args.check())?;
    let machine = match agreed(all, args.solver.machine(console))? {
        Ok(machine) => machine,
        Err(code) => return Ok(code),
    };
    let busy = console.busy(format!("reading {}", args.matrix));
    let options = args.solver.read_options();
    let mut input = Input::<S>::as_read(reading::load(all, &args.matrix, &options)?);
    let name = input.name.clone();
    told(all, check_shape((input.rows.total(), input.cols.total()), &name))?;
    let count = told(all, args.count_of(input.rows.total() as usize, &name))?;
    busy.say("looking whether it is symmetric");
    let (input, taken_as) = match args.of_graph() {
        Some(kind) => (laplacian(all, input, kind)?, Some(kind.name())),
        None if args.symmetrize => {
            input.local = half_sum(all, &input)?;
            (input, Some(HALF_SUM.into()))
        }
        None => {
            check(all, &input, SYMMETRIZE)?;
            (input, None)
        }
    };
    let rows = input.rows.clone();
    let mass = match &args.mass {
        Some(mass) => {
            // Cut as A is.
            let read = reading::load_for::<S>(all, mass, &options, Some(rows.clone()))?;
            told(all, check_square((read.rows.total(), read.cols), &read.name, ""))?;
            let b = Input::as_read(read);
            check(all, &b, "; B must be")?;
            Some(b)
        }
        None => None,
    };
    let jacobi = args.jacobi.then(|| inverse_diagonal(all, &input)).transpose()?;
    let [norm] = largest(all, [largest_row_sum(&input.local)])?;
    busy.say("preparing products");
    let Ready { plan, size, ranks: on_ranks } = Ready::new(ranks, input, &machine)?;
    let mass = mass.map(|b| Ready::new(ranks, b, &machine)).transpose()?;
    drop(busy);
    interrupt::remember_only();
    let problem = Problem { name, taken_as, size, plan: &plan, machine: &machine, ranks: Some(on_ranks) };
    let beside = Beside { mass: mass.as_ref().map(|b| &b.plan as _), jacobi: jacobi.as_deref(), norm };
    let (solved, vectors) = answer(args, &problem, count, beside, console).map_err(failed)?;
    let write = || match &args.output {
        Some(output) => Ok(reading::write_npy_rows(all, &rows, vectors.view(), output)?),
        None => Ok(()),
    };
    conclude(all, &args.solver, &solved, write, console)
}
