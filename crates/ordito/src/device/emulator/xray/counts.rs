//! What is counted: plain numbers that add up.

use std::ops::AddAssign;

/// Which memory, or what else takes part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "kebab-case"))]
pub enum Space {
    /// Memory of the device.
    Global,
    /// Shared memory of a block.
    Shared,
    /// Arrays of a thread. A GPU keeps them in registers where it knows every index when it compiles; only what it cannot
    /// is local memory.
    Local,
    /// Tables that the kernel brings.
    Constant,
}

/// What is done to memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "kebab-case"))]
pub enum Access {
    /// Read.
    Load,
    /// Write.
    Store,
    /// Both at once.
    Atomic,
    /// An asynchronous copy from global to shared memory: read there, written here.
    Copy,
}

/// What warp instructions on memory did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct AccessCounts {
    /// Instructions of warps. Exact.
    pub instructions: u64,
    /// Lanes that took part: accesses of threads. Exact.
    pub lanes: u64,
    /// Bytes that lanes asked for, each for itself. Exact.
    pub asked_bytes: u64,
    /// Sectors of 32 bytes that the lanes of each instruction touch together (global memory). Exact.
    pub sectors: u64,
    /// Lines of 128 bytes (global memory). Exact.
    pub lines: u64,
    /// Bytes of these sectors that some lane uses. Exact.
    pub used_bytes: u64,
    /// Passes over the banks (shared memory). Exact for 4 bytes; wider ones by a rule.
    pub wavefronts: u64,
    /// Passes that would do if no two lanes wanted different words of a bank.
    pub least_wavefronts: u64,
    /// Lanes that have to wait since another one of the instruction has the same address (atomics). Exact.
    pub collisions: u64,
    /// Sectors that were found in the first-level cache. A model.
    pub l1_hits: u64,
    /// Sectors that were asked of the second level. A model.
    pub l2_sectors: u64,
    /// Of them found there. A model.
    pub l2_hits: u64,
}

impl AddAssign for AccessCounts {
    fn add_assign(&mut self, other: Self) {
        self.instructions += other.instructions;
        self.lanes += other.lanes;
        self.asked_bytes += other.asked_bytes;
        self.sectors += other.sectors;
        self.lines += other.lines;
        self.used_bytes += other.used_bytes;
        self.wavefronts += other.wavefronts;
        self.least_wavefronts += other.least_wavefronts;
        self.collisions += other.collisions;
        self.l1_hits += other.l1_hits;
        self.l2_sectors += other.l2_sectors;
        self.l2_hits += other.l2_hits;
    }
}

impl AccessCounts {
    /// Passes over the banks that are there because of conflicts.
    pub fn conflicts(&self) -> u64 {
        self.wavefronts.saturating_sub(self.least_wavefronts)
    }
}

/// Arithmetic of a kernel, in operations of single threads: what they compute, exactly, and the instructions that a GPU needs
/// for it, by what the compiler here needs: a model.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Arithmetic {
    /// Additions and multiplications, divisions and roots, of f32; a fused multiply-add counts as two.
    pub f32_flops: u64,
    /// The same of f64.
    pub f64_flops: u64,
    /// Flops of tensor cores in f64.
    pub tensor_f64_flops: u64,
    /// In TF32.
    pub tensor_tf32_flops: u64,
    /// Warp instructions in f32, where a product and a sum of the same block are taken to be one.
    pub f32_instructions: u64,
    /// In f64.
    pub f64_instructions: u64,
    /// Warp instructions of whole numbers, addresses and comparisons.
    pub integer_instructions: u64,
    /// Branches.
    pub branches: u64,
    /// Of all warp instructions, each times the lanes that took part.
    pub lane_instructions: u64,
}

impl AddAssign for Arithmetic {
    fn add_assign(&mut self, other: Self) {
        self.f32_flops += other.f32_flops;
        self.f64_flops += other.f64_flops;
        self.tensor_f64_flops += other.tensor_f64_flops;
        self.tensor_tf32_flops += other.tensor_tf32_flops;
        self.f32_instructions += other.f32_instructions;
        self.f64_instructions += other.f64_instructions;
        self.integer_instructions += other.integer_instructions;
        self.branches += other.branches;
        self.lane_instructions += other.lane_instructions;
    }
}

/// How often warps came to a basic block, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct BlockCounts {
    /// Warps that came to it.
    pub executions: u64,
    /// Lanes that took part.
    pub lanes: u64,
    /// How often lanes that were in it together parted behind it.
    pub parted: u64,
    /// Collectives of the warp in it: shuffles, votes, barriers.
    pub collectives: u64,
    /// Warps that came to barriers of their block in it.
    pub barriers: u64,
}

impl AddAssign for BlockCounts {
    fn add_assign(&mut self, other: Self) {
        self.executions += other.executions;
        self.lanes += other.lanes;
        self.parted += other.parted;
        self.collectives += other.collectives;
        self.barriers += other.barriers;
    }
}
