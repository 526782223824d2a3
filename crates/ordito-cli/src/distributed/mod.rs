//! The same commands on several ranks, as `mpiexec -n N ordito …` starts them.
//!
//! Every rank runs the command. Rank 0 speaks; the others compute and keep silent. What one of them cannot do ends all, with one message and one exit code.
//! `host` shares cores and devices of a computer among its ranks; `inputs` reads, `check` holds results against the oracle, `timer` times the slowest rank; `operands` lie where it multiplies; `spmm`, `operation`
//! and `solving` are the commands.

mod check;
mod host;
mod inputs;
mod notes;
mod operands;
pub(crate) mod operation;
pub(crate) mod solving;
pub(crate) mod spmm;
mod timer;

use crate::Command;
use crate::console::Console;
use crate::host::share;
use crate::interrupt;
use crate::lost::of_ranks;
use crate::targets::Targets;
use anyhow::Context;
use ordito_mpi::ranks::mpi::{Mpi, launched};
use ordito_mpi::ranks::{Collective, Patience, Ranks, RanksError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What this process is one of, where an mpiexec started several. Set once at the beginning, taken at the end: MPI is closed by whoever lets go of it last.
static RANKS: Mutex<Option<Arc<dyn Ranks>>> = Mutex::new(None);

fn kept() -> MutexGuard<'static, Option<Arc<dyn Ranks>>> {
    RANKS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Does this process speak? Known before MPI is: whoever started it says so.
pub(crate) fn speaks() -> bool {
    launched().is_none_or(|launched| launched.rank == 0)
}

/// Finds the others, if an mpiexec started more than one.
pub(crate) fn begin() -> anyhow::Result<()> {
    if launched().is_none_or(|launched| launched.ranks <= 1) {
        return Ok(());
    }
    let patience = Patience { interrupt: interrupt::interrupt().clone(), ..Patience::from_environment()? };
    let mpi = Arc::new(Mpi::open(patience)?);
    // Kept whatever comes from here on: who lets go of MPI may leave, and nobody may before the one that speaks has said what is wrong.
    *kept() = Some(mpi.clone());
    let ranks: &dyn Ranks = &*mpi;
    // What ends the program by its second word must see the same words everywhere.
    let words: Vec<String> =
        std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    ranks.same("arguments of ordito", &words.join(" "))?;
    share(host::find(ranks)?);
    Ok(())
}

/// The ranks, where there are several.
pub(crate) fn ranks() -> Option<Arc<dyn Ranks>> {
    kept().clone()
}

/// What went well on all ranks; else what the first one that failed says, with all its causes.
fn agreed<T>(ranks: &dyn Ranks, mine: anyhow::Result<T>) -> anyhow::Result<T> {
    Ok(ranks.agree(mine.map_err(|error| format!("{error:#}")))?)
}

/// Ranks that ran on different devices would wait for each other: where one has a GPU and another has none, it must be said what is meant.
pub(crate) fn same_targets(ranks: &dyn Ranks, targets: &Targets) -> Result<(), RanksError> {
    ranks.same("where variants run (--on says it for all)", &targets.names())
}

/// A command that is another one on ranks.
pub(crate) fn run(
    command: &Command,
    ranks: &Arc<dyn Ranks>,
    console: &Console,
) -> Option<anyhow::Result<u8>> {
    match command {
        Command::Spmm(args) => Some(spmm::run(args, ranks, console)),
        Command::Eigen(args) => Some(solving::eigen(args, ranks, console)),
        Command::Svd(args) => Some(solving::svd(args, ranks, console)),
        Command::Solve(args) => Some(solving::solve(args, ranks, console)),
        Command::Pagerank(args) => Some(solving::pagerank(args, ranks, console)),
        _ => None,
    }
}

/// A command that one process does.
pub(crate) fn alone(command: &str) -> anyhow::Result<()> {
    let Some(ranks) = ranks() else { return Ok(()) };
    // All of them say so.
    Err(RanksError::Agreed(format!(
        "`ordito {command}` runs in one process, and mpiexec has started {}: start it without mpiexec (spmm, eigen, svd, solve, pagerank, and verify and bench of spmm run on ranks)",
        ranks.count()
    )))?
}

/// One end for all ranks: those that go on hear of the one that does not, and the worst exit code is everyone's.
pub(crate) fn end(outcome: anyhow::Result<u8>) -> anyhow::Result<u8> {
    let Some(ranks) = ranks() else { return outcome };
    match outcome {
        Ok(code) => {
            let mut codes = vec![0.0; ranks.count()];
            codes[ranks.rank()] = f64::from(code);
            (*ranks).sum(&mut codes).context("at the end")?;
            Ok(codes.into_iter().fold(0.0, f64::max) as u8)
        }
        Err(error) => {
            if !is_known_to_all(&error) {
                ranks.fail(&format!("{error:#}"));
            }
            Err(error)
        }
    }
}

/// Lets go of MPI, which then waits for the other ranks: when all that was to be said is said.
pub(crate) fn close() {
    *kept() = None;
}

/// Do the other ranks have this error too, or is it theirs?
fn is_known_to_all(error: &anyhow::Error) -> bool {
    let is_a_file = |cause: &(dyn std::error::Error + 'static)| {
        matches!(cause.downcast_ref(), Some(ordito_mpi::Error::File(_)))
    };
    let by_ranks = matches!(
        of_ranks(error),
        Some(RanksError::Agreed(_) | RanksError::Different(_) | RanksError::Failed { .. })
    );
    by_ranks || error.chain().any(is_a_file)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Device;
    use crate::lost::is_lost;
    use crate::targets::Selection;
    use ordito::Machine;
    use ordito::device::Geometry;
    use ordito_bench::workbench::Wanted;
    use ordito_mpi::ranks::on_threads;

    #[test]
    fn ranks_that_would_run_on_different_devices_say_so() {
        let targets = |on: &[Device]| {
            let machines = vec![Machine::with_threads(1).unwrap()];
            let selection = Selection::new(&Wanted::all(), |_, _| Ok(true)).unwrap();
            Targets::new(on, || panic!("no GPU was asked for"), machines, &[Geometry::default()], selection)
                .unwrap()
        };
        let asked = |of_second: &[Device]| {
            on_threads(3, Patience::default(), |ranks| {
                let on = if ranks.rank() == 1 { of_second } else { &[Device::Cpu] };
                let same = same_targets(&ranks, &targets(on)).map_err(anyhow::Error::from);
                assert!(same.as_ref().err().is_none_or(is_known_to_all));
                same.map_err(|error| error.to_string())
            })
        };
        assert_eq!(asked(&[Device::Cpu]), vec![Ok(()); 3]);
        let why = "where variants run (--on says it for all): rank 0 has cpu, rank 1 has cpu,emulator";
        assert_eq!(asked(&[Device::Cpu, Device::Emulator]), vec![Err(why.to_owned()); 3]);
    }

    #[test]
    fn ranks_are_heard_through_other_errors() {
        let agreed = || RanksError::Agreed("no such file".into());
        let failed = || RanksError::Failed { rank: 3, why: "panicked".into() };
        for error in [anyhow::anyhow!(agreed()), anyhow::anyhow!(ordito_mpi::Error::from(agreed()))] {
            assert!(is_known_to_all(&error) && !is_lost(&error), "{error}");
        }
        for error in [failed().into(), anyhow::anyhow!(ordito_mpi::Error::from(failed())).context("there")] {
            assert!(is_known_to_all(&error) && is_lost(&error), "{error}");
        }
        let mine = anyhow::anyhow!("no memory");
        assert!(!is_known_to_all(&mine) && !is_lost(&mine));
    }
}
