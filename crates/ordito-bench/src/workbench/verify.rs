//! Prepare, run twice, compare.

use crate::check::{Findings, Precision, Verdict, compare};
use crate::report::{Outcome, Record};
use crate::sample::StopRule;
use crate::workbench::any_case::{AnyCase, Trial};
use crate::workbench::select::Selected;
use crate::workbench::{Judged, Workbench};
use ordito::device::Spent;
use ordito::machine::Machine;
use ordito::op::{Description, Phases, RunError};
use ordito::refusal::Refusal;
use std::sync::Arc;
use std::time::Instant;

/// Runs that were checked, of a variant that may have to be timed in no more than a rule allows.
struct Checked<'a> {
    rule: Option<&'a StopRule>,
    runs_ns: Vec<f64>,
}

impl Checked<'_> {
    fn is_time_up(&self) -> bool {
        self.rule.is_some_and(|rule| rule.is_time_up(self.runs_ns.iter().sum::<f64>() as u64))
    }
}

impl Workbench<'_> {
    /// Prepares a variant and holds it against the oracle. The result goes where that of the variant before was. What is to be timed by
    /// a rule is not run again once its time is up. Nothing is known of one that was interrupted. `machine` counts what variants hold
    /// at the same time.
    pub(super) fn judge<'c>(
        &self,
        machine: &Arc<Machine>,
        case: &'c dyn AnyCase,
        selected: &Selected,
        rule: Option<&StopRule>,
    ) -> Option<Judged<'c>> {
        (self.progress)(&selected.name(), None);
        let (variant, mut record) = self.resolve(machine, case, selected);
        let variant = match variant {
            Ok(variant) => variant,
            Err(refusal) => return Some(Judged::refused(record, refusal, self.hint)),
        };
        let (start, before) = (Instant::now(), Spent::now());
        let mut ready = match case.prepare(variant, machine) {
            Ok(ready) => ready,
            Err(refusal) => return Some(Judged::refused(record, refusal, self.hint)),
        };
        record.prepare_ns = Some(start.elapsed().as_nanos() as f64);
        if ready.device().is_some() {
            let spent = Spent::since(before);
            record.prepare_compile_ns = Some(spent.compiling.as_nanos() as f64);
            record.prepare_upload_ns = Some(spent.uploading.as_nanos() as f64);
        }
        record.launches = ready.launches();
        let mut checked = Checked { rule, runs_ns: Vec::new() };
        let found = self.findings(case, variant, &mut *ready, &mut record, &mut checked);
        ready.leave_output();
        match found {
            Ok(findings) => note_findings(&findings, case.precision_for(variant), &mut record),
            // Room for X and Y is asked for when they are known: too little of it is a refusal like any other.
            Err(RunError::Refused(refusal)) => return Some(Judged::refused(record, refusal, self.hint)),
            Err(RunError::Interrupted(_)) => return None,
            Err(error @ RunError::InvalidResult(_)) => {
                record.outcome = Outcome::Incorrect;
                record.error = Some(error.to_string());
            }
            Err(error) => {
                record.outcome = Outcome::Failed;
                record.error = Some(error.to_string());
            }
        }
        let passed = record.outcome == Outcome::Passed;
        let checked_ns = checked.runs_ns;
        Some(Judged { record, checked_ns, ready: passed.then_some(ready), refusal: None })
    }

    /// Runs, each on a fresh output: what the first leaves behind must not help or harm the second. The fastest
    /// one's time goes into the record; it is no measurement, but tells milliseconds from minutes.
    fn findings(
        &self,
        case: &dyn AnyCase,
        variant: &Description,
        ready: &mut dyn Trial,
        record: &mut Record,
        checked: &mut Checked<'_>,
    ) -> Result<Findings, RunError> {
        let reference = case.reference(self.machine.interrupt())?;
        ready.load()?;
        let mut worst: Option<Findings> = None;
        for _ in 0..self.checked_runs {
            ready.reset()?;
            let start = Instant::now();
            ready.run()?;
            if let Some(device) = ready.device() {
                device.synchronize()?;
            }
            let took_ns = start.elapsed().as_nanos() as f64;
            record.min_ns = Some(record.min_ns.map_or(took_ns, |best: f64| best.min(took_ns)));
            checked.runs_ns.push(took_ns);
            ready.fetch()?;
            note_phases(ready.phases(), record);
            let (output, precision) = (ready.output()?, case.precision_for(variant));
            let judge = || compare(reference, output, precision, variant.error_factor);
            let findings = self.machine.pool().install(judge);
            let wrong = matches!(findings.verdict, Verdict::Incorrect(_));
            if let (true, Some(folder)) = (wrong, self.dump) {
                let name = dump_name(record);
                let written = ready.dump(reference, &findings, &folder.join(&name));
                record.dump = Some(match written {
                    Ok(()) => folder.join(name).display().to_string(),
                    Err(error) => format!("not written: {error}"),
                });
            }
            let passed = findings.verdict == Verdict::Passed;
            let is_worse = |worst: &Findings| {
                let worst_passed = worst.verdict == Verdict::Passed;
                wrong || worst_passed && (!passed || findings.bound_ratio > worst.bound_ratio)
            };
            if worst.as_ref().is_none_or(is_worse) {
                worst = Some(findings);
            }
            if wrong || checked.is_time_up() {
                break;
            }
        }
        worst.ok_or(RunError::NotLoaded)
    }
}

