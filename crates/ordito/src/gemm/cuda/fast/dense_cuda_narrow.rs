//! Few columns: lanes walk along rows of A and keep sums for all columns in registers; B stands in shared memory.
//! Touches A once, from end to end, by as many lanes as its rows are long enough for.
//! Loses where C has more than a few columns, since A is read for every tile of them, and where it has so few rows that multiprocessors idle.

use crate::Scalar;
use crate::device::{
    Argument, DeviceLimits, DeviceView, DeviceViewMut, Kernel, KernelSource, LaunchPlan, LaunchReport,
};
use crate::gemm::cuda::device::{DeviceKernel, OnDevice};
use crate::gemm::product::{Gemm, Product, Shape};
use crate::machine::Machine;
use crate::op::{Description, Place, RunError, Variant};
use crate::refusal::Refusal;
use crate::source_file;
use std::sync::Arc;

/// Columns of a tile at most.
const MOST_COLS: usize = 32;

pub(crate) struct DenseCudaNarrow;

const THREADS: u32 = 256;
/// Bytes of sums that a thread keeps: 40 registers.
const SUMS_BYTES: usize = 160;
/// Bytes of B in shared memory, so that several blocks share a multiprocessor.
const SHARED_BYTES: usize = 32 << 10;
/// Terms that a lane takes of a row before another one helps.
const TERMS_PER_LANE: usize = 8;

/// What a kernel is compiled for.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Sizes {
    cols: usize,
    rows: usize,
    lanes: u32,
    depth: usize,
}

impl Sizes {
    fn new<S: Scalar>(shape: Shape) -> Self {
        let cols = shape.n.clamp(1, MOST_COLS);
        let bytes = size_of::<S>();
        let rows = (SUMS_BYTES / (cols * bytes)).clamp(1, 4);
        let lanes = (shape.k / TERMS_PER_LANE).clamp(1, 32).next_power_of_two() as u32;
        // As many terms as are needed, rounded up to whole warps, and no more than there is room for.
        let room = SHARED_BYTES / (cols * bytes) / 32 * 32;
        let depth = shape.k.next_multiple_of(32).clamp(32, room.max(32));
        Sizes { cols, rows, lanes: lanes.min(32), depth }
    }

    fn source<S: Scalar>(self) -> KernelSource {
        KernelSource::new("narrow", "dense_cuda_narrow.cu", DESCRIPTION.source)
            .define("SCALAR", S::CUDA_NAME)
            .define("THREADS", THREADS)
            .define("COLS", self.cols)
            .define("ROWS", self.rows)
            .define("LANES", self.lanes)
            .define("DEPTH", self.depth)
            .define(
                "BLOCKS_PER_MULTIPROCESSOR",
                if self.rows * self.cols * size_of::<S>() <= SUMS_BYTES { 2 } else { 1 },
            )
    }

    fn plan(self, limits: &DeviceLimits, shape: Shape) -> Result<LaunchPlan, Refusal> {
        let rows_of_block = (THREADS / self.lanes) as usize * self.rows;
        let (down, tiles) = (shape.m.div_ceil(rows_of_block) as u64, shape.n.div_ceil(self.cols) as u64);
        LaunchPlan::new(limits, [down.saturating_mul(tiles), 1, 1], [THREADS, 1, 1], 0)
    }
}

struct Launch {
    kernel: Kernel,
    plan: LaunchPlan,
}

impl<S: Scalar> DeviceKernel<S> for Launch {
    fn multiply(
        &mut self,
        terms: usize,
        alpha: S,
        a: DeviceView<'_, S>,
        b: DeviceView<'_, S>,
        beta: S,
        c: DeviceViewMut<'_, S>,
    ) -> Result<(), RunError> {
        let mut arguments = [c.rows(), terms, c.cols()].map(|side| Argument::of(side as u64)).to_vec();
        arguments.extend(a.arguments().into_iter().chain(b.arguments()).chain(c.arguments()));
        arguments.extend([Argument::of(alpha), Argument::of(beta)]);
        // SAFETY: as the kernel declares them; the operands have the shape that the launch was planned for.
        Ok(unsafe { self.kernel.launch(&self.plan, &arguments) }?)
    }

    fn launches(&self) -> Vec<LaunchReport> {
        vec![self.kernel.report(&self.plan)]
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
        let shapes = [(1000, 1000, 10), (1000, 8, 8), (7, 3, 1), (10, 5000, MOST_COLS)];
        shapes.map(|(m, k, n)| Sizes::new::<S>(Shape { m, k, n }).source::<S>()).to_vec()
    }
    fn prepare(&self, machine: &Arc<Machine>, shape: &Shape) -> Result<Box<dyn Product<S>>, Refusal> {
        let device = machine.device()?;
        let sizes = Sizes::new::<S>(*shape);
        let plan = sizes.plan(device.limits(), *shape)?;
        let kernel = device.kernel(&sizes.source::<S>())?;
        Ok(OnDevice::boxed(Launch { kernel, plan }, device, *shape))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_fit_registers_shared_memory_and_rows() {
        for n in 1..=MOST_COLS {
            for k in [0, 1, 8, 100, 100_000] {
                let sizes = Sizes::new::<f64>(Shape { m: 5, k, n });
                assert!(sizes.rows * sizes.cols * 8 <= SUMS_BYTES.max(8 * n) && sizes.rows >= 1);
                assert!(sizes.cols * (sizes.depth + 2) * 8 <= 48 << 10 && sizes.depth.is_multiple_of(32));
                assert!(sizes.lanes.is_power_of_two() && sizes.lanes <= 32);
            }
        }
        assert_eq!(Sizes::new::<f32>(Shape { m: 1, k: 8, n: 8 }).lanes, 1);
        assert_eq!(Sizes::new::<f32>(Shape { m: 1, k: 1000, n: 8 }).lanes, 32);
        let plan = |m, n| {
            Sizes::new::<f32>(Shape { m, k: 1000, n }).plan(&DeviceLimits::h200(), Shape { m, k: 1000, n })
        };
        assert_eq!((plan(100, 8).unwrap().blocks(), plan(100, 33).unwrap().blocks()), (4, 26));
        assert!(plan(100, 0).unwrap().is_empty() && plan(0, 8).unwrap().is_empty());
    }
}
