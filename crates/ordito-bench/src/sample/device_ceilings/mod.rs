//! What a GPU can do at best: the bandwidth of a copy, and what its tensor cores multiply when nothing else has to be
//! done. Measured with numbers that fill their digits, since zeros cost less power and let the clock run faster; but for
//! milliseconds only: a product that runs for seconds may be slowed down by the limit on power, and the peak is not.

use crate::sample::clock::Timer;
use crate::sample::device::EventTimer;
use crate::sample::quantile::Quantiles;
use ordito::Scalar;
use ordito::device::{Argument, Device, DeviceError, KernelSource, LaunchPlan, PTX, SM_90A, WGMMA};
use ordito::refusal::Refusal;
use ordito::units;
use serde::{Deserialize, Serialize};
use std::fmt;

/// What a GPU can do at best.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DeviceCeilings {
    /// Its name.
    pub device: String,
    /// A large copy inside its memory, bytes read plus bytes written, in 10⁹ bytes per second.
    pub copy_gbytes_per_s: f64,
    /// Products on tensor cores in f64, where they could be measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peak_gflops_f64: Option<f64>,
    /// A third of what tensor cores do in TF32: the fastest way to multiply f32 without losing their precision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peak_gflops_f32: Option<f64>,
}

/// Bytes of the copy: far beyond any cache.
const COPY_BYTES: u64 = 1 << 30;
/// Runs of each measurement; the first warms up.
const RUNS: usize = 11;

impl DeviceCeilings {
    /// Measures the copy: takes a few milliseconds.
    pub fn measure(device: &Device) -> Result<Option<Self>, Refusal> {
        if device.gpu().is_none() {
            return Ok(None);
        }
        Ok(Some(DeviceCeilings {
            device: device.limits().name.clone(),
            copy_gbytes_per_s: copy_gbytes_per_s(device)?,
            peak_gflops_f64: None,
            peak_gflops_f32: None,
        }))
    }

    /// Measures products too, for operations that are limited by them: takes some tens of milliseconds, and a second more
    /// when the kernels have to be compiled first. Without a compiler, and on GPUs without such tensor cores, there is no
    /// peak to compare with.
    pub fn with_peaks(self, device: &Device) -> Self {
        let tf32 = [Peak::MMA_TF32, Peak::WGMMA_TF32].map(|peak| peak.measure(device).ok());
        let fastest = tf32.into_iter().flatten().max_by(f64::total_cmp);
        DeviceCeilings {
            peak_gflops_f64: Peak::MMA_F64.measure(device).ok(),
            peak_gflops_f32: fastest.map(|tf32| tf32 / 3.0),
            ..self
        }
    }

    /// Kernels that measuring asks a device to compile.
    pub fn kernels() -> Vec<KernelSource> {
        [Peak::MMA_F64, Peak::MMA_TF32, Peak::WGMMA_TF32].map(|peak| peak.source()).to_vec()
    }

    /// The least time for these bytes and flops, as a percentage of the time that was needed.
    pub fn percent(&self, time_ns: f64, least_bytes: u64, flops: u64, dtype: &str) -> Option<f64> {
        let peak = if dtype == f32::NAME { self.peak_gflops_f32 } else { self.peak_gflops_f64 };
        let computing_ns = peak.map_or(0.0, |peak| flops as f64 / peak);
        let floor_ns = computing_ns.max(least_bytes as f64 / self.copy_gbytes_per_s);
        (time_ns > 0.0)
            .then(|| 100.0 * floor_ns / time_ns)
            .filter(|percent| percent.is_finite() && *percent > 0.0)
    }
}

/// `copy 4000 GB/s; 50000 GFLOP/s f64`
impl fmt::Display for DeviceCeilings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "copy {} GB/s", units::number(self.copy_gbytes_per_s))?;
        let peaks = [(f64::NAME, self.peak_gflops_f64), (f32::NAME, self.peak_gflops_f32)];
        let known = peaks.into_iter().filter_map(|(dtype, peak)| Some((dtype, peak?)));
        known.into_iter().try_for_each(|(dtype, peak)| write!(f, "; {} GFLOP/s {dtype}", units::number(peak)))
    }
}

fn copy_gbytes_per_s(device: &Device) -> Result<f64, Refusal> {
    let bytes = COPY_BYTES.min(device.limits().memory_bytes / 8) as usize;
    let from = device.allocate::<u8>("one side of a copy", bytes)?;
    let mut to = device.allocate::<u8>("the other side of a copy", bytes)?;
    Ok(2.0 * bytes as f64 / median_ns(device, &mut || to.copy_from(&from))?)
}

