//! How long a GPU waits for one number from its shared memory, from its caches and from its memory: what a tile in shared memory
//! is good for.

use crate::sample::device_flush::DeviceFlush;
use crate::sample::quantile::Quantiles;
use ordito::device::{Argument, Buffer, Device, DeviceError, Kernel, KernelSource, LaunchPlan};
use ordito::refusal::Refusal;
use ordito::units;
use serde::Serialize;
use std::fmt;

/// How long one load takes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Latency {
    /// In nanoseconds.
    pub ns: f64,
    /// In cycles of a multiprocessor.
    pub cycles: f64,
}

/// How long one load takes, by where the number lies.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct DeviceLatencies {
    /// In the shared memory of a block.
    pub shared: Latency,
    /// In global memory, a copy in the multiprocessor's own cache.
    pub l1: Latency,
    /// In global memory, a copy in the last-level cache.
    pub l2: Latency,
    /// In global memory and nowhere else.
    pub global: Latency,
}

/// What a cache fetches at a time: every link has a line of its own.
const LINE_BYTES: u64 = 128;
/// Its distance to the next one, in links.
const LINE: u32 = (LINE_BYTES / size_of::<u32>() as u64) as u32;
/// Links in shared memory: 4 kB, which every GPU has.
const SHARED_LINKS: u32 = 1024;
/// Fits into the first cache of any GPU.
const L1_BYTES: u64 = 16 << 10;
/// Far more than the first cache of any GPU.
const L2_BYTES: u64 = 4 << 20;
/// So many times the last-level cache lie in memory: of what a cache threw out nothing is met again.
const TIMES_THE_CACHE: u64 = 4;
/// Beyond what links of 32 bits can say.
const MOST_LINKS: u64 = 1 << 26; // times a line of 32 links
/// Steps of a run: a millisecond or ten, which the clock of any GPU resolves.
const STEPS: u32 = 1 << 16;
const STEPS_IN_MEMORY: u32 = 1 << 14;
/// Runs of each; the first brings a chain into its cache.
const RUNS: usize = 5;
const THREADS_PER_BLOCK: u32 = 256;
/// A generator modulo any power of two that meets every number: 1 modulo 4, and odd.
const MULTIPLIER: u32 = 1_664_525;
const INCREMENT: u32 = 1_013_904_223;

impl DeviceLatencies {
    /// Measures them: takes a tenth of a second, and one more when the kernels have to be compiled first. `None` in the emulator,
    /// which has no time of its own.
    pub fn measure(device: &Device) -> Result<Option<Self>, Refusal> {
        if device.gpu().is_none() {
            return Ok(None);
        }
        let limits = device.limits();
        let in_l2 = L2_BYTES.min(limits.l2_bytes / 2);
        let in_memory = limits.l2_bytes.saturating_mul(TIMES_THE_CACHE).max(2 * L2_BYTES);
        Ok(Some(DeviceLatencies {
            shared: Chain::in_shared_memory(device)?.latency(STEPS)?,
            l1: Chain::in_lines(device, L1_BYTES)?.latency(STEPS)?,
            l2: Chain::in_lines(device, in_l2)?.latency(STEPS)?,
            global: {
                let chain = Chain::in_lines(device, in_memory.min(limits.memory_bytes / 8))?;
                DeviceFlush::new(device)?.flush(); // laying it left part of it in the cache
                chain.latency(STEPS_IN_MEMORY)?
            },
        }))
    }

    /// How many times as long a load from global memory takes as one from shared memory.
    pub fn ratio(&self) -> f64 {
        self.global.ns / self.shared.ns
    }

    /// Kernels that measuring asks a device to compile.
    pub fn kernels() -> Vec<KernelSource> {
        ["lay_chain", "follow_global", "follow_shared"].map(source).to_vec()
    }
}

/// `shared memory 15.1 ns (29 cycles), L1 …, L2 …, global memory 604 ns (1196 cycles): 40 times shared memory`
impl fmt::Display for DeviceLatencies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let places = [
            ("shared memory", self.shared),
            ("L1", self.l1),
            ("L2", self.l2),
            ("global memory", self.global),
        ];
        for (index, (place, Latency { ns, cycles })) in places.into_iter().enumerate() {
            let comma = if index > 0 { ", " } else { "" };
            write!(f, "{comma}{place} {} ns ({cycles:.0} cycles)", units::number(ns))?;
        }
        write!(f, ": {} times shared memory", units::number(self.ratio()))
    }
}

fn source(entry: &'static str) -> KernelSource {
    KernelSource::new(entry, "follow_chain.cu", include_str!("follow_chain.cu"))
        .define("MULTIPLIER", format!("{MULTIPLIER}u"))
        .define("INCREMENT", format!("{INCREMENT}u"))
        .define("SHARED_LINKS", format!("{SHARED_LINKS}u"))
}

/// A chain on a device, and how far it was followed.
struct Chain {
    kernel: Kernel,
    plan: LaunchPlan,
    links: u32,
    distance: u32,
    chain: Buffer<u32>,
    place: Buffer<u32>,
    took: Buffer<u64>,
    /// Links that were followed.
    steps: u64,
}

impl Chain {
    fn in_shared_memory(device: &Device) -> Result<Self, Refusal> {
        Chain::new(device, "follow_shared", SHARED_LINKS, 1)
    }

    /// A link in every line of so many bytes, or of up to twice as many.
    fn in_lines(device: &Device, bytes: u64) -> Result<Self, Refusal> {
        let links = (bytes / LINE_BYTES).clamp(2, MOST_LINKS);
        Chain::new(device, "follow_global", links.next_power_of_two() as u32, LINE)
    }

