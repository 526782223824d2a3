//! Time what has been verified, variants of one case in turn.

use crate::report::{OneRun, Outcome, Record};
use crate::sample::{
    CacheFlush, Ceilings, DeviceCeilings, DeviceFlush, EventTimer, Quantiles, Sampler, Series, StopReason,
    StopRule, Timer,
};
use crate::workbench::any_case::{AnyCase, Trial};
use crate::workbench::select::Selected;
use crate::workbench::{Judged, Workbench};
use ordito::device::{Device, DeviceError};
use ordito::machine::Interrupt;
use ordito::matrix::Random;
use ordito::op::RunError;
use ordito::refusal::Refusal;
use std::time::{SystemTime, UNIX_EPOCH};

/// How to measure.
pub struct Measuring<'a> {
    /// When to stop.
    pub rule: &'a StopRule,
    /// Every single sample goes into the record.
    pub keep_samples: bool,
    /// Caches are emptied before every run.
    pub cold: Option<Flushes<'a>>,
    /// What runs on a GPU is timed twice: as it is, and with the cache emptied by this before every run.
    pub flushed_too: Option<&'a DeviceFlush>,
    /// What the machine could do at best, for `percent_of_ceiling`: one for each number of threads up to its cores.
    /// A variant is held against the largest that is not above its own.
    pub ceilings: &'a [Ceilings],
    /// The same for the device of the machine.
    pub device_ceilings: Option<&'a DeviceCeilings>,
}

/// What empties the caches of the CPU and of the device.
#[derive(Clone, Copy)]
pub struct Flushes<'a> {
    /// Of the CPU.
    pub cpu: &'a CacheFlush,
    /// Of the device, where there is one.
    pub device: Option<&'a DeviceFlush>,
}

/// Samples that a variant takes before the next one has its turn: few enough that all see the same seconds of the
/// machine, and that the shortest series has several turns, each after another variant.
const SAMPLES_PER_TURN: usize = 3;
/// Times that the repacking is run on its own.
const REPACK_RUNS: usize = 5;

/// A variant that is being timed.
struct Running<'a, 'c> {
    judged: &'a mut Judged<'c>,
    timing: Timing<'a>,
    /// With an empty cache, beside the other.
    flushed: Option<Timing<'a>>,
}

/// A series and what times it.
struct Timing<'a> {
    series: Series<'a>,
    /// CUDA events, for what runs on a GPU; everything else takes the common timer.
    events: Option<EventTimer>,
    is_cold: bool,
    is_over: bool,
}

impl<'a> Timing<'a> {
    /// Tiny runs are timed as a captured graph, unless the caches are emptied before each.
    fn start(
        sampler: Sampler<'a>,
        flush: Option<&'a dyn Fn()>,
        device: Option<&Device>,
        checked_ns: &[f64],
        timer: &mut dyn Timer<RunError>,
    ) -> Result<Self, RunError> {
        let is_cold = flush.is_some();
        let mut events = event_timer(device, !is_cold)?;
        let series = Series::start(sampler.cold(flush), own_or(&mut events, timer))?;
        // Checking empties no caches.
        let series = if is_cold { series } else { series.after(checked_ns) };
        let is_over = series.is_over();
        Ok(Timing { series, events, is_cold, is_over })
    }

    /// A few samples, unless it is over. A run that was interrupted is no sample, and the last.
    fn turn(
        &mut self,
        ready: &mut dyn Trial,
        timer: &mut dyn Timer<RunError>,
        interrupt: &Interrupt,
    ) -> Result<(), RunError> {
        if self.is_over {
            return Ok(());
        }
        match self.take_samples(ready, timer, interrupt) {
            Err(RunError::Interrupted(_)) => self.is_over = true,
            other => other?,
        }
        Ok(())
    }

