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
    if let Err(refusal) = matrix.check_csr(&session.request().machine) {
        return session.refuse_case::<Convert<S>>(&record, &refusal);
    }
    let machine = session.request().machine.clone();
    note_facts(session, &matrix, || matrix.to_csr(&machine).ok().map(Arc::new));
    let (precision, limits) = (Precision::of::<S>(), OracleLimits::default());
    session.run_case(&Case::<Convert<S>>::new(matrix.triplets, (), precision, record, limits))
}
