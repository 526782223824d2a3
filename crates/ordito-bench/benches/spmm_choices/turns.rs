//! Plans of one product take turns on a GPU.

use anyhow::Context;
use ordito::Scalar;
use ordito::device::{Device, Gpu};
use ordito::spmm::Plan;
use ordito_bench::sample::{DeviceFlush, EventTimer, Quantiles, Timer};
use std::sync::Arc;

/// Samples of each kind; fewer where one takes long.
const SAMPLES: usize = 7;
const FEW_SAMPLES: usize = 3;
const LONG_NS: f64 = 3e6;

/// A plan and its times.
struct Entrant<S: Scalar> {
    variant: &'static str,
    plan: Plan<S>,
    hot: (EventTimer, Vec<f64>),
    flushed: (EventTimer, Vec<f64>),
}

/// Medians.
pub(crate) struct Entry {
    pub(crate) variant: &'static str,
    pub(crate) hot_ns: f64,
    pub(crate) flushed_ns: f64,
}

pub(crate) struct Contest<'a, S: Scalar> {
    gpu: Arc<Gpu>,
    flush: &'a DeviceFlush,
    entrants: Vec<Entrant<S>>,
}

impl<'a, S: Scalar> Contest<'a, S> {
    pub(crate) fn new(device: &Device, flush: &'a DeviceFlush) -> anyhow::Result<Self> {
        let gpu = device.gpu().context("no GPU")?.clone();
        Ok(Contest { gpu, flush, entrants: Vec::new() })
    }

    pub(crate) fn enter(&mut self, variant: &'static str, plan: Plan<S>) -> anyhow::Result<()> {
        let hot = (EventTimer::new(&self.gpu, true)?, Vec::new());
        let flushed = (EventTimer::new(&self.gpu, false)?, Vec::new());
        self.entrants.push(Entrant { variant, plan, hot, flushed });
        Ok(())
    }

    /// Rounds over all plans: warm ones first, then with an empty cache.
    pub(crate) fn times(
        mut self,
        multiply: &mut dyn FnMut(&mut Plan<S>) -> anyhow::Result<()>,
    ) -> anyhow::Result<Vec<Entry>> {
        for round in 0..=SAMPLES {
            for entrant in &mut self.entrants {
                let Entrant { plan, hot: (timer, times), .. } = entrant;
                if enough(times) {
                    continue;
                }
                multiply(plan)?; // brings the operands back
                let ns = timer.time(&mut || multiply(plan))?;
                // The first is the one by which the timer decides, and then captures.
                if round > 0 {
                    times.push(ns);
                }
            }
        }
        for _ in 0..SAMPLES {
            for entrant in &mut self.entrants {
                let Entrant { plan, flushed: (timer, times), .. } = entrant;
                if enough(times) {
                    continue;
                }
                self.flush.flush();
                times.push(timer.time(&mut || multiply(plan))?);
            }
        }
        let median = |times: &[f64]| Quantiles::of(times).map_or(f64::NAN, |quantiles| quantiles.median);
        Ok(self
            .entrants
            .iter()
            .map(|entrant| Entry {
                variant: entrant.variant,
                hot_ns: median(&entrant.hot.1),
                flushed_ns: median(&entrant.flushed.1),
            })
            .collect())
    }
}

fn enough(times: &[f64]) -> bool {
    times.len() >= FEW_SAMPLES && times.iter().all(|&ns| ns > LONG_NS)
}
