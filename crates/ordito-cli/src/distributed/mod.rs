//! The same commands on several ranks, as `mpiexec -n N ordito …` starts them.
//!
//! Every rank runs the command. Rank 0 speaks; the others compute and keep silent. What one of them cannot do ends all, with one message and one exit code.
//! `host` shares cores and devices of a computer among its ranks; `inputs` reads, `check` holds results against the oracle, `timer` times the slowest rank; `spmm` and `operation`
//! are the commands.

mod check;
mod host;
mod inputs;
mod notes;
pub(crate) mod operation;
pub(crate) mod spmm;
mod timer;

pub(crate) use host::Host;

use crate::console::Console;
use crate::interrupt;
use anyhow::Context;
use ordito_mpi::ranks::mpi::{Mpi, launched};
use ordito_mpi::ranks::{Collective, Patience, Ranks, RanksError, refuse_unlike};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// What this process is one of, where an mpiexec started several.
#[derive(Clone)]
struct Group {
    mpi: Arc<Mpi>,
    host: Host,
}

/// Set once at the beginning, taken at the end: MPI is closed by whoever lets go of it last.
static GROUP: Mutex<Option<Group>> = Mutex::new(None);

fn group() -> Option<Group> {
    GROUP.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

/// Does this process speak? Known before MPI is: whoever started it says so.
pub(crate) fn speaks() -> bool {
    launched().is_none_or(|launched| launched.rank == 0)
}

/// Finds the others, if an mpiexec started more than one.
pub(crate) fn begin() -> anyhow::Result<()> {
    if !launched().is_some_and(|launched| launched.ranks > 1) {
        return Ok(());
    }
    let patience = Patience { interrupt: interrupt::interrupt().clone(), ..Patience::from_environment()? };
    let mpi = Arc::new(Mpi::open(patience)?);
    let ranks: &dyn Ranks = &*mpi;
    refuse_unlike(ranks)?;
    // What ends the program by its second word must see the same words everywhere.
    let words: Vec<String> = std::env::args().skip(1).collect();
    ranks.same("arguments of ordito", &words.join(" "))?;
    let host = Host::find(ranks)?;
    *GROUP.lock().unwrap_or_else(PoisonError::into_inner) = Some(Group { mpi, host });
    Ok(())
}

/// The ranks, where there are several.
pub(crate) fn ranks() -> Option<Arc<dyn Ranks>> {
    group().map(|group| group.mpi as Arc<dyn Ranks>)
}

/// What of this computer is this rank's, where there are several.
pub(crate) fn host() -> Option<Host> {
    group().map(|group| group.host)
}

/// What went well on all ranks; else what the first one that failed says, with all its causes.
fn agreed<T>(ranks: &dyn Ranks, mine: anyhow::Result<T>) -> anyhow::Result<T> {
    Ok(ranks.agree(mine.map_err(|error| format!("{error:#}")))?)
}

/// A command that one process does.
pub(crate) fn alone(command: &str) -> anyhow::Result<()> {
    match ranks() {
        None => Ok(()),
        Some(ranks) => anyhow::bail!(
            "`ordito {command}` runs in one process, and mpiexec has started {}: start it without mpiexec (spmm, eigen, svd, solve, pagerank, and verify and bench of spmm run on ranks)",
            ranks.count()
        ),
    }
}

/// How long others have to print what has failed, before those that know it do so themselves.
const LAST_WORDS: Duration = Duration::from_secs(5);

/// The end of all ranks: one exit code, one message.
pub(crate) fn end(outcome: anyhow::Result<u8>) -> anyhow::Result<u8> {
    let Some(Group { mpi, .. }) = GROUP.lock().unwrap_or_else(PoisonError::into_inner).take() else {
        return outcome;
    };
    let ranks: &dyn Ranks = &*mpi;
    match outcome {
        Ok(code) => {
            // The worst of all: a rank that found an error of its own has said so in its code.
            let mut codes = vec![0.0; ranks.count()];
            codes[ranks.rank()] = f64::from(code);
            ranks.sum(&mut codes).context("at the end")?;
            Ok(codes.into_iter().fold(0.0, f64::max) as u8)
        }
        // All of them know, and none waits for another.
        Err(error) if is_agreed(&error) => Err(error),
        Err(error) => {
            let is_told =
                error.chain().any(|cause| matches!(cause.downcast_ref(), Some(RanksError::Failed { .. })));
            if !is_told {
                ranks.fail(&format!("{error:#}"));
            }
            if ranks.rank() != 0 {
                std::thread::sleep(LAST_WORDS); // until rank 0 ends all
            }
            Console::new().error(&error);
            mpi.abort(2)
        }
    }
}

/// Do all ranks have this error?
fn is_agreed(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        let by_ranks = matches!(
            cause.downcast_ref(),
            Some(RanksError::Agreed(_) | RanksError::Different(_) | RanksError::Interrupted(_))
        );
        by_ranks || matches!(cause.downcast_ref(), Some(ordito_mpi::Error::File(_)))
    })
}
