//! `spmm`

use crate::args::with_scalar;
use crate::matrix_input::check_dense;
use crate::operations::operation::{Listed, Operation, catalogue, for_each_dtype, left_open};
use crate::operations::sparse::{MATRIX_HINT, load, note_facts};
use crate::request::Request;
use crate::session::Session;
use crate::suite::{Suite, Yardstick};
use anyhow::Context;
use ordito::Scalar;
use ordito::device::Adjustable;
use ordito::machine::Machine;
use ordito::matrix::random_dense;
use ordito::op::Op;
use ordito::spmm::{Inputs, Spmm, Subject};
use ordito_bench::check::Precision;
use ordito_bench::report::Record;
use ordito_bench::workbench::{Case, SelectError, Side, Wanted, select};
use std::sync::Arc;

pub(crate) struct SpmmOperation;

impl Operation for SpmmOperation {
    fn name(&self) -> &'static str {
        Spmm::<f64>::NAME
    }
    fn about(&self) -> &'static str {
        Spmm::<f64>::ABOUT
    }
    fn catalogue(&self, machine: Option<&Machine>) -> Vec<Listed> {
        catalogue::<Spmm<f64>>(machine)
    }
    fn selects(&self, wanted: &Wanted, side: Side) -> Result<bool, SelectError> {
        Ok(!select::<Spmm<f64>>(wanted, side)?.is_empty())
    }
    fn adjustable(&self, wanted: &Wanted) -> Result<Vec<Adjustable>, SelectError> {
        left_open::<Spmm<f64>>(wanted)
    }
    fn input_hint(&self) -> &'static str {
        MATRIX_HINT
    }
    fn yardstick(&self, suite: Suite) -> Option<Yardstick> {
        Some(suite.spmm())
    }
    fn cases_per_input(&self, request: &Request) -> usize {
        request.dtypes.len() * request.ks.len()
    }
    fn run(&self, session: &mut Session<'_>, input: &str) -> anyhow::Result<()> {
        for_each_dtype(session, |session, dtype| with_scalar!(dtype, S => run_spmm::<S>(session, input)))
    }
}

fn run_spmm<S: Scalar>(session: &mut Session<'_>, input: &str) -> anyhow::Result<()> {
    let matrix = load::<S>(session, input)?;
    let machine = session.request().machine.holding(matrix.bytes());
    let (seed, limits) = (session.request().read.seed, session.request().oracle_limits());
    let a = matrix.to_csr(&machine).map(Arc::new);
    note_facts(session, &matrix, || a.clone().ok());
    for k in session.request().ks.clone() {
        if session.interrupted() {
            break;
        }
        let record = Record { k: Some(k as u64), seed: Some(seed), ..matrix.record() };
        let outputs = session.variants_held::<Spmm<S>>()?;
        let machine = machine.holding(machine.held_bytes()); // of this K
        let fits =
            a.clone().and_then(|a| check_dense(&machine, &a, k, false, outputs, Some(limits)).map(|()| a));
        let a = match fits {
            Ok(a) => a,
            Err(refusal) => {
                session.refuse_case::<Spmm<S>>(&record, &refusal)?;
                continue;
            }
        };
        let x = Arc::new(random_dense::<S>(a.cols(), k, seed).context("X")?);
        let subject = Subject { a, triplets: Some(matrix.triplets.clone()), k };
        let inputs = Inputs::product(x);
        let case = Case::<Spmm<S>>::new(subject, inputs, Precision::of::<S>(), record, limits);
        session.run_case(&case.holding(machine.held_bytes()))?;
    }
    Ok(())
}
