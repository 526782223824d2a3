//! `ordito doctor`

mod cpu;
mod gpu;
#[cfg(feature = "mpi")]
mod mpi;

use crate::console::Console;
use clap::Args;
use ordito::cpu::CpuInfo;
use serde_json::json;

/// What of this machine is usable, what was found where, what to do about the rest.
#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    /// Measure the ceilings again, for when the machine was busy the first time
    #[arg(long)]
    measure: bool,
    /// One JSON object on standard output
    #[arg(long)]
    json: bool,
    /// Initialise MPI, say how that went, and nothing else: the doctor runs itself so, as a program that may be aborted
    #[cfg(feature = "mpi")]
    #[arg(long, hide = true)]
    try_mpi: bool,
}

/// One line: a name, how it is, and what to do where it is not well.
struct Finding {
    name: &'static str,
    state: State,
    text: String,
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    Good,
    /// Works, with something to know.
    Note,
    Bad,
}

impl Finding {
    fn new(name: &'static str, state: State, text: impl Into<String>) -> Self {
        Finding { name, state, text: text.into() }
    }
}

impl State {
    fn name(self) -> &'static str {
        match self {
            State::Good => "ok",
            State::Note => "note",
            State::Bad => "bad",
        }
    }
}

pub(crate) fn run(args: &DoctorArgs, console: &Console) -> anyhow::Result<u8> {
    #[cfg(feature = "mpi")]
    if args.try_mpi {
        return mpi::try_it(console);
    }
    let cpu = CpuInfo::detect();
    let mut findings = cpu::findings(&cpu, args.measure, console);
    let mut gpus = gpu::Gpus::look();
    findings.extend(gpu::findings(&mut gpus));
    #[cfg(feature = "mpi")]
    findings.push(mpi::finding());
    if args.json {
        let line = |finding: &Finding| json!({ "name": finding.name, "state": finding.state.name(), "text": finding.text });
        let lines: Vec<serde_json::Value> = findings.iter().map(line).collect();
        console.json(&json!({
            "schema": ordito_bench::report::SCHEMA, "version": env!("CARGO_PKG_VERSION"), "cpu": cpu, "gpus": gpus.list, "findings": lines,
        }))?;
    } else {
        console.line(format!("ordito {}", env!("CARGO_PKG_VERSION")))?;
        for finding in &findings {
            console.line(format!("{:>5}  {:<10} {}", finding.state.name(), finding.name, finding.text))?;
        }
    }
    Ok(u8::from(findings.iter().any(|finding| finding.state == State::Bad)))
}
