//! The workbench itself, tried on an operation whose variants are wrong on purpose: it must call wrong wrong.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

use ordito::files::WriteError;
use ordito::io::npy::Conversion;
use ordito::io::read_npy;
use ordito::machine::{Interrupt, Interrupted, Machine};
use ordito::matrix::Dense;
use ordito::op::{
    Choice, Cost, Description, Extent, Op, Place, Prepared, Reference, RunError, SourceFile, Variant,
};
use ordito::refusal::Refusal;
use ordito_bench::check::{Precision, Save};
use ordito_bench::report::{Outcome, Record};
use ordito_bench::sample::{Clock, FakeClock, StopRule, Timer};
use ordito_bench::workbench::{
    Case, Measuring, OracleLimits, Selected, Side, Wanted, Workbench, exit_code, select,
};
use std::path::Path;
use std::sync::Arc;

/// Doubles a row of numbers.
struct Doubling;

/// What a variant does instead of doubling.
#[derive(Clone, Copy, PartialEq)]
enum Deed {
    Right,
    OffInTheLastPlace,
    Wrong,
    Nan,
    WritesNothing,
    WrongTheSecondTime,
    AddsUp,
    Refuses,
    RefusesWhenLoaded,
    Fails,
}

struct Doubler {
    description: Description,
    deed: Deed,
}

const fn fake(name: &'static str, deed: Deed) -> Doubler {
    let file = SourceFile { path: "tests/workbench.rs", text: "//! fake" };
    Doubler { description: Description::new(name, "a fake", Place::Serial, file).ladder(), deed }
}

struct Ready {
    machine: Arc<Machine>,
    deed: Deed,
    x: Vec<f64>,
    y: Vec<f64>,
    runs: usize,
}

static VARIANTS: [Doubler; 10] = [
    fake("right", Deed::Right),
    fake("off-in-the-last-place", Deed::OffInTheLastPlace),
    fake("wrong", Deed::Wrong),
    fake("nan", Deed::Nan),
    fake("writes-nothing", Deed::WritesNothing),
    fake("wrong-the-second-time", Deed::WrongTheSecondTime),
    fake("adds-up", Deed::AddsUp),
    fake("refuses", Deed::Refuses),
    fake("refuses-when-loaded", Deed::RefusesWhenLoaded),
    fake("fails", Deed::Fails),
];

impl Op for Doubling {
    const NAME: &'static str = "doubling";
    const ABOUT: &'static str = "twice as much";
    type Subject = usize;
    type Inputs = Vec<f64>;
    type Output = Dense<f64>;
    type Ready = dyn Prepared<Self>;

    fn variants() -> &'static [&'static dyn Variant<Self>] {
        static LIST: [&dyn Variant<Doubling>; 10] = [
            &VARIANTS[0],
            &VARIANTS[1],
            &VARIANTS[2],
            &VARIANTS[3],
            &VARIANTS[4],
            &VARIANTS[5],
            &VARIANTS[6],
            &VARIANTS[7],
            &VARIANTS[8],
            &VARIANTS[9],
        ];
        &LIST
    }
    fn choose(_: &Machine, _: &usize) -> Choice {
        Choice::new(VARIANTS[0].describe(), "the others are not")
    }
    fn cost(subject: &usize) -> Cost {
        Cost { flops: *subject as u64, least_bytes: 16 * *subject as u64, ..Cost::default() }
    }
    fn oracle(
        subject: &usize,
        inputs: &Vec<f64>,
        _: Extent,
        _: &Interrupt,
    ) -> Result<Reference, Interrupted> {
        let expected: Vec<f64> = inputs.iter().map(|x| 2.0 * x).collect();
        let magnitude = expected.iter().map(|y| y.abs()).collect();
        Ok(Reference { rows: 1, cols: *subject, expected, magnitude, terms: vec![1], ..Reference::default() })
    }
}

impl Save for Doubling {
    fn save(_: &usize, _: &Vec<f64>, output: &Dense<f64>, folder: &Path) -> Result<(), WriteError> {
        ordito::io::write_npy(output.view(), &folder.join("found.npy"))
    }
}

impl Variant<Doubling> for Doubler {
    fn describe(&self) -> &Description {
        &self.description
    }
    fn prepare(&self, machine: &Arc<Machine>, _: &usize) -> Result<Box<dyn Prepared<Doubling>>, Refusal> {
        if self.deed == Deed::Refuses {
            return Err(Refusal::Memory { what: "doubling".into(), needed: Some(100), budget: 10 });
        }
        Ok(Box::new(Ready { machine: machine.clone(), deed: self.deed, x: vec![], y: vec![], runs: 0 }))
    }
}

