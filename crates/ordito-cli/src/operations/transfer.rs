//! `transfer`

use crate::args::parse_bytes;
use crate::operations::operation::{Listed, Operation, catalogue};
use crate::request::Request;
use crate::session::Session;
use ordito::machine::Machine;
use ordito::matrix::Random;
use ordito::op::Op;
use ordito_bench::check::Precision;
use ordito_bench::report::Record;
use ordito_bench::transfer::Transfer;
use ordito_bench::workbench::{Case, OracleLimits, SelectError, Side, Wanted, select};
use std::sync::Arc;

pub(crate) struct TransferOperation;

/// From a kilobyte to a gigabyte; among them the matrix of an EEG recording (358 epochs × 64 sensors × 82 samples in f32), and the
/// means of its columns.
const TRANSFER_BYTES: [&str; 9] = ["1k", "10k", "20992", "100k", "1M", "7515136", "10M", "100M", "1G"];

impl Operation for TransferOperation {
    fn name(&self) -> &'static str {
        Transfer::NAME
    }
    fn about(&self) -> &'static str {
        Transfer::ABOUT
    }
    fn catalogue(&self, machine: Option<&Machine>) -> Vec<Listed> {
        catalogue::<Transfer>(machine)
    }
    fn selects(&self, wanted: &Wanted, side: Side) -> Result<bool, SelectError> {
        Ok(!select::<Transfer>(wanted, side)?.is_empty())
    }
    fn input_hint(&self) -> &'static str {
        "a number of bytes such as 64M"
    }
    fn default_inputs(&self) -> Vec<String> {
        TRANSFER_BYTES.map(String::from).into()
    }
    fn cases_per_input(&self, _: &Request) -> usize {
        1
    }
    fn run(&self, session: &mut Session<'_>, input: &str) -> anyhow::Result<()> {
        let bytes = parse_bytes(input).map_err(|why| anyhow::anyhow!("`{input}`: {why}"))?;
        let seed = session.request().read.seed;
        let record = record(bytes, seed);
        // What is sent, and what arrives; variants ask for memory of their own.
        let machine = session.request().machine.holding(0);
        let fits = machine.check_memory(format!("{bytes} bytes, sent and received"), bytes.checked_mul(2));
        let bytes = match fits {
            Ok(()) => bytes as usize,
            Err(refusal) => return session.refuse_case::<Transfer>(&record, &refusal),
        };
        session.run_case(&transfer_case(bytes, seed).holding(machine.held_bytes()))
    }
}

fn record(bytes: u64, seed: u64) -> Record {
    Record { bytes: Some(bytes), seed: Some(seed), ..Record::default() }
}

/// So many random bytes.
pub(crate) fn transfer_case(bytes: usize, seed: u64) -> Case<Transfer> {
    let mut random = Random::new(seed, 0);
    let mut sent = vec![0; bytes];
    sent.chunks_mut(8).for_each(|word| word.copy_from_slice(&random.next_bits().to_le_bytes()[..word.len()]));
    let (precision, limits) = (Precision::of::<f64>(), OracleLimits::default());
    Case::new(bytes, Arc::new(sent), precision, record(bytes as u64, seed), limits)
}
