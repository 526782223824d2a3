//! What a device allows and what a launch asks for: plain data that can be tested without a device.

use crate::refusal::Refusal;
use std::collections::BTreeMap;

/// What a device can do, as its driver says (or, for the emulator, as [`DeviceLimits::h200`] says).
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct DeviceLimits {
    /// Its name.
    pub name: String,
    /// Compute capability, major and minor: `[9, 0]`.
    pub compute_capability: [u32; 2],
    /// Multiprocessors.
    pub multiprocessors: u32,
    /// Threads of one block.
    pub threads_per_block: u32,
    /// Blocks in each direction of a grid.
    pub grid: [u32; 3],
    /// Threads in each direction of a block.
    pub block: [u32; 3],
    /// Shared memory that a block may ask for, static and dynamic together.
    pub shared_bytes_per_block: u32,
    /// Threads that one multiprocessor holds at a time.
    pub threads_per_multiprocessor: u32,
    /// Memory of the device.
    pub memory_bytes: u64,
    /// Its last-level cache.
    pub l2_bytes: u64,
}

impl DeviceLimits {
    /// An H200, as its driver describes it: what plans are tested against, and what the emulator pretends to be.
    pub fn h200() -> Self {
        DeviceLimits {
            name: "NVIDIA H200".into(),
            compute_capability: [9, 0],
            multiprocessors: 132,
            threads_per_block: 1024,
            grid: [2_147_483_647, 65_535, 65_535],
            block: [1024, 1024, 64],
            shared_bytes_per_block: 232_448,
            threads_per_multiprocessor: 2048,
            memory_bytes: 150_754_820_096,
            l2_bytes: 62_914_560,
        }
    }

    /// Compute capability without its point: 90.
    pub fn architecture(&self) -> u32 {
        self.compute_capability[0] * 10 + self.compute_capability[1]
    }
}

/// How a kernel is started: blocks, threads of a block, dynamic shared memory. Within the device's limits.
///
/// ```compile_fail,E0451
/// # use ordito::device::LaunchPlan;
/// let beyond_all_limits = LaunchPlan { grid: [1, 1, 1], block: [1 << 20, 1, 1], shared_bytes: 0 };
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct LaunchPlan {
    grid: [u32; 3],
    block: [u32; 3],
    #[cfg_attr(feature = "serde", serde(rename = "dynamic_shared_bytes"))]
    shared_bytes: u32,
}

impl LaunchPlan {
    /// Refuses what is beyond the limits, naming the limit.
    pub fn new(
        limits: &DeviceLimits,
        grid: [u64; 3],
        block: [u32; 3],
        shared_bytes: u64,
    ) -> Result<Self, Refusal> {
        let threads: u64 = block.iter().map(|&side| u64::from(side)).product();
        let too_much = |what: &'static str, asked: u64, limit: u64| Refusal::Launch { what, asked, limit };
        if threads > u64::from(limits.threads_per_block) {
            return Err(too_much("threads per block", threads, limits.threads_per_block.into()));
        }
        for (&asked, &limit) in block.iter().zip(&limits.block) {
            if asked == 0 || asked > limit {
                return Err(too_much("threads in one direction of a block", asked.into(), limit.into()));
            }
        }
        if shared_bytes > u64::from(limits.shared_bytes_per_block) {
            return Err(too_much(
                "bytes of shared memory per block",
                shared_bytes,
                limits.shared_bytes_per_block.into(),
            ));
        }
        let mut sides = [0; 3];
        for ((side, &asked), &limit) in sides.iter_mut().zip(&grid).zip(&limits.grid) {
            *side = u32::try_from(asked)
                .ok()
                .filter(|&asked| asked <= limit)
                .ok_or_else(|| too_much("blocks in one direction of the grid", asked, limit.into()))?;
        }
        Ok(LaunchPlan { grid: sides, block, shared_bytes: shared_bytes as u32 })
    }

