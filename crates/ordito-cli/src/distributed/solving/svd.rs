//! `mpiexec -n N ordito svd MATRIX`

use crate::args::{Dtype, with_scalar};
use crate::console::Console;
use crate::distributed::agreed;
use crate::distributed::inputs::Input;
use crate::distributed::solving::ending::conclude;
use crate::distributed::solving::{Ready, by_first, failed, told};
use crate::interrupt;
use crate::solvers::problem::Problem;
use crate::solvers::svd::{SvdArgs, answer, write_values};
use ordito::Scalar;
use ordito_mpi::ranks::Ranks;
use ordito_mpi::reading;
use std::sync::Arc;

pub(crate) fn run(args: &SvdArgs, ranks: &Arc<dyn Ranks>, console: &Console) -> anyhow::Result<u8> {
    with_scalar!(args.solver.dtype.unwrap_or(Dtype::F64), S => find::<S>(args, ranks, console))
}

fn find<S: Scalar>(args: &SvdArgs, ranks: &Arc<dyn Ranks>, console: &Console) -> anyhow::Result<u8> {
    let all: &dyn Ranks = &**ranks;
    by_first(all, || args.check())?;
    let machine = match agreed(all, args.solver.machine(console))? {
        Ok(machine) => machine,
        Err(code) => return Ok(code),
    };
    let busy = console.busy(format!("reading {}", args.matrix));
    let input = Input::<S>::as_read(reading::load(all, &args.matrix, &args.solver.read_options())?);
    let (name, rows, cols) = (input.name.clone(), input.rows.clone(), input.cols.clone());
    let count = told(all, args.count_of([rows.total() as usize, cols.total() as usize, 0], &name))?;
    busy.say("preparing products");
    let Ready { plan, size, ranks: on_ranks } = Ready::new(ranks, input, &machine)?;
    drop(busy);
    interrupt::remember_only();
    let problem =
        Problem { name, taken_as: None, size, plan: &plan, machine: &machine, ranks: Some(on_ranks) };
    let (solved, [left, right]) = answer(args, &problem, count, console).map_err(failed)?;
    let write = || {
        let Some([u, s, vt]) = args.files() else { return Ok(()) };
        reading::write_npy_rows(all, &rows, left.view(), &u)?;
        by_first(all, || write_values(&solved, &s))?;
        Ok(reading::write_npy_columns(all, &cols, right.view(), &vt)?)
    };
    conclude(all, &args.solver, &solved, write, console)
}
