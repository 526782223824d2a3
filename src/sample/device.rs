//! Timing on a GPU: events around a run, captured graphs for tiny kernels, the cache emptied between runs, and the
//! bandwidth that a copy reaches.

use super::{Clock, Quantiles, Timer, WallClock};
use crate::machine::gpu::{Event, Graph};
use crate::machine::{Buffer, Device, DeviceError, Gpu, Refusal};
use serde::{Deserialize, Serialize};
use std::cell::RefCell;
use std::sync::{Arc, Mutex};

/// Runs shorter than this are timed as a graph: launching one kernel at a time costs about 4 µs, and events around it
/// would measure mostly that.
const TINY_NS: f64 = 50_000.0;
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
            let all = self.between::<E>(&mut || Ok(graph.borrow_mut().launch()?))?;
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

/// A buffer larger than the device's last-level cache; filling it pushes everything else out.
#[derive(Debug)]
pub struct DeviceFlush(Mutex<Buffer<u8>>);

impl DeviceFlush {
    /// Four times the cache.
    pub fn new(device: &Device) -> Result<Self, Refusal> {
        let bytes = 4 * usize::try_from(device.limits().l2_bytes).unwrap_or(0);
        Ok(DeviceFlush(Mutex::new(device.allocate("the buffer that empties the cache", bytes)?)))
    }

    /// Enqueues the filling; should it fail, the run after it says so.
    pub fn flush(&self) {
        if let Ok(mut buffer) = self.0.lock() {
            let _ = buffer.fill_bytes(0);
        }
    }
}

/// What a GPU can do at best.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DeviceCeilings {
    /// Its name.
    pub device: String,
    /// A large copy inside its memory, bytes read plus bytes written, in 10⁹ bytes per second.
    pub copy_gbytes_per_s: f64,
}

/// Bytes of the copy: far beyond any cache.
const COPY_BYTES: u64 = 1 << 30;
const COPIES: usize = 11;

impl DeviceCeilings {
    /// Measures; takes a few milliseconds.
    pub fn measure(device: &Device) -> Result<Option<Self>, Refusal> {
        let Some(gpu) = device.gpu() else { return Ok(None) };
        let bytes = COPY_BYTES.min(device.limits().memory_bytes / 8) as usize;
        let mut timer = EventTimer::new(gpu, false).map_err(|error| Refusal::Device(error.to_string()))?;
        let from = device.allocate::<u8>("one side of a copy", bytes)?;
        let mut to = device.allocate::<u8>("the other side of a copy", bytes)?;
        let mut copy = || to.copy_from(&from);
        let mut times = Vec::new();
        for _ in 0..COPIES {
            times.push(
                timer.time(&mut copy).map_err(|error: DeviceError| Refusal::Device(error.to_string()))?,
            );
        }
        let median = Quantiles::of(&times).map_or(f64::INFINITY, |quantiles| quantiles.median);
        let copy_gbytes_per_s = 2.0 * bytes as f64 / median;
        Ok(Some(DeviceCeilings { device: device.limits().name.clone(), copy_gbytes_per_s }))
    }

    /// The time that a copy of these bytes would take, as a percentage of the time that was needed.
    pub fn percent(&self, time_ns: f64, least_bytes: u64) -> Option<f64> {
        let floor_ns = least_bytes as f64 / self.copy_gbytes_per_s;
        (time_ns > 0.0)
            .then(|| 100.0 * floor_ns / time_ns)
            .filter(|percent| percent.is_finite() && *percent > 0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_of_a_copy_is_a_percentage() {
        let ceilings = DeviceCeilings { device: "example".into(), copy_gbytes_per_s: 4000.0 };
        assert_eq!(ceilings.percent(1000.0, 2_000_000), Some(50.0));
        assert_eq!(ceilings.percent(0.0, 2_000_000), None);
        assert_eq!(ceilings.percent(1000.0, 0), None);
    }
}
