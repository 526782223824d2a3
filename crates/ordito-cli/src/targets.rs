//! `--on`: where the selected variants run.

use crate::args::Device;
use crate::console::Console;
use crate::host::host;
use ordito::device::Geometry;
use ordito::machine::{Accelerator, Machine};
use ordito::refusal::Refusal;
use ordito_bench::workbench::left_out;
use ordito_bench::workbench::{SelectError, Side, Wanted};
use std::sync::Arc;

/// Machines that run one side of the variants.
pub(crate) struct Target {
    pub(crate) side: Side,
    /// For the CPU one for each number of threads; for a device one for each way of launching kernels that leave that open.
    pub(crate) machines: Vec<Arc<Machine>>,
}

impl Target {
    /// As `--on` and the records call it.
    pub(crate) fn name(&self) -> &'static str {
        match (self.side, self.machines[0].accelerator()) {
            (Side::Cpu, _) => "cpu",
            (Side::Device, Accelerator::Emulator) => "emulator",
            (Side::Device, _) => "cuda",
        }
    }
}

/// All of them.
pub(crate) struct Targets {
    pub(crate) list: Vec<Target>,
    /// Why the GPU is not among them, where everything was asked for and there is none.
    pub(crate) absent: Option<Refusal>,
    /// Names of targets that nothing selected runs on.
    left_out: Vec<&'static str>,
}

/// On which sides there is something selected.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Selection {
    on_cpu: bool,
    on_device: bool,
    /// Some pattern means variants of a device and none of the CPU, or tiles were asked for: only those have some.
    names_device: bool,
}

impl Selection {
    /// Of what is wanted; `selects` tells whether that holds anything of a side.
    pub(crate) fn new(
        wanted: &Wanted,
        selects: impl Fn(&Wanted, Side) -> Result<bool, SelectError>,
    ) -> Result<Self, SelectError> {
        let mut names_device =
            !wanted.tiles.is_empty() || wanted.kind.is_some_and(|kind| kind.side == Side::Device);
        for pattern in wanted.patterns.iter().filter(|pattern| left_out(pattern).is_none()) {
            let alone = Wanted::variants([pattern.as_str()]);
            names_device |= selects(&alone, Side::Device)? && !selects(&alone, Side::Cpu)?;
        }
        let (on_cpu, on_device) = (selects(wanted, Side::Cpu)?, selects(wanted, Side::Device)?);
        Ok(Selection { on_cpu, on_device, names_device })
    }

    /// The same, where something else was asked for that only a device has.
    pub(crate) fn naming_device(self, names_device: bool) -> Self {
        Selection { names_device: self.names_device || names_device, ..self }
    }

    fn holds(self, side: Side) -> bool {
        if side == Side::Cpu { self.on_cpu } else { self.on_device }
    }
}

impl Targets {
    /// What `--on` means for this selection. `all` is the CPU and the GPU, if there is one or if one of its variants was
    /// named: it must not vanish without a word. The emulator is asked for by name. Nothing is opened, and later measured,
    /// that nothing selected runs on; which GPU it is, is asked where one is meant.
    pub(crate) fn new(
        on: &[Device],
        gpu: impl FnOnce() -> usize,
        machines: Vec<Arc<Machine>>,
        geometries: &[Geometry],
        selection: Selection,
    ) -> Result<Targets, Refusal> {
        let all = on.contains(&Device::All);
        let accelerated = |accelerator| -> Result<Target, Refusal> {
            let machine = machines[0].with_accelerator(accelerator);
            let machines = geometries.iter().map(|&geometry| machine.with_geometry(geometry));
            Ok(Target { side: Side::Device, machines: machines.collect::<Result<_, _>>()? })
        };
        let is_asked_for = on.contains(&Device::Cuda);
        let mut absent = None;
        let mut cuda = match is_asked_for || all && selection.on_device {
            true => Some(accelerated(Accelerator::Cuda(gpu()))?),
            false => None,
        };
        if !is_asked_for && let Some(Err(refusal)) = cuda.as_ref().map(|cuda| cuda.machines[0].device()) {
            absent = Some(refusal);
            cuda = cuda.filter(|_| gpu_is_required() || selection.names_device);
        }
        let mut list = Vec::new();
        if on.contains(&Device::Cpu) || all {
            list.push(Target { side: Side::Cpu, machines: machines.clone() });
        }
        list.extend(cuda);
        if on.contains(&Device::Emulator) {
            list.push(accelerated(Accelerator::Emulator)?);
        }
        let (list, others): (Vec<Target>, Vec<Target>) =
            list.into_iter().partition(|target| selection.holds(target.side));
        Ok(Targets { list, absent, left_out: others.iter().map(Target::name).collect() })
    }

    /// Their names, as `--on` takes them.
    #[cfg(feature = "mpi")]
    pub(crate) fn names(&self) -> String {
        let names: Vec<&str> = self.list.iter().map(Target::name).collect();
        if names.is_empty() { "none".into() } else { names.join(",") }
    }

    /// Could any of this run at all? Says why not, before any input is read.
    pub(crate) fn check(&self, operation: &str) -> Result<(), NothingRuns> {
        if self.list.is_empty() {
            let names = self.left_out.join(", ");
            return Err(match &self.absent {
                Some(refusal) => NothingRuns::NoDevice(refusal.clone()),
                None => NothingRuns::NothingSelected(format!(
                    "no selected variant of `{operation}` runs on {names}"
                )),
            });
        }
        let mut first = None;
        for target in &self.list {
            match target.side {
                Side::Cpu => return Ok(()),
                Side::Device => match target.machines[0].device() {
                    Ok(_) => return Ok(()),
                    Err(refusal) => first.get_or_insert(refusal),
                },
            };
        }
        first.map_or(Ok(()), |refusal| Err(NothingRuns::NoDevice(refusal)))
    }
}

/// Why there is nothing to do.
pub(crate) enum NothingRuns {
    /// Bad usage.
    NothingSelected(String),
    /// What was selected runs on a device that is not there.
    NoDevice(Refusal),
}

/// `ORDITO_REQUIRE_GPU=1` is set where a missing GPU must not pass for success.
pub(crate) fn gpu_is_required() -> bool {
    let value = std::env::var("ORDITO_REQUIRE_GPU").unwrap_or_default();
    ["1", "true", "yes", "on"].contains(&value.to_ascii_lowercase().as_str())
}

/// Nothing can run for want of a device: an error that says what can be done, and, where a GPU is required, a failure. Of one of several
/// ranks it is an error in any case: others may have a device, and must hear of it.
pub(crate) fn missing_device(refusal: &Refusal, console: &Console) -> anyhow::Result<u8> {
    let no_gpu = matches!(refusal, Refusal::NoGpu(_));
    let advice = if no_gpu { "; `--on emulator` runs CUDA kernels on this CPU" } else { "" };
    let error = anyhow::anyhow!("{refusal}{advice}");
    if !(no_gpu && gpu_is_required()) {
        return Err(error);
    }
    let error = error.context("ORDITO_REQUIRE_GPU=1");
    if !host().is_alone() {
        return Err(error);
    }
    console.error(&error);
    Ok(1)
}
