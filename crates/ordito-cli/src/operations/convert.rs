//! `convert`

use crate::args::with_scalar;
use crate::operations::operation::{Listed, Operation, catalogue, for_each_dtype};
use crate::operations::sparse::{MATRIX_HINT, load, note_facts};
use crate::request::Request;
use crate::session::Session;
use crate::suite::{Suite, Yardstick};
use ordito::Scalar;
use ordito::machine::Machine;
use ordito::op::Op;
use ordito::refusal::Refusal;
use ordito_bench::check::Precision;
use ordito_bench::convert::Convert;
use ordito_bench::report::Record;
use ordito_bench::workbench::{Case, OracleLimits, SelectError, Side, Wanted, select};
use std::sync::Arc;

pub(crate) struct ConvertOperation;

impl Operation for ConvertOperation {
    fn name(&self) -> &'static str {
        Convert::<f64>::NAME
    }
    fn about(&self) -> &'static str {
        Convert::<f64>::ABOUT
    }
    fn catalogue(&self, machine: Option<&Machine>) -> Vec<Listed> {
        catalogue::<Convert<f64>>(machine)
    }
    fn selects(&self, wanted: &Wanted, side: Side) -> Result<bool, SelectError> {
        Ok(!select::<Convert<f64>>(wanted, side)?.is_empty())
    }
    fn input_hint(&self) -> &'static str {
        MATRIX_HINT
    }
    fn yardstick(&self, suite: Suite) -> Option<Yardstick> {
        Some(suite.sparse())
    }
    fn cases_per_input(&self, request: &Request) -> usize {
        request.dtypes.len()
    }
    fn run(&self, session: &mut Session<'_>, input: &str) -> anyhow::Result<()> {
        for_each_dtype(session, |session, dtype| with_scalar!(dtype, S => run_convert::<S>(session, input)))
    }
}

fn run_convert<S: Scalar>(session: &mut Session<'_>, input: &str) -> anyhow::Result<()> {
    let matrix = load::<S>(session, input)?;
    let record = Record { seed: Some(session.request().read.seed), ..matrix.record() };
    let machine = session.request().machine.holding(matrix.bytes());
    let fits = matrix.check_csr(&machine).and_then(|()| check_entries(&machine, matrix.triplets.nnz()));
    if let Err(refusal) = fits {
        return session.refuse_case::<Convert<S>>(&record, &refusal);
    }
    let for_facts = machine.holding(matrix.bytes()); // its rows are let go of again
    note_facts(session, &matrix, || matrix.to_csr(&for_facts).ok().map(Arc::new));
    let (precision, limits) = (Precision::of::<S>(), OracleLimits::default());
    let case = Case::<Convert<S>>::new(matrix.triplets, (), precision, record, limits);
    session.run_case(&case.holding(machine.held_bytes()))
}

/// What comparing takes for every entry: where it should be and its value with their bounds; where it was found, as a triplet,
/// and in order, with the room to sort.
const COMPARING_BYTES_PER_ENTRY: u64 = 72;

fn check_entries(machine: &Machine, nonzeros: usize) -> Result<(), Refusal> {
    let bytes = (nonzeros as u64).checked_mul(COMPARING_BYTES_PER_ENTRY);
    machine.check_memory(format!("comparing {nonzeros} entries with those that should be there"), bytes)
}