    /// Where caches are warm one untimed run first brings the operands back into those that the other variants have used
    /// meanwhile.
    fn take_samples<'c>(
        &mut self,
        ready: &mut (dyn Trial + 'c),
        timer: &mut dyn Timer<RunError>,
        interrupt: &Interrupt,
    ) -> Result<(), RunError> {
        let timer = own_or(&mut self.events, timer);
        let mut reset = |ready: &mut (dyn Trial + 'c)| ready.reset();
        let mut run = |ready: &mut (dyn Trial + 'c)| ready.run();
        if !self.is_cold && !interrupt.is_set() {
            self.series.run_untimed(timer, ready, &mut reset, &mut run)?;
        }
        for _ in 0..SAMPLES_PER_TURN {
            self.is_over = self.series.step(timer, ready, &mut reset, &mut run)?;
            if self.is_over {
                break;
            }
        }
        Ok(())
    }
}

impl Workbench<'_> {
    /// Verifies every selected variant, then times those that are not wrong: by the device's own events what runs on
    /// a GPU, by `timer` the rest.
    pub fn bench(
        &self,
        case: &dyn AnyCase,
        selected: &[Selected],
        measuring: &Measuring<'_>,
        timer: &mut dyn Timer<RunError>,
    ) -> Vec<Record> {
        let mut judged: Vec<Judged<'_>> = Vec::new();
        let mut held_bytes = case.held_bytes();
        for selected in self.machine.interrupt().until_set(selected) {
            let machine = self.machine.holding(held_bytes);
            let judged_now = self.judge(&machine, case, selected, Some(measuring.rule));
            let Some(mut next) = judged_now else { break };
            if next.ready.is_some() {
                held_bytes = machine.held_bytes(); // until all have been timed
            }
            let held = judged.iter().filter(|judged| judged.is_on_device()).count();
            if let (1.., Some(Refusal::DeviceMemory { .. })) = (held, &next.refusal) {
                let advice =
                    format!("; {held} other variants hold theirs meanwhile: choose fewer with --variant");
                next.record.refusal.iter_mut().for_each(|refusal| refusal.push_str(&advice));
            }
            judged.push(next);
        }
        case.drop_output(); // caches are for what is timed
        self.take_turns(case, &mut judged, measuring, timer);
        judged.into_iter().map(|judged| judged.record).collect()
    }

    fn take_turns(
        &self,
        case: &dyn AnyCase,
        judged: &mut [Judged<'_>],
        measuring: &Measuring<'_>,
        timer: &mut dyn Timer<RunError>,
    ) {
        let flush_cpu = || measuring.cold.iter().for_each(|flushes| flushes.cpu.flush());
        let flush_device =
            || measuring.cold.iter().filter_map(|flushes| flushes.device).for_each(DeviceFlush::flush);
        let flush_too = || measuring.flushed_too.iter().for_each(|flush| flush.flush());
        let interrupt = self.machine.interrupt();
        let interrupted = || interrupt.is_set();
        let sampler = Sampler::new(measuring.rule).interrupted_by(&interrupted);
        let mut running: Vec<Running<'_, '_>> = Vec::new();
        for judged in judged.iter_mut() {
            let Some(ready) = &judged.ready else { continue };
            // The emulator's memory lies in the CPU's caches.
            let on_gpu = ready.device().and_then(Device::gpu).is_some();
            let flush: &dyn Fn() = if on_gpu { &flush_device } else { &flush_cpu };
            let flush = measuring.cold.is_some().then_some(flush);
            let flush_too: Option<&dyn Fn()> =
                (on_gpu && flush.is_none() && measuring.flushed_too.is_some()).then_some(&flush_too);
            let (device, checked_ns) = (ready.device(), &judged.checked_ns);
            let started = Timing::start(sampler, flush, device, checked_ns, timer).and_then(|timing| {
                let flush_too = flush_too.filter(|_| !timing.is_over);
                let flushed = flush_too.map(|flush| Timing::start(sampler, Some(flush), device, &[], timer));
                Ok((timing, flushed.transpose()?))
            });
            match started {
                Ok((timing, flushed)) => running.push(Running { judged, timing, flushed }),
                Err(error) => fail(&mut judged.record, &error),
            }
        }
        // In another order every round and in every run: what ran before leaves its mark on caches, and on clocks where
        // power is the limit. In a fixed order the same kernel, under two names, differed by a fifth on an H200.
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let mut order = Random::new(now.as_nanos() as u64, 0);
        while !running.is_empty() {
            order.shuffle(&mut running);
            let mut next = Vec::with_capacity(running.len());
            for mut now in running {
                (self.progress)(&now.judged.record.variant, Some(now.timing.series.progress()));
                match now.turn(timer, interrupt) {
                    Ok(false) => next.push(now),
                    Ok(true) => {
                        let record = &mut now.judged.record;
                        if let Some(flushed) = now.flushed {
                            note_flushed(case, flushed.series, measuring, record);
                        }
                        let Timing { series, mut events, .. } = now.timing;
                        let timer = own_or(&mut events, timer);
                        if let Err(error) = conclude(case, now.judged, series, measuring, timer) {
                            fail(&mut now.judged.record, &error);
                        }
                    }
                    Err(error) => fail(&mut now.judged.record, &error),
                }
            }
            running = next;
        }
    }
}

impl Judged<'_> {
    /// Is it ready, with its operands on a device?
    fn is_on_device(&self) -> bool {
        self.ready.as_ref().is_some_and(|ready| ready.device().is_some())
    }
}

/// Events of the GPU that a variant runs on. With `graphs`, tiny runs are timed as a captured graph: for warm caches.
fn event_timer(device: Option<&Device>, graphs: bool) -> Result<Option<EventTimer>, DeviceError> {
    let gpu = device.and_then(Device::gpu);
    gpu.map(|gpu| EventTimer::new(gpu, graphs)).transpose()
}

/// The variant's own timer, or the common one.
fn own_or<'t>(
    events: &'t mut Option<EventTimer>,
    timer: &'t mut dyn Timer<RunError>,
) -> &'t mut dyn Timer<RunError> {
    match events {
        Some(events) => events,
        None => timer,
    }
}

