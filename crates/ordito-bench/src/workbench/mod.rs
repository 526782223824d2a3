//! Verify, then measure: one operation, one case, any choice of its variants, in; records out.
//!
//! This is where the rooms above meet. A variant is prepared, run twice on poisoned output and held against the
//! oracle; only what is not wrong is timed. Variants of one case are timed in turn, a few samples each, so that a
//! machine whose speed drifts treats them alike.

mod any_case;
mod bench;
mod case;
mod pattern;
mod select;
mod select_error;
mod verify;
mod wanted;
pub mod yardstick;

pub use crate::workbench::any_case::{AnyCase, Trial};
pub use crate::workbench::bench::{Flushes, Measuring};
pub use crate::workbench::case::{Case, OracleLimits};
pub use crate::workbench::select::{AUTO, Selected, left_out, select};
pub use crate::workbench::select_error::SelectError;
pub use crate::workbench::verify::{note_findings, refused};
pub use crate::workbench::wanted::{Kind, Side, Wanted, is_called};

use crate::report::{Outcome, Param, Record};
use crate::sample::Progress;
use crate::workbench::wanted::oversized_tile;
use ordito::machine::Machine;
use ordito::op::{Description, Place};
use ordito::refusal::Refusal;
use std::path::Path;
use std::sync::Arc;

/// A machine to run on, and who is told. Once the machine is interrupted nothing more is begun, and what runs stops as soon as it
/// can: it leaves no record and no sample. What was found before stays.
pub struct Workbench<'a> {
    /// Where things run.
    pub machine: &'a Arc<Machine>,
    /// Failing cases are written into folders below this one.
    pub dump: Option<&'a Path>,
    /// Runs of each variant that are held against the oracle: two, so that what the first leaves behind shows, or one
    /// where copying the result and comparing it takes longest.
    pub checked_runs: usize,
    /// What to put behind the sentence of a refusal: an option that would help, where somebody has options.
    pub hint: fn(&Refusal) -> &'static str,
    /// Told what is being done: the variant, and how far its samples are.
    pub progress: &'a dyn Fn(&str, Option<Progress>),
}

/// A variant that has been prepared and judged.
struct Judged<'c> {
    record: Record,
    /// How long the runs took that were checked.
    checked_ns: Vec<f64>,
    /// There to be timed: only what has passed.
    ready: Option<Box<dyn Trial + 'c>>,
    /// Why it was not even tried.
    refusal: Option<Refusal>,
}

impl<'a> Workbench<'a> {
    /// On this machine, telling nobody.
    pub fn new(machine: &'a Arc<Machine>) -> Self {
        Workbench { machine, dump: None, checked_runs: 2, hint: |_| "", progress: &|_, _| {} }
    }

    /// Every selected variant against the oracle.
    pub fn verify(&self, case: &dyn AnyCase, selected: &[Selected]) -> Vec<Record> {
        let mut records = Vec::new();
        for selected in self.machine.interrupt().until_set(selected) {
            let machine = self.machine.holding(case.held_bytes()); // one at a time
            records.extend(self.judge(&machine, case, selected, None).map(|judged| judged.record));
        }
        case.drop_output();
        records
    }

    /// The variant behind a selection, or why there is none; and the record it starts with.
    fn resolve(
        &self,
        machine: &Machine,
        case: &dyn AnyCase,
        selected: &Selected,
    ) -> (Result<&'static Description, Refusal>, Record) {
        let mut record = Record { variant: selected.name(), ..case.record().clone() };
        let variant = match *selected {
            Selected::Named(variant) => variant,
            Selected::Auto => {
                let (choice, described) = case.choose(machine);
                (record.chosen, record.reason) = (Some(choice.variant.into()), Some(choice.reason));
                match described {
                    Ok(variant) => variant,
                    Err(refusal) => return (Err(refusal), record),
                }
            }
            Selected::OversizedTile(width) => {
                record.place = Place::Cuda.device(self.machine).into();
                record.params = [("tile".into(), Param::from(i64::from(width)))].into();
                let unknown = Refusal::UnknownVariant { name: selected.name() };
                return (Err(oversized_tile(width).unwrap_or(unknown)), record);
            }
        };
        record.set_variant(variant, self.machine);
        (Ok(variant), record)
    }
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
