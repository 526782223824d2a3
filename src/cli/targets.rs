//! `--on`: where the selected variants run.

use super::args::Device;
use crate::machine::{Accelerator, Machine, Refusal};
use crate::workbench::Side;
use std::sync::Arc;

/// Machines that run one side of the variants.
pub(super) struct Target {
    pub(super) side: Side,
    /// For the CPU one for each number of threads; for a device just one.
    pub(super) machines: Vec<Arc<Machine>>,
}

impl Target {
    /// As `--on` and the records call it.
    pub(super) fn name(&self) -> &'static str {
        match (self.side, self.machines[0].accelerator()) {
            (Side::Cpu, _) => "cpu",
            (Side::Device, Accelerator::Emulator) => "emulator",
            (Side::Device, _) => "cuda",
        }
    }
}

/// All of them.
pub(super) struct Targets {
    pub(super) list: Vec<Target>,
    /// Why the GPU is not among them, where everything was asked for and there is none.
    pub(super) absent: Option<Refusal>,
}

impl Targets {
    /// What `--on` means here. `all` is the CPU and the GPU, if there is one; the emulator is asked for by name.
    pub(super) fn new(on: &[Device], gpu: usize, machines: Vec<Arc<Machine>>) -> Targets {
        let all = on.contains(&Device::All);
        let accelerated = |accelerator| Target {
            side: Side::Device,
            machines: vec![machines[0].with_accelerator(accelerator)],
        };
        let cuda = accelerated(Accelerator::Cuda(gpu));
        let mut absent = None;
        let with_cuda = on.contains(&Device::Cuda)
            || all
                && match cuda.machines[0].device() {
                    Ok(_) => true,
                    Err(refusal) => {
                        absent = Some(refusal);
                        gpu_is_required()
                    }
                };
        let mut list = Vec::new();
        if on.contains(&Device::Cpu) || all {
            list.push(Target { side: Side::Cpu, machines: machines.clone() });
        }
        if with_cuda {
            list.push(cuda);
        }
        if on.contains(&Device::Emulator) {
            list.push(accelerated(Accelerator::Emulator));
        }
        Targets { list, absent }
    }

    /// Could any of this run at all? An error that says why not, before any input is read.
    /// `selects` tells whether anything of a side was selected.
    pub(super) fn check(
        &self,
        operation: &str,
        selects: &dyn Fn(Side) -> anyhow::Result<bool>,
    ) -> anyhow::Result<()> {
        let mut wanted = Vec::new();
        for target in &self.list {
            if selects(target.side)? {
                wanted.push(target);
            }
        }
        if wanted.is_empty() {
            let names: Vec<&str> = self.list.iter().map(Target::name).collect();
            let why = self.absent.as_ref().map_or(String::new(), |refusal| format!("; {refusal}"));
            anyhow::bail!("no selected variant of `{operation}` runs on {}{why}", names.join(", "));
        }
        let mut refusals = Vec::new();
        for target in wanted {
            match target.side {
                Side::Cpu => return Ok(()),
                Side::Device => match target.machines[0].device() {
                    Ok(_) => return Ok(()),
                    Err(refusal) => refusals.push(refusal.to_string()),
                },
            }
        }
        anyhow::bail!("{}", refusals.join("; "))
    }
}

/// `ORDITO_REQUIRE_GPU=1` is set where a missing GPU must not pass for success.
pub(super) fn gpu_is_required() -> bool {
    std::env::var_os("ORDITO_REQUIRE_GPU").is_some_and(|value| value == "1")
}
