//! Tensor cores in f64 for few columns, 16 at a time: warps walk along rows of A, which come from memory straight into registers.
//! Touches A once, from end to end; B, which is small, comes through the first-level cache.
//! Loses where C is wider, and where it has so few rows that multiprocessors idle.

use crate::Scalar;
use crate::device::{
    Argument, Device, DeviceLimits, DeviceView, DeviceViewMut, Kernel, KernelSource, LaunchPlan,
    LaunchReport, PTX,
};
use crate::gemm::cuda::device::{DeviceKernel, OnDevice};
use crate::gemm::cuda::fast::tiled::check_sides;
use crate::gemm::product::{Gemm, Product, Shape};
use crate::machine::Machine;
use crate::op::padded_rows::{Needs, PaddedRows};
use crate::op::{Description, Place, RunError, Variant};
use crate::refusal::Refusal;
use crate::source_file;
use std::sync::Arc;

/// Columns that the tensor cores take at once; A is read for each tile of them.
pub(crate) const TILE_COLS: usize = 16;

const THREADS: u32 = 256;
const WARPS: u32 = THREADS / 32;
const GROUP_ROWS: u32 = 8;
const STEP: usize = 8;
/// As registers allow: a thread has room for four pairs of A on their way.
const BLOCKS_PER_MULTIPROCESSOR: u32 = 3;
const PAIRS_ON_THEIR_WAY: u32 = 4;
/// Pieces that a warp takes of its rows before another one helps.
const PIECES_PER_WARP: usize = 3;

/// What a kernel is compiled for.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Sizes {
    /// Warps that share the terms of a row.
    along: u32,
    /// Groups of eight rows of a warp.
    groups: u32,
}

impl Sizes {
    /// Two groups read B half as often, and more warps along a row read more of it at a time; both need rows enough for two blocks on
    /// every multiprocessor.
    fn new(limits: &DeviceLimits, shape: Shape) -> Self {
        let rows_of_all = |sizes: Sizes| 2 * limits.multiprocessors as usize * sizes.block_rows() as usize;
        let groups = if shape.m >= rows_of_all(Sizes { along: WARPS, groups: 2 }) { 2 } else { 1 };
        let most = if shape.m >= rows_of_all(Sizes { along: 4, groups }) { 4 } else { WARPS };
        let piece = STEP * (PAIRS_ON_THEIR_WAY / groups) as usize;
        let along = (shape.k / (piece * PIECES_PER_WARP)).clamp(1, most as usize).next_power_of_two() as u32;
        Sizes { along: along.min(most), groups }
    }

    fn block_rows(self) -> u32 {
        WARPS / self.along * self.groups * GROUP_ROWS
    }

    fn source(self) -> KernelSource {
        KernelSource::new("tensor_f64_rows", "dense_cuda_tensor_f64_rows.cu", DESCRIPTION.source)
            .include(PTX.0, PTX.1)
            .define("THREADS", THREADS)
            .define("ALONG", self.along)
            .define("GROUPS", self.groups)
            .define("UNROLL", PAIRS_ON_THEIR_WAY / self.groups)
            .define("BLOCKS_PER_MULTIPROCESSOR", BLOCKS_PER_MULTIPROCESSOR)
    }

    fn plan(self, limits: &DeviceLimits, shape: Shape) -> Result<LaunchPlan, Refusal> {
        let blocks = (shape.m as u64).div_ceil(self.block_rows().into());
        let across = shape.n.div_ceil(TILE_COLS) as u64;
        LaunchPlan::new(limits, [blocks, across, 1], [THREADS, 1, 1], 0)
    }
}

pub(crate) const DESCRIPTION: Description = Description::new(
    "dense-cuda-tensor-f64-rows",
    "f64 tensor cores for few columns, 16 at a time: warps walk along rows of A",
    Place::Cuda,
    source_file!("gemm/cuda/fast/dense_cuda_tensor_f64_rows.cu"),
);

pub(crate) struct DenseCudaTensorRowsF64;

struct Launch<S> {
    kernel: Kernel,
    plan: LaunchPlan,
    /// Copies of operands whose rows lie otherwise than the kernel reads them.
    a: PaddedRows<S>,
    b: PaddedRows<S>,
    c: PaddedRows<S>,
}

