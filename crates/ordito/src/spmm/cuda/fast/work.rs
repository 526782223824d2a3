//! What a product asks of a device, in a few numbers: what the choice between kernels puts a price on (`select::device_costs`).

use crate::device::DeviceLimits;
use crate::spmm::analysis::shape::Shape;
use crate::spmm::cuda::fast::tiling::Tiling;

/// How a kernel deals out a matrix, as far as its time depends on it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Work {
    pub(crate) tiling: Tiling,
    /// Warps of one tile of columns, and the steps that they take together.
    pub(crate) warps: f64,
    pub(crate) steps: f64,
    /// Steps that follow each other in the warp that has most of them, and nonzeros of a lane that are on their way at a time.
    pub(crate) chain: f64,
    pub(crate) in_flight: u32,
    /// Parts of the longest row that a second launch adds up; none where there is no such launch.
    pub(crate) parts: f64,
    /// Bytes beside the nonzeros of A.
    pub(crate) more_bytes: f64,
    /// Rows of X that lanes read, and how many of them neighbours find in the first-level cache for every one that is fetched.
    pub(crate) x_rows: f64,
    pub(crate) reuse: f64,
}

/// What [`Work::terms`] are called.
pub(crate) const TERMS: [&str; 11] = [
    "launch",
    "streamed",
    "far",
    "read",
    "steps",
    "wide_steps",
    "warps",
    "wide_warps",
    "second",
    "unfilled",
    "chain",
];
pub(crate) type Terms = [f64; TERMS.len()];

/// Bytes of a load of a lane, and of a sector of a cache line.
const LOAD: f64 = 16.0;
const SECTOR: f64 = 32.0;
/// X is far away where it takes more than this part of the last-level cache.
const FAR: f64 = 0.5;
/// Warps of a multiprocessor from which on one that waits is not waited for.
const ENOUGH_WARPS: f64 = 16.0;
/// Parts that the threads of a block add up at once.
const PARTS_AT_ONCE: f64 = 512.0;

impl Work {
    /// What is paid for: bytes and steps of each multiprocessor, and what cannot be shared out.
    pub(crate) fn terms(&self, limits: &DeviceLimits, shape: &Shape, k: usize, scalar_bytes: usize) -> Terms {
        let multiprocessors = f64::from(limits.multiprocessors.max(1));
        let (tiles, nonzeros) = (self.tiling.tiles(k) as f64, shape.nonzeros as f64);
        let (steps, warps) = (self.steps * tiles, self.warps * tiles);
        let loads =
            (f64::from(self.tiling.columns / self.tiling.lanes) * scalar_bytes as f64 / LOAD).max(0.25);
        let row_bytes = k as f64 * scalar_bytes as f64;
        let streamed = nonzeros * (4 + scalar_bytes) as f64 + self.more_bytes + shape.rows as f64 * row_bytes;
        let x_bytes = (shape.cols as f64).min(nonzeros) * row_bytes.max(8.0);
        let is_far = x_bytes > FAR * limits.l2_bytes as f64;
        let fetched = match row_bytes < SECTOR {
            // Of short rows a sector has several, which are seldom asked for together.
            true => self.x_rows / self.reuse.min(shape.sectors).max(1.0) * SECTOR,
            false => self.x_rows / self.reuse.max(1.0) * (row_bytes / SECTOR).ceil() * SECTOR,
        };
        let filled = (warps / (multiprocessors * ENOUGH_WARPS)).min(1.0);
        [
            1.0,
            streamed / multiprocessors,
            if is_far { fetched / multiprocessors } else { 0.0 },
            self.x_rows * row_bytes.max(SECTOR) / multiprocessors,
            steps / multiprocessors,
            steps * loads / multiprocessors,
            warps / multiprocessors,
            warps * loads / multiprocessors,
            if self.parts > 0.0 { 1.0 + self.parts / PARTS_AT_ONCE } else { 0.0 },
            self.chain * (1.0 - filled),
            self.chain / f64::from(self.in_flight.max(1)),
        ]
    }
}
