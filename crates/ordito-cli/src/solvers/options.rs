//! What every solver can be told.

use crate::args::{Device, Dtype, MemoryArgs};
use crate::console::Console;
use crate::host::gpu;
use crate::matrix_input::Matrix;
use crate::solvers::watch::Watch;
use crate::targets::missing_device;
use clap::Args;
use ordito::Scalar;
use ordito::io::{Duplicates, ReadOptions};
use ordito::machine::{Accelerator, Interrupt, Machine};
use ordito::matrix::Csr;
use ordito::solve::{Control, Tolerance};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;

/// When to stop, where to run, what to write.
#[derive(Debug, Args)]
pub(crate) struct SolverArgs {
    /// Residuals up to so much, relative to what they are held against, are small enough [default: 1e-8; in f32 1e-4]
    #[arg(long, value_name = "T", allow_negative_numbers = true, value_parser = parse_tolerance)]
    tol: Option<f64>,
    /// Iterations at most
    #[arg(long, value_name = "N", default_value_t = 1000)]
    max_iterations: usize,
    /// Precision [default: f64]
    #[arg(long, value_enum)]
    pub(crate) dtype: Option<Dtype>,
    /// Where to run [default: the CPU]
    #[arg(long, value_enum, default_value = "all", hide_default_value = true)]
    on: Device,
    /// Which GPU, as `ordito doctor` numbers them [default: 0; each rank of a computer takes its own]
    #[arg(long, value_name = "N")]
    device: Option<usize>,
    /// Threads [default: ORDITO_THREADS, or all cores]
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,
    /// Seed of synthetic matrices and of random vectors
    #[arg(long, default_value_t = 0)]
    pub(crate) seed: u64,
    /// On a GPU: wait after every part, so that it is known where the time goes; takes some of it
    #[arg(long)]
    time_parts: bool,
    /// Everything as one JSON object, the history too: to a file, or to standard output in place of the table
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = STANDARD_OUTPUT)]
    pub(crate) json: Option<PathBuf>,
    /// A page with the convergence, where the time went, and the table
    #[arg(long, value_name = "FILE.html")]
    pub(crate) page: Option<PathBuf>,
    #[command(flatten)]
    memory: MemoryArgs,
}

/// What `--json` without a file, or with this one, means.
pub(crate) const STANDARD_OUTPUT: &str = "-";

/// A number of 0 or more.
fn parse_tolerance(text: &str) -> Result<f64, String> {
    let tolerance = text.parse::<f64>().ok().filter(|&tolerance| tolerance >= 0.0 && tolerance.is_finite());
    tolerance.ok_or_else(|| "a number of 0 or more, such as 1e-8".into())
}

impl SolverArgs {
    /// The machine, its device opened; the exit code where that does not open. Before anything is read. A first Ctrl-C does not stop its
    /// products: what there is then is shown.
    pub(crate) fn machine(&self, console: &Console) -> anyhow::Result<Result<Arc<Machine>, u8>> {
        let accelerator = match self.on {
            Device::Cpu | Device::All => Accelerator::None,
            Device::Cuda => Accelerator::Cuda(gpu(self.device)),
            Device::Emulator => Accelerator::Emulator,
        };
        let machine = crate::args::machine(self.threads, self.memory.limits())?.with_accelerator(accelerator);
        if accelerator != Accelerator::None
            && let Err(refusal) = machine.device()
        {
            return missing_device(&refusal, console).map(Err);
        }
        Ok(Ok(machine.interrupted_by(&Interrupt::default())))
    }

    /// A matrix by rows, entries at the same place added up; the machine that holds it, and its name.
    pub(crate) fn read<S: Scalar>(
        &self,
        input: &str,
        machine: &Arc<Machine>,
    ) -> anyhow::Result<(String, Csr<S>, Arc<Machine>)> {
        let matrix = Matrix::<S>::load_on(machine, input, &self.read_options())?;
        let machine = machine.holding(machine.held_bytes() + matrix.bytes());
        let (source, a) = matrix.into_csr(&machine)?;
        Ok((source.name, a, machine))
    }

    /// How a matrix is read.
    pub(crate) fn read_options(&self) -> ReadOptions {
        let max_bytes = self.memory.limits().memory_bytes;
        ReadOptions { duplicates: Duplicates::Sum, max_bytes, seed: self.seed }
    }

    /// Was it said what residuals are to be?
    pub(crate) fn has_tolerance(&self) -> bool {
        self.tol.is_some()
    }

    /// What residuals are to be, relative to what they are held against.
    pub(crate) fn tolerance<S: Scalar>(&self) -> f64 {
        self.tol.unwrap_or(if S::EPSILON > 1e-10 { 1e-4 } else { 1e-8 })
    }

    /// When to stop, watched.
    pub(crate) fn control<'a>(&self, tolerance: Tolerance, watch: &'a Watch) -> Control<'a> {
        Control {
            tolerance: Some(tolerance),
            max_iterations: self.max_iterations,
            seed: self.seed,
            progress: Some(Box::new(|step| watch.step(step))),
            time_parts: self.time_parts,
            ..Control::default()
        }
    }

    /// Is it known where the time went? On a device parts overlap unless they are waited for.
    pub(crate) fn knows_parts(&self, machine: &Machine) -> bool {
        self.time_parts || machine.accelerator() == Accelerator::None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tolerance_is_no_less_than_0() {
        assert_eq!((parse_tolerance("1e-8"), parse_tolerance("0")), (Ok(1e-8), Ok(0.0)));
        for wrong in ["", "-1", "nan", "inf", "small"] {
            assert!(parse_tolerance(wrong).is_err(), "{wrong}");
        }
    }
}
