//! Few columns: lanes walk along rows of A and keep sums for all columns in registers; B stands in shared memory.
//! Touches A once, from end to end, by as many lanes as its rows are long enough for.
//! Loses where C has more than a few columns, since A is read for every tile of them, and where it has so few rows that multiprocessors idle.

use crate::Scalar;
use crate::device::{DeviceLimits, KernelSource, LaunchPlan};
use crate::gemm::cuda::device::OnDevice;
use crate::gemm::cuda::plain_launch::PlainLaunch;
use crate::gemm::product::{Gemm, Product, Shape};
use crate::machine::Machine;
use crate::op::{Description, Place, Variant};
use crate::refusal::Refusal;
use crate::source_file;
use std::sync::Arc;

/// Columns of a tile at most.
const MOST_COLS: usize = 32;

pub(crate) struct DenseCudaNarrow;

const THREADS: u32 = 256;
/// Bytes of sums that a thread keeps while two blocks find room on a multiprocessor, found by trying (`tests/nvrtc.rs`).
const SUMS_BYTES: usize = 144;
/// Bytes of B in shared memory where all of it fits, on an H200 two blocks on a multiprocessor; and where only a part does.
const WHOLE_BYTES: usize = 96 << 10;
const PART_BYTES: usize = 32 << 10;
/// Terms that a lane takes of a row before a second one helps, and before more do: what lanes add up for each other in the end takes longer
/// than their terms. (f32 on an H200: 100000×100×12 with 16 lanes 48 µs, with 2 15; 10000×1000×10 with 32 lanes 28 µs, with 16 22.)
const TERMS_OF_ONE_LANE: usize = 8;
const TERMS_PER_LANE: usize = 48;

/// What a kernel is compiled for.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Sizes {
    cols: usize,
    rows: usize,
    lanes: u32,
    depth: usize,
}

impl Sizes {
    /// Depths are powers of two, so that few kernels are compiled.
    fn new<S: Scalar>(limits: &DeviceLimits, shape: Shape) -> Self {
        let cols = shape.n.clamp(1, MOST_COLS);
        let bytes = size_of::<S>();
        let two = if shape.k > TERMS_OF_ONE_LANE { 2 } else { 1 };
        let mut lanes = 1 << (shape.k / TERMS_PER_LANE).clamp(two, 32).ilog2();
        // Where rows are few, more lanes take one, and fewer rows, until every multiprocessor has some.
        let rows_of_all = |lanes: u32| (THREADS / lanes * limits.multiprocessors) as usize;
        while lanes < 32 && shape.m < rows_of_all(lanes) {
            lanes *= 2;
        }
        let rows = (SUMS_BYTES / (cols * bytes)).min(shape.m / rows_of_all(lanes)).clamp(1, 4);
        let room = |most_bytes: usize| 1_usize << (most_bytes / (cols * bytes)).ilog2();
        let whole = shape.k.clamp(32, 1 << 20).next_power_of_two();
        // Beside the chunks behind columns.
        let most = WHOLE_BYTES.min((limits.shared_bytes_per_block as usize).saturating_sub(16 * cols));
        let depth = if whole <= room(most) { whole } else { room(PART_BYTES) };
        Sizes { cols, rows, lanes, depth }
    }

    /// A chunk of 16 bytes behind every column.
    fn shared_bytes<S: Scalar>(self) -> u64 {
        (self.cols * (self.depth * size_of::<S>() + 16)) as u64
    }
    /// As registers and shared memory allow.
    fn blocks_per_multiprocessor<S: Scalar>(self) -> u32 {
        if self.rows * self.cols * size_of::<S>() <= SUMS_BYTES { 2 } else { 1 }
    }

    fn source<S: Scalar>(self) -> KernelSource {
        KernelSource::new("narrow", "dense_cuda_narrow.cu", DESCRIPTION.source)
            .define("SCALAR", S::CUDA_NAME)
            .define("THREADS", THREADS)
            .define("COLS", self.cols)
            .define("ROWS", self.rows)
            .define("LANES", self.lanes)
            .define("DEPTH", self.depth)
            .define("BLOCKS_PER_MULTIPROCESSOR", self.blocks_per_multiprocessor::<S>())
    }

