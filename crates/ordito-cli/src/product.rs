//! What `ordito spmm`, `ordito gemm` and `ordito columns` share: one result by one variant, its record, and how it ends.

use crate::args::Device;
use crate::console::Console;
use crate::host::gpu;
use crate::interrupt::interrupt;
use crate::session::unmet_gpu_requirement;
use crate::targets::missing_device;
use clap::Args;
use ordito::device::LaunchReport;
use ordito::files::check_writable;
use ordito::machine::{Accelerator, Limits, Machine};
use ordito::matrix::FormatError;
use ordito::op::{Choice, Op, Phases, RunError};
use ordito::refusal::Refusal;
use ordito_bench::check::compare;
use ordito_bench::report::{Outcome, Record, table};
use ordito_bench::workbench::{
    AUTO, AnyCase, Case, Selected, Side, Wanted, exit_code, note_findings, refused, select,
};
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;

/// How a product is computed, and what is told of it.
#[derive(Debug, Args)]
pub(crate) struct ProductArgs {
    /// Which variant
    #[arg(long, value_name = "NAME", default_value = AUTO)]
    variant: String,
    /// Where to run [default: the CPU, where the operands are; a variant of a GPU runs there]
    #[arg(long, value_enum, default_value = "all", hide_default_value = true)]
    on: Device,
    /// Which GPU, as `ordito doctor` numbers them [default: 0; each rank of a computer takes its own]
    #[arg(long, value_name = "N")]
    device: Option<usize>,
    /// Threads [default: ORDITO_THREADS, or all cores]
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,
    /// Hold the result against the serial oracle; exit 1 if it is wrong
    #[arg(long)]
    pub(crate) check: bool,
    /// More of how it is computed: launches of CUDA kernels with their blocks and threads; for spmm also after how many products a
    /// format pays
    #[arg(long, short, conflicts_with = "json")]
    pub(crate) verbose: bool,
    /// One JSON object on standard output
    #[arg(long)]
    json: bool,
}

impl ProductArgs {
    /// The one variant, and what it runs on.
    pub(crate) fn select_one<O: Op>(&self) -> anyhow::Result<(Selected, Accelerator)> {
        select_one::<O>(&self.variant, self.on, || gpu(self.device))
    }

    /// The machine for it, its device opened; the exit code where that does not open. Before anything is read.
    pub(crate) fn machine(
        &self,
        limits: Limits,
        accelerator: Accelerator,
        console: &Console,
    ) -> anyhow::Result<Result<Arc<Machine>, u8>> {
        let machine = crate::args::machine(self.threads, limits)?.with_accelerator(accelerator);
        if accelerator != Accelerator::None
            && let Err(refusal) = machine.device()
        {
            return missing_device(&refusal, console).map(Err);
        }
        Ok(Ok(machine))
    }

    /// Prints the record of a product, or why there is none; the exit code. `record` is what is known without it.
    pub(crate) fn conclude(
        &self,
        record: Record,
        multiplied: anyhow::Result<Record>,
        console: &Console,
    ) -> anyhow::Result<u8> {
        let record = match multiplied {
            Ok(record) => record,
            Err(error) => refused(record, &refusal_in(error)?, crate::hints::of),
        };
        // Without --check nothing was to be verified.
        let unchecked = !self.check && record.outcome == Outcome::NotVerified;
        let code = if unchecked { 0 } else { exit_code(std::slice::from_ref(&record)) };
        if self.json {
            console.json(&record)?;
        } else if let Some(refusal) = &record.refusal {
            anyhow::bail!("{refusal}");
        } else if let (Outcome::Failed, Some(error)) = (record.outcome, &record.error) {
            console.error(&anyhow::anyhow!("{error}"));
        } else {
            console.line(table::one(&record))?;
            let launches = table::launches(std::slice::from_ref(&record));
            if self.verbose && !launches.is_empty() {
                console.line(launches)?;
            }
        }
        if let Some(unmet) = unmet_gpu_requirement(&[record]) {
            console.error(&unmet);
            return Ok(1);
        }
        Ok(code)
    }
}

