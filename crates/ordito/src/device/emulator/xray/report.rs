//! What was found of one launch: plain data.

use crate::device::emulator::xray::counts::{Access, AccessCounts, Arithmetic, BlockCounts, Space};

/// Accesses of one kind in one line of the source.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct LineAccess {
    /// File of the line, without its folder; empty where it could not be found out.
    pub file: String,
    /// Number of the line, from 1 on; 0 where it could not be found out.
    pub line: u32,
    /// Which memory.
    pub space: Space,
    /// What is done to it.
    pub access: Access,
    /// Bytes of one lane.
    pub bytes: u32,
    /// What was counted.
    pub counts: AccessCounts,
    /// One instruction of it.
    pub picture: Option<Picture>,
}

/// What the lanes of one warp instruction touched.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Picture {
    /// The buffer, or `shared memory`.
    pub buffer: String,
    /// Number of the block and of its warp.
    pub block: u32,
    /// Of the warp in the block.
    pub warp: u32,
    /// Which lanes took part.
    pub lanes: Vec<u32>,
    /// Where in the buffer each of them began, in bytes.
    pub offsets: Vec<u64>,
}

/// What warps did in the basic blocks that begin in one line.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct LineBlocks {
    /// As in [`LineAccess`].
    pub file: String,
    /// As in [`LineAccess`].
    pub line: u32,
    /// Warps that came by.
    pub counts: BlockCounts,
    /// Their arithmetic.
    pub arithmetic: Arithmetic,
}

/// What the caches would make of it: a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct CacheCounts {
    /// Sectors that the second level was asked for.
    pub l2_read_sectors: u64,
    /// Sectors that were written to it, atomics included.
    pub l2_written_sectors: u64,
    /// Of them those that came from the part of the second level that is far: a profiler counts them in both parts.
    pub l2_far_read_sectors: u64,
    /// Of them those that went there.
    pub l2_far_written_sectors: u64,
    /// Bytes that came from memory.
    pub dram_read_bytes: u64,
    /// Bytes that went there, or will once others want their place in the second level.
    pub dram_written_bytes: u64,
}

/// One launch of one kernel.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct LaunchXray {
    /// The file and what was defined: `csr_cuda_thread.cu SCALAR=double`.
    pub kernel: String,
    /// The function.
    pub entry: String,
    /// The kernel's own file.
    pub file: String,
    /// Blocks in each direction.
    pub grid: [u32; 3],
    /// Threads in each direction of a block.
    pub block: [u32; 3],
    /// Shared memory of a block, static and dynamic.
    pub shared_bytes: u64,
    /// Blocks that were run and counted.
    pub blocks_counted: u64,
    /// Blocks that there are.
    pub blocks: u64,
    /// What the counts must be multiplied with to stand for all blocks: 1 where all were run.
    pub factor: f64,
    /// The GPU whose caches were modelled.
    pub gpu: &'static str,
    /// Blocks that one of its multiprocessors holds at a time, and the share of its threads that they are, in percent.
    pub resident_blocks: u32,
    /// Of its threads.
    pub occupancy_percent: f64,
    /// Registers of a thread, where a compiler for GPUs told them.
    pub registers: Option<u32>,
    /// Bytes of local memory of a thread, where a compiler for GPUs told them.
    pub local_bytes: Option<u32>,
    /// Accesses, by line and kind.
    pub accesses: Vec<LineAccess>,
    /// Basic blocks, by line.
    pub basic_blocks: Vec<LineBlocks>,
    /// Warp instructions of tensor cores.
    pub tensor_instructions: u64,
    /// All arithmetic.
    pub arithmetic: Arithmetic,
    /// Warps that came to a barrier of their block before the last one did.
    pub barrier_waits: u64,
    /// Loads of global memory by the warp that has most of them.
    pub longest_warp_loads: u64,
    /// The caches.
    pub caches: CacheCounts,
    /// Accesses of threads to any memory.
    pub thread_accesses: u64,
    /// How long it took to run and count, and on how many cores.
    pub seconds: f64,
    /// Cores.
    pub cores: usize,
    /// Name and text of every file of the kernel.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub sources: Vec<(String, String)>,
}

impl LaunchXray {
    /// All accesses of these kinds together.
    pub fn total(&self, space: Space, access: Access) -> AccessCounts {
        self.sum(|line| line.space == space && line.access == access)
    }

    /// All accesses that are wanted, together.
    pub fn sum(&self, wanted: impl Fn(&LineAccess) -> bool) -> AccessCounts {
        let mut total = AccessCounts::default();
        self.accesses.iter().filter(|line| wanted(line)).for_each(|line| total += line.counts);
        total
    }

    /// Everything that goes to or from global memory.
    pub fn global(&self) -> AccessCounts {
        self.sum(|line| line.space == Space::Global)
    }

    /// Everything that goes to or from shared memory.
    pub fn shared(&self) -> AccessCounts {
        self.sum(|line| line.space == Space::Shared)
    }

    /// All basic blocks together.
    pub fn blocks_total(&self) -> BlockCounts {
        let mut total = BlockCounts::default();
        self.basic_blocks.iter().for_each(|line| total += line.counts);
        total
    }

    /// Warp instructions of all kinds: accesses as counted, the rest a model.
    pub fn instructions(&self) -> u64 {
        let memory = self.sum(|line| line.space != Space::Local && line.access != Access::Copy).instructions;
        let copies = self.total(Space::Global, Access::Copy).instructions;
        let blocks = self.blocks_total();
        let arithmetic = &self.arithmetic;
        memory
            + copies
            + blocks.collectives
            + blocks.barriers
            + self.tensor_instructions
            + arithmetic.f32_instructions
            + arithmetic.f64_instructions
            + arithmetic.integer_instructions
            + arithmetic.branches
    }

    /// Lanes that take part in an access to memory, on average: 32 where warps never part. Exact.
    pub fn active_lanes(&self) -> f64 {
        let all = self.sum(|line| line.space != Space::Local);
        all.lanes as f64 / all.instructions.max(1) as f64
    }

    /// The share of the bytes of global memory that were moved and used, in percent.
    pub fn used_percent(&self) -> f64 {
        let all = self.global();
        100.0 * all.used_bytes as f64 / (all.sectors.max(1) * 32) as f64
    }

    /// Threads of all blocks.
    pub fn threads(&self) -> u64 {
        self.blocks * self.block.iter().map(|&side| u64::from(side)).product::<u64>()
    }
}
