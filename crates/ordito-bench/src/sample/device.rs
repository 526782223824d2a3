//! Timing on a GPU: events around a run, captured graphs for tiny kernels.

use crate::sample::clock::{Clock, Timer, WallClock};
use crate::sample::quantile::Quantiles;
use ordito::device::gpu::{Event, Graph};
use ordito::device::{DeviceError, Gpu};
use std::cell::RefCell;
use std::sync::Arc;

/// Runs shorter than this are timed as a graph: launching one kernel at a time costs about 4 µs, which events around it
/// would measure too. Far above that, so that of two variants that are compared hardly ever only one is timed so.
const TINY_NS: f64 = 200_000.0;
/// Runs in one captured graph.
const RUNS_PER_GRAPH: u32 = 20;

/// Times runs that only enqueue on a GPU, by its own events. One timer for one variant: what it captures is that
/// variant's run.
#[derive(Debug)]
pub struct EventTimer {
    clock: WallClock,
    gpu: Arc<Gpu>,
    start: Event,
    end: Event,
    graph: TinyRuns,
}

/// How runs that take microseconds are timed.
#[derive(Debug)]
enum TinyRuns {
    /// One by one: asked for (cold caches), too long to matter, or the run cannot be captured.
    OneByOne,
    /// Not known yet: the first runs tell.
    Unknown,
    /// So many at once.
    Graph(RefCell<Graph>),
}

impl EventTimer {
    /// For runs on this GPU; with `graphs`, tiny ones are captured and replayed.
    pub fn new(gpu: &Arc<Gpu>, graphs: bool) -> Result<Self, DeviceError> {
        Ok(EventTimer {
            clock: WallClock::new(),
            start: Event::new(gpu)?,
            end: Event::new(gpu)?,
            gpu: gpu.clone(),
            graph: if graphs { TinyRuns::Unknown } else { TinyRuns::OneByOne },
        })
    }

    /// Nanoseconds between two events around `enqueue`.
    fn between<E: From<DeviceError>>(&self, enqueue: &mut dyn FnMut() -> Result<(), E>) -> Result<f64, E> {
        self.start.record(self.gpu.stream())?;
        enqueue()?;
        self.end.record(self.gpu.stream())?;
        Ok(Event::elapsed_ns(&self.start, &self.end)?)
    }
}

impl Clock for EventTimer {
    fn now_ns(&mut self) -> u64 {
        self.clock.now_ns()
    }
}

impl<E: From<DeviceError>> Timer<E> for EventTimer {
    fn time(&mut self, run: &mut dyn FnMut() -> Result<(), E>) -> Result<f64, E> {
        if let TinyRuns::Graph(graph) = &self.graph {
            // SAFETY: who times gives the same runs for as long as the timer lives, and their memory with them.
            let all = self.between::<E>(&mut || Ok(unsafe { graph.borrow_mut().launch() }?))?;
            return Ok(all / f64::from(RUNS_PER_GRAPH));
        }
        let took_ns = self.between(run)?;
        if matches!(self.graph, TinyRuns::Unknown) {
            self.graph = TinyRuns::OneByOne;
            if took_ns < TINY_NS {
                let captured = self.gpu.capture(&mut || {
                    for _ in 0..RUNS_PER_GRAPH {
                        run()?;
                    }
                    Ok::<(), E>(())
                });
                // What cannot be captured is timed one by one.
                if let Ok(graph) = captured {
                    self.graph = TinyRuns::Graph(RefCell::new(graph));
                }
            }
        }
        Ok(took_ns)
    }

    /// Two events with nothing between them.
    fn overhead_ns(&mut self) -> Result<f64, E> {
        let mut times = Vec::new();
        for _ in 0..101 {
            times.push(self.between::<E>(&mut || Ok(()))?);
        }
        Ok(Quantiles::of(&times).map_or(0.0, |quantiles| quantiles.median))
    }
}