impl Judged<'_> {
    fn refused(record: Record, refusal: Refusal, hint: fn(&Refusal) -> &'static str) -> Self {
        let record = refused(record, &refusal, hint);
        Judged { record, checked_ns: Vec::new(), ready: None, refusal: Some(refusal) }
    }
}

/// The faster of two is nearer to what copying costs: the first touches fresh memory.
fn note_phases(phases: Phases, record: &mut Record) {
    let faster = |kept: Option<f64>, now: Option<f64>| match (kept, now) {
        (Some(kept), Some(now)) => Some(kept.min(now)),
        (kept, now) => kept.or(now),
    };
    record.host_copy_ns = faster(record.host_copy_ns, phases.host_copy_ns);
    record.upload_ns = faster(record.upload_ns, phases.upload_ns);
    record.download_ns = faster(record.download_ns, phases.download_ns);
}

/// The record of something that was not even tried, or that failed before it could run.
pub fn refused(record: Record, refusal: &Refusal, hint: fn(&Refusal) -> &'static str) -> Record {
    let told = format!("{refusal}{}", hint(refusal));
    if refusal.is_failure() {
        return Record { outcome: Outcome::Failed, error: Some(told), ..record };
    }
    Record { outcome: Outcome::Refused, refusal: Some(told), ..record }
}

/// A folder name for this case, made of what tells cases apart.
fn dump_name(record: &Record) -> String {
    let sides = record.rows.zip(record.cols).map(|(rows, cols)| format!("{rows}x{cols}"));
    let parts = [
        Some(record.op.clone()),
        Some(record.variant.clone()),
        record.matrix.clone().or(sides),
        record.k.map(|k| format!("k{k}")),
        record.n.zip(record.m).zip(record.p).map(|((n, m), p)| format!("{n}x{m}x{p}")),
        record.beta.map(|beta| format!("beta{beta}")),
        record.pad.map(|pad| format!("pad{pad}")),
        Some(record.dtype.clone()).filter(|dtype| !dtype.is_empty()),
        record.threads.map(|threads| format!("t{threads}")),
        record.geometry.clone(),
    ];
    let name = parts.into_iter().flatten().collect::<Vec<_>>().join("-");
    name.chars().map(|c| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '_' }).collect()
}

/// Puts what a comparison found into a record.
pub fn note_findings(findings: &Findings, precision: Precision, record: &mut Record) {
    if !matches!(findings.verdict, Verdict::NotVerified(_)) {
        record.set_errors(findings.max_rel_err, findings.mean_rel_err, precision.epsilon);
        record.bound_ratio = Some(findings.bound_ratio);
    }
    record.sampled = findings.sampled;
    record.partial = findings.partial.map(str::to_owned);
    (record.outcome, record.error) = match &findings.verdict {
        Verdict::Passed => (Outcome::Passed, None),
        Verdict::Incorrect(why) => (Outcome::Incorrect, Some(why.clone())),
        Verdict::NotVerified(why) => (Outcome::NotVerified, Some(why.clone())),
    };
}