    fn new(device: &Device, entry: &'static str, links: u32, distance: u32) -> Result<Self, Refusal> {
        let limits = device.limits();
        let chain = device.allocate("a chain to follow", links as usize * distance as usize)?;
        let mut place = device.allocate("where it was followed to", 1)?;
        let took = device.allocate("how long that took", 2)?;
        place.write(&[0]).map_err(failed)?;
        let laying = device.kernel(&source("lay_chain"))?;
        let blocks = u64::from(links.div_ceil(THREADS_PER_BLOCK));
        let plan = LaunchPlan::new(limits, [blocks, 1, 1], [THREADS_PER_BLOCK, 1, 1], 0)?;
        let arguments = [Argument::from(&chain), Argument::of(links), Argument::of(distance)];
        // SAFETY: as the kernel declares them; it writes so many links, so far apart, of a buffer that has room for them.
        unsafe { laying.launch(&plan, &arguments) }.map_err(failed)?;
        let plan = LaunchPlan::new(limits, [1, 1, 1], [1, 1, 1], 0)?;
        Ok(Chain {
            kernel: device.kernel(&source(entry))?,
            plan,
            links,
            distance,
            chain,
            place,
            took,
            steps: 0,
        })
    }

    /// Goes on from where it was; cycles and nanoseconds.
    fn follow(&mut self, steps: u32) -> Result<[u64; 2], DeviceError> {
        let arguments = [
            Argument::from(&self.chain),
            Argument::of(steps),
            Argument::from(&self.place),
            Argument::from(&self.took),
        ];
        // SAFETY: as the kernel declares them; every link is the place of another one, and so is where it begins.
        unsafe { self.kernel.launch(&self.plan, &arguments) }?;
        self.steps += u64::from(steps);
        let mut took = [0; 2];
        self.took.read(&mut took)?;
        Ok(took)
    }

    /// Is it where it must be after so many steps?
    fn is_followed(&self) -> Result<bool, DeviceError> {
        let next = |link: u32, _| link.wrapping_mul(MULTIPLIER).wrapping_add(INCREMENT) & (self.links - 1);
        let mut place = [0];
        self.place.read(&mut place)?;
        Ok(place == [(0..self.steps).fold(0, next) * self.distance])
    }

    /// Of one step, by the median of some runs.
    fn latency(mut self, steps: u32) -> Result<Latency, Refusal> {
        let runs: Result<Vec<[u64; 2]>, DeviceError> = (0..RUNS).map(|_| self.follow(steps)).collect();
        let runs = runs.map_err(failed)?;
        if !self.is_followed().map_err(failed)? {
            return Err(Refusal::Device("a chain of loads ends where it must not: please report it".into()));
        }
        let of_one = |which: usize| {
            let all: Vec<f64> = runs.iter().map(|took| took[which] as f64 / f64::from(steps)).collect();
            Quantiles::of(&all).map(|quantiles| quantiles.median).filter(|median| *median > 0.0)
        };
        match (of_one(0), of_one(1)) {
            (Some(cycles), Some(ns)) => Ok(Latency { ns, cycles }),
            _ => Err(Refusal::Device("its clock does not go on".into())),
        }
    }
}

fn failed(error: DeviceError) -> Refusal {
    Refusal::Device(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use ordito::device::Emulator;
    use std::collections::BTreeSet;
    use std::io::Write;

    fn emulator() -> Option<Device> {
        match Emulator::open() {
            Ok(emulator) => Some(Device::Emulator(emulator)),
            Err(refusal) => {
                let required = std::env::var("ORDITO_REQUIRE_EMULATOR").is_ok_and(|value| value == "1");
                assert!(!required, "ORDITO_REQUIRE_EMULATOR=1, but: {refusal}");
                let _ = writeln!(std::io::stderr(), "an emulator test is skipped: {refusal}");
                None
            }
        }
    }

    #[test]
    fn chains_are_followed_through_every_link() {
        let Some(device) = emulator() else { return };
        let chains = [Chain::in_shared_memory(&device), Chain::in_lines(&device, 64 * LINE_BYTES)];
        for chain in chains {
            let mut chain = chain.unwrap();
            let mut met = BTreeSet::new();
            for _ in 0..chain.links {
                chain.follow(1).unwrap();
                let mut place = [0];
                chain.place.read(&mut place).unwrap();
                assert_eq!(place[0] % chain.distance, 0);
                met.insert(place[0]);
                if met.len() % 16 == 1 {
                    assert!(chain.is_followed().unwrap(), "after {} links", met.len());
                }
            }
            assert_eq!(met.len() as u32, chain.links, "a chain that comes back too early stays in a cache");
            chain.follow(1000).unwrap();
            assert!(chain.is_followed().unwrap());
            chain.place.write(&[chain.distance]).unwrap();
            assert!(!chain.is_followed().unwrap());
        }
    }

    /// Nothing is told of a machine that has no time.
    #[test]
    fn the_emulator_is_not_timed() {
        let Some(device) = emulator() else { return };
        assert_eq!(DeviceLatencies::measure(&device), Ok(None));
        let refused = Chain::in_lines(&device, L1_BYTES).unwrap().latency(8);
        assert_eq!(refused, Err(Refusal::Device("its clock does not go on".into())));
    }

    #[test]
    fn latencies_are_told_with_their_ratio() {
        let at = |ns, cycles| Latency { ns, cycles };
        let found = DeviceLatencies {
            shared: at(15.0, 30.0),
            l1: at(17.5, 35.0),
            l2: at(130.0, 260.0),
            global: at(600.0, 1200.0),
        };
        assert_eq!(
            found.to_string(),
            "shared memory 15.0 ns (30 cycles), L1 17.5 ns (35 cycles), L2 130 ns (260 cycles), \
             global memory 600 ns (1200 cycles): 40.0 times shared memory"
        );
    }
}
