//! What a product asks of a device, in a few numbers: what the choice between kernels puts a price on (`select::device_costs`).

use crate::Scalar;
use crate::device::DeviceLimits;
use crate::spmm::analysis::shape::Shape;
use crate::spmm::analysis::together::PerLine;
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
    /// Parts of the longest row that are added up afterwards, by a second launch or by who comes last; none where no row is cut.
    pub(crate) parts: f64,
    /// Bytes beside the nonzeros of A.
    pub(crate) more_bytes: f64,
    /// Rows of X that lanes read, and how many of them neighbours find in the first-level cache for every one that is fetched.
    pub(crate) x_rows: f64,
    pub(crate) reuse: f64,
    /// Elements of X that lanes read from one line at the same time.
    pub(crate) per_line: PerLine,
}

/// What [`Work::terms`] are called.
pub(crate) const TERMS: [&str; 14] = [
    "launch",
    // Bytes of A and Y; again where A, X and Y together do not fit the last-level cache; those of Y alone.
    "streamed",
    "streamed_far",
    "written",
    // Bytes of X that the first-level cache does not keep; again where X does not fit the last-level cache.
    "fetched",
    "fetched_far",
    // Lines of X that lanes look up.
    "looked_up",
    // Steps of warps; again, for every load, where loads have to ask whether their columns are there.
    "steps",
    "asking",
    // Warps; again for every 16 bytes that their lanes read of a row of X.
    "warps",
    "wide_warps",
    // Adding up parts of rows that were cut.
    "second",
    // The longest chain of steps, where too few warps are there to hide it; and in any case.
    "unfilled",
    "chain",
];
pub(crate) type Terms = [f64; TERMS.len()];

/// Bytes of a load of a lane, of a sector of a cache line, and of a whole one.
const LOAD: f64 = 16.0;
const SECTOR: f64 = 32.0;
const LINE: f64 = 128.0;
/// Warps of a multiprocessor from which on one that waits is not waited for.
const ENOUGH_WARPS: f64 = 16.0;
/// Parts that the threads of a block add up at once.
const PARTS_AT_ONCE: f64 = 512.0;

impl Work {
    /// What is paid for: bytes and steps of each multiprocessor, and what cannot be shared out.
    pub(crate) fn terms<S: Scalar>(&self, limits: &DeviceLimits, shape: &Shape, k: usize) -> Terms {
        let (scalar_bytes, tiling) = (size_of::<S>() as f64, self.tiling);
        let multiprocessors = f64::from(limits.multiprocessors.max(1));
        let (tiles, nonzeros) = (tiling.tiles(k) as f64, shape.nonzeros as f64);
        let (steps, warps) = (self.steps * tiles, self.warps * tiles);
        let row_bytes = k as f64 * scalar_bytes;
        let loads = tiling.loads::<S>(k, [k; 2]);
        let load_bytes = f64::from(loads.width) * scalar_bytes;
        let loads_of_lane = f64::from(tiling.chunks(loads.width));

        let written = shape.rows as f64 * row_bytes;
        let streamed = nonzeros * (4.0 + scalar_bytes) + self.more_bytes + written;
        let fetched = match row_bytes < SECTOR {
            // Of short rows a sector has several, which are seldom asked for together.
            true => self.x_rows / self.reuse.min(shape.sectors).max(1.0) * SECTOR,
            false => self.x_rows / self.reuse.max(1.0) * (row_bytes / SECTOR).ceil() * SECTOR,
        };
        let x_bytes = (shape.cols as f64).min(nonzeros) * row_bytes;
        let cache = limits.l2_bytes as f64;
        let looked_up =
            self.x_rows * tiles * loads_of_lane * (f64::from(tiling.lanes) * load_bytes / LINE).max(1.0);
        let filled = (warps / (multiprocessors * ENOUGH_WARPS)).min(1.0);
        [
            1.0,
            streamed / multiprocessors,
            streamed * beyond(cache, streamed + x_bytes) / multiprocessors,
            written / multiprocessors,
            fetched / multiprocessors,
            // Half of the cache goes to what is streamed.
            fetched * beyond(cache / 2.0, x_bytes) / multiprocessors,
            looked_up / self.on_one_line(row_bytes) / multiprocessors,
            steps / multiprocessors,
            if loads.whole { 0.0 } else { steps * loads_of_lane / multiprocessors },
            warps / multiprocessors,
            warps * loads_of_lane * load_bytes.max(LOAD / 4.0) / LOAD / multiprocessors,
            if self.parts > 0.0 { 1.0 + self.parts / PARTS_AT_ONCE } else { 0.0 },
            self.chain * (1.0 - filled),
            self.chain / f64::from(self.in_flight.max(1)),
        ]
    }

    /// Rows of X that lanes read from one line at the same time.
    fn on_one_line(&self, row_bytes: f64) -> f64 {
        if row_bytes >= LINE {
            return 1.0;
        }
        let rows_of_line = (LINE / row_bytes.max(1.0)).log2() as usize;
        self.per_line[rows_of_line.min(self.per_line.len() - 1)]
    }
}

/// How much of so many bytes a cache of that size does not keep: nothing up to 0.7 of it, all from 1.4 on.
fn beyond(cache: f64, bytes: f64) -> f64 {
    ((bytes / cache.max(1.0)).max(f64::MIN_POSITIVE).log2() + 0.5).clamp(0.0, 1.0)
}
