//! A predicted time: each part of a GPU needs at least so long for what was counted, and the slowest of them decides.

use crate::device::emulator::xray::coalesce::SECTOR_BYTES;
use crate::device::emulator::xray::counts::{Access, Space};
use crate::device::emulator::xray::gpus::GpuModel;
use crate::device::emulator::xray::report::LaunchXray;

/// What one part of the GPU needs.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Bound {
    /// `DRAM`, `L2`, `L1`, …
    pub part: &'static str,
    /// Seconds.
    pub seconds: f64,
}

/// The bounds of a launch and what follows from them: a model.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Prediction {
    /// The GPU.
    pub gpu: &'static str,
    /// Every part, the slowest first.
    pub bounds: Vec<Bound>,
    /// The slowest part and what a launch costs.
    pub seconds: f64,
}

impl Prediction {
    /// Of one launch.
    pub fn of(launch: &LaunchXray, gpu: &GpuModel) -> Self {
        let all = launch.factor;
        let multiprocessors = f64::from(gpu.multiprocessors);
        // A launch of fewer blocks than there are multiprocessors leaves some of them idle.
        let busy = multiprocessors.min(launch.blocks as f64).max(1.0);
        let cycles = |count: u64, per_cycle: f64| all * count as f64 / per_cycle / busy / gpu.clock_hz;
        let (global, shared) = (launch.global(), launch.shared());
        let arithmetic = &launch.arithmetic;
        let dram = launch.caches.dram_read_bytes + launch.caches.dram_written_bytes;
        let l2 = (launch.caches.l2_read_sectors + launch.caches.l2_written_sectors) * SECTOR_BYTES;
        let bytes_per_s = |bytes: u64, rate: f64| all * bytes as f64 / rate;
        // Each line of an instruction takes a look at the tags, each pass over the banks a cycle of the same data path.
        let passes = global.lines + shared.wavefronts;
        let share = busy / multiprocessors;
        let bounds = [
            ("DRAM", bytes_per_s(dram, gpu.dram_bytes_per_s)),
            ("L2", bytes_per_s(l2, gpu.l2_bytes_per_s * share.max(0.25))),
            ("L1 and shared", cycles(passes, 1.0)),
            ("issue", cycles(launch.instructions(), gpu.issued_per_cycle)),
            ("integer", cycles(arithmetic.integer_instructions, gpu.integer_per_cycle)),
            ("FP32", cycles(arithmetic.f32_instructions, gpu.f32_per_cycle)),
            ("FP64", cycles(arithmetic.f64_instructions, gpu.f64_per_cycle)),
            (
                "tensor",
                all * (arithmetic.tensor_f64_flops as f64 / gpu.tensor_f64_flops
                    + arithmetic.tensor_tf32_flops as f64 / gpu.tensor_tf32_flops)
                    / share,
            ),
            ("latency", latency(launch, gpu, busy)),
        ];
        let mut bounds = bounds.map(|(part, seconds)| Bound { part, seconds }).to_vec();
        bounds.sort_by(|one, other| other.seconds.total_cmp(&one.seconds));
        let seconds = bounds[0].seconds + gpu.launch_s;
        Prediction { gpu: gpu.name, bounds, seconds }
    }

    /// The part that decides.
    pub fn slowest(&self) -> &'static str {
        self.bounds.first().map_or("", |bound| bound.part)
    }
}

/// Loads take their time. All of them, as many at once as the warps that are there have under way; or those of the longest warp,
/// one after the other.
fn latency(launch: &LaunchXray, gpu: &GpuModel, busy: f64) -> f64 {
    let loads = launch.sum(|line| line.space == Space::Global && line.access != Access::Store);
    if loads.instructions == 0 {
        return 0.0;
    }
    let share = |part: u64, of: u64| part as f64 / of.max(1) as f64;
    let [first, second, memory] = gpu.latency_cycles;
    let (l1, l2) = (share(loads.l1_hits, loads.sectors), share(loads.l2_hits, loads.l2_sectors));
    let cycles = l1 * first + (1.0 - l1) * (l2 * second + (1.0 - l2) * memory);
    let warps_per_block = launch.block.iter().product::<u32>().div_ceil(32);
    let resident = f64::from(launch.resident_blocks.max(1)).min((launch.blocks as f64 / busy).ceil());
    let warps = resident * f64::from(warps_per_block) * busy;
    let all = launch.factor * loads.instructions as f64 * cycles / (warps * gpu.loads_in_flight);
    let longest = launch.longest_warp_loads as f64 * cycles / gpu.loads_in_flight;
    all.max(longest) / gpu.clock_hz
}
