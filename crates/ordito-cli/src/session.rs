//! One `verify` or `bench`: walks the inputs, shows progress, collects records, prints and keeps them.

use crate::console::{Busy, Console, is_output_error};
use crate::instruments::Instruments;
use crate::interrupt;
use crate::lost::is_lost;
use crate::request::Request;
use crate::results::{Measured, ResultsFolder};
use crate::summary;
use crate::targets::{Target, gpu_is_required};
use crate::xrayed::Xrayed;
use ordito::device::Geometry;
use ordito::machine::{Accelerator, Machine};
use ordito::op::{Op, Place};
use ordito::refusal::Refusal;
use ordito::units;
use ordito_bench::report::setting::Setting;
use ordito_bench::report::{MatrixFacts, Outcome, Record, table};
use ordito_bench::sample::WallClock;
use ordito_bench::workbench::{AnyCase, Selected, Side, Wanted, Workbench, exit_code, select};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The run itself.
pub(crate) struct Session<'a> {
    console: &'a Console,
    request: &'a Request,
    records: Vec<Record>,
    /// What is known of the matrices, each once; only collected where files are wanted.
    matrices: Vec<MatrixFacts>,
    /// What is printed below the table of the input that is being walked.
    below: Vec<String>,
    bar: Busy,
    instruments: Instruments,
    /// Where files go, if they were asked for.
    results: Option<ResultsFolder>,
    /// When they were written last.
    kept_at: Instant,
    /// What was counted, where that was asked for.
    xrayed: Vec<Xrayed>,
}

/// Files are written so often at most: a program that is ended loses no more than that, or one case.
const BETWEEN_KEEPING: Duration = Duration::from_secs(1);

impl<'a> Session<'a> {
    /// Does `run_input` for every input, each of which makes `cases_per_input` cases; the exit code.
    pub(crate) fn run(
        request: &'a Request,
        console: &'a Console,
        cases_per_input: usize,
        run_input: &dyn Fn(&mut Session<'a>, &str) -> anyhow::Result<()>,
    ) -> anyhow::Result<u8> {
        interrupt::keep_going();
        let mut session = Session::new(request, console, cases_per_input)?;
        let mut unreadable = 0;
        for input in &request.inputs {
            let first = session.records.len();
            let ran = run_input(&mut session, input);
            session.keep()?; // first of all
            match ran {
                Err(error) if is_output_error(&error) || is_lost(&error) => return Err(error),
                Err(error) => {
                    session.bar.suspend(|| console.error(&error));
                    unreadable += 1;
                }
                Ok(()) => {}
            }
            session.show(first)?;
            if session.interrupted() {
                break;
            }
        }
        session.finish(unreadable)
    }

    fn new(request: &'a Request, console: &'a Console, cases_per_input: usize) -> anyhow::Result<Self> {
        let cases = request.inputs.len() * cases_per_input;
        let machines: usize = request.targets.list.iter().map(|target| target.machines.len()).sum();
        let bar = console.progress(cases * machines);
        let (mut instruments, mut results) = (Instruments::default(), None);
        if let Some(measure) = &request.measure {
            let make = |path| ResultsFolder::make(path, measure.baseline.clone(), console);
            results = measure.out.as_deref().map(make).transpose()?;
            instruments =
                Instruments::new(&request.targets, measure.caches, request.limited_by_products, &|what| {
                    bar.say(what)
                })?;
        }
        let (records, matrices, below) = (Vec::new(), Vec::new(), Vec::new());
        let (kept_at, xrayed) = (Instant::now(), Vec::new());
        Ok(Session { console, request, records, matrices, below, bar, instruments, results, kept_at, xrayed })
    }

    pub(crate) fn request(&self) -> &'a Request {
        self.request
    }

    /// All records until now.
    pub(crate) fn records(&self) -> &[Record] {
        &self.records
    }

    /// Keeps text to be printed below the table of this input.
    pub(crate) fn show_below(&mut self, text: String) {
        self.below.push(text);
    }

    /// Shows what is being done, to a terminal.
    pub(crate) fn say(&self, what: &str) {
        self.bar.say(what);
    }

    /// Is it worth finding out what can be said of this matrix? Not without files, and not twice: every precision reads
    /// the same matrix again.
    pub(crate) fn wants_facts(&self, name: &str, rows: usize, cols: usize, nonzeros: usize) -> bool {
        let shape = (rows as u64, cols as u64, nonzeros as u64);
        let known =
            |facts: &MatrixFacts| facts.matrix == name && (facts.rows, facts.cols, facts.nnz) == shape;
        self.results.is_some() && !self.matrices.iter().any(known)
    }

