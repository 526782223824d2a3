//! The operations that `list`, `verify` and `bench` know. One file and one entry each.

mod columns;
mod combine;
mod convert;
mod gemm;
mod gram;
mod operation;
mod sparse;
pub(crate) mod spmm;
mod transfer;

pub(crate) use crate::operations::columns::{check_groups_memory, read_columns};
pub(crate) use crate::operations::gemm::check_memory as check_gemm_memory;
pub(crate) use crate::operations::operation::{Listed, Operation, for_each_dtype};

use crate::console::Console;
use crate::request::Request;
use crate::session::Session;
use crate::suite::{Suite, Yardstick};
use crate::targets::{NothingRuns, missing_device};
use clap::ValueEnum;

/// All there are.
pub(crate) const OPERATIONS: &[&dyn Operation] = &[
    &convert::ConvertOperation,
    &spmm::SpmmOperation,
    &gemm::GemmOperation,
    &columns::ColumnsOperation,
    &gram::GramOperation,
    &combine::CombineOperation,
    &transfer::TransferOperation,
];

/// Their names, for people.
pub(crate) fn names() -> String {
    OPERATIONS.iter().map(|op| op.name()).collect::<Vec<_>>().join(", ")
}

/// The operation of this name.
pub(crate) fn find(name: &str) -> Result<&'static dyn Operation, String> {
    let found = OPERATIONS.iter().copied().find(|op| op.name() == name);
    found.ok_or_else(|| format!("there is no operation `{name}`; there are: {}", names()))
}

/// Everything that was asked of an operation; the exit code.
pub(crate) fn run(operation: &dyn Operation, request: &Request, console: &Console) -> anyhow::Result<u8> {
    match request.targets.check(operation.name()) {
        Ok(()) => {}
        Err(NothingRuns::NothingSelected(why)) => anyhow::bail!(why),
        Err(NothingRuns::NoDevice(refusal)) => return missing_device(&refusal, console),
    }
    let cases = operation.cases_per_input(request);
    Session::run(request, console, cases, &|session, input| operation.run(session, input))
}

/// What this suite stands for, or which there are.
pub(crate) fn yardstick(operation: &dyn Operation, suite: Suite) -> anyhow::Result<Yardstick> {
    operation.yardstick(suite).ok_or_else(|| {
        let there = Suite::value_variants().iter().filter(|suite| operation.yardstick(**suite).is_some());
        let there: Vec<String> = there.map(|suite| suite.name()).collect();
        let there = if there.is_empty() { "none".into() } else { there.join(", ") };
        let asked = suite.name();
        anyhow::anyhow!("--suite {asked}: `{}` has no such suite; it has: {there}", operation.name())
    })
}