impl Running<'_, '_> {
    /// A few samples of each series; `true` when all are over.
    fn turn(&mut self, timer: &mut dyn Timer<RunError>, interrupt: &Interrupt) -> Result<bool, RunError> {
        let Some(ready) = &mut self.judged.ready else { return Ok(true) };
        self.timing.turn(&mut **ready, timer, interrupt)?;
        if let Some(flushed) = &mut self.flushed {
            flushed.turn(&mut **ready, timer, interrupt)?;
        }
        Ok(self.timing.is_over && self.flushed.as_ref().is_none_or(|flushed| flushed.is_over))
    }
}

/// What the series with an empty cache adds to the record.
fn note_flushed(case: &dyn AnyCase, series: Series<'_>, measuring: &Measuring<'_>, record: &mut Record) {
    let (samples, cost) = (series.finish(), case.cost());
    let Some(summary) = samples.summary(cost.flops, cost.least_bytes) else { return };
    record.flushed_median_ns = Some(summary.median_ns);
    (record.flushed_median_low_ns, record.flushed_median_high_ns) =
        (summary.median_low_ns, summary.median_high_ns);
    record.flushed_percent_of_ceiling = measuring
        .device_ceilings
        .and_then(|of| of.percent(summary.median_ns, cost.least_bytes, cost.flops, &record.dtype));
}

/// Turns the samples into the numbers of the record.
fn conclude(
    case: &dyn AnyCase,
    judged: &mut Judged<'_>,
    series: Series<'_>,
    measuring: &Measuring<'_>,
    timer: &mut dyn Timer<RunError>,
) -> Result<(), RunError> {
    let Some(ready) = &mut judged.ready else { return Ok(()) };
    let record = &mut judged.record;
    let (samples, cost) = (series.finish(), case.cost());
    if !matches!(samples.stop_reason, StopReason::Interrupted | StopReason::Checked) {
        // A timer of its own: that of the series may have captured the whole run and would replay that.
        let mut events = event_timer(ready.device(), false)?;
        record.repack_ns = repack_ns(&mut **ready, own_or(&mut events, timer))?;
    }
    let Some(summary) = samples.summary(cost.flops, cost.least_bytes) else {
        record.stop_reason = Some(samples.stop_reason.name().into());
        return Ok(());
    };
    record.set_times(&summary, samples.stop_reason, samples.cold);
    if measuring.keep_samples {
        record.runs = OneRun::all(&samples);
    }
    let emulated = record.place == "emulator";
    if emulated {
        // A rate would be taken for a GPU's; the time itself is at least good for comparing emulators.
        (record.gflops, record.gflops_mean, record.gflops_stddev, record.gbytes_per_s) =
            (None, None, None, None);
        (record.upload_ns, record.download_ns) = (None, None);
    }
    record.percent_of_ceiling = if emulated {
        None
    } else if ready.device().is_some() {
        measuring.device_ceilings.and_then(|ceilings| {
            ceilings.percent(summary.median_ns, cost.least_bytes, cost.flops, &record.dtype)
        })
    } else {
        let fitting =
            measuring.ceilings.iter().filter(|ceilings| Some(ceilings.threads as u64) <= record.threads);
        fitting.max_by_key(|ceilings| ceilings.threads).and_then(|ceilings| {
            ceilings.percent(summary.median_ns, cost.least_bytes, cost.flops, &record.dtype)
        })
    };
    Ok(())
}

/// Median time of the repacking alone; `None` where there is none.
fn repack_ns(ready: &mut dyn Trial, timer: &mut dyn Timer<RunError>) -> Result<Option<f64>, RunError> {
    let mut repacks = false;
    let mut times = Vec::with_capacity(REPACK_RUNS);
    for _ in 0..REPACK_RUNS {
        times.push(timer.time(&mut || {
            repacks = ready.repack()?;
            Ok(())
        })?);
    }
    Ok(Quantiles::of(&times).filter(|_| repacks).map(|quantiles| quantiles.median))
}

fn fail(record: &mut Record, error: &RunError) {
    record.outcome = Outcome::Failed;
    record.error = Some(error.to_string());
}
