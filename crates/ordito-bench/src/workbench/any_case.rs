//! A case whose operation is forgotten. Operations and precisions make a dozen kinds of cases: what verifies and measures them asks
//! through these two traits, and so is compiled once.

use crate::check::{DumpError, Findings, Precision, Save, dump};
use crate::report::Record;
use crate::workbench::case::Case;
use crate::workbench::select::{Selected, select};
use crate::workbench::select_error::SelectError;
use crate::workbench::wanted::{Side, Wanted};
use ordito::device::{Device, LaunchReport};
use ordito::machine::{Interrupt, Interrupted, Machine};
use ordito::op::{Choice, Cost, Description, Observed, Op, Phases, Prepared, Reference, RunError};
use ordito::refusal::Refusal;
use std::path::Path;
use std::sync::{Arc, PoisonError};

/// A [`Case`] of any operation.
pub trait AnyCase {
    /// What every record of it starts with.
    fn record(&self) -> &Record;
    /// Bytes of memory that it takes.
    fn held_bytes(&self) -> u64;
    /// What the work costs at least.
    fn cost(&self) -> Cost;
    /// What rounding may do to this variant.
    fn precision_for(&self, variant: &Description) -> Precision;
    /// The oracle's answer.
    fn reference(&self, interrupt: &Interrupt) -> Result<&Reference, Interrupted>;
    /// The variants of its operation that are wanted.
    fn select(&self, wanted: &Wanted, side: Side) -> Result<Vec<Selected>, SelectError>;
    /// What `auto` takes for it, and what that is.
    fn choose(&self, machine: &Machine) -> (Choice, Result<&'static Description, Refusal>);
    /// Gets a variant ready; one of another operation is refused.
    fn prepare(&self, variant: &Description, machine: &Arc<Machine>) -> Result<Box<dyn Trial + '_>, Refusal>;
    /// Lets go of the memory of the last result.
    fn drop_output(&self);
}

/// A variant made ready for a case: [`Prepared`] with its operands.
pub trait Trial {
    /// Takes the inputs of the case to where the kernel reads them.
    fn load(&mut self) -> Result<(), RunError>;
    /// As [`Prepared::reset`].
    fn reset(&mut self) -> Result<(), RunError>;
    /// As [`Prepared::repack`].
    fn repack(&mut self) -> Result<bool, RunError>;
    /// As [`Prepared::run`].
    fn run(&mut self) -> Result<(), RunError>;
    /// Fetches the result of the last run, where that of the run before was: of this variant, or of the one before it.
    fn fetch(&mut self) -> Result<(), RunError>;
    /// What was fetched.
    fn output(&self) -> Result<&dyn Observed, RunError>;
    /// Leaves the memory of the result to the next variant.
    fn leave_output(&mut self);
    /// Writes operands, result and answer into a folder, with what was found.
    fn dump(&self, reference: &Reference, findings: &Findings, folder: &Path) -> Result<(), DumpError>;
    /// As [`Prepared::device`].
    fn device(&self) -> Option<&Device>;
    /// As [`Prepared::phases`].
    fn phases(&self) -> Phases;
    /// As [`Prepared::launches`].
    fn launches(&self) -> Vec<LaunchReport>;
}

impl<O: Save> AnyCase for Case<O> {
    fn record(&self) -> &Record {
        &self.record
    }
    fn held_bytes(&self) -> u64 {
        self.held_bytes
    }
    fn cost(&self) -> Cost {
        Case::cost(self)
    }
    fn precision_for(&self, variant: &Description) -> Precision {
        Case::precision_for(self, variant)
    }
    fn reference(&self, interrupt: &Interrupt) -> Result<&Reference, Interrupted> {
        Case::reference(self, interrupt)
    }
    fn select(&self, wanted: &Wanted, side: Side) -> Result<Vec<Selected>, SelectError> {
        select::<O>(wanted, side)
    }
    fn choose(&self, machine: &Machine) -> (Choice, Result<&'static Description, Refusal>) {
        let choice = O::choose(machine, &self.subject);
        let unknown = Refusal::UnknownVariant { name: choice.variant.into() };
        let described = O::variant(choice.variant).map(|variant| variant.describe());
        (choice, described.ok_or(unknown))
    }
    fn prepare(&self, variant: &Description, machine: &Arc<Machine>) -> Result<Box<dyn Trial + '_>, Refusal> {
        let unknown = || Refusal::UnknownVariant { name: variant.name.into() };
        let known = O::variants().iter().find(|known| known.describe() == variant);
        let ready = known.ok_or_else(unknown)?.prepare(machine, &self.subject)?;
        let output = self.spare_output.lock().unwrap_or_else(PoisonError::into_inner).take();
        Ok(Box::new(OnCase { case: self, ready, output }))
    }
    fn drop_output(&self) {
        *self.spare_output.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

/// A variant of `O`, ready.
struct OnCase<'c, O: Op> {
    case: &'c Case<O>,
    ready: Box<O::Ready>,
    output: Option<O::Output>,
}

impl<O: Save> Trial for OnCase<'_, O> {
    fn load(&mut self) -> Result<(), RunError> {
        self.ready.load(&self.case.inputs)
    }
    fn reset(&mut self) -> Result<(), RunError> {
        self.ready.reset()
    }
    fn repack(&mut self) -> Result<bool, RunError> {
        self.ready.repack()
    }
    fn run(&mut self) -> Result<(), RunError> {
        self.ready.run()
    }
    fn fetch(&mut self) -> Result<(), RunError> {
        match &mut self.output {
            Some(earlier) => self.ready.fetch_into(earlier),
            none => {
                *none = Some(self.ready.fetch()?);
                Ok(())
            }
        }
    }
    fn output(&self) -> Result<&dyn Observed, RunError> {
        self.output.as_ref().map(|output| output as _).ok_or(RunError::NotLoaded)
    }
    fn leave_output(&mut self) {
        *self.case.spare_output.lock().unwrap_or_else(PoisonError::into_inner) = self.output.take();
    }
    fn dump(&self, reference: &Reference, findings: &Findings, folder: &Path) -> Result<(), DumpError> {
        let Some(output) = &self.output else { return Err(DumpError::NoResult) };
        dump::<O>(&self.case.subject, &self.case.inputs, output, reference, findings, folder)
    }
    fn device(&self) -> Option<&Device> {
        self.ready.device()
    }
    fn phases(&self) -> Phases {
        self.ready.phases()
    }
    fn launches(&self) -> Vec<LaunchReport> {
        self.ready.launches()
    }
}
