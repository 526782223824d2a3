//! What `ordito doctor` finds out about MPI.

use crate::console::Console;
use crate::doctor::{Finding, State};
use ordito_mpi::ranks::mpi::{FoundMpi, LIBRARY_VARIABLE, launched};
use ordito_mpi::ranks::{Mpi, Patience, RanksError};
use std::io::Read;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Initialising takes less than a second, where it ends at all.
const LIMIT: Duration = Duration::from_secs(20);

/// Which MPI there is. None is a note, unless one was asked for: a machine without MPI is well.
pub(crate) fn finding() -> Finding {
    let found = match Mpi::find() {
        Ok(found) => found,
        Err(why) => {
            let state = if std::env::var_os(LIBRARY_VARIABLE).is_some() { State::Bad } else { State::Note };
            return Finding::new("mpi", state, why.to_string());
        }
    };
    let FoundMpi { flavour, version, path } = found;
    // Ranks of a launcher are in a group that they must not leave again; alone, a child looks.
    let tried = match launched() {
        Some(_) => details().map_err(|why| why.to_string()),
        None => in_a_child(),
    };
    let (state, text) = match tried {
        Ok(details) => (State::Good, details),
        Err(why) => (State::Note, why),
    };
    Finding::new("mpi", state, format!("{version} ({flavour}), {text}, {path}"))
}

/// Initialises it, and ends it.
fn details() -> Result<String, RanksError> {
    let mpi = Mpi::open(Patience { limit: LIMIT, ..Patience::default() })?;
    let aware = if mpi.is_cuda_aware() { "CUDA-aware" } else { "not CUDA-aware" };
    Ok(format!("thread level {}, {aware}", mpi.thread_level()))
}

/// What the child does.
pub(crate) fn try_it(console: &Console) -> anyhow::Result<u8> {
    console.line(details()?)?;
    Ok(0)
}

/// An MPI that does not like where it is aborts the process, hangs or prints pages: so another process tries it.
fn in_a_child() -> Result<String, String> {
    let failed = |error: std::io::Error| format!("not tried: {error}");
    let mut command = Command::new(std::env::current_exe().map_err(failed)?);
    command.args(["doctor", "--try-mpi"]).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().map_err(failed)?;
    let begin = Instant::now();
    let status = loop {
        match child.try_wait().map_err(failed)? {
            Some(status) => break status,
            None if begin.elapsed() < LIMIT => std::thread::sleep(Duration::from_millis(5)),
            None => {
                // It may have ended just now: then there is nothing to end.
                let _ = child.kill();
                let _ = child.wait();
                return Err(format!("could not be initialised within {} s", LIMIT.as_secs()));
            }
        }
    };
    let mut text = String::new();
    if let Some(mut output) = child.stdout.take() {
        output.read_to_string(&mut text).map_err(failed)?;
    }
    // Pages that MPI has printed come before.
    let last = text.lines().last().unwrap_or_default();
    match status.success() && !last.is_empty() {
        true => Ok(last.to_owned()),
        false => Err(format!("cannot be initialised here ({status})")),
    }
}
