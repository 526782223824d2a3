//! What a kernel does, counted without a GPU: transactions, bank conflicts, idle lanes, barriers, flops, and what caches make of it.
//!
//! A launch that is counted runs once, its blocks on several cores. The compiler tells of every access *and* of every basic block.
//! `converge` makes warp instructions of what single lanes did; `coalesce` and `banks` say what each of them asks of memory;
//! `memory_system` lets caches of a chosen GPU (`gpus`) see it; `cost` predicts a time.
//!
//! **Exact**, given the accesses of the source: instructions of warps and the lanes in them, sectors, lines and used bytes, bank
//! conflicts of 4-byte accesses, barriers, atomics and their collisions, flops. A GPU's compiler may still merge, widen, hoist or repeat
//! accesses (unrolled loops whose lanes part).
//! **A model**: hits in caches, bytes to memory, instructions that are no accesses, predicted times.

mod assemble;
mod banks;
mod caches;
mod coalesce;
mod collector;
mod converge;
mod cost;
mod counts;
mod described;
mod gpus;
mod instructions;
mod launch;
mod memory_system;
mod notes;
mod report;
#[cfg(test)]
mod tests;
mod trace;
mod tracer;

pub use caches::CacheShape;
pub use cost::{Bound, Prediction};
pub use counts::{Access, AccessCounts, Arithmetic, BlockCounts, Space};
pub use gpus::{GPUS, GpuModel, SM_80, SM_90};
pub(crate) use notes::Page;
pub use report::{CacheCounts, LaunchXray, LineAccess, LineBlocks, Picture};
pub(crate) use trace::Where;
pub(crate) use tracer::Tracer;

use std::sync::{Mutex, PoisonError};

/// How launches are counted.
#[derive(Debug, Clone, Copy)]
pub struct XrayOptions {
    /// The GPU whose caches are modelled.
    pub gpu: &'static GpuModel,
    /// Blocks of a launch that are run at most, spread over all; `None`: all.
    pub most_blocks: Option<u64>,
    /// Cores that run blocks.
    pub cores: usize,
}

/// Keeps what was counted.
#[derive(Debug)]
pub(crate) struct Recorder {
    pub(crate) options: XrayOptions,
    launches: Mutex<Vec<LaunchXray>>,
}

impl Recorder {
    pub(crate) fn new(options: XrayOptions) -> Self {
        Recorder { options, launches: Mutex::default() }
    }

    fn keep(&self, launch: LaunchXray) {
        self.launches.lock().unwrap_or_else(PoisonError::into_inner).push(launch);
    }

    pub(crate) fn take(&self) -> Vec<LaunchXray> {
        std::mem::take(&mut *self.launches.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