    /// As many blocks as run at once take all rows; where B does not fit, it is brought for each anyway.
    fn plan<S: Scalar>(self, limits: &DeviceLimits, shape: Shape) -> Result<LaunchPlan, Refusal> {
        let rows_of_block = (THREADS / self.lanes) as usize * self.rows;
        let (needed, tiles) = (shape.m.div_ceil(rows_of_block) as u64, shape.n.div_ceil(self.cols) as u64);
        let at_once = u64::from(limits.multiprocessors * self.blocks_per_multiprocessor::<S>());
        let down = if shape.k <= self.depth { needed.min(at_once.div_ceil(tiles.max(1))) } else { needed };
        LaunchPlan::new(limits, [down.saturating_mul(tiles), 1, 1], [THREADS, 1, 1], self.shared_bytes::<S>())
    }
}

pub(crate) const DESCRIPTION: Description = Description::new(
    "dense-cuda-narrow",
    "for few columns: lanes walk along rows of A, sums of up to 32 columns in registers",
    Place::Cuda,
    source_file!("gemm/cuda/fast/dense_cuda_narrow.cu"),
);

impl<S: Scalar> Variant<Gemm<S>> for DenseCudaNarrow {
    fn describe(&self) -> &Description {
        &DESCRIPTION
    }
    /// Of those that shapes ask for, some that differ.
    fn kernels(&self) -> Vec<KernelSource> {
        let shapes =
            [(100_000, 1000, 10), (100_000, 100, 12), (1_000_000, 8, 8), (7, 3, 1), (10, 5000, MOST_COLS)];
        shapes
            .map(|(m, k, n)| Sizes::new::<S>(&DeviceLimits::h200(), Shape { m, k, n }).source::<S>())
            .to_vec()
    }
    fn prepare(&self, machine: &Arc<Machine>, shape: &Shape) -> Result<Box<dyn Product<S>>, Refusal> {
        let device = machine.device()?;
        let sizes = Sizes::new::<S>(device.limits(), *shape);
        let plan = sizes.plan::<S>(device.limits(), *shape)?;
        let kernel = device.kernel(&sizes.source::<S>())?;
        Ok(OnDevice::boxed(PlainLaunch { kernel, plan }, device, *shape))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_fit_registers_shared_memory_and_rows() {
        let h200 = DeviceLimits::h200();
        for n in 1..=MOST_COLS {
            for k in [0, 1, 8, 100, 1000, 100_000] {
                let sizes = Sizes::new::<f64>(&h200, Shape { m: 5, k, n });
                assert!(sizes.rows * sizes.cols * 8 <= SUMS_BYTES.max(8 * n) && sizes.rows >= 1);
                assert!(sizes.shared_bytes::<f64>() <= 100 << 10 && sizes.depth.is_multiple_of(32));
                assert!(sizes.lanes.is_power_of_two() && sizes.lanes <= 32);
            }
        }
        let small = DeviceLimits { shared_bytes_per_block: 64 << 10, ..h200.clone() };
        let of_small = Sizes::new::<f32>(&small, Shape { m: 1, k: 2000, n: 8 });
        assert!(of_small.shared_bytes::<f32>() <= 64 << 10, "{of_small:?}");
        let sizes = |m, k, n| Sizes::new::<f32>(&h200, Shape { m, k, n });
        let many = 1_000_000;
        assert_eq!([8, 16, 100, 1000, 10_000].map(|k| sizes(many, k, 8).lanes), [1, 2, 2, 16, 32]);
        assert_eq!((sizes(many, 100, 12).rows, sizes(10_000, 1000, 10).rows), (3, 3));
        assert_eq!((sizes(1000, 1000, 1).lanes, sizes(1000, 1000, 1).rows), (32, 1));
        assert_eq!((sizes(1, 1000, 8).depth, sizes(1, 100_000, 8).depth), (1024, 1024));
        let blocks = |m, k, n| sizes(m, k, n).plan::<f32>(&h200, Shape { m, k, n }).unwrap().blocks();
        assert_eq!((blocks(100, 1000, 8), blocks(100, 1000, 33)), (13, 26));
        assert_eq!((blocks(1_000_000, 1000, 8), blocks(1_000_000, 10_000, 8)), (264, 31_250));
        assert_eq!((blocks(100, 1000, 0), blocks(0, 1000, 8)), (0, 0));
    }
}
