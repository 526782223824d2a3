//! `convert`

use super::super::args::with_scalar;
use super::super::request::Request;
use super::super::session::Session;
use super::super::suite::{Suite, Yardstick};
use super::sparse::{MATRIX_HINT, Matrix, check_csr, to_csr};
use super::{Listed, Operation, catalogue, for_each_dtype};
use crate::Scalar;
use crate::check::Precision;
use crate::machine::Machine;
use crate::ops::Op;
use crate::ops::convert::Convert;
use crate::workbench::{Case, OracleLimits, SelectError, Side, Wanted, select};
use std::sync::Arc;

pub(super) struct ConvertOperation;

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
