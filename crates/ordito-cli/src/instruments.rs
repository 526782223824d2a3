//! What `bench` measures with, beside a clock: what empties the caches, and what the machine can do at best.

use crate::request::{Caches, MeasureRequest};
use crate::targets::Targets;
use anyhow::Context;
use ordito::cpu::Pool;
use ordito::device::gpu::GpuFingerprint;
use ordito::files::cache_dir;
use ordito::machine::Machine;
use ordito_bench::sample::{CacheFlush, Ceilings, DeviceCeilings, DeviceFlush};
use ordito_bench::workbench::{Flushes, Measuring, Side};
use std::sync::Arc;

/// Made once, before anything is measured.
#[derive(Default)]
pub(crate) struct Instruments {
    flush: Option<CacheFlush>,
    device_flush: Option<DeviceFlush>,
    /// Variants of a GPU are timed with and without it.
    flushes_too: bool,
    /// One for each number of threads that variants run with.
    pub(crate) ceilings: Vec<Ceilings>,
    pub(crate) device_ceilings: Option<DeviceCeilings>,
    /// The GPU, as it is before anything ran.
    pub(crate) gpu: Option<GpuFingerprint>,
}

impl Instruments {
    /// For these targets; `say` shows what takes time. What a GPU multiplies at best is only asked for where that may be
    /// the limit.
    pub(crate) fn new(
        targets: &Targets,
        caches: Caches,
        limited_by_products: bool,
        say: &dyn Fn(&str),
    ) -> anyhow::Result<Self> {
        let mut instruments = Instruments::default();
        if caches == Caches::Cold {
            instruments.flush = Some(CacheFlush::new(Machine::all_cores()?).context("--cold")?);
        }
        for target in &targets.list {
            if target.side == Side::Cpu {
                instruments.ceilings = ceilings(&target.machines, say);
                continue;
            }
            // Where the device does not open, every variant will say why; the emulator has nothing to be measured.
            let Ok(device) = target.machines[0].device() else { continue };
            let Some(gpu) = device.gpu() else { continue };
            if caches != Caches::Hot {
                let advice = "the buffer that empties the GPU's cache (--hot does without)";
                instruments.device_flush = Some(DeviceFlush::new(&device).context(advice)?);
                instruments.flushes_too = caches == Caches::Both;
            }
            instruments.gpu = Some(GpuFingerprint::new(gpu));
            // Without it only a column is missing.
            let copying = DeviceCeilings::measure(&device).ok().flatten();
            instruments.device_ceilings = match copying {
                Some(ceilings) if limited_by_products => Some(ceilings.with_peaks(&device)),
                other => other,
            };
        }
        Ok(instruments)
    }

    /// How to measure what was asked for.
    pub(crate) fn measuring<'a>(&'a self, request: &'a MeasureRequest) -> Measuring<'a> {
        let device = self.device_flush.as_ref();
        Measuring {
            rule: &request.rule,
            keep_samples: request.keep_samples,
            cold: self.flush.as_ref().map(|cpu| Flushes { cpu, device }),
            flushed_too: device.filter(|_| self.flushes_too),
            ceilings: &self.ceilings,
            device_ceilings: self.device_ceilings.as_ref(),
        }
    }
}

/// Read bandwidth and peak for every number of threads, one among them for serial variants; from the cache or measured
/// now. Without them only a column is missing.
fn ceilings(machines: &[Arc<Machine>], say: &dyn Fn(&str)) -> Vec<Ceilings> {
    let cpu = machines[0].cpu();
    // More threads than cores have the ceilings of the cores.
    let threads = machines.iter().map(|machine| machine.threads().min(cpu.logical_cores));
    let mut threads: Vec<usize> = threads.chain([1]).collect();
    threads.sort_unstable();
    threads.dedup();
    let measure = |&threads: &usize| {
        say(&format!("ceilings of this machine with {threads} threads (measured once)"));
        let limit = machines[0].limits().memory_bytes;
        Ceilings::load_or_measure(cpu, &Pool::new(threads).ok()?, cache_dir().as_deref(), limit).ok()
    };
    threads.iter().filter_map(measure).collect()
}