    /// At least `threads` threads in one row of blocks of `threads_per_block`. `None` is a count beyond 64 bits.
    pub fn linear(
        limits: &DeviceLimits,
        threads: Option<u64>,
        threads_per_block: u32,
    ) -> Result<Self, Refusal> {
        let blocks = threads.unwrap_or(u64::MAX).div_ceil(u64::from(threads_per_block));
        LaunchPlan::new(limits, [blocks, 1, 1], [threads_per_block, 1, 1], 0)
    }

    /// For rows of so many elements: threads across as many as a row has elements, the others down the rows; as many blocks as run at once,
    /// which go on to further rows.
    pub fn over_rows(limits: &DeviceLimits, rows: usize, cols: usize) -> Result<Self, Refusal> {
        const THREADS_PER_BLOCK: u32 = 256;
        let across = cols.clamp(1, 32).next_power_of_two() as u32;
        let down = THREADS_PER_BLOCK / across;
        let blocks_per_multiprocessor = (limits.threads_per_multiprocessor / THREADS_PER_BLOCK).max(1);
        let at_once = u64::from(limits.multiprocessors) * u64::from(blocks_per_multiprocessor);
        let blocks = (rows as u64).div_ceil(down.into()).min(at_once);
        LaunchPlan::new(limits, [blocks, 1, 1], [across, down, 1], 0)
    }

    /// This launch with dynamic shared memory.
    pub fn with_shared(self, limits: &DeviceLimits, shared_bytes: u64) -> Result<Self, Refusal> {
        LaunchPlan::new(limits, self.grid.map(u64::from), self.block, shared_bytes)
    }

    /// Is it within the limits of this device too?
    pub(crate) fn check(&self, limits: &DeviceLimits) -> Result<(), Refusal> {
        LaunchPlan::new(limits, self.grid.map(u64::from), self.block, self.shared_bytes.into()).map(drop)
    }

    /// Blocks in each direction, x first; a 0 means that there is nothing to do.
    pub fn grid(&self) -> [u32; 3] {
        self.grid
    }

    /// Threads in each direction of a block, x first.
    pub fn block(&self) -> [u32; 3] {
        self.block
    }

    /// Dynamic shared memory of a block.
    pub fn shared_bytes(&self) -> u32 {
        self.shared_bytes
    }

    /// Nothing to do: CUDA refuses such a launch, so it is left out.
    pub fn is_empty(&self) -> bool {
        self.grid.contains(&0)
    }

    /// Threads of a block.
    pub fn threads_per_block(&self) -> u32 {
        self.block.iter().product()
    }

    /// Blocks of the grid.
    pub fn blocks(&self) -> u64 {
        self.grid.iter().map(|&side| u64::from(side)).product()
    }
}

/// A launch as it was done, for those who study kernels.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct LaunchReport {
    /// The kernel's name.
    pub kernel: String,
    /// Blocks and threads.
    #[cfg_attr(feature = "serde", serde(flatten))]
    pub plan: LaunchPlan,
    /// What its code takes.
    #[cfg_attr(feature = "serde", serde(flatten))]
    pub attributes: KernelAttributes,
    /// Blocks that one multiprocessor holds at a time.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub blocks_per_multiprocessor: Option<u32>,
    /// Threads that a multiprocessor holds of those it could, in percent.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub occupancy_percent: Option<f64>,
    /// What was counted when it was planned: how many rows are done in which way.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "BTreeMap::is_empty"))]
    pub counted: BTreeMap<String, u64>,
}

/// What the compiler made of a kernel. Absent in the emulator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct KernelAttributes {
    /// Registers of a thread.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub registers: Option<u32>,
    /// Shared memory that the kernel declares itself.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub static_shared_bytes: Option<u32>,
    /// Local memory of a thread: arrays and registers that did not fit.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub local_bytes: Option<u32>,
}

