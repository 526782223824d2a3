//! One set of operands with its oracle.

use crate::check::Precision;
use crate::report::{Record, SCHEMA};
use ordito::machine::{Interrupt, Interrupted};
use ordito::op::{Cost, Description, Extent, Op, Reference};
use std::sync::{Mutex, OnceLock};

/// Operands of an operation, and what a record says of them.
pub struct Case<O: Op> {
    /// What preparing sees.
    pub subject: O::Subject,
    /// What a run reads.
    pub inputs: O::Inputs,
    /// What rounding may do.
    pub precision: Precision,
    /// What it may do to a variant that adds in the precision of its data, where the operation asks for more.
    pub precision_of_data: Precision,
    /// What every record of this case starts with: operation, matrix, sizes, dtype, seed.
    pub record: Record,
    /// Bytes of memory that it takes, with all that comparing results takes: variants are held beside it.
    pub held_bytes: u64,
    limits: OracleLimits,
    reference: OnceLock<Reference>,
    /// Memory of the last result, for the next: what is fresh takes longer to touch than a result takes to copy.
    pub(super) spare_output: Mutex<Option<O::Output>>,
}

/// When the oracle stops computing everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OracleLimits {
    /// Most serial multiply-adds.
    pub steps: u64,
    /// Most bytes of its answer.
    pub bytes: u64,
}

impl Default for OracleLimits {
    /// A few seconds of one core, and 1 GiB.
    fn default() -> Self {
        OracleLimits { steps: 2_000_000_000, bytes: 1 << 30 }
    }
}

impl OracleLimits {
    /// For suites, whose thousands of results are mostly large: what takes more than some hundredths of a second is
    /// sampled. All rows are still read, through the projection.
    pub fn brief() -> Self {
        OracleLimits { steps: 20_000_000, ..OracleLimits::default() }
    }
}

/// Rows that are checked in full when the oracle is sampled.
const SAMPLED_ROWS: usize = 1000;

impl<O: Op> Case<O> {
    /// The operation's name is put into the record.
    pub fn new(
        subject: O::Subject,
        inputs: O::Inputs,
        precision: Precision,
        record: Record,
        limits: OracleLimits,
    ) -> Self {
        let record = Record { schema: SCHEMA, op: O::NAME.into(), ..record };
        let (precision_of_data, held_bytes) = (precision, 0);
        let (reference, spare_output) = (OnceLock::new(), Mutex::new(None));
        Case {
            subject,
            inputs,
            precision,
            precision_of_data,
            record,
            held_bytes,
            limits,
            reference,
            spare_output,
        }
    }

    /// The same, known to take so many bytes of memory.
    pub fn holding(self, held_bytes: u64) -> Self {
        Case { held_bytes, ..self }
    }

    /// The same, of data that are less precise than what is asked for.
    #[must_use]
    pub fn of_data(self, precision_of_data: Precision) -> Self {
        Case { precision_of_data, ..self }
    }

    /// What rounding may do to this variant.
    pub fn precision_for(&self, variant: &Description) -> Precision {
        if variant.adds_as_data { self.precision_of_data } else { self.precision }
    }

    /// What the work costs at least.
    pub fn cost(&self) -> Cost {
        O::cost(&self.subject)
    }

    /// The oracle's answer, computed on first use: in full, or sampled above the limits. None once it is interrupted.
    pub fn reference(&self, interrupt: &Interrupt) -> Result<&Reference, Interrupted> {
        if let Some(known) = self.reference.get() {
            return Ok(known);
        }
        let answer = O::oracle(&self.subject, &self.inputs, self.extent(), interrupt)?;
        Ok(self.reference.get_or_init(|| answer))
    }

    /// How much of the answer the limits allow.
    fn extent(&self) -> Extent {
        let cost = self.cost();
        if cost.oracle_steps <= self.limits.steps && cost.oracle_bytes <= self.limits.bytes {
            return Extent::Whole;
        }
        let rows_that_fit = self.limits.bytes / cost.oracle_row_bytes.max(1);
        let rows_in_time = self.limits.steps / cost.oracle_row_steps.max(1);
        let most = usize::try_from(rows_that_fit.min(rows_in_time)).unwrap_or(usize::MAX);
        Extent::Sampled { rows: SAMPLED_ROWS.min(most).max(1), seed: self.record.seed.unwrap_or(0) }
    }
}