/// The one variant of that name or pattern, and what it runs on. Without `--on` a variant of a GPU is looked for only if the
/// CPU has none, and only then is it asked which GPU: the operands lie in the host's memory, and whether the way to a GPU and back pays is for the user to know.
pub(crate) fn select_one<O: Op>(
    variant: &str,
    on: Device,
    device: impl FnOnce() -> usize,
) -> anyhow::Result<(Selected, Accelerator)> {
    let places: &[Device] = match on {
        Device::All => &[Device::Cpu, Device::Cuda],
        ref one => std::slice::from_ref(one),
    };
    let wanted = Wanted::variants([variant]);
    for &place in places {
        let side = if place == Device::Cpu { Side::Cpu } else { Side::Device };
        match &select::<O>(&wanted, side)?[..] {
            [] => {}
            [one] => {
                let accelerator = match place {
                    Device::Cpu | Device::All => Accelerator::None,
                    Device::Cuda => Accelerator::Cuda(device()),
                    Device::Emulator => Accelerator::Emulator,
                };
                return Ok((*one, accelerator));
            }
            several => {
                let names: Vec<String> = several.iter().map(Selected::name).collect();
                let (count, names) = (names.len(), names.join(", "));
                anyhow::bail!("--variant {variant}: one is needed, and {count} match: {names}")
            }
        }
    }
    let op = O::NAME;
    anyhow::bail!("--variant {variant} does not run there; `ordito list {op}` says where it does")
}

/// What was refused before the product, or by it: room on a device is asked for late. Any other error stays one.
fn refusal_in(error: anyhow::Error) -> anyhow::Result<Refusal> {
    match error.downcast::<Refusal>() {
        Ok(refusal) => Ok(refusal),
        Err(error) => match error.downcast::<RunError>()? {
            RunError::Refused(refusal) => Ok(refusal),
            error => Err(error.into()),
        },
    }
}

/// A result that could not be written is better known before it is computed.
pub(crate) fn check_output(output: Option<&Path>) -> anyhow::Result<()> {
    let Some(output) = output else { return Ok(()) };
    // A pipe or a device may be called anything.
    let is_other = output.metadata().is_ok_and(|found| !found.is_file() && !found.is_dir());
    let is_npy = output.to_string_lossy().to_lowercase().ends_with(".npy");
    if !output.is_dir() {
        anyhow::ensure!(
            is_npy || is_other,
            "{}: the name must end in .npy, which says the format",
            output.display()
        );
    }
    // Nothing was computed yet: this is a matter of the arguments, not a result that is lost.
    check_writable(output).map_err(|error| anyhow::anyhow!("{error}"))
}

/// A matrix that not even the address space holds is refused like any other that is too large.
pub(crate) fn too_large(machine: &Machine) -> impl Fn(FormatError) -> Refusal {
    let budget = machine.limits().memory_bytes;
    move |error| Refusal::Memory { what: error.to_string(), needed: None, budget }
}

/// What a plan took, noted in the record.
pub(crate) fn note_plan<O: Op>(
    record: &mut Record,
    selected: &Selected,
    choice: &Choice,
    launches: Vec<LaunchReport>,
    machine: &Machine,
) {
    record.launches = launches;
    if matches!(selected, Selected::Auto) {
        record.chosen = Some(choice.variant.into());
        record.reason = Some(choice.reason.clone());
    }
    if let Some(variant) = O::variant(choice.variant) {
        record.set_variant(variant.describe(), machine);
    }
}

/// The record of a case that has run once, in `elapsed_ns` or what the device says of it.
pub(crate) fn timed(case: &dyn AnyCase, phases: Phases, elapsed_ns: f64) -> Record {
    let mut record = case.record().clone();
    let ns = phases.run_ns.unwrap_or(elapsed_ns);
    (record.upload_ns, record.download_ns) = (phases.upload_ns, phases.download_ns);
    record.samples = Some(1);
    (record.mean_ns, record.min_ns, record.median_ns) = (Some(ns), Some(ns), Some(ns));
    // An emulated rate would be taken for a GPU's.
    let rate = Some(case.cost().flops as f64 / ns).filter(|_| record.place != "emulator");
    record.gflops = rate.filter(|rate| rate.is_finite());
    record
}

/// Holds what a plan made of a case against the oracle.
pub(crate) fn check<O: Op>(
    case: &Case<O>,
    choice: &Choice,
    found: &O::Output,
    record: &mut Record,
) -> Result<(), RunError> {
    let described = O::variant(choice.variant).map(|variant| variant.describe());
    let (precision, factor) =
        described.map_or((case.precision, 1.0), |known| (case.precision_for(known), known.error_factor));
    note_findings(&compare(case.reference(interrupt())?, found, precision, factor), precision, record);
    Ok(())
}