impl Prepared<Doubling> for Ready {
    fn load(&mut self, inputs: &Vec<f64>) -> Result<(), RunError> {
        if self.deed == Deed::RefusesWhenLoaded {
            return Err(Refusal::DeviceMemory { what: "X".into(), needed: Some(100), free: 10 }.into());
        }
        self.x = inputs.clone();
        self.y = vec![0.0; self.x.len()];
        Ok(())
    }
    fn reset(&mut self) -> Result<(), RunError> {
        let start = if self.deed == Deed::AddsUp { 0.0 } else { f64::NAN };
        self.y.fill(start);
        Ok(())
    }
    fn run(&mut self) -> Result<(), RunError> {
        self.runs += 1;
        for (y, x) in self.y.iter_mut().zip(&self.x) {
            match self.deed {
                Deed::Right => *y = 2.0 * x,
                Deed::OffInTheLastPlace => *y = (2.0 * x).next_up(),
                Deed::Wrong => *y = 2.0 * x + 1.0,
                Deed::Nan => *y = f64::NAN,
                Deed::WrongTheSecondTime if self.runs > 1 => *y = 0.0,
                Deed::WrongTheSecondTime => *y = 2.0 * x,
                Deed::AddsUp => *y += 2.0 * x,
                Deed::Fails => return Err(RunError::NotLoaded),
                Deed::WritesNothing | Deed::Refuses | Deed::RefusesWhenLoaded => {}
            }
        }
        Ok(self.machine.interrupt().check()?)
    }
    fn fetch(&mut self) -> Result<Dense<f64>, RunError> {
        Ok(Dense::from_rows(1, self.y.len(), self.y.clone())?)
    }
    /// What is left there of another variant must not pass for the work of this one.
    fn fetch_into(&mut self, output: &mut Dense<f64>) -> Result<(), RunError> {
        output.data_mut().copy_from_slice(&self.y);
        Ok(())
    }
}

fn case(numbers: Vec<f64>) -> Case<Doubling> {
    let record = Record { matrix: Some("numbers".into()), dtype: "f64".into(), ..Record::default() };
    Case::new(numbers.len(), numbers, Precision::of::<f64>(), record, OracleLimits::default())
}

fn outcomes(records: &[Record]) -> Vec<(&str, Outcome)> {
    records.iter().map(|record| (record.variant.as_str(), record.outcome)).collect()
}

const EXPECTED: [(&str, Outcome); 11] = [
    ("right", Outcome::Passed),
    ("off-in-the-last-place", Outcome::Passed),
    ("wrong", Outcome::Incorrect),
    ("nan", Outcome::Incorrect),
    ("writes-nothing", Outcome::Incorrect),
    ("wrong-the-second-time", Outcome::Incorrect),
    ("adds-up", Outcome::Passed), // its reset restores what it adds to
    ("refuses", Outcome::Refused),
    ("refuses-when-loaded", Outcome::Refused),
    ("fails", Outcome::Failed),
    ("auto", Outcome::Passed),
];

#[test]
fn wrong_is_called_wrong() {
    let machine = Machine::with_threads(1).unwrap();
    let records = Workbench::new(&machine)
        .verify(&case(vec![1.0, 3.5]), &select::<Doubling>(&Wanted::all(), Side::Cpu).unwrap());
    assert_eq!(outcomes(&records), EXPECTED);
    assert_eq!(exit_code(&records), 1);
    let nan = &records[3];
    assert!(nan.error.as_ref().unwrap().contains("NaN found"), "{:?}", nan.error);
    assert_eq!(nan.max_rel_err, Some(f64::INFINITY));
    let line = serde_json::to_string(nan).unwrap();
    assert!(!line.contains("max_rel_err"), "an infinite error is no JSON number: {line}");
    let refused = &records[7];
    assert!(refused.refusal.as_ref().unwrap().contains("doubling would need 100 B"));
    assert_eq!(records[8].refusal.as_deref(), Some("X would need 100 B of device memory, 10 B are free"));
    let auto = &records[10];
    assert_eq!((auto.chosen.as_deref(), auto.reason.as_deref()), (Some("right"), Some("the others are not")));
}

#[test]
fn the_exit_code_says_how_it_went() {
    let code = |deeds: &[Outcome]| {
        let records: Vec<Record> =
            deeds.iter().map(|&outcome| Record { outcome, ..Record::default() }).collect();
        exit_code(&records)
    };
    assert_eq!(code(&[Outcome::Passed, Outcome::Refused]), 0);
    assert_eq!(code(&[Outcome::Passed, Outcome::Incorrect]), 1);
    assert_eq!(code(&[Outcome::Refused, Outcome::Failed]), 1);
    assert_eq!(code(&[Outcome::Refused]), 2);
    assert_eq!(code(&[]), 2);
}

