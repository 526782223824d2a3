//! How such a command ends: all ranks write their rows, rank 0 the rest.

use crate::console::Console;
use crate::distributed::solving::told;
use crate::solvers::ending::{show, write_files};
use crate::solvers::options::SolverArgs;
use crate::solvers::solved::Solved;
use ordito_mpi::ranks::Ranks;

/// Writes, shows, and tells by the exit code. What could not be written is shown all the same.
pub(super) fn conclude(
    ranks: &dyn Ranks,
    args: &SolverArgs,
    solved: &Solved,
    write_rows: impl FnOnce() -> anyhow::Result<()>,
    console: &Console,
) -> anyhow::Result<u8> {
    let is_first = ranks.rank() == 0;
    let written =
        write_rows().and_then(|()| told(ranks, if is_first { write_files(args, solved) } else { Ok(()) }));
    show(args, solved, console)?;
    written?;
    Ok(u8::from(!solved.is_good()))
}
