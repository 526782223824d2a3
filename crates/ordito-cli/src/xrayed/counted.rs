//! Variants of a case, each run once in the emulator that counts.

use crate::xrayed::XrayRequest;
use crate::xrayed::own_kernel::OwnKernel;
use ordito::device::emulator::xray::{LaunchXray, Prediction};
use ordito::device::{Device, DeviceError, Emulator};
use ordito::machine::{Accelerator, Machine};
use ordito::op::{Description, RunError};
use ordito::refusal::Refusal;
use ordito_bench::report::{Outcome, Record};
use ordito_bench::sample::{DeviceFlush, StopRule, WallClock};
use ordito_bench::workbench::{AnyCase, Measuring, Selected, Workbench};
use std::sync::Arc;

/// One variant on one input with one setting.
pub(crate) struct Xrayed {
    /// What it ran on: operation, input, sizes, dtype.
    pub(crate) record: Record,
    /// The input as it was named.
    pub(crate) input: String,
    /// What the variant is; nothing of `auto`.
    pub(crate) description: Option<&'static Description>,
    /// Its launches, each with what the GPU is predicted to need for it.
    pub(crate) launches: Vec<(LaunchXray, Prediction)>,
    /// Why it was not even tried.
    pub(crate) refusal: Option<String>,
    /// What went wrong while it ran.
    pub(crate) failure: Option<String>,
    /// How long a GPU took, with its cache emptied before.
    pub(crate) measured_ns: Option<f64>,
}

impl Xrayed {
    fn new(record: Record, description: Option<&'static Description>) -> Self {
        let input = match (&record.matrix, record.n, record.m, record.p) {
            (Some(matrix), ..) => matrix.clone(),
            (_, Some(n), Some(m), Some(p)) => format!("{n}x{m}x{p}"),
            _ => record.rows.zip(record.cols).map_or(String::new(), |(rows, cols)| format!("{rows}x{cols}")),
        };
        let (launches, refusal, failure, measured_ns) = (Vec::new(), None, None, None);
        Xrayed { record, input, description, launches, refusal, failure, measured_ns }
    }

    pub(crate) fn name(&self) -> &str {
        &self.record.variant
    }

    /// All launches, one after the other.
    pub(crate) fn predicted_s(&self) -> f64 {
        self.launches.iter().map(|(_, prediction)| prediction.seconds).sum()
    }

    /// What it computes: products for spmm and gemm, elements otherwise. Nonzeros times K, or n·m·p, or rows times columns.
    pub(crate) fn products(&self) -> Option<u64> {
        let record = &self.record;
        match (record.nnz, record.k, record.n, record.m, record.p) {
            (Some(nnz), Some(k), ..) => Some(nnz * k),
            (Some(nnz), ..) => Some(nnz),
            (_, _, Some(n), Some(m), Some(p)) => Some(n * m * p),
            _ => record.rows.zip(record.cols).map(|(rows, cols)| rows * cols),
        }
    }
}

impl XrayRequest {
    /// Every selected variant.
    pub(crate) fn count(
        &self,
        case: &dyn AnyCase,
        selected: &[Selected],
        machine: &Arc<Machine>,
        say: &dyn Fn(&str),
    ) -> anyhow::Result<Vec<Xrayed>> {
        let emulator = Emulator::counting(self.options())?;
        let counting = machine.with_emulator(emulator.clone());
        let gpu = self.is_measured.then(|| machine.with_accelerator(Accelerator::Cuda(0)));
        let gpu = gpu.filter(|gpu| gpu.device().is_ok());
        let mut xrayed = Vec::new();
        for selected in machine.interrupt().until_set(selected) {
            say(&format!("{} · counting", selected.name()));
            let mut one = self.count_one(case, selected, &counting, &emulator);
            if let Some(gpu) = gpu.as_ref().filter(|_| !one.launches.is_empty()) {
                say(&format!("{} · measuring", selected.name()));
                one.measured_ns = measure(case, selected, gpu);
            }
            xrayed.push(one);
        }
        Ok(xrayed)
    }

    fn count_one(
        &self,
        case: &dyn AnyCase,
        selected: &Selected,
        machine: &Arc<Machine>,
        emulator: &Emulator,
    ) -> Xrayed {
        let mut record = Record { variant: selected.name(), ..case.record().clone() };
        let geometry = machine.geometry();
        record.geometry = (!geometry.is_default()).then(|| geometry.to_string());
        let mut one = Xrayed::new(record, selected.describe());
        let variant = match *selected {
            Selected::Named(variant) => Ok(variant),
            Selected::Auto => {
                let (choice, described) = case.choose(machine);
                one.record.chosen = Some(choice.variant.into());
                described
            }
            Selected::OversizedTile(_) => Err(Refusal::UnknownVariant { name: selected.name() }),
        };
        match variant.map_err(RunError::Refused).and_then(|variant| run(case, variant, machine, emulator)) {
            Ok(launches) => one.launches = self.predicted(launches),
            Err(RunError::Refused(refusal)) => {
                one.refusal = Some(format!("{refusal}{}", crate::hints::of(&refusal)));
            }
            Err(error) => one.failure = Some(error.to_string()),
        }
        one
    }

    fn predicted(&self, launches: Vec<LaunchXray>) -> Vec<(LaunchXray, Prediction)> {
        let predicted = |launch| {
            let prediction = Prediction::of(&launch, self.gpu);
            (launch, prediction)
        };
        launches.into_iter().map(predicted).collect()
    }

    /// A kernel of one's own.
    pub(crate) fn count_own(&self, own: &OwnKernel) -> anyhow::Result<Xrayed> {
        let emulator = Emulator::counting(self.options())?;
        let record = Record::new(own.source.file, &own.launch.kernel, Outcome::NotVerified);
        let mut one = Xrayed::new(record, None);
        match own.run(&Device::Emulator(emulator.clone())) {
            Ok(()) => one.launches = self.predicted(emulator.take_xray()),
            Err(error) if error.downcast_ref::<DeviceError>().is_some() => {
                one.failure = Some(error.to_string())
            }
            Err(error) => return Err(error),
        }
        Ok(one)
    }
}

/// The launches of one run, without those of getting ready.
fn run(
    case: &dyn AnyCase,
    variant: &Description,
    machine: &Arc<Machine>,
    emulator: &Emulator,
) -> Result<Vec<LaunchXray>, RunError> {
    let machine = machine.holding(case.held_bytes());
    let mut ready = case.prepare(variant, &machine).map_err(RunError::Refused)?;
    ready.load()?;
    ready.reset()?;
    emulator.take_xray();
    ready.run()?;
    if let Some(device) = ready.device() {
        Device::synchronize(device)?;
    }
    Ok(emulator.take_xray())
}

/// The median of a few runs on the GPU with an empty cache.
fn measure(case: &dyn AnyCase, selected: &Selected, machine: &Arc<Machine>) -> Option<f64> {
    let flush = DeviceFlush::new(&machine.device().ok()?).ok()?;
    let rule = StopRule::brief();
    let measuring = Measuring {
        rule: &rule,
        keep_samples: false,
        cold: None,
        flushed_too: Some(&flush),
        ceilings: &[],
        device_ceilings: None,
    };
    let records = Workbench::new(machine).bench(case, &[*selected], &measuring, &mut WallClock::new());
    let passed = records.into_iter().find(|record| record.outcome == Outcome::Passed)?;
    passed.flushed_median_ns.or(passed.median_ns)
}
