//! Verify, then measure: one operation, one case, any choice of its variants, in; records out.
//!
//! This is where the rooms above meet. A variant is prepared, run twice on poisoned output and held against the
//! oracle; only what is not wrong is timed. Variants of one case are timed in turn, a few samples each, so that a
//! machine whose speed drifts treats them alike.

mod bench;
mod case;
mod pattern;
mod select;
mod select_error;
mod verify;
mod wanted;
pub mod yardstick;

pub use crate::workbench::bench::{Flushes, Measuring};
pub use crate::workbench::case::{Case, OracleLimits};
pub use crate::workbench::select::{AUTO, Selected, left_out, select};
pub use crate::workbench::select_error::SelectError;
pub use crate::workbench::verify::{note_findings, refused};
pub use crate::workbench::wanted::{Kind, Side, Wanted, is_called};

use crate::check::Save;
use crate::report::{Outcome, Param, Record};
use crate::sample::Progress;
use crate::workbench::wanted::oversized_tile;
use ordito::machine::Machine;
use ordito::op::{Op, Place, Variant};
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
struct Judged<O: Op> {
    record: Record,
    /// How long the runs took that were checked.
    checked_ns: Vec<f64>,
    /// There to be timed: only what has passed.
    ready: Option<Box<O::Ready>>,
    /// Why it was not even tried.
    refusal: Option<Refusal>,
}

impl<'a> Workbench<'a> {
    /// On this machine, telling nobody.
    pub fn new(machine: &'a Arc<Machine>) -> Self {
        Workbench { machine, dump: None, checked_runs: 2, hint: |_| "", progress: &|_, _| {} }
    }

    /// Every selected variant against the oracle.
    pub fn verify<O: Save>(&self, case: &Case<O>, selected: &[Selected<O>]) -> Vec<Record> {
        let (mut records, mut output) = (Vec::new(), None);
        for selected in self.machine.interrupt().until_set(selected) {
            let machine = self.machine.holding(case.held_bytes); // one at a time
            records
                .extend(self.judge(&machine, case, selected, &mut output, None).map(|judged| judged.record));
        }
        records
    }

    /// The variant behind a selection, or why there is none; and the record it starts with.
    fn resolve<O: Op>(
        &self,
        machine: &Machine,
        case: &Case<O>,
        selected: &Selected<O>,
    ) -> (Result<&'static dyn Variant<O>, Refusal>, Record) {
        let mut record = Record { variant: selected.name(), ..case.record.clone() };
        let variant = match *selected {
            Selected::Named(variant) => variant,
            Selected::Auto => {
                let choice = O::choose(machine, &case.subject);
                (record.chosen, record.reason) = (Some(choice.variant.into()), Some(choice.reason));
                match O::variant(choice.variant) {
                    Some(variant) => variant,
                    None => return (Err(Refusal::UnknownVariant { name: choice.variant.into() }), record),
                }
            }
            Selected::OversizedTile(width) => {
                record.place = Place::Cuda.device(self.machine).into();
                record.params = [("tile".into(), Param::from(i64::from(width)))].into();
                let unknown = Refusal::UnknownVariant { name: selected.name() };
                return (Err(oversized_tile(width).unwrap_or(unknown)), record);
            }
        };
        record.set_variant(variant.describe(), self.machine);
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
