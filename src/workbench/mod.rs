//! Verify, then measure: one operation, one case, any choice of its variants, in; records out.
//!
//! This is where the rooms above meet. A variant is prepared, run twice on poisoned output and held against the
//! oracle; only what is not wrong is timed. Variants of one case are timed in turn, a few samples each, so that a
//! machine whose speed drifts treats them alike.

mod bench;
mod case;
mod select;
mod verify;

pub use bench::{Flushes, Measuring};
pub use case::{Case, OracleLimits};
pub use select::{AUTO, SelectError, Selected, Side, is_called, select};
pub use verify::{note_findings, refused};

use crate::machine::{Machine, Refusal};
use crate::ops::{Choice, Op, Variant};
use crate::report::{Outcome, Param, Record};
use crate::sample::Progress;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// A machine to run on, and who is told.
pub struct Workbench<'a> {
    /// Where things run.
    pub machine: &'a Arc<Machine>,
    /// Failing cases are written into folders below this one.
    pub dump: Option<&'a Path>,
    /// Asked between runs.
    pub interrupted: &'a dyn Fn() -> bool,
    /// Told what is being done: the variant, and how far its samples are.
    pub progress: &'a dyn Fn(&str, Option<Progress>),
}

/// A variant that has been prepared and judged.
struct Judged<O: Op> {
    record: Record,
    /// There to be timed: only what has passed.
    ready: Option<Box<O::Ready>>,
    /// Why it was not even tried.
    refusal: Option<Refusal>,
}

impl<'a> Workbench<'a> {
    /// On this machine, telling nobody.
    pub fn new(machine: &'a Arc<Machine>) -> Self {
        Workbench { machine, dump: None, interrupted: &|| false, progress: &|_, _| {} }
    }

    /// Every selected variant against the oracle.
    pub fn verify<O: Op>(&self, case: &Case<O>, selected: &[Selected<O>]) -> Vec<Record> {
        let mut records = Vec::new();
        for selected in selected {
            if (self.interrupted)() {
                break;
            }
            records.push(self.judge(case, selected).record);
        }
        records
    }

    /// The variant behind a selection, and the record it starts with.
    fn resolve<O: Op>(
        &self,
        case: &Case<O>,
        selected: &Selected<O>,
    ) -> (Option<&'static dyn Variant<O>>, Record) {
        let (variant, choice): (_, Option<Choice>) = match selected {
            Selected::Named(variant) => (Some(*variant), None),
            Selected::Auto => {
                let choice = O::choose(self.machine, &case.subject);
                (O::variant(choice.variant), Some(choice))
            }
        };
        let record = Record {
            variant: selected.name().into(),
            place: variant.map_or("", |variant| variant.place().device(self.machine)).into(),
            threads: variant.and_then(|variant| variant.place().threads(self.machine)).map(|n| n as u64),
            params: variant.map(params).unwrap_or_default(),
            chosen: choice.as_ref().map(|choice| choice.variant.into()),
            reason: choice.map(|choice| choice.reason),
            ..case.record.clone()
        };
        (variant, record)
    }
}

/// The variant's parameters, as a record holds them.
pub fn params<O: Op>(variant: &dyn Variant<O>) -> BTreeMap<String, Param> {
    variant
        .params()
        .into_iter()
        .map(|(name, value)| (name.to_owned(), Param::from(i64::from(value))))
        .collect()
}

/// 0: all well. 1: something was wrong or failed. 2: nothing could run, or nothing of it could be verified.
pub fn exit_code(records: &[Record]) -> u8 {
    let any = |outcomes: &[Outcome]| records.iter().any(|record| outcomes.contains(&record.outcome));
    if any(&[Outcome::Incorrect, Outcome::Failed]) {
        1
    } else if any(&[Outcome::Passed]) {
        0
    } else {
        2
    }
}