fn median_ns(device: &Device, run: &mut dyn FnMut() -> Result<(), DeviceError>) -> Result<f64, Refusal> {
    let Some(gpu) = device.gpu() else { return Err(Refusal::NoDevice) };
    let mut measure = || {
        let mut timer = EventTimer::new(gpu, false)?;
        (0..RUNS).map(|_| timer.time(run)).collect::<Result<Vec<f64>, DeviceError>>()
    };
    let times = measure().map_err(|error| Refusal::Device(error.to_string()))?;
    Ok(Quantiles::of(&times).map_or(f64::INFINITY, |quantiles| quantiles.median))
}

/// A kernel that multiplies the same numbers again and again.
struct Peak {
    entry: &'static str,
    file: &'static str,
    text: &'static str,
    scalar: &'static str,
    /// Every product is 2 · rows · columns · terms of them.
    flops_per_round_and_warp: u64,
    warp_groups: bool,
}

/// Rounds of a run, for some milliseconds.
const ROUNDS: u32 = 4096;
const THREADS_PER_BLOCK: u32 = 256;
const WARPS_PER_BLOCK: u64 = THREADS_PER_BLOCK as u64 / 32;

impl Peak {
    const MMA_F64: Peak = Peak {
        entry: "peak_mma",
        file: "peak_mma.cu",
        text: include_str!("peak_mma.cu"),
        scalar: "double",
        flops_per_round_and_warp: 16 * 2 * 16 * 8 * 8, // sixteen products
        warp_groups: false,
    };
    const MMA_TF32: Peak = Peak { scalar: "float", ..Peak::MMA_F64 };
    const WGMMA_TF32: Peak = Peak {
        entry: "peak_wgmma",
        file: "peak_wgmma.cu",
        text: include_str!("peak_wgmma.cu"),
        scalar: "float",
        // Sixteen by a group of four warps.
        flops_per_round_and_warp: 4 * 2 * 64 * 128 * 8,
        warp_groups: true,
    };

    fn source(&self) -> KernelSource {
        let source = KernelSource::new(self.entry, self.file, self.text)
            .define("SCALAR", self.scalar)
            .include(PTX.0, PTX.1);
        if self.warp_groups { source.include(WGMMA.0, WGMMA.1).only_for(&[SM_90A]) } else { source }
    }

    /// 10⁹ flops per second of the whole GPU.
    fn measure(&self, device: &Device) -> Result<f64, Refusal> {
        let kernel = device.kernel(&self.source())?;
        let blocks = u64::from(device.limits().multiprocessors);
        let plan = LaunchPlan::new(device.limits(), [blocks, 1, 1], [THREADS_PER_BLOCK, 1, 1], 0)?;
        // Something must come of it, or the compiler would leave the products out.
        let sums = device.allocate::<f64>("sums of a measurement", (blocks * 256) as usize)?;
        let arguments = [Argument::of(ROUNDS), Argument::from(&sums)];
        // SAFETY: as the kernel declares them; every thread writes one of the sums at most, which outlive the measurement.
        let ns = median_ns(device, &mut || unsafe { kernel.launch(&plan, &arguments) })?;
        let flops = blocks * WARPS_PER_BLOCK * u64::from(ROUNDS) * self.flops_per_round_and_warp;
        Ok(flops as f64 / ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_floor_is_the_slower_of_moving_and_multiplying() {
        let ceilings = DeviceCeilings {
            device: "example".into(),
            copy_gbytes_per_s: 4000.0,
            peak_gflops_f64: Some(50_000.0),
            peak_gflops_f32: None,
        };
        assert_eq!(ceilings.percent(1000.0, 2_000_000, 0, "f64"), Some(50.0));
        assert_eq!(ceilings.percent(1000.0, 2_000_000, 40_000_000, "f64"), Some(80.0));
        assert_eq!(ceilings.percent(1000.0, 2_000_000, 40_000_000, "f32"), Some(50.0));
        assert_eq!(ceilings.to_string(), "copy 4000 GB/s; 50000 GFLOP/s f64");
        assert_eq!(ceilings.percent(0.0, 2_000_000, 0, "f64"), None);
        assert_eq!(ceilings.percent(1000.0, 0, 0, "f64"), None);
    }
}