    /// Keeps them for the files.
    pub(crate) fn take_facts(&mut self, facts: MatrixFacts) {
        self.matrices.push(facts);
    }

    pub(crate) fn interrupted(&self) -> bool {
        interrupt::interrupted()
    }

    /// Verifies or measures one case on every target, with every number of threads and every way of launching. Where a variant
    /// does not care, it runs with the first.
    pub(crate) fn run_case(&mut self, case: &dyn AnyCase) -> anyhow::Result<()> {
        let every: Vec<&Target> = self.request.targets.list.iter().collect();
        self.run_case_on(case, &self.request.wanted, &every)
    }

    /// Another operation beside the one that was asked for: all its variants, on GPUs alone.
    pub(crate) fn run_on_devices(&mut self, case: &dyn AnyCase) -> anyhow::Result<()> {
        let is_gpu = |target: &&Target| {
            target.machines.iter().any(|machine| matches!(machine.accelerator(), Accelerator::Cuda(_)))
        };
        let gpus: Vec<&Target> = self.request.targets.list.iter().filter(is_gpu).collect();
        self.run_case_on(case, &Wanted::all(), &gpus)
    }

    fn run_case_on(
        &mut self,
        case: &dyn AnyCase,
        wanted: &Wanted,
        targets: &[&Target],
    ) -> anyhow::Result<()> {
        for target in targets {
            let all = case.select(wanted, target.side)?;
            for (index, machine) in target.machines.iter().enumerate() {
                let is_new = |selected: &Selected| {
                    let earlier = &target.machines[..index];
                    !earlier.iter().any(|earlier| is_same_to(selected, earlier, machine))
                };
                let selected: Vec<Selected> = all.iter().copied().filter(is_new).collect();
                if let Some(asked) = &self.request.xray {
                    let say = |what: &str| self.bar.say(what);
                    self.xrayed.extend(asked.count(case, &selected, machine, &say)?);
                    self.bar.step();
                    continue;
                }
                let records = self.run_on(case, &selected, machine);
                self.take(records)?;
                if self.kept_at.elapsed() >= BETWEEN_KEEPING {
                    self.keep()?;
                }
                if self.interrupted() {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// A case that cannot even be set up: every selected variant is refused.
    pub(crate) fn refuse_case<O: Op>(&mut self, record: &Record, refusal: &Refusal) -> anyhow::Result<()> {
        for target in &self.request.targets.list {
            let selected = select::<O>(&self.request.wanted, target.side)?;
            self.refuse(&selected, target, record.clone().of(O::NAME, "", Outcome::Refused), refusal)?;
        }
        Ok(())
    }

    fn refuse(
        &mut self,
        selected: &[Selected],
        target: &Target,
        record: Record,
        refusal: &Refusal,
    ) -> anyhow::Result<()> {
        let refused = |selected: &Selected| Record {
            variant: selected.name(),
            place: target.name().into(),
            refusal: Some(format!("{refusal}{}", crate::hints::of(refusal))),
            ..record.clone()
        };
        self.take(selected.iter().map(refused).collect())
    }

    /// How many variants of a case are held in memory at a time, each with an output of its own. Those of a device
    /// have theirs there.
    pub(crate) fn variants_held<O: Op>(&self) -> anyhow::Result<usize> {
        let on_cpu = self.request.targets.list.iter().any(|target| target.side == Side::Cpu);
        let held = if on_cpu { select::<O>(&self.request.wanted, Side::Cpu)?.len() } else { 0 };
        Ok(if self.request.measure.is_some() { held.max(1) } else { 1 })
    }

    /// Prints what is wanted at once, keeps the rest for the table.
    pub(crate) fn take(&mut self, records: Vec<Record>) -> anyhow::Result<()> {
        let first = self.records.len();
        self.records.extend(records); // before printing, which may fail
        self.bar.step();
        if self.request.json {
            self.records[first..].iter().try_for_each(|record| self.console.json(record))?;
        }
        Ok(())
    }

    fn run_on(&self, case: &dyn AnyCase, selected: &[Selected], machine: &Arc<Machine>) -> Vec<Record> {
        let progress = |variant: &str, samples: Option<ordito_bench::sample::Progress>| {
            let record = case.record();
            let input = Setting::of(record).input();
            let k = record.k.map_or(String::new(), |k| format!(" K={k}"));
            let dtype = &record.dtype;
            let stage = samples.map_or("verifying".into(), |now| {
                format!("{} of at most {} samples", now.samples, now.most_samples)
            });
            let place = match machine.accelerator() {
                Accelerator::None => units::threads(machine.threads() as u64),
                other => other.name(),
            };
            self.say(&format!("{input}{k} {dtype} {place} · {variant} · {stage}"));
        };
        let workbench = Workbench {
            machine,
            dump: self.request.dump.as_deref(),
            checked_runs: if self.request.is_brief() { 1 } else { 2 },
            hint: crate::hints::of,
            progress: &progress,
        };
        match &self.request.measure {
            None => workbench.verify(case, selected),
            Some(measure) => {
                let measuring = self.instruments.measuring(measure);
                workbench.bench(case, selected, &measuring, &mut WallClock::new())
            }
        }
    }

    /// A table of the records from `first` on.
    fn show(&mut self, first: usize) -> anyhow::Result<()> {
        let (records, below) = (&self.records[first..], std::mem::take(&mut self.below));
        if self.request.json || records.is_empty() {
            return Ok(());
        }
        let width = self.console.width();
        let table = if self.request.measure.is_some() {
            table::bench(records, width)
        } else {
            table::verify(records, width)
        };
        self.bar.suspend(|| self.console.line(table))?;
        let ink = self.request.measure.as_ref().and_then(|measure| measure.bars);
        let bars = ink.map(|ink| table::bars(records, width, ink));
        let statistics = self.request.measure.as_ref().filter(|measure| measure.statistics);
        let statistics = statistics.map(|_| table::statistics(records, width));
        let launches = self.request.verbose.then(|| table::launches(records));
        let on_ranks = Some(table::ranks(records));
        let added = [on_ranks, statistics, bars, launches].into_iter().flatten().chain(below);
        for lines in added.filter(|lines| !lines.is_empty()) {
            self.bar.suspend(|| self.console.line(lines))?;
        }
        Ok(())
    }

    /// Writes the files again, after every input at the latest, so that nothing that was measured can be lost.
    fn keep(&mut self) -> anyhow::Result<()> {
        match &mut self.results {
            Some(results) => {
                let measured = Measured {
                    cpu: self.request.machine.cpu(),
                    instruments: &self.instruments,
                    matrices: &self.matrices,
                    records: &self.records,
                    left_out: self.request.left_out(),
                };
                results.write(&measured, self.console)?;
                self.kept_at = Instant::now(); // when it is done: writing takes time itself
                Ok(())
            }
            None => Ok(()),
        }
    }

    fn finish(self, unreadable: usize) -> anyhow::Result<u8> {
        let Session { console, request, records, bar, results, xrayed, .. } = self;
        drop(bar);
        if let Some(asked) = &request.xray {
            let code = asked.show(&xrayed, console)?;
            return Ok(if code == 0 && unreadable > 0 { 2 } else { code });
        }
        if !request.json && !records.is_empty() {
            if let Some(by_tile) = table::by_tile(&records).filter(|_| request.measure.is_some()) {
                console.line(by_tile)?;
            }
            console.line(table::summary(&records))?;
        }
        if request.measure.is_some() {
            summary::show(request, &records, console)?;
        }
        let mut code = exit_code(&records);
        if let Some(results) = results {
            match results.draw(console) {
                Ok(()) => results.note(console),
                Err(error) => {
                    console.error(&error);
                    code = 1;
                }
            }
        }
        if interrupt::interrupted() {
            console.error(&anyhow::anyhow!("interrupted: what was taken until then is kept"));
            return Ok(1);
        }
        if let Some(unmet) = unmet_gpu_requirement(&records) {
            console.error(&unmet);
            return Ok(1);
        }
        match (code, unreadable) {
            (2, 0) if records.iter().any(|record| record.outcome == Outcome::NotVerified) => {
                console.error(&anyhow::anyhow!("nothing could be verified"));
            }
            (2, 0) => console.error(&anyhow::anyhow!("nothing could run: every variant refused")),
            (0, 1..) => return Ok(2),
            _ => {}
        }
        Ok(code)
    }
}

/// `ORDITO_REQUIRE_GPU=1`, and nothing ran on a GPU.
pub(crate) fn unmet_gpu_requirement(records: &[Record]) -> Option<anyhow::Error> {
    let ran = |record: &Record| record.place == "cuda" && record.outcome != Outcome::Refused;
    let unmet = gpu_is_required() && !records.iter().any(ran);
    unmet.then(|| anyhow::anyhow!("ORDITO_REQUIRE_GPU=1, but nothing ran on a GPU; `ordito doctor` says why"))
}

/// Would it run on both machines in the same way?
fn is_same_to(selected: &Selected, one: &Machine, other: &Machine) -> bool {
    let seen = |machine: &Machine| match selected {
        Selected::Named(variant) => {
            (variant.place.threads(machine), machine.geometry().of(variant.adjustable))
        }
        Selected::Auto => (Place::Threads.threads(machine), Geometry::default()),
        Selected::OversizedTile(_) => Default::default(),
    };
    seen(one) == seen(other)
}