impl std::fmt::Display for LaunchReport {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let sides = |sides: [u32; 3]| {
            let used = 3 - sides.iter().rev().take_while(|&&side| side == 1).count().min(2);
            sides[..used].iter().map(|side| side.to_string()).collect::<Vec<_>>().join("×")
        };
        write!(f, "{} {} blocks of {}", self.kernel, sides(self.plan.grid), sides(self.plan.block))?;
        if let Some(registers) = self.attributes.registers {
            write!(f, ", {registers} registers")?;
        }
        let shared = self.attributes.static_shared_bytes.unwrap_or(0) + self.plan.shared_bytes;
        if shared > 0 {
            write!(f, ", {shared} B shared")?;
        }
        if let Some(local) = self.attributes.local_bytes.filter(|&bytes| bytes > 0) {
            write!(f, ", {local} B local")?;
        }
        if let Some(percent) = self.occupancy_percent {
            write!(f, ", occupancy {percent:.0} %")?;
        }
        for (what, count) in &self.counted {
            write!(f, ", {} {count}", what.replace('_', " "))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plans_cover_all_threads_and_stay_within_the_limits() {
        let h200 = DeviceLimits::h200();
        for threads in [0, 1, 511, 512, 513, 1 << 32, (1 << 32) + 1, 70_000_000 * 64 * 32] {
            let plan = LaunchPlan::linear(&h200, Some(threads), 512).unwrap();
            assert!(plan.blocks() * 512 >= threads && plan.blocks() * 512 < threads + 512);
            assert_eq!(plan.is_empty(), threads == 0);
        }
        let refusal = LaunchPlan::linear(&h200, Some(1 << 41), 512).unwrap_err();
        assert!(refusal.to_string().contains("blocks in one direction of the grid"), "{refusal}");
        assert!(LaunchPlan::linear(&h200, None, 512).is_err());
        let over_rows = |rows, cols| {
            let plan = LaunchPlan::over_rows(&h200, rows, cols).unwrap();
            (plan.blocks(), plan.block)
        };
        assert_eq!(over_rows(33, 5), (2, [8, 32, 1]));
        assert_eq!(over_rows(1 << 40, 100), (132 * 8, [32, 8, 1]));
        assert_eq!((over_rows(0, 3).0, over_rows(1, 0)), (0, (1, [1, 256, 1])));
        assert!(LaunchPlan::new(&h200, [1, 70_000, 1], [32, 1, 1], 0).is_err());
    }

    #[test]
    fn blocks_beyond_the_limits_are_refused_by_name() {
        let h200 = DeviceLimits::h200();
        let refusal = LaunchPlan::new(&h200, [1, 1, 1], [100, 100, 1], 0).unwrap_err();
        assert_eq!(refusal.to_string(), "10000 threads per block, the limit is 1024");
        assert!(LaunchPlan::new(&h200, [1, 1, 1], [1, 1, 65], 0).is_err());
        assert!(LaunchPlan::new(&h200, [1, 1, 1], [32, 0, 1], 0).is_err());
        let plan = LaunchPlan::linear(&h200, Some(1), 32).unwrap();
        assert!(plan.with_shared(&h200, 232_448).is_ok());
        assert!(plan.with_shared(&h200, 232_449).is_err());
    }

    #[test]
    fn a_report_reads_as_a_line() {
        let plan = LaunchPlan { grid: [10, 2, 1], block: [512, 1, 1], shared_bytes: 64 };
        let attributes =
            KernelAttributes { registers: Some(32), static_shared_bytes: Some(0), local_bytes: Some(8) };
        let report = LaunchReport {
            kernel: "k".into(),
            plan,
            attributes,
            blocks_per_multiprocessor: Some(4),
            occupancy_percent: Some(100.0),
            counted: [("row_blocks".to_owned(), 7)].into(),
        };
        let text =
            "k 10×2 blocks of 512, 32 registers, 64 B shared, 8 B local, occupancy 100 %, row blocks 7";
        assert_eq!(report.to_string(), text);
        let json = serde_json::to_string(&report).unwrap();
        assert_eq!(serde_json::from_str::<LaunchReport>(&json).unwrap(), report);
    }
}