impl<S: Scalar> Launch<S> {
    fn new(device: &Device, shape: Shape, sizes: Sizes) -> Result<Self, Refusal> {
        Ok(Launch {
            plan: sizes.plan(device.limits(), shape)?,
            kernel: device.kernel(&sizes.source())?,
            a: PaddedRows::new(device, "A in padded rows", Needs::AlignedRows),
            b: PaddedRows::new(device, "B in padded rows", Needs::WholeChunks),
            c: PaddedRows::new(device, "C in padded rows", Needs::AlignedRows),
        })
    }
}

impl<S: Scalar> DeviceKernel<S> for Launch<S> {
    fn bind(
        &mut self,
        a: DeviceView<'_, S>,
        b: DeviceView<'_, S>,
        c: DeviceView<'_, S>,
    ) -> Result<(), RunError> {
        self.a.bind(a)?;
        self.b.bind(b)?;
        Ok(self.c.bind(c)?)
    }

    fn repack(&mut self, a: DeviceView<'_, S>, b: DeviceView<'_, S>) -> Result<bool, RunError> {
        Ok(self.a.fill(a)? | self.b.fill(b)?)
    }

    fn multiply(
        &mut self,
        terms: usize,
        alpha: S,
        a: DeviceView<'_, S>,
        b: DeviceView<'_, S>,
        beta: S,
        c: DeviceViewMut<'_, S>,
    ) -> Result<(), RunError> {
        let Launch { kernel, plan, .. } = self;
        let (a, b) = (self.a.or_itself(a).arguments(), self.b.or_itself(b).arguments());
        self.c.write(c, beta != S::ZERO, |c| {
            let mut arguments = [c.rows(), terms, c.cols()].map(|side| Argument::of(side as u32)).to_vec();
            arguments.extend(a.into_iter().chain(b).chain(c.arguments()));
            arguments.extend([Argument::of(alpha), Argument::of(beta)]);
            // SAFETY: as the kernel declares them; the operands have the shape that the launch was planned for.
            Ok(unsafe { kernel.launch(plan, &arguments) }?)
        })
    }

    fn launches(&self) -> Vec<LaunchReport> {
        let copies = self.a.launches().chain(self.b.launches()).chain(self.c.launches());
        [self.kernel.report(&self.plan)].into_iter().chain(copies).collect()
    }
}

impl<S: Scalar> Variant<Gemm<S>> for DenseCudaTensorRowsF64 {
    fn describe(&self) -> &Description {
        &DESCRIPTION
    }
    fn kernels(&self) -> Vec<KernelSource> {
        if S::NAME != f64::NAME {
            return Vec::new();
        }
        let sizes = [(1, 1), (1, 2), (2, 1), (2, 2), (4, 1), (4, 2), (8, 1), (8, 2)];
        let sources = sizes.map(|(along, groups)| Sizes { along, groups }.source());
        sources.into_iter().chain([PaddedRows::<S>::source()]).collect()
    }
    fn prepare(&self, machine: &Arc<Machine>, shape: &Shape) -> Result<Box<dyn Product<S>>, Refusal> {
        if S::NAME != f64::NAME {
            return Err(Refusal::Unsupported("multiplies f64 only".into()));
        }
        check_sides(*shape)?;
        let device = machine.device()?;
        let sizes = Sizes::new(device.limits(), *shape);
        Ok(OnDevice::boxed(Launch::<S>::new(&device, *shape, sizes)?, device, *shape))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_h200_is_filled_where_rows_allow() {
        let h200 = DeviceLimits::h200();
        let sizes = |m, k| {
            let Sizes { along, groups } = Sizes::new(&h200, Shape { m, k, n: 10 });
            (along, groups)
        };
        assert_eq!([sizes(10_000, 1000), sizes(20_000, 3000)], [(4, 2); 2]);
        assert_eq!([sizes(100_000, 100), sizes(1_000_000, 16)], [(2, 2), (1, 2)]);
        assert_eq!([sizes(1000, 1000), sizes(5000, 20_000)], [(8, 1), (8, 2)]);
        assert_eq!([sizes(0, 0), sizes(7, 1)], [(1, 1); 2]);
        let blocks = |m, k, n| {
            let shape = Shape { m, k, n };
            Sizes::new(&h200, shape).plan(&h200, shape).unwrap().blocks()
        };
        assert_eq!([blocks(1000, 1000, 1), blocks(10_000, 1000, 10), blocks(1000, 1000, 0)], [125, 313, 0]);
    }
}
