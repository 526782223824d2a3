//! What is known of GPUs: sizes of caches and what each part can do in a second. Data, with where they come from.

use crate::device::emulator::xray::caches::CacheShape;

/// A GPU as far as counts and predictions need it.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct GpuModel {
    /// `sm_90`
    pub architecture: &'static str,
    /// As people call it.
    pub name: &'static str,
    /// Multiprocessors.
    pub multiprocessors: u32,
    /// Cycles in a second, under load.
    pub clock_hz: f64,
    /// Threads, blocks and registers that a multiprocessor holds at a time.
    pub threads_per_multiprocessor: u32,
    /// Blocks.
    pub blocks_per_multiprocessor: u32,
    /// Registers of 4 bytes.
    pub registers_per_multiprocessor: u32,
    /// Bytes that its first-level cache and shared memory have together.
    pub l1_and_shared_bytes: u64,
    /// Of them shared memory at most.
    pub shared_bytes: u64,
    /// Lines of a set of the first-level cache.
    pub l1_ways: u32,
    /// The second level: all of its parts.
    pub l2: CacheShape,
    /// Parts of it, each near some of the multiprocessors.
    pub l2_parts: u32,
    /// Sectors that memory moves at a time.
    pub dram_sectors: u64,
    /// Bytes in a second: memory, second level.
    pub dram_bytes_per_s: f64,
    /// Second level.
    pub l2_bytes_per_s: f64,
    /// Warp instructions in a cycle of one multiprocessor: of any kind, in f32, in f64.
    pub issued_per_cycle: f64,
    /// f32.
    pub f32_per_cycle: f64,
    /// f64.
    pub f64_per_cycle: f64,
    /// Warp instructions of whole numbers and addresses.
    pub integer_per_cycle: f64,
    /// Flops in a second of all tensor cores: f64, TF32.
    pub tensor_f64_flops: f64,
    /// TF32.
    pub tensor_tf32_flops: f64,
    /// Cycles until a load is there: from the first level, the second, memory.
    pub latency_cycles: [f64; 3],
    /// Loads that a warp has under way on average: what compilers unroll.
    pub loads_in_flight: f64,
    /// What an empty kernel takes.
    pub launch_s: f64,
}

/// H200. Sizes and arithmetic are those of its data sheet. What kernels reach of memory (4.2 TB/s for copies), of L2 and of issuing, and how many loads a warp has under way,
/// fit the times of 124 launches (`measurements/2026-11-18-h200/xray`): instructions that are no accesses are counted as the source has them, so fewer of them fit a cycle than the data sheet says.
pub const SM_90: GpuModel = GpuModel {
    architecture: "sm_90",
    name: "H200",
    multiprocessors: 132,
    clock_hz: 1.98e9,
    threads_per_multiprocessor: 2048,
    blocks_per_multiprocessor: 32,
    registers_per_multiprocessor: 65_536,
    l1_and_shared_bytes: 256 << 10,
    shared_bytes: 228 << 10,
    l1_ways: 8,
    l2: CacheShape { bytes: 60 << 20, ways: 16 },
    l2_parts: 2,
    dram_sectors: 2,
    dram_bytes_per_s: 3.5e12,
    l2_bytes_per_s: 3.6e12,
    issued_per_cycle: 1.5,
    f32_per_cycle: 4.0,
    f64_per_cycle: 2.0,
    integer_per_cycle: 1.55,
    tensor_f64_flops: 67e12,
    tensor_tf32_flops: 495e12,
    latency_cycles: [38.0, 270.0, 700.0],
    loads_in_flight: 1.0,
    launch_s: 2.0e-6,
};

/// A100 (40 GB) by its data sheet; of memory, L2 and issuing it is taken to reach what an H200 does.
pub const SM_80: GpuModel = GpuModel {
    architecture: "sm_80",
    name: "A100",
    multiprocessors: 108,
    clock_hz: 1.41e9,
    threads_per_multiprocessor: 2048,
    blocks_per_multiprocessor: 32,
    registers_per_multiprocessor: 65_536,
    l1_and_shared_bytes: 192 << 10,
    shared_bytes: 164 << 10,
    l1_ways: 8,
    l2: CacheShape { bytes: 40 << 20, ways: 16 },
    l2_parts: 2,
    dram_sectors: 2,
    dram_bytes_per_s: 1.2e12,
    l2_bytes_per_s: 2.1e12,
    issued_per_cycle: 1.5,
    f32_per_cycle: 2.0,
    f64_per_cycle: 1.0,
    integer_per_cycle: 1.55,
    tensor_f64_flops: 19.5e12,
    tensor_tf32_flops: 156e12,
    latency_cycles: [33.0, 200.0, 570.0],
    loads_in_flight: 1.0,
    launch_s: 2.2e-6,
};

/// All that are known.
pub const GPUS: [GpuModel; 2] = [SM_80, SM_90];

impl GpuModel {
    /// The GPU of this architecture.
    pub fn find(architecture: &str) -> Option<&'static GpuModel> {
        GPUS.iter().find(|gpu| gpu.architecture == architecture)
    }

    /// Blocks that a multiprocessor holds at a time, of so many threads, registers of a thread (where they are known) and
    /// bytes of shared memory. 0: not even one.
    pub fn resident_blocks(&self, threads: u32, registers: Option<u32>, shared_bytes: u64) -> u32 {
        /// What the system keeps of shared memory for itself, for each block.
        const RESERVED: u64 = 1 << 10;
        let warps = threads.div_ceil(32).max(1);
        let by_threads = self.threads_per_multiprocessor / 32 / warps;
        let by_shared = self.shared_bytes / (shared_bytes + RESERVED);
        // Registers come in pieces of 8 for a thread.
        let by_registers = registers.filter(|&registers| registers > 0).map_or(u32::MAX, |registers| {
            self.registers_per_multiprocessor / (registers.next_multiple_of(8) * 32 * warps)
        });
        by_threads.min(by_shared as u32).min(by_registers).min(self.blocks_per_multiprocessor)
    }

    /// The first-level cache, where resident blocks have so many bytes of shared memory.
    pub(crate) fn l1(&self, shared_bytes: u64) -> CacheShape {
        /// Shared memory is cut off the cache in pieces.
        const PIECE: u64 = 8 << 10;
        let shared = shared_bytes.next_multiple_of(PIECE).min(self.shared_bytes);
        CacheShape { bytes: self.l1_and_shared_bytes - shared, ways: self.l1_ways }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_fit_by_threads_registers_and_shared_memory() {
        assert_eq!(SM_90.resident_blocks(512, None, 0), 4);
        assert_eq!(SM_90.resident_blocks(32, None, 0), 32);
        assert_eq!(SM_90.resident_blocks(256, Some(64), 0), 4);
        assert_eq!(SM_90.resident_blocks(256, Some(0), 48 << 10), 4);
        assert_eq!(SM_80.resident_blocks(1024, Some(255), 0), 0);
        assert_eq!(SM_90.l1(0).bytes, 256 << 10);
        assert!(GpuModel::find("sm_90").is_some() && GpuModel::find("sm_70").is_none());
    }
}
