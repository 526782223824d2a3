//! `convert`

use crate::args::with_scalar;
use crate::operations::sparse::{MATRIX_HINT, Matrix, check_csr, to_csr};
use crate::operations::{Listed, Operation, catalogue, for_each_dtype};
use crate::request::Request;
use crate::session::Session;
use crate::suite::{Suite, Yardstick};
use ordito::Scalar;
use ordito::machine::Machine;
use ordito::op::Op;
use ordito_bench::check::Precision;
use ordito_bench::convert::Convert;
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
    let matrix = Matrix::<S>::load(session, input)?;
    let record = matrix.record(session.request().read.seed);
    if let Err(refusal) = check_csr(&session.request().machine, &matrix.triplets) {
        return session.refuse_case::<Convert<S>>(&record, &refusal);
    }
    let machine = session.request().machine.clone();
    matrix.note_facts(session, || to_csr(&machine, &matrix.triplets).ok().map(Arc::new));
    let (precision, limits) = (Precision::of::<S>(), OracleLimits::default());
    session.run_case(&Case::<Convert<S>>::new(matrix.triplets, (), precision, record, limits))
}