fn bench(
    patterns: &[&str],
    clock: &mut dyn Timer<RunError>,
    rule: &StopRule,
    interrupt: &Interrupt,
) -> Vec<Record> {
    let machine = Machine::with_threads(1).unwrap().interrupted_by(interrupt);
    let wanted = Wanted::variants(patterns.iter().copied());
    let selected: Vec<Selected> = select::<Doubling>(&wanted, Side::Cpu).unwrap();
    let measuring = Measuring {
        rule,
        keep_samples: true,
        cold: None,
        flushed_too: None,
        ceilings: &[],
        device_ceilings: None,
    };
    Workbench::new(&machine).bench(&case(vec![1.0; 100]), &selected, &measuring, clock)
}

#[test]
fn only_what_is_right_is_timed() {
    let mut clock = FakeClock::new([50]);
    let records = bench(&[], &mut clock, &StopRule::fixed(20), &Interrupt::default());
    assert_eq!(outcomes(&records), EXPECTED);
    for record in &records {
        let timed = record.outcome == Outcome::Passed;
        assert_eq!(record.median_ns, timed.then_some(50.0), "{}", record.variant);
        assert_eq!(record.gflops, timed.then_some(2.0));
        assert_eq!(record.gbytes_per_s, timed.then_some(32.0));
        assert_eq!(record.samples, timed.then_some(20));
        assert_eq!(record.stop_reason.as_deref(), timed.then_some("samples"));
        assert_eq!(record.repack_ns, None);
    }
}

/// Interrupts in the middle of a run, the one after so many.
struct Impatient {
    clock: FakeClock,
    runs_left: usize,
    interrupt: Interrupt,
}

impl Clock for Impatient {
    fn now_ns(&mut self) -> u64 {
        self.clock.now_ns()
    }
}

impl Timer<RunError> for Impatient {
    fn time(&mut self, run: &mut dyn FnMut() -> Result<(), RunError>) -> Result<f64, RunError> {
        match self.runs_left.checked_sub(1) {
            Some(left) => self.runs_left = left,
            None => self.interrupt.set(),
        }
        self.clock.time(run)
    }
}

#[test]
fn an_interrupted_run_is_no_sample_and_those_before_it_are_kept() {
    let interrupt = Interrupt::default();
    let runs_left = 101 + 20; // the timer's own overhead comes first
    let mut clock = Impatient { clock: FakeClock::new([50]), runs_left, interrupt: interrupt.clone() };
    let records = bench(&["right"], &mut clock, &StopRule::fixed(1000), &interrupt);
    assert_eq!(outcomes(&records), [("right", Outcome::Passed)]);
    assert_eq!(records[0].stop_reason.as_deref(), Some("interrupted"));
    assert!((1..=20).contains(&records[0].samples.unwrap()), "{:?}", records[0].samples);
    assert_eq!((records[0].median_ns, &records[0].error), (Some(50.0), &None));
}

#[test]
fn of_a_variant_that_is_interrupted_nothing_is_known() {
    let interrupt = Interrupt::default();
    let machine = Machine::with_threads(1).unwrap().interrupted_by(&interrupt);
    let stop_at_the_second = |variant: &str, _: Option<_>| {
        if variant == VARIANTS[1].description.name {
            interrupt.set();
        }
    };
    let workbench = Workbench { progress: &stop_at_the_second, ..Workbench::new(&machine) };
    let records = workbench.verify(&case(vec![1.0]), &select::<Doubling>(&Wanted::all(), Side::Cpu).unwrap());
    assert_eq!(outcomes(&records), [("right", Outcome::Passed)]);
}

#[test]
fn failing_cases_are_written_to_disk() {
    let machine = Machine::with_threads(1).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let workbench = Workbench { dump: Some(folder.path()), ..Workbench::new(&machine) };
    let selected = select::<Doubling>(&Wanted::variants(["right", "wrong"]), Side::Cpu).unwrap();
    let records = workbench.verify(&case(vec![1.0, 2.0]), &selected);
    assert_eq!(records[0].dump, None);
    let written = Path::new(records[1].dump.as_ref().unwrap());
    let read = |name: &str| read_npy::<f64>(&written.join(name), Conversion::Refuse).unwrap();
    let found = read("found.npy");
    let expected = read("expected.npy");
    assert_eq!((found.data(), expected.data()), (&[3.0, 5.0][..], &[2.0, 4.0][..]));
    assert!(std::fs::read_to_string(written.join("findings.txt")).unwrap().contains("Incorrect"));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn operands_that_are_not_finite_are_not_verified() {
    let machine = Machine::with_threads(1).unwrap();
    let selected = select::<Doubling>(&Wanted::variants(["right"]), Side::Cpu).unwrap();
    let records = Workbench::new(&machine).verify(&case(vec![1.0, f64::NAN]), &selected);
    assert_eq!(records[0].outcome, Outcome::NotVerified);
    assert_eq!(records[0].bound_ratio, None);
    assert_eq!(exit_code(&records), 2);
}
